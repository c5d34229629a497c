# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Trajectories: request, parse, compile, constraints, spline, reference."""

from .compile import check_start, compile_trajectory
from .controller_state import ControllerStateError, ControllerStateMonitor, ReferenceSource
from .reference import Reference
from .request import Array, Column, TrajectoryPoint, TrajectoryRequest
from .rules import JointRules, StartFrom, TrajectoryError, TrajectoryReason
from .speed_scaling import ScalingUnit, SpeedScaling, speed_factor
from .spline import CUBIC, LINEAR, QUINTIC, Knots, turning_points, values_at
from .trajectory import MotionState, Setpoint, States, Trajectory, derivative, states_in

__all__ = [
    'CUBIC',
    'LINEAR',
    'QUINTIC',
    'Array',
    'Column',
    'ControllerStateError',
    'ControllerStateMonitor',
    'JointRules',
    'Knots',
    'MotionState',
    'Reference',
    'ReferenceSource',
    'ScalingUnit',
    'Setpoint',
    'SpeedScaling',
    'StartFrom',
    'States',
    'Trajectory',
    'TrajectoryError',
    'TrajectoryPoint',
    'TrajectoryReason',
    'TrajectoryRequest',
    'check_start',
    'compile_trajectory',
    'derivative',
    'speed_factor',
    'states_in',
    'turning_points',
    'values_at',
]
