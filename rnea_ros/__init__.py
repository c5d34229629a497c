# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Rigid-body dynamics of robots from their URDF, and torque feedforward on ROS 2 built on it."""

from .errors import (
    InputError,
    RneaError,
    SingularityError,
    UnknownNameError,
    UrdfError,
    UrdfWarning,
)
from .robot import BaseMotion, ReferenceFrame, RobotModel, Wrench
from .simulation import simulate

__all__ = [
    'BaseMotion',
    'InputError',
    'ReferenceFrame',
    'RneaError',
    'RobotModel',
    'SingularityError',
    'UnknownNameError',
    'UrdfError',
    'UrdfWarning',
    'Wrench',
    'simulate',
]
