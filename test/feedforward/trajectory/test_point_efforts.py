# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Efforts of a trajectory's points: always checked, added to the output on request."""

from dataclasses import replace
import math

import numpy as np
import pytest

from rnea_ros.feedforward.law import LAWS, ControlLaw, Gravity
from rnea_ros.feedforward.trajectory import (
    JointRules,
    MotionState,
    Reference,
    Setpoint,
    Trajectory,
    TrajectoryPoint,
)
from support.control.control_rig import Array, Rig, free_rules, two_joint_arm
from support.control.requested_motions import motion_of

NAMES = ('shoulder', 'elbow')
AT_REST = (0.0, 0.0)
USED = free_rules(NAMES, allow_partial_joints_goal=True, use_trajectory_effort=True)
UNUSED = replace(USED, use_trajectory_effort=False)

EFFORTS = ((1.0, -2.0), (3.0, 0.0), (-5.0, 4.0))
TIMES = (0.0, 1.0, 3.0)


def point(time: float, *effort: float) -> TrajectoryPoint:
    return TrajectoryPoint(time, AT_REST, AT_REST, (), effort)


POINTS = [point(time, *effort) for time, effort in zip(TIMES, EFFORTS, strict=True)]
STATE = {'names': NAMES, 'position': AT_REST, 'velocity': AT_REST}


def compiled(points: list[TrajectoryPoint], rules: JointRules = USED) -> Trajectory | Setpoint:
    return motion_of(points, rules, names=NAMES, position=AT_REST, velocity=AT_REST)


def effort(motion: Trajectory | Setpoint, time: float) -> list[float]:
    state = motion.state if isinstance(motion, Setpoint) else motion.state(time)
    return list(state.effort.tolist())


def test_efforts_are_linear_between_the_points_and_0_outside() -> None:
    motion = compiled(POINTS)
    for time in np.linspace(0.0, math.nextafter(3.0, 0.0), 31):
        expected = [np.interp(time, TIMES, values) for values in zip(*EFFORTS, strict=True)]
        np.testing.assert_allclose(effort(motion, time), expected, rtol=1e-9, atol=1e-10)
    for time in (-1.0, -1e-9, 3.0, 1e6, math.inf, math.nan):
        assert effort(motion, time) == [0.0, 0.0]
    for none in (compiled(POINTS, UNUSED), compiled([point(0.0), point(1.0)])):
        assert effort(none, 0.5) == [0.0, 0.0]


def test_efforts_go_by_joint_name_and_joints_left_out_have_none() -> None:
    points = [TrajectoryPoint(t, (0.0,), (0.0,), (), (2.0 + 2.0 * t,)) for t in (0.0, 1.0)]
    motion = motion_of(points, USED, **STATE | {'names': ('elbow',)})
    assert effort(motion, 0.5) == [0.0, 3.0]


def test_efforts_of_the_bridge_begin_at_0_or_at_the_desired_effort() -> None:
    ahead = [point(2.0, 4.0, -4.0), point(3.0, 0.0, 0.0)]
    assert effort(compiled(ahead), 1.0) == [2.0, -2.0]
    desired = MotionState.at_rest(np.zeros(2))._replace(effort=np.array([2.0, 2.0]))
    rules = replace(USED, interpolate_from_desired_state=True)
    motion = motion_of(ahead, rules, **STATE, desired=desired)
    assert effort(motion, 0.0) == [2.0, 2.0]
    assert effort(motion, 1.0) == [3.0, -1.0]


@pytest.mark.parametrize('end', ['over', 'held', 'cleared'])
def test_no_effort_outlives_its_motion(end: str) -> None:
    for motion in (compiled(POINTS), compiled([point(0.0, 3.0, 0.0)])):
        reference = Reference(2, setpoint_timeout=1.5)
        reference.accept(motion, None)
        reference.advance(5.0)
        reference.advance(6.0)
        assert reference.effort.tolist() == [3.0, 0.0]
        if end == 'held':
            reference.hold(np.zeros(2))
        elif end == 'cleared':
            reference.clear()
        reference.advance(6.1 if end != 'over' else 8.0)
        assert not reference.effort.any()
    assert effort(compiled([point(0.0, 1.5, -2.5)], UNUSED), 0.0) == [0.0, 0.0]


def follow(rig: Rig, motion: Trajectory | Setpoint, seconds: float) -> Array:
    rig.controller.follow(motion, None)
    rig.run(seconds)
    return rig.commands[-1]


@pytest.mark.parametrize('mode', [mode for mode in LAWS.values() if mode is not Gravity])
def test_efforts_are_added_to_the_output_in_a_term_of_their_own(mode: type[ControlLaw]) -> None:
    rig = Rig(two_joint_arm(), mode=mode, kp=(20.0,), kd=(2.0,), ramp_duration=0.1)
    rig.q[:] = (0.03, -0.02)
    rig.activate()
    before = follow(rig, compiled([point(0.0)]), 0.15)
    command = follow(rig, compiled([point(0.0, 1.5, -2.5)]), 0.15)
    np.testing.assert_allclose(command - before, (1.5, -2.5), rtol=1e-9, atol=1e-10)
    terms = rig.controller.terms()
    assert terms.trajectory.tolist() == [1.5, -2.5]
    np.testing.assert_allclose(terms.total(), command, rtol=1e-9, atol=1e-9)
    rig.run(0.3)
    assert not rig.controller.terms().trajectory.any()
    np.testing.assert_allclose(rig.commands[-1], before, rtol=1e-9, atol=1e-9)
    rig.controller.follow(compiled(POINTS), None)
    rig.run(0.1)
    rig.change(mode=Gravity)
    rig.run(0.3)
    np.testing.assert_allclose(rig.commands[-1], rig.gravity, rtol=1e-9)
    assert not rig.controller.terms().trajectory.any()
