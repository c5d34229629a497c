# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Desired motions: from a request, or a controller's state, to the state followed now."""

from .compile import check_start, compile_trajectory
from .controller_state import ControllerStateMonitor, ReferenceSource
from .goals import ErrorCode, Goal, Tolerances, default_tolerances, error_code
from .motions import Motions
from .online import Deceleration, MotionError, MotionLimits, has_ruckig, motion_to
from .parse import (
    Column,
    Interpolation,
    JointRules,
    TrajectoryError,
    TrajectoryPoint,
    TrajectoryReason,
    TrajectoryRequest,
)
from .reference import Reference, SpeedScaling, predicted
from .rest import NO_POSE, RestError, RestPose
from .stream import Shaping, StreamSettings, StreamShaper
from .trajectory import CUBIC, LINEAR, QUINTIC, Knots, MotionState, Setpoint, Trajectory

__all__ = [
    'CUBIC', 'LINEAR', 'NO_POSE', 'QUINTIC', 'Column', 'ControllerStateMonitor', 'Deceleration',
    'ErrorCode', 'Goal', 'Interpolation', 'JointRules', 'Knots', 'MotionError', 'MotionLimits',
    'MotionState', 'Motions', 'Reference', 'ReferenceSource', 'RestError', 'RestPose', 'Setpoint',
    'Shaping', 'SpeedScaling', 'StreamSettings', 'StreamShaper', 'Tolerances', 'Trajectory',
    'TrajectoryError', 'TrajectoryPoint', 'TrajectoryReason', 'TrajectoryRequest', 'check_start',
    'compile_trajectory', 'default_tolerances', 'error_code', 'has_ruckig', 'motion_to',
    'predicted',
]
