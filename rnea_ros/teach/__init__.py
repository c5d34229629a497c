# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Motions taught by hand; no ROS.

:func:`.demonstration` checks and trims recorded joint states, :func:`.smoothed` makes a motion of
them, :func:`.through` joins poses, :mod:`.timing` keeps the limits.
"""

from .demonstration import Demonstration, TeachError, demonstration
from .smoothing import Taught, picture, report, smoothed
from .timing import MotionLimits, distinct, through

__all__ = [
    'Demonstration', 'MotionLimits', 'Taught', 'TeachError', 'demonstration', 'distinct',
    'picture', 'report', 'smoothed', 'through'
]
