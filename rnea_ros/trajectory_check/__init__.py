# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Check of a trajectory before it moves a robot; no ROS.

:func:`.check` uses, in this order: :mod:`.limits`, :mod:`.compiling`, :mod:`.peaks`,
:mod:`.efforts`, :mod:`.time_scaling`, :mod:`.collisions`, :mod:`.traps`. :mod:`.report` and
:mod:`.picture` show the result.
"""

from .check import RATE, TrajectoryCheck, check
from .limits import Quantity, TrajectoryLimits
from .picture import picture
from .report import report
from .time_scaling import Bound

__all__ = [
    'RATE', 'Bound', 'Quantity', 'TrajectoryCheck', 'TrajectoryLimits', 'check', 'picture',
    'report'
]
