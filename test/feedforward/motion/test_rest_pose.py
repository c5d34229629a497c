# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The way to the rest pose: smooth from any state, within limits, and without collisions."""

from typing import Any

import numpy as np
import pytest

from rnea_ros.collision import collision_model
from rnea_ros.errors import InputError
from rnea_ros.feedforward.motion import MotionState, RestError, RestPose
from support.control.control_rig import Array, free_rules, two_joint_arm
from support.models.robots import ROOT, load

JOINTS = np.arange(2)
LOWER, UPPER = np.array([-2.0, -np.inf]), np.array([2.0, np.inf])
RULES = free_rules(
    ('shoulder', 'elbow'), lower=LOWER, upper=UPPER, continuous=np.array([False, True]),
    velocity_limits=np.array([2.0, 0.3]), acceleration_limits=np.array([1.0, 100.0]),
)
SPEEDS = np.array([0.5, 0.3])


def rest_pose(*position: float, speed: float = 0.5) -> RestPose:
    return RestPose.of(position, speed, RULES, two_joint_arm(), JOINTS, None)


def sampled(pose: RestPose, state: MotionState) -> tuple[Array, Array]:
    """Return times, and position, velocity and acceleration, (3, times, joints), of the way."""
    motion = pose.motion(state)
    times = np.arange(0.0, motion.duration + 0.1, 1e-3)
    return times, np.array([motion.state(time)[:3] for time in times]).swapaxes(0, 1)


def test_the_way_is_smooth_from_any_state_and_within_all_limits() -> None:
    rng, pose = np.random.default_rng(51), rest_pose(0.5, 9.0)
    for _ in range(50):
        q = np.array([rng.uniform(-1.0, 1.0), rng.uniform(-9.0, 9.0)])
        qd, qdd = rng.uniform(-1.0, 1.0, (2, 2))
        state = MotionState(q, qd, qdd, np.zeros(2))
        times, (q, qd, qdd) = sampled(pose, state)
        for start, value in zip((q, qd, qdd), state[:3], strict=True):
            np.testing.assert_allclose(start[0], value, atol=1e-9)
        # With jerks below 60 the trapezoidal rule is exact to 60 dt^2.
        for value, rate in ((q, qd), (qd, qdd)):
            change = np.diff(value, axis=0) - 0.5e-3 * (rate[1:] + rate[:-1])
            assert np.abs(change).max() < 1e-3 * 60e-3
        assert np.abs(np.diff(qdd, axis=0)).max() < 60e-3
        assert (np.abs(qd[times > 1.0]) <= SPEEDS + 1e-9).all()
        assert (np.abs(q[:, 0]) <= 2.0).all()
        assert np.abs(qdd[times > 1.0, 0]).max() <= 1.0 + 1e-9
        turns = (q[-1] - pose.position) / (2.0 * np.pi)
        np.testing.assert_allclose(turns, [0.0, round(turns[1])], atol=1e-9)
        assert not np.any((qd[-1], qdd[-1]))
        assert abs(q[-1, 1] - state.position[1]) < np.pi + 0.3


def test_a_joint_that_speeds_up_does_not_exceed_its_greatest_velocity() -> None:
    for speed, acceleration in ((1.8, 10.0), (1.95, 5.0), (2.0, 0.5), (-1.8, -10.0)):
        state = MotionState(*np.outer((0.0, speed, acceleration, 0.0), (1.0, 0.0)))
        _, (_, qd, qdd) = sampled(rest_pose(0.0, 0.0), state)
        assert np.abs(qd[:, 0]).max() < 1.01 * 2.0
        assert np.abs(qdd[:, 0]).max() < 13.0


def test_a_joint_that_moves_towards_its_limit_stops_before_it() -> None:
    state = MotionState(np.array([1.9, 0.0]), np.array([1.0, 0.0]), *np.zeros((2, 2)))
    _, (q, _, _) = sampled(rest_pose(0.0, 0.0), state)
    assert 1.9 < q[:, 0].max() <= 2.0 + 1e-9


def test_a_long_way_takes_its_length_by_the_speed_and_a_ramp() -> None:
    here = MotionState.at_rest(np.zeros(2))
    assert rest_pose(1.6, 0.0).motion(here).duration == pytest.approx(1.6 / 0.5 + 0.75, abs=1e-5)
    assert rest_pose(0.0, 0.9).motion(here).duration == pytest.approx(0.9 / 0.3 + 0.75, abs=1e-5)


@pytest.mark.parametrize(('position', 'said'), [
    ((0.0,), r'rest_pose: \[0.0\] has 1 values, not one for each of shoulder, elbow; \[0.0\] is'),
    ((2.1, 0.0), r"rest_pose: joint 'shoulder': 2.1 is not in \[-2, 2\]"),
    ((np.nan, 0.0), r"rest_pose: joint 'shoulder': nan is not in"),
])
def test_a_pose_that_the_arm_cannot_have_is_rejected(position: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        rest_pose(*position)


def test_collisions_at_the_pose_and_on_the_way_are_rejected_by_name() -> None:
    pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')
    model = load(ROOT / 'urdf/ur5e.urdf')
    rules, joints, collisions = free_rules(model.joint_names), np.arange(6), collision_model(model)
    above, below = np.array([[0.0, -1.1, 2.7, 2.9, 0.8, 0.0], [0.0, -1.1, 2.7, -1.6, 1.4, 0.0]])

    def pose(position: Array) -> RestPose:
        return RestPose.of(position.tolist(), 0.5, rules, model, joints, collisions)

    # The wrist is on the other side of the upper arm, which is in its way.
    pair = 'upper_arm_link and wrist_3_link collide, [34]. mm deep'
    with pytest.raises(InputError, match=f'^rest_pose: {pair}; change the pose'):
        pose(0.5 * (above + below))
    rest = pose(below)
    for start, collides in ((below + 0.1, False), (above, True)):
        motion = rest.motion(MotionState.at_rest(start))
        if collides:
            with pytest.raises(RestError, match=f'^on the way {pair}'):
                rest.check(motion, np.full(6, np.nan))
        else:
            rest.check(motion, np.full(6, np.nan))
