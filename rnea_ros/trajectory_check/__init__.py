# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Check of a trajectory before it moves a robot; no ROS."""

from .check import RATE, TrajectoryCheck, check
from .limits import Quantity, TrajectoryLimits
from .motion import Bound
from .report import picture, report

__all__ = [
    'RATE', 'Bound', 'Quantity', 'TrajectoryCheck', 'TrajectoryLimits', 'check', 'picture',
    'report'
]
