# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Desired motions: from a trajectory message, or a controller's state, to the state followed now.

A trajectory passes these modules once, in this order: :mod:`.request`, :mod:`.parse`,
:mod:`.compile`, :mod:`.upsampling`, :mod:`.spline`, :mod:`.trajectory`, :mod:`.constraints`,
:mod:`.join` (only to replace an active trajectory), :mod:`.reference`, :mod:`.deceleration` (only
after a cancel). :mod:`.goals` judges the robot by it.
"""

from .compile import compile_trajectory
from .constraints import check_start
from .controller_state import ControllerStateMonitor, ReferenceSource
from .deceleration import Deceleration
from .goals import (
    ErrorCode,
    Goal,
    GoalResult,
    GoalSample,
    JointTolerance,
    Tolerances,
    default_tolerances,
    error_code,
)
from .join import Handover
from .reference import Reference
from .request import Column, Header, TrajectoryPoint, TrajectoryRequest
from .rules import Interpolation, JointRules, TrajectoryError, TrajectoryReason
from .speed_scaling import SpeedScaling
from .spline import CUBIC, LINEAR, QUINTIC, Knots, turning_points, values_at
from .trajectory import MotionState, Setpoint, States, Trajectory, derivative, states_in

__all__ = [
    'CUBIC', 'LINEAR', 'QUINTIC', 'Column', 'ControllerStateMonitor', 'Deceleration', 'ErrorCode',
    'Goal', 'GoalResult', 'GoalSample', 'Handover', 'Header', 'Interpolation', 'JointRules',
    'JointTolerance', 'Knots', 'MotionState', 'Reference', 'ReferenceSource', 'Setpoint',
    'SpeedScaling', 'States', 'Tolerances', 'Trajectory', 'TrajectoryError', 'TrajectoryPoint',
    'TrajectoryReason', 'TrajectoryRequest', 'check_start', 'compile_trajectory',
    'default_tolerances', 'derivative', 'error_code', 'states_in', 'turning_points', 'values_at',
]
