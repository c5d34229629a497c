# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""How fast the dynamics and the control loop are: ``make bench`` and ``make bench-loop``."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class BenchmarkError(RuntimeError):
    """Something cannot be measured."""
