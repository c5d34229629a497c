# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The command line that every contender has."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from .ticks import TickLog


def log_and_others(arguments: Sequence[str] | None) -> tuple[TickLog, list[str]]:
    """Return the log of ticks that is asked for, and the arguments that are for ROS."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--log', type=Path, required=True, help='file of the ticks')
    parser.add_argument('--capacity', type=int, required=True, help='how many it holds')
    options, others = parser.parse_known_args(arguments)
    return TickLog(options.log, options.capacity), others
