# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The robot model: words in, arrays out. The public face of the dynamics library."""

from .base_motion import BaseMotion
from .dynamics import ExternalWrenches
from .model import RobotModel
from .names import STANDARD_GRAVITY, Array
from .payload import Payload
from .wrench import ReferenceFrame, Wrench

__all__ = [
    'STANDARD_GRAVITY',
    'Array',
    'BaseMotion',
    'ExternalWrenches',
    'Payload',
    'ReferenceFrame',
    'RobotModel',
    'Wrench',
]
