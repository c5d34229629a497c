# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Whether a robot can follow a trajectory, told before anything moves.

Without ROS. To read: :mod:`.limits`, :mod:`.compiling`, :mod:`.peaks`, :mod:`.efforts`,
:mod:`.time_scaling`, :mod:`.traps`, :mod:`.report`; :mod:`.check` puts them together.
"""

from .check import RATE, TrajectoryCheck, check
from .limits import Limits, Quantity
from .picture import picture
from .report import report

__all__ = [
    'RATE',
    'Limits',
    'Quantity',
    'TrajectoryCheck',
    'check',
    'picture',
    'report',
]
