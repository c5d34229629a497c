# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Rigid-body dynamics of robots from their URDF, and torque feedforward on ROS 2 built on it."""

from .errors import InputError, RneaError, UnknownNameError, UrdfError, UrdfWarning
from .robot import RobotModel
from .wrench import Wrench

__all__ = [
    'InputError',
    'RneaError',
    'RobotModel',
    'UnknownNameError',
    'UrdfError',
    'UrdfWarning',
    'Wrench',
]
