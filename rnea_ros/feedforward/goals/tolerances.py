# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Tolerances of a goal: defaults from parameters, replaced by what the goal states.

Values mean the same as in ros2_control's joint_trajectory_controller (JTC). In a goal, 0 is the
default and -1 is no limit; every other negative value is invalid. In a parameter, 0 is no limit.
JTC executes a goal with invalid tolerances with the defaults; this module rejects it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
import math
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...errors import RequestRejectedError

NO_LIMIT = -1.0
"""Value in a goal that stands for no limit."""

_NO_LIMIT_ROUNDING = float(np.finfo(np.float32).eps)


class JointTolerance(NamedTuple):
    """
    The tolerance that a goal states for one joint, as in ``control_msgs/JointTolerance``.

    :param name: name of the joint
    :param position: rad or m
    :param velocity: rad/s or m/s
    :param acceleration: checked, but not applied: no acceleration is measured
    """

    name: str
    position: float
    velocity: float
    acceleration: float


@dataclass(frozen=True, eq=False)
class Tolerances:
    """
    Greatest errors of positions (row 0) and velocities (row 1), ``inf`` for no limit.

    :param joints: the commanded joints, m of them
    :param path: while the motion lasts, shape (2, m), rad or m, rad/s or m/s
    :param goal: from the end of the motion on, shape (2, m)
    :param goal_time: longest time after the end until the robot is within ``goal``, s
    """

    joints: tuple[str, ...]
    path: Array
    goal: Array
    goal_time: float

    def stated(
        self,
        path: Sequence[JointTolerance],
        goal: Sequence[JointTolerance],
        goal_time: float,
    ) -> Tolerances:
        """
        Return these tolerances with those that a goal states.

        :param path: tolerances while the motion lasts
        :param goal: tolerances from its end on
        :param goal_time: s
        :raises RequestRejectedError: an unknown joint, or an invalid value
        """
        return replace(
            self,
            path=self._table('path_tolerance', self.path, path),
            goal=self._table('goal_tolerance', self.goal, goal),
            goal_time=_resolve('goal_time_tolerance', self.goal_time, goal_time),
        )

    def _table(self, field: str, default: Array, stated: Sequence[JointTolerance]) -> Array:
        table = default.copy()
        for joint, *values in stated:
            if joint not in self.joints:
                raise _invalid(f'{field}: {joint!r} is not one of {self.joints}')
            column = self.joints.index(joint)
            for row, kind in enumerate(('position', 'velocity')):
                where = f'{field} of {joint!r}: {kind}'
                table[row, column] = _resolve(where, default[row, column], values[row])
            _resolve(f'{field} of {joint!r}: acceleration', math.inf, values[2])
        return table


def default_tolerances(
    joints: tuple[str, ...],
    path: Mapping[str, float],
    goal: Mapping[str, float],
    stopped_velocity: float,
    goal_time: float,
) -> Tolerances:
    """
    Return the tolerances of goals that state none; 0 is no limit everywhere.

    :param joints: the commanded joints
    :param path: greatest position errors while a motion lasts by joint, rad or m
    :param goal: greatest position errors from its end on by joint, rad or m
    :param stopped_velocity: greatest velocity from its end on, rad/s or m/s
    :param goal_time: longest time after the end until the robot is within ``goal``, s
    """
    limits = np.zeros((2, 2, len(joints)))
    limits[0, 0] = [path.get(joint, 0.0) for joint in joints]
    limits[1, 0] = [goal.get(joint, 0.0) for joint in joints]
    limits[1, 1] = stopped_velocity
    limits[limits == 0.0] = np.inf
    return Tolerances(joints, limits[0], limits[1], goal_time or math.inf)


def _resolve(where: str, default: float, stated: float) -> float:
    if stated > 0.0:
        return stated
    if stated == 0.0:
        return default
    if abs(stated - NO_LIMIT) < _NO_LIMIT_ROUNDING:
        return math.inf
    raise _invalid(f'{where} {stated:g} is none of: above 0, 0 (the default), -1 (no limit)')


def _invalid(detail: str) -> RequestRejectedError:
    return RequestRejectedError('invalid_tolerance', detail)
