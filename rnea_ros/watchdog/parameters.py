# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The watchdog's parameters: read once, at the start."""

from __future__ import annotations

from dataclasses import dataclass
import enum

from ..errors import InputError
from ..parameters import check_ranges, declarations_of, parameter


class Action(enum.Enum):
    """What the watchdog does after a silence."""

    ZERO = 'zero'  # ramp from the last command to zero
    DEACTIVATE_CONTROLLER = 'deactivate_controller'  # ramp to zero, then deactivate the controller


@dataclass(frozen=True)
class WatchdogSettings:
    """The watchdog's parameters."""

    command_topic: str = parameter(
        'effort_controller/commands', 'topic of the effort controller'
    )
    timeout: float = parameter(
        0.1, 'silence after which it acts, beyond the usual time between two commands, s',
        span=(0.005, 60.0),
    )
    ramp_duration: float = parameter(
        0.2, 'duration of the ramp from the last command to zero, s; 0: at once', span=(0.0, 60.0)
    )
    rate: float = parameter(
        250.0, 'rate of its checks, and of its commands while it acts, Hz', span=(50.0, 1000.0)
    )
    action: Action = parameter(Action.ZERO)
    controller_manager: str = parameter(
        'controller_manager', 'name of the node that deactivates the controller'
    )

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.timeout < 2.0 * self.period:
            raise InputError(
                'timeout', f'{self.timeout} s is shorter than two periods at {self.rate} Hz'
            )

    @property
    def period(self) -> float:
        """Time between two checks, s."""
        return 1.0 / self.rate


PARAMETERS = declarations_of(WatchdogSettings, read_only=True)
