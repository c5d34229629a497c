# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The robot model: the public face of the dynamics library."""

from .base_motion import BaseMotion
from .builder import link_inertia
from .model import RobotModel
from .model_data import STANDARD_GRAVITY
from .payload import Payload
from .wrench import ExternalWrenches, ReferenceFrame, Wrench

__all__ = [
    'STANDARD_GRAVITY',
    'BaseMotion',
    'ExternalWrenches',
    'Payload',
    'ReferenceFrame',
    'RobotModel',
    'Wrench',
    'link_inertia',
]
