# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Efforts of a trajectory's points: always checked, added to the output on request."""

from dataclasses import replace
import math

import numpy as np
import pytest

from rnea_ros.feedforward.law import LAWS, ControlLaw, Feedforward, Gravity
from rnea_ros.feedforward.trajectory import (
    JointRules,
    MotionState,
    Reference,
    Setpoint,
    Trajectory,
    TrajectoryError,
    TrajectoryPoint,
    TrajectoryRequest,
    compile_trajectory,
)
from support.control.control_rig import Array, Rig, two_joint_arm

NAMES = ('shoulder', 'elbow')
AT_REST = (0.0, 0.0)
USED = JointRules(
    joint_names=NAMES, lower=np.full(2, -3.0), upper=np.full(2, 3.0),
    continuous=np.zeros(2, dtype=np.bool_), velocity_limits=np.full(2, 5.0), start_tolerance=0.1,
    allow_partial_joints_goal=True, use_trajectory_effort=True,
)
UNUSED = replace(USED, use_trajectory_effort=False)

EFFORTS = ((1.0, -2.0), (3.0, 0.0), (-5.0, 4.0))
TIMES = (0.0, 1.0, 3.0)


def point(time: float, effort: tuple[float, ...] = (), q: float = 0.0) -> TrajectoryPoint:
    return TrajectoryPoint(time, (q, q), AT_REST, (), effort)


def points() -> list[TrajectoryPoint]:
    return [point(*values) for values in zip(TIMES, EFFORTS, strict=True)]


def compiled(
    requested: list[TrajectoryPoint], rules: JointRules = USED, names: tuple[str, ...] = NAMES,
    desired: MotionState | None = None,
) -> Trajectory | Setpoint:
    return compile_trajectory(
        TrajectoryRequest.of_points(names, requested), rules, now=0.0, position=AT_REST,
        velocity=AT_REST, desired=desired,
    )


def effort(motion: Trajectory | Setpoint, time: float) -> list[float]:
    state = motion.state if isinstance(motion, Setpoint) else motion.state(time)
    return list(state.effort.tolist())


@pytest.mark.parametrize('rules', [USED, UNUSED], ids=['used', 'unused'])
@pytest.mark.parametrize(('efforts', 'message'), [
    ((1.0,), 'wrong_size, point 1'), ((1.0, 2.0, 3.0), 'wrong_size, point 1'),
    ((1.0, math.nan), "not_finite, point 1, joint 'elbow'"),
    ((math.inf, 1.0), "not_finite, point 1, joint 'shoulder'"),
    ((), 'efforts_incomplete, point 1'),
])
def test_efforts_are_checked_whether_they_are_used_or_not(
    rules: JointRules, efforts: tuple[float, ...], message: str
) -> None:
    requested = points()
    requested[1] = point(1.0, efforts)
    with pytest.raises(TrajectoryError) as caught:
        compiled(requested, rules)
    assert str(caught.value).startswith(message)


def test_efforts_are_linear_between_the_points() -> None:
    motion = compiled(points())
    for time in np.linspace(0.0, math.nextafter(3.0, 0.0), 31):
        expected = [np.interp(time, TIMES, values) for values in zip(*EFFORTS, strict=True)]
        np.testing.assert_allclose(effort(motion, time), expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize('time', [-1.0, 3.0, 3.1, 1e6, math.inf, math.nan])
def test_efforts_are_0_before_the_first_point_and_from_the_last_on(time: float) -> None:
    assert effort(compiled(points()), time) == [0.0, 0.0]


def test_efforts_are_0_if_unused_or_absent() -> None:
    for motion in (compiled(points(), UNUSED), compiled([point(0.0), point(1.0)])):
        assert effort(motion, 0.5) == [0.0, 0.0]


def test_efforts_go_by_joint_name_and_joints_left_out_have_none() -> None:
    def one(time: float, value: float) -> TrajectoryPoint:
        return TrajectoryPoint(time, (0.0,), (0.0,), (), (value,))

    motion = compiled([one(0.0, 2.0), one(1.0, 4.0)], names=('elbow',))
    assert effort(motion, 0.5) == [0.0, 3.0]


def test_efforts_of_the_bridge_begin_at_0_or_at_the_desired_effort() -> None:
    ahead = [point(2.0, (4.0, -4.0)), point(3.0, AT_REST)]
    assert effort(compiled(ahead), 1.0) == [2.0, -2.0]
    desired = MotionState.at_rest(np.zeros(2))._replace(effort=np.array([2.0, 2.0]))
    motion = compiled(ahead, replace(USED, interpolate_from_desired_state=True), desired=desired)
    assert effort(motion, 0.0) == [2.0, 2.0]
    assert effort(motion, 1.0) == [3.0, -1.0]


def test_a_set_point_has_its_effort_until_its_timeout() -> None:
    motion = compiled([point(0.0, (1.5, -2.5))])
    assert isinstance(motion, Setpoint)
    reference = Reference(2, setpoint_timeout=0.2)
    reference.accept(motion, None)
    reference.advance(5.0)
    assert reference.effort.tolist() == [1.5, -2.5]
    reference.advance(5.3)
    assert not reference.effort.any()
    unused = compiled([point(0.0, (1.5, -2.5))], UNUSED)
    assert effort(unused, 0.0) == [0.0, 0.0]


@pytest.mark.parametrize('end', ['over', 'held', 'cleared'])
def test_no_effort_outlives_its_motion(end: str) -> None:
    motion = compiled(points())
    reference = Reference(2, setpoint_timeout=0.2)
    reference.accept(motion, None)
    reference.advance(5.0)
    reference.advance(6.0)
    assert reference.effort.tolist() == [3.0, 0.0]
    if end == 'held':
        reference.hold(np.zeros(2))
    elif end == 'cleared':
        reference.clear()
    reference.advance(6.5 if end != 'over' else 8.0)
    assert not reference.effort.any()


def follow(rig: Rig, motion: Trajectory | Setpoint, seconds: float) -> Array:
    rig.controller.follow(motion, None)
    rig.run(seconds)
    return rig.commands[-1]


@pytest.mark.parametrize('mode', [mode for mode in LAWS.values() if mode is not Gravity])
def test_efforts_are_added_to_the_output_in_a_term_of_their_own(mode: type[ControlLaw]) -> None:
    rig = Rig(two_joint_arm(), mode=mode, kp=(20.0,), kd=(2.0,), ramp_duration=0.1)
    names = rig.model.joint_names
    assert names == NAMES
    rig.q[:] = (0.03, -0.02)
    rig.activate()
    before = follow(rig, compiled([point(0.0)]), 0.15)
    with_effort = compiled([point(0.0, (1.5, -2.5))])
    command = follow(rig, with_effort, 0.15)
    np.testing.assert_allclose(command - before, (1.5, -2.5), rtol=1e-9, atol=1e-10)
    terms = rig.controller.terms()
    assert terms.trajectory.tolist() == [1.5, -2.5]
    np.testing.assert_allclose(terms.total(), command, rtol=1e-9, atol=1e-9)
    rig.run(0.3)
    assert not rig.controller.terms().trajectory.any()
    np.testing.assert_allclose(rig.commands[-1], before, rtol=1e-9, atol=1e-9)


def test_mode_gravity_adds_no_effort() -> None:
    rig = Rig(two_joint_arm(), mode=Feedforward, ramp_duration=0.1)
    rig.activate()
    rig.controller.follow(compiled(points()), None)
    rig.run(0.5)
    rig.change(mode=Gravity)
    rig.run(0.3)
    np.testing.assert_allclose(rig.commands[-1], rig.gravity, rtol=1e-9)
    assert not rig.controller.terms().trajectory.any()
