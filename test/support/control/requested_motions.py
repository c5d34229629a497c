# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Requests of trajectories for an arm of three joints, compiled or rejected."""

from collections.abc import Sequence
import math
from typing import Any

import numpy as np
import pytest

from rnea_ros.feedforward.motion import (
    JointRules,
    Setpoint,
    Trajectory,
    TrajectoryError,
    TrajectoryPoint,
    TrajectoryRequest,
    compile_trajectory,
)
from support.control.control_rig import Array, free_rules

NAMES = ('shoulder', 'elbow', 'wrist')
AT_REST = (0.0, 0.0, 0.0)

RULES = JointRules(
    joint_names=NAMES, lower=np.array([-2.0, -1.0, -math.inf]),
    upper=np.array([2.0, 1.0, math.inf]), continuous=np.array([False, False, True]),
    velocity_limits=np.full(3, math.inf), start_tolerance=0.1,
)
"""Shoulder and elbow limited to 2 and 1 rad, a continuous wrist, starts within 0.1 rad."""

FREE = free_rules(NAMES, allow_nonzero_velocity_at_trajectory_end=True)

VALID = (
    TrajectoryPoint(0.0, AT_REST, AT_REST),
    TrajectoryPoint(1.0, (0.3, 0.2, 0.1), (0.3, 0.2, 0.1)),
    TrajectoryPoint(2.0, (0.6, 0.4, 0.2), AT_REST),
)
"""Three points from rest at 0 to rest, the middle one with a velocity."""


def motion_of(
    points: Sequence[TrajectoryPoint], rules: Any = RULES, **given: Any
) -> Trajectory | Setpoint:
    """Compile points, by default of all joints, at time 0, at rest at 0."""
    state: dict[str, Any] = {
        'names': NAMES, 'start_time': None, 'now': 0.0, 'position': AT_REST, 'velocity': AT_REST,
    }
    state |= given
    request = TrajectoryRequest.of_points(state.pop('names'), points, state.pop('start_time'))
    return compile_trajectory(request, rules, **state)


def compiled(
    points: Sequence[TrajectoryPoint], rules: Any = RULES, **state: Any
) -> Trajectory:
    motion = motion_of(points, rules, **state)
    assert isinstance(motion, Trajectory)
    return motion


def rejection(
    points: Sequence[TrajectoryPoint], rules: Any = RULES, **state: Any
) -> tuple[str, str | None, int | None]:
    """Return reason, joint and point of the rejection; each is in its message."""
    with pytest.raises(TrajectoryError) as caught:
        motion_of(points, rules, **state)
    error = caught.value
    assert str(error).startswith(error.reason.value)
    assert error.joint is None or f'joint {error.joint!r}' in str(error)
    assert error.point is None or f'point {error.point}' in str(error)
    return error.reason.value, error.joint, error.point


def sampled(motion: Trajectory, time: float) -> Array:
    """Return position, velocity and acceleration, shape (3, joints)."""
    return np.array(motion.state(time)[:3])
