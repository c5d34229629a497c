# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Goals of motions: tolerances, and the judgement of the robot at each tick."""

from .goal import ErrorCode, Goal, GoalResult, GoalSample, error_code
from .tolerances import JointTolerance, Tolerances, default_tolerances

__all__ = [
    'ErrorCode',
    'Goal',
    'GoalResult',
    'GoalSample',
    'JointTolerance',
    'Tolerances',
    'default_tolerances',
    'error_code',
]
