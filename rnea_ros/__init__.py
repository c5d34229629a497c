# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Rigid-body dynamics of robots from their URDF, and torque feedforward on ROS 2 built on it.

The dynamics are imported at their first use, so that a process without dynamics, such as the
watchdog, does not load compiled code.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import (
    InputError,
    LoopClosureError,
    RneaError,
    SingularityError,
    UnknownNameError,
    UrdfError,
    UrdfWarning,
)

if TYPE_CHECKING:
    from .robot import BaseMotion, ReferenceFrame, RobotModel, Wrench
    from .simulation import simulate

__all__ = [
    'BaseMotion', 'InputError', 'LoopClosureError', 'ReferenceFrame', 'RneaError', 'RobotModel',
    'SingularityError', 'UnknownNameError', 'UrdfError', 'UrdfWarning', 'Wrench', 'simulate',
]

_MODULES = {
    'BaseMotion': '.robot',
    'ReferenceFrame': '.robot',
    'RobotModel': '.robot',
    'Wrench': '.robot',
    'simulate': '.simulation',
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    value = getattr(import_module(_MODULES[name], __name__), name)
    globals()[name] = value  # the next use does not call this function
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
