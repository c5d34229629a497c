# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The watchdog's parameters: read once, at the start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import enum
import math
from typing import Any

from ..errors import InputError
from ..parameters import Declaration, declare_all
from ..ros import check_topic


class Action(enum.Enum):
    """What the watchdog does after a silence."""

    ZERO = 'zero'  # ramp from the last command to zero
    DEACTIVATE_CONTROLLER = 'deactivate_controller'  # ramp to zero, then deactivate the controller


PARAMETERS: Mapping[str, Declaration] = {
    'command_topic': Declaration(
        'effort_controller/commands', 'topic of the effort controller', read_only=True
    ),
    'timeout': Declaration(
        0.1,
        'silence after which it acts, beyond the usual time between two commands, s',
        span=(0.005, 60.0),
        read_only=True,
    ),
    'ramp_duration': Declaration(
        0.2,
        'duration of the ramp from the last command to zero, s; 0: at once',
        span=(0.0, 60.0),
        read_only=True,
    ),
    'rate': Declaration(
        250.0,
        'rate of its checks, and of its commands while it acts, Hz',
        span=(50.0, 1000.0),
        read_only=True,
    ),
    'action': Declaration('zero', ' | '.join(action.value for action in Action), read_only=True),
    'controller_manager': Declaration(
        'controller_manager',
        'name of the node that deactivates the controller',
        read_only=True,
    ),
}


@dataclass(frozen=True)
class Settings:
    """
    The parameters' values; see :data:`PARAMETERS`.

    :raises InputError: a value cannot be used
    """

    command_topic: str
    timeout: float
    ramp_duration: float
    rate: float
    action: Action
    controller_manager: str

    def __post_init__(self) -> None:
        for name in ('timeout', 'ramp_duration', 'rate'):
            value = getattr(self, name)
            if not math.isfinite(value):
                raise InputError(name, f'{value} is not finite')
        if self.timeout < 2.0 * self.period:
            raise InputError(
                'timeout', f'{self.timeout} s is shorter than two periods at {self.rate} Hz'
            )

    @property
    def period(self) -> float:
        """Time between two checks, s."""
        return 1.0 / self.rate


def read(node: Any) -> Settings:
    """
    Declare the parameters on a node and return their values.

    :param node: a node without parameters of its own
    :raises InputError: a value cannot be used, or a given parameter does not exist
    """
    declare_all(node, PARAMETERS)
    values = {name: node.get_parameter(name).value for name in PARAMETERS}
    for name in ('command_topic', 'controller_manager'):
        check_topic(node, name, values[name])
    words = [action.value for action in Action]
    if values['action'] not in words:
        raise InputError('action', f'{values["action"]!r} is none of {", ".join(words)}')
    return Settings(**values | {'action': Action(values['action'])})
