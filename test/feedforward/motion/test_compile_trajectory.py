# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The compiled motion of valid requests: start, bridge, end, turns, efforts."""

from dataclasses import replace
import math
from typing import Any

import numpy as np
import pytest

from rnea_ros.feedforward.motion import (
    JointRules,
    MotionState,
    Reference,
    Setpoint,
    Trajectory,
    TrajectoryPoint,
)
from support.control.control_rig import free_rules
from support.control.requested_motions import (
    AT_REST,
    NAMES,
    RULES,
    VALID,
    compiled,
    motion_of,
    rejection,
    sampled,
)

Point = TrajectoryPoint
TURN = 2.0 * math.pi

DESIRED = MotionState(
    np.array((0.3, 0.2, 0.1)), np.array((0.5, -0.5, 0.2)), np.array((0.7, 0.9, 0.4)), np.zeros(3)
)
MEASURED: dict[str, Any] = {'position': (0.02, -0.03, 0.0), 'velocity': (0.1, 0.2, 0.3)}
FROM_DESIRED: dict[str, Any] = {
    'rules': replace(RULES, interpolate_from_desired_state=True), 'desired': DESIRED, **MEASURED
}
GOAL = Point(2.0, (1.0, 0.5, 2.0), AT_REST, AT_REST)


@pytest.mark.parametrize('order', [[0, 1, 2], [2, 0, 1]])
def test_a_valid_request_of_joints_in_any_order_becomes_its_motion(order: list[int]) -> None:
    points = [
        Point(point.time, np.array(point.positions)[order], np.array(point.velocities)[order])
        for point in VALID
    ]
    motion = compiled(points, names=tuple(NAMES[joint] for joint in order))
    assert (motion.joint_names, motion.start_time, motion.duration) == (NAMES, None, 2.0)
    for point in VALID:
        expected = np.array((point.positions, point.velocities))
        np.testing.assert_allclose(sampled(motion, point.time)[:2], expected, atol=1e-12)


@pytest.mark.parametrize('from_desired', [False, True])
def test_joints_left_out_hold_their_position_where_that_is_allowed(from_desired: bool) -> None:
    points = [Point(1.0, (0.5,), (0.1,), (0.2,)), Point(2.0, (1.0,), (0.0,), (0.0,))]
    rules = replace(
        RULES, interpolate_from_desired_state=from_desired, allow_partial_joints_goal=True
    )
    motion = compiled(points, **FROM_DESIRED | {'rules': rules, 'names': ('shoulder',)})
    held = DESIRED.position[1:] if from_desired else MEASURED['position'][1:]
    for time in np.linspace(0.0, 2.5, 26):
        np.testing.assert_array_equal(sampled(motion, time)[:, 1:], (held, (0, 0), (0, 0)))
    np.testing.assert_allclose(sampled(motion, 1.0)[:, 0], (0.5, 0.1, 0.2), 1e-9, 1e-10)


def test_a_final_velocity_is_accepted_where_allowed_and_ends_in_rest() -> None:
    points = [*VALID[:2], replace(VALID[2], velocities=(0.0, 0.5, 0.0))]
    motion = compiled(points, replace(RULES, allow_nonzero_velocity_at_trajectory_end=True))
    assert sampled(motion, math.nextafter(2.0, 0.0))[1, 1] == pytest.approx(0.5)
    np.testing.assert_array_equal(sampled(motion, 2.0)[1], 0.0)


def test_the_bridge_meets_the_start_state_and_the_first_point() -> None:
    """The measured state has no acceleration; it counts where no desired one is."""
    first = (0.3, 0.2, 0.1), (0.1, 0.1, 0.1), (0.2, 0.2, 0.2)
    points = [Point(1.0, *first), Point(2.0, (0.6, 0.4, 0.2), AT_REST, AT_REST)]
    measured = MEASURED['position'], MEASURED['velocity'], AT_REST
    for start, changes in (
        (DESIRED[:3], {}), (measured, {'desired': None}), (measured, {'rules': RULES}),
    ):
        motion = compiled(points, **FROM_DESIRED | changes)
        np.testing.assert_allclose(sampled(motion, 0.0), start, 1e-9, 1e-10)
        reached = sampled(motion, math.nextafter(1.0, 0.0))
        np.testing.assert_allclose(reached, first, 1e-9, 1e-10)


def test_a_trajectory_from_the_desired_state_starts_now() -> None:
    now = {'now': 100.0}
    assert compiled([GOAL], **FROM_DESIRED, **now).start_time == 100.0
    assert compiled([GOAL], **FROM_DESIRED, **now, start_time=103.0).start_time == 103.0
    assert compiled([GOAL], **FROM_DESIRED | {'desired': None}, **now).start_time is None
    near_robot = Point(0.0, MEASURED['position'], AT_REST)
    assert compiled([near_robot, GOAL], **FROM_DESIRED, **now).start_time is None
    near_desired = Point(0.0, (0.3, 0.2, 0.1), AT_REST)
    assert rejection([near_desired, GOAL], **FROM_DESIRED) == ('start_too_far', 'shoulder', 0)


def test_a_start_that_has_passed_is_joined_where_the_motion_is_now() -> None:
    whole, late = compiled(VALID), {'start_time': 100.0}
    joined = [
        compiled(VALID, **late, now=101.0, position=(0.3, 0.2, 0.1)),
        compiled(VALID[1:], **late, now=101.5, position=sampled(whole, 1.5)[0] + 0.05),
    ]
    for motion in joined:
        for time in (1.5, 1.7, 1.9):
            np.testing.assert_array_equal(sampled(motion, time), sampled(whole, time))
    start = (-0.5, 0.5, 0.0), (0.1, 0.1, 0.1)
    ahead = compiled(VALID[1:], **late, now=100.5, position=start[0], velocity=start[1])
    np.testing.assert_allclose(sampled(ahead, 0.5)[:2], start, 1e-9, 1e-10)
    np.testing.assert_allclose(sampled(ahead, 1.0)[0], (0.3, 0.2, 0.1), 1e-9, 1e-10)


# Whole turns


@pytest.mark.parametrize(('wrist', 'given', 'final'), [
    ((0.0, 0.2), {'position': (0, 0, 0.05 - 3.0 * TURN)}, 0.2 - 3.0 * TURN),
    ((0.0, 20.0), {'position': (0, 0, 2.0 * TURN)}, 20.0 + 2.0 * TURN),  # turns within it stay
    ((0.0, 20.0), {'position': (0, 0, 10.0 - TURN), 'start_time': 100.0, 'now': 105.0},
     20.0 - TURN),
    ((0.0, 2.0), FROM_DESIRED | {'desired': DESIRED._replace(
        position=np.array((0.3, 0.2, 0.1 + 2.0 * TURN)))}, 2.0 + 2.0 * TURN),
    # Half a turn away goes the requested way; 1e-10, so that rounding does not decide.
    *(((0.3 + side * (3.0 * math.pi + 1e-10),), {'position': (0, 0, 0.3)}, 0.3 + side * math.pi)
      for side in (-1.0, 1.0)),
], ids=str)
def test_a_motion_is_shifted_to_the_start_state(
    wrist: tuple[float, ...], given: dict[str, Any], final: float
) -> None:
    times = (10.0,) if len(wrist) == 1 else (0.0, 10.0)
    points = [Point(t, (0.0, 0.0, q)) for t, q in zip(times, wrist, strict=True)]
    assert compiled(points, **given).final_position[2] == pytest.approx(final)


def test_a_joint_that_is_not_continuous_is_never_shifted() -> None:
    rules = replace(RULES, lower=np.full(3, -20.0), upper=np.full(3, 20.0))
    motion = compiled([Point(1.0, (7.0, 7.0, 7.0))], rules)
    np.testing.assert_allclose(motion.final_position, (7.0, 7.0, 7.0 - TURN), 1e-9, 1e-10)


def test_one_point_at_time_0_is_a_set_point_kept_as_given() -> None:
    point = Point(0.0, (0.01, 0.02, 0.03), (0.4, 0.5, 0.6), (7.0, 8.0, 9.0))
    setpoint = motion_of([point], start_time=4.0)
    assert isinstance(setpoint, Setpoint)
    assert (setpoint.joint_names, setpoint.start_time) == (NAMES, 4.0)
    fields = (point.positions, point.velocities, point.accelerations)
    np.testing.assert_array_equal((setpoint.q, setpoint.qd, setpoint.qdd), fields)
    bare = motion_of([Point(0.0, AT_REST)], position=(0.0, 0.0, 0.02 - 2.0 * TURN))
    assert isinstance(bare, Setpoint)
    assert bare.start_time is None
    np.testing.assert_array_equal((bare.qd, bare.qdd), 0.0)
    np.testing.assert_allclose(bare.q, (0.0, 0.0, -2.0 * TURN), atol=1e-12)


# Efforts of points: added to the output on request


STILL = (0.0, 0.0)
USED = free_rules(
    ('shoulder', 'elbow'), allow_partial_joints_goal=True, use_trajectory_effort=True
)
UNUSED = replace(USED, use_trajectory_effort=False)
EFFORTS = ((1.0, -2.0), (3.0, 0.0), (-5.0, 4.0))
TIMES = (0.0, 1.0, 3.0)


def point(time: float, *effort: float) -> Point:
    return Point(time, STILL, STILL, (), effort)


POINTS = [point(time, *effort) for time, effort in zip(TIMES, EFFORTS, strict=True)]


def with_efforts(
    points: list[Point], rules: JointRules = USED, **given: Any
) -> Trajectory | Setpoint:
    state: dict[str, Any] = {'names': USED.joint_names, 'position': STILL, 'velocity': STILL}
    return motion_of(points, rules, **state | given)


def effort(motion: Trajectory | Setpoint, time: float) -> list[float]:
    state = motion.state(time)
    return list(state.effort.tolist())


def test_efforts_are_linear_between_the_points_and_0_outside() -> None:
    motion = with_efforts(POINTS)
    for time in np.linspace(0.0, math.nextafter(3.0, 0.0), 31):
        expected = [np.interp(time, TIMES, values) for values in zip(*EFFORTS, strict=True)]
        np.testing.assert_allclose(effort(motion, time), expected, rtol=1e-9, atol=1e-10)
    for time in (-1e-9, 3.0, math.inf, math.nan):
        assert effort(motion, time) == [0.0, 0.0]
    for none in (with_efforts(POINTS, UNUSED), with_efforts([point(0.0), point(1.0)])):
        assert effort(none, 0.5) == [0.0, 0.0]
    elbow = [Point(t, (0.0,), (0.0,), (), (2.0 + 2.0 * t,)) for t in (0.0, 1.0)]
    assert effort(with_efforts(elbow, names=('elbow',)), 0.5) == [0.0, 3.0]


def test_efforts_of_the_bridge_begin_at_0_or_at_the_desired_effort() -> None:
    ahead = [point(2.0, 4.0, -4.0), point(3.0, 0.0, 0.0)]
    assert effort(with_efforts(ahead), 1.0) == [2.0, -2.0]
    desired = MotionState.at_rest(np.zeros(2))._replace(effort=np.array([2.0, 2.0]))
    rules = replace(USED, interpolate_from_desired_state=True)
    motion = with_efforts(ahead, rules, desired=desired)
    assert effort(motion, 0.0) == [2.0, 2.0]
    assert effort(motion, 1.0) == [3.0, -1.0]


@pytest.mark.parametrize('end', ['over', 'held', 'cleared'])
def test_no_effort_outlives_its_motion(end: str) -> None:
    for motion in (with_efforts(POINTS), with_efforts([point(0.0, 3.0, 0.0)])):
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
    assert effort(with_efforts([point(0.0, 1.5, -2.5)], UNUSED), 0.0) == [0.0, 0.0]
