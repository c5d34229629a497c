# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the additional efforts, which another program adds to the command."""

from __future__ import annotations

from dataclasses import dataclass

from ...parameters import EACH, parameter


@dataclass(frozen=True)
class AdditionalEffortSettings:
    """Parameters ``additional_effort.*``; :mod:`.inputs.additional_effort` uses them."""

    limits: tuple[float, ...] = parameter(
        (0.0,), f'largest effort of ~/additional_effort, {EACH}, N m or N; 0: none',
        span=(0.0, 1e6), while_active=True,
    )
    timeout: float = parameter(
        0.1, 'age of a message at which its efforts begin to fade, s',
        span=(0.001, 10.0), while_active=True,
    )
    fade: float = parameter(
        0.1, 'time to fade the efforts out after silence, and in at the start of a stream, s',
        span=(0.001, 10.0), while_active=True,
    )
