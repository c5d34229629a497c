# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Moved to :mod:`rnea_ros.feedforward.motion`."""

from ..moved import moved
from . import motion

_OF_TRAJECTORIES = (
    'Handover', 'States', 'derivative', 'states_in', 'turning_points', 'values_at',
)

__getattr__ = moved(__name__, {
    **dict.fromkeys(motion.__all__, '.motion'),
    **dict.fromkeys(('GoalResult', 'GoalSample', 'JointTolerance'), '.motion.goals'),
    **dict.fromkeys(_OF_TRAJECTORIES, '.motion.trajectory'), 'Header': '.motion.parse',
})
