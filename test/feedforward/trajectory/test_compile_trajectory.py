# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Compilation of requests: every rejection, and the compiled motion of valid requests."""

from copy import deepcopy
from dataclasses import replace
import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from numpy.typing import ArrayLike, NDArray
import pytest

from rnea_ros.errors import InputError
from rnea_ros.feedforward.trajectory import (
    JointRules,
    Setpoint,
    Trajectory,
    TrajectoryError,
    TrajectoryPoint,
    TrajectoryReason,
    TrajectoryRequest,
    compile_trajectory,
)

Array = NDArray[np.float64]

NAMES = ('shoulder', 'elbow', 'wrist')
AT_REST = (0.0, 0.0, 0.0)
FIELDS = ('positions', 'velocities', 'accelerations', 'efforts')


def rules(**changes: Any) -> JointRules:
    """Shoulder and elbow limited to 2 and 1 rad, a continuous wrist, starts within 0.1 rad."""
    base: dict[str, Any] = {
        'joint_names': NAMES, 'lower': np.array([-2.0, -1.0, -math.inf]),
        'upper': np.array([2.0, 1.0, math.inf]), 'continuous': np.array([False, False, True]),
        'velocity_limits': np.full(3, math.inf), 'start_tolerance': 0.1,
    }
    return JointRules(**(base | changes))


def request_of(
    *points: TrajectoryPoint, names: tuple[str, ...] = NAMES, start_time: float | None = None
) -> TrajectoryRequest:
    return TrajectoryRequest.of_points(names, points, start_time)


def valid_points() -> tuple[TrajectoryPoint, ...]:
    """Three points from rest at 0 to rest, the middle one with a velocity."""
    return (
        TrajectoryPoint(0.0, AT_REST, AT_REST),
        TrajectoryPoint(1.0, (0.3, 0.2, 0.1), (0.3, 0.2, 0.1)),
        TrajectoryPoint(2.0, (0.6, 0.4, 0.2), AT_REST),
    )


def compiled(
    request: TrajectoryRequest, held_to: JointRules | None = None, *, now: float = 0.0,
    position: ArrayLike = AT_REST, velocity: ArrayLike = AT_REST,
) -> Trajectory:
    trajectory = compile_trajectory(
        request, held_to or rules(), now=now, position=position, velocity=velocity
    )
    assert isinstance(trajectory, Trajectory)
    return trajectory


def setpoint_of(
    point: TrajectoryPoint, held_to: JointRules | None = None, *, start_time: float | None = None,
    position: ArrayLike = AT_REST,
) -> Setpoint:
    setpoint = compile_trajectory(
        request_of(point, start_time=start_time), held_to or rules(), now=0.0, position=position,
        velocity=AT_REST,
    )
    assert isinstance(setpoint, Setpoint)
    return setpoint


def rejection(
    request: TrajectoryRequest, held_to: JointRules | None = None, *, now: float = 0.0,
    position: ArrayLike = AT_REST, velocity: ArrayLike = AT_REST,
) -> tuple[str, str | None, int | None]:
    """Return reason, joint and point of the rejection; each is in its message."""
    with pytest.raises(TrajectoryError) as caught:
        compile_trajectory(
            request, held_to or rules(), now=now, position=position, velocity=velocity
        )
    error = caught.value
    message = str(error)
    assert message.startswith(error.reason.value)
    assert error.joint is None or repr(error.joint) in message
    assert error.point is None or f'point {error.point}' in message
    return error.reason.value, error.joint, error.point


def sample(trajectory: Trajectory, time: float) -> Array:
    """Position, velocity and acceleration, shape (3, joints)."""
    state = np.full((3, len(trajectory.joint_names)), np.nan)
    trajectory.sample(time, *state)
    return state


def with_point(index: int, **changes: Any) -> TrajectoryRequest:
    points = list(valid_points())
    points[index] = replace(points[index], **changes)
    return request_of(*points)


def test_the_request_that_the_rejections_are_made_from_is_accepted() -> None:
    trajectory = compiled(request_of(*valid_points()))
    assert trajectory.joint_names == NAMES
    assert trajectory.start_time is None
    assert trajectory.duration == 2.0
    np.testing.assert_array_equal(trajectory.final_position, (0.6, 0.4, 0.2))


NOT_FINITE = (math.nan, math.inf, -math.inf)


VALID = valid_points()
Point = TrajectoryPoint


@pytest.mark.parametrize(('request_', 'state', 'expected'), [
    (request_of(), {}, ('no_points', None, None)),
    (request_of(*VALID, names=()), {}, ('empty_joint_names', None, None)),
    (request_of(*VALID, names=('shoulder', 'a', 'wrist')), {}, ('unknown_joint', 'a', None)),
    (
        request_of(*VALID, names=('elbow', 'wrist', 'wrist')), {},
        ('duplicate_joint', 'wrist', None),
    ),
    (
        request_of(Point(1.0, (0.0, 0.0)), names=('wrist', 'shoulder')), {},
        ('missing_joint', 'elbow', None),
    ),
    (with_point(1, positions=()), {}, ('wrong_size', None, 1)),
    (
        with_point(1, velocities=(), accelerations=AT_REST), {},
        ('accelerations_without_velocities', None, 1),
    ),
    *((with_point(1, time=value), {}, ('not_finite', None, 1)) for value in NOT_FINITE),
    *(
        (request_of(*VALID, start_time=value), {}, ('not_finite', None, None))
        for value in NOT_FINITE
    ),
    (with_point(1, time=1e-200), {}, ('not_finite', 'shoulder', 1)),
    (
        request_of(Point(0.0, AT_REST), Point(1.0, (0, 0, 1.0)), Point(4.0, (0, 0, 1.7e308))),
        {'held_to': rules(start_tolerance=math.inf)}, ('not_finite', 'wrist', 2),
    ),
    *(
        (request_of(*VALID), {state: (0.0, math.nan, 0.0)}, ('start_not_finite', 'elbow', None))
        for state in ('position', 'velocity')
    ),
    (request_of(*VALID), {'now': math.nan}, ('start_not_finite', None, None)),
    (with_point(0, time=-0.1), {}, ('negative_time', None, 0)),
    *((with_point(2, time=t), {}, ('times_not_increasing', None, 2)) for t in (0.0, 0.9, 1.0)),
    (request_of(*VALID, start_time=100.0), {'now': 102.5}, ('ended_in_past', None, 2)),
    (request_of(Point(0, AT_REST), start_time=9.0), {'now': 9.001}, ('ended_in_past', None, 0)),
    (with_point(2, velocities=(0.0, -1e-6, 0.0)), {}, ('final_velocity', 'elbow', 2)),
    (request_of(Point(1.0, AT_REST, (0.0, 0.1, 0.0))), {}, ('final_velocity', 'elbow', 0)),
    *(
        (
            with_point(1, positions=(0.0, elbow, 0.0), velocities=AT_REST), {},
            ('position_limit', 'elbow', 1),
        )
        for elbow in (-1.0011, 1.0011)
    ),
    (
        request_of(
            Point(0.0, AT_REST), Point(1.0, (0.0, 0.0, 1.5)), names=('wrist', 'shoulder', 'elbow')
        ), {}, ('position_limit', 'elbow', 1),
    ),
    (  # an overshoot on the way to the first point
        request_of(Point(1.0, (0.0, 0.9, 0.0), AT_REST)),
        {'position': (0.0, 0.9, 0.0), 'velocity': (0.0, 3.0, 0.0)},
        ('position_limit', 'elbow', 0),
    ),
    *(
        (request_of(*VALID), {'position': (q, 0.0, 0.0)}, ('start_too_far', 'shoulder', 0))
        for q in (-0.101, 0.101)
    ),
    (request_of(*VALID, start_time=100.0), {'now': 101.5}, ('start_too_far', 'shoulder', 1)),
])
def test_a_rejection_has_a_reason_a_joint_and_a_point(
    request_: TrajectoryRequest, state: dict[str, Any], expected: tuple[str, str, int]
) -> None:
    assert rejection(request_, **state) == expected


def test_joints_may_come_in_any_order() -> None:
    order = (2, 0, 1)
    names = tuple(NAMES[joint] for joint in order)
    shuffled = [
        TrajectoryPoint(
            point.time, [point.positions[joint] for joint in order],
            [point.velocities[joint] for joint in order],
        )
        for point in valid_points()
    ]
    in_order = compiled(request_of(*valid_points()))
    trajectory = compiled(request_of(*shuffled, names=names))
    for time in np.linspace(0.0, 2.0, 21):
        np.testing.assert_array_equal(sample(trajectory, time), sample(in_order, time))


def test_joints_left_out_hold_their_position_where_that_is_allowed() -> None:
    request = request_of(
        TrajectoryPoint(1.0, (0.5,), (0.1,), (0.2,)), TrajectoryPoint(2.0, (1.0,), (0.0,), (0.0,)),
        names=('shoulder',),
    )
    trajectory = compiled(
        request, rules(allow_partial_joints_goal=True), position=(0.0, 0.7, 9.0),
        velocity=(0.1, 0.2, 0.3),
    )
    for time in np.linspace(0.0, 2.5, 26):
        held = sample(trajectory, time)[:, 1:]
        np.testing.assert_array_equal(held, [(0.7, 9.0), (0.0, 0.0), (0.0, 0.0)])
    np.testing.assert_allclose(sample(trajectory, 1.0)[:, 0], (0.5, 0.1, 0.2), 1e-9, 1e-10)


@pytest.mark.parametrize('field', FIELDS)
@pytest.mark.parametrize('size', [1, 2, 4])
def test_a_field_of_the_wrong_length_is_rejected(field: str, size: int) -> None:
    full: dict[str, tuple[float, ...]] = dict.fromkeys(FIELDS, AT_REST) | {field: (0.0,) * size}
    request = request_of(valid_points()[0], TrajectoryPoint(1.0, **full), valid_points()[2])
    assert rejection(request) == ('wrong_size', None, 1)


def test_a_rejection_shows_the_values_of_its_own_point() -> None:
    values = (0.25, 0.5, 0.75)
    points = valid_points()
    alone = replace(points[1], velocities=(), accelerations=values)
    request = request_of(points[0], alone, replace(points[2], accelerations=AT_REST))
    with pytest.raises(TrajectoryError, match=r'\[0\.25, 0\.5, 0\.75\] but no velocities'):
        compiled(request)


@pytest.mark.parametrize('field', FIELDS)
@pytest.mark.parametrize('value', [math.nan, math.inf, -math.inf])
def test_a_value_that_is_not_finite_is_rejected(field: str, value: float) -> None:
    full = dict.fromkeys(FIELDS, AT_REST) | {field: (0.0, 0.0, value)}
    request = request_of(*valid_points()[:2], TrajectoryPoint(2.0, **full))
    assert rejection(request) == ('not_finite', 'wrist', 2)


@pytest.mark.parametrize('argument', ['position', 'velocity'])
def test_a_start_state_of_the_wrong_shape_is_the_callers_error(argument: str) -> None:
    state: dict[str, Any] = {'position': AT_REST, 'velocity': AT_REST, argument: (0.0, 0.0)}
    with pytest.raises(InputError, match=argument):
        compile_trajectory(request_of(*valid_points()), rules(), now=0.0, **state)


def test_a_trajectory_that_ends_now_is_accepted() -> None:
    request = request_of(*valid_points(), start_time=100.0)
    trajectory = compiled(request, now=102.0, position=(0.6, 0.4, 0.2))
    np.testing.assert_array_equal(sample(trajectory, 2.0)[0], (0.6, 0.4, 0.2))


def test_a_final_velocity_below_single_precision_is_rest() -> None:
    trajectory = compiled(with_point(2, velocities=(0.0, 1.1e-7, 0.0)))
    assert not sample(trajectory, trajectory.duration)[1].any()


def test_a_final_velocity_is_accepted_where_allowed_and_ends_in_rest() -> None:
    request = with_point(2, velocities=(0.0, 0.5, 0.0))
    trajectory = compiled(request, rules(allow_nonzero_velocity_at_trajectory_end=True))
    assert sample(trajectory, math.nextafter(2.0, 0.0))[1, 1] == pytest.approx(0.5)
    np.testing.assert_array_equal(sample(trajectory, 2.0)[1], 0.0)


def test_a_limit_in_single_precision_is_not_beyond_itself() -> None:
    pi = float(np.float32(math.pi))
    assert pi > math.pi
    held_to = rules(upper=np.array([math.pi, 1.0, math.inf]))
    request = with_point(2, positions=(pi, 0.4, 0.2))
    compiled(request, held_to)


@pytest.mark.parametrize('side', [-1.0, 1.0])
def test_a_robot_beyond_a_limit_may_come_back(side: float) -> None:
    request = request_of(TrajectoryPoint(1.0, (0.0, 0.9 * side, 0.0), AT_REST))
    trajectory = compiled(request, position=(0.0, 1.2 * side, 0.0))
    assert sample(trajectory, 0.0)[0, 1] == 1.2 * side
    assert sample(trajectory, 1.0)[0, 1] == 0.9 * side


def test_a_start_within_the_tolerance_is_accepted() -> None:
    trajectory = compiled(request_of(*valid_points()), position=(0.099, -0.099, 0.0))
    np.testing.assert_array_equal(sample(trajectory, 0.0)[0], 0.0)


def test_a_first_point_ahead_may_be_any_distance_away() -> None:
    request = request_of(*valid_points()[1:])
    trajectory = compiled(request, position=(-1.9, -0.9, 3.0))
    np.testing.assert_array_equal(sample(trajectory, 0.0)[0], (-1.9, -0.9, 3.0))


def test_the_bridge_meets_the_start_state_with_no_acceleration() -> None:
    start = (0.05, -0.1, 0.2), (0.3, -0.2, 0.1)
    first = (0.3, 0.2, 0.1), (0.1, 0.1, 0.1), (0.2, 0.2, 0.2)
    request = request_of(
        TrajectoryPoint(1.0, *first), TrajectoryPoint(2.0, (0.6, 0.4, 0.2), AT_REST, AT_REST)
    )
    trajectory = compiled(request, position=start[0], velocity=start[1])
    np.testing.assert_allclose(sample(trajectory, 0.0), (*start, AT_REST), 1e-9, 1e-10)
    reached = sample(trajectory, math.nextafter(1.0, 0.0))
    np.testing.assert_allclose(reached, first, 1e-9, 1e-10)


def test_the_bridge_to_a_point_with_a_velocity_is_cubic() -> None:
    request = request_of(TrajectoryPoint(2.0, (1.0, 0.0, 0.0), AT_REST))
    trajectory = compiled(request)
    # 3 s^2 - 2 s^3 at s = 1/4, and its derivatives, over 2 s.
    expected = (0.15625, 1.125 / 2.0, 3.0 / 4.0)
    np.testing.assert_allclose(sample(trajectory, 0.5)[:, 0], expected, 1e-9, 1e-10)


def test_the_bridge_to_positions_alone_is_a_straight_line() -> None:
    request = request_of(TrajectoryPoint(2.0, (1.0, 0.0, 0.0)))
    trajectory = compiled(request, velocity=(0.7, 0.7, 0.7))
    np.testing.assert_allclose(sample(trajectory, 0.5)[:, 0], (0.25, 0.5, 0.0), 1e-9, 1e-10)


def test_a_start_ahead_holds_the_position_until_then() -> None:
    request = request_of(TrajectoryPoint(1.0, (0.5, 0.0, 0.0), AT_REST), start_time=110.0)
    trajectory = compiled(request, now=100.0, position=(0.2, 0.1, 0.0))
    assert trajectory.start_time == 110.0
    for time in (-10.0, -1e-6):
        expected = [(0.2, 0.1, 0.0), AT_REST, AT_REST]
        np.testing.assert_array_equal(sample(trajectory, time), expected)


def test_a_start_that_has_passed_is_joined_where_the_motion_is_now() -> None:
    request = request_of(*valid_points(), start_time=100.0)
    trajectory = compiled(request, now=101.0, position=(0.3, 0.2, 0.1))
    from_start = compiled(request_of(*valid_points()))
    for time in (1.0, 1.5, 1.9):
        np.testing.assert_array_equal(sample(trajectory, time), sample(from_start, time))


def test_a_first_point_still_ahead_of_a_passed_start_is_reached_from_now() -> None:
    request = request_of(*valid_points()[1:], start_time=100.0)
    start = (-0.5, 0.5, 0.0), (0.1, 0.1, 0.1)
    trajectory = compiled(request, now=100.5, position=start[0], velocity=start[1])
    np.testing.assert_allclose(sample(trajectory, 0.5)[:2], start, 1e-9, 1e-10)
    np.testing.assert_allclose(sample(trajectory, 1.0)[0], (0.3, 0.2, 0.1), 1e-9, 1e-10)


def test_a_first_point_that_has_passed_too_needs_no_way_to_it() -> None:
    whole = compiled(request_of(*valid_points()))
    request = request_of(*valid_points()[1:], start_time=100.0)
    joined = compiled(request, now=101.5, position=sample(whole, 1.5)[0] + 0.05)
    assert rejection(request, now=101.5) == ('start_too_far', 'shoulder', 0)
    for time in (1.5, 1.7, 2.0):
        np.testing.assert_array_equal(sample(joined, time), sample(whole, time))


@pytest.mark.parametrize('turns', [-3, -1, 0, 1, 5])
def test_a_continuous_joint_is_shifted_by_whole_turns_to_the_robot(turns: int) -> None:
    wrist = 2.0 * math.pi * turns
    trajectory = compiled(request_of(*valid_points()), position=(0.0, 0.0, wrist + 0.05))
    unshifted = compiled(request_of(*valid_points()))
    for time in np.linspace(0.0, 2.0, 11):
        expected = sample(unshifted, time)
        expected[0, 2] += wrist
        np.testing.assert_allclose(sample(trajectory, time), expected, 1e-9, 1e-10)
    assert trajectory.final_position[2] == pytest.approx(wrist + 0.2)


def test_the_turns_within_a_motion_are_kept() -> None:
    request = request_of(TrajectoryPoint(0.0, AT_REST), TrajectoryPoint(9.0, (0.0, 0.0, 20.0)))
    trajectory = compiled(request, position=(0.0, 0.0, 4.0 * math.pi))
    assert trajectory.final_position[2] == pytest.approx(20.0 + 4.0 * math.pi)


def test_a_motion_joined_midway_is_shifted_to_the_robot_where_it_is_now() -> None:
    request = request_of(
        TrajectoryPoint(0.0, AT_REST), TrajectoryPoint(10.0, (0.0, 0.0, 20.0)), start_time=100.0
    )
    trajectory = compiled(request, now=105.0, position=(0.0, 0.0, 10.0 - 2.0 * math.pi))
    assert sample(trajectory, 5.0)[0, 2] == pytest.approx(10.0 - 2.0 * math.pi)


def test_the_start_of_a_continuous_joint_is_measured_the_short_way_round() -> None:
    near = rules(start_tolerance=0.1)
    wrist = (0.0, 0.0, math.pi - 0.04)
    assert setpoint_of(TrajectoryPoint(0.0, wrist), near, position=(0.0, 0.0, -math.pi + 0.04))
    rejected = rejection(
        request_of(TrajectoryPoint(0.0, wrist)), near, position=(0.0, 0.0, -math.pi + 0.07)
    )
    assert rejected == ('start_too_far', 'wrist', 0)


@pytest.mark.parametrize('turns', [0.5, 1.5, 2.5, 7.5])
@pytest.mark.parametrize('side', [-1.0, 1.0])
def test_a_joint_half_a_turn_away_goes_the_requested_way(side: float, turns: float) -> None:
    # Slightly more than half a turn, so that rounding does not decide the direction.
    wrist = 0.3 + side * (turns * 2.0 * math.pi + 1e-10)
    request = request_of(TrajectoryPoint(1.0, (0.0, 0.0, wrist)))
    trajectory = compiled(request, position=(0.0, 0.0, 0.3))
    assert trajectory.final_position[2] == pytest.approx(0.3 + side * math.pi)


def test_a_joint_that_is_not_continuous_is_never_shifted() -> None:
    held_to = rules(lower=np.full(3, -20.0), upper=np.full(3, 20.0))
    request = request_of(TrajectoryPoint(1.0, (7.0, 7.0, 7.0)))
    trajectory = compiled(request, held_to)
    expected = (7.0, 7.0, 7.0 - 2.0 * math.pi)
    np.testing.assert_allclose(trajectory.final_position, expected, 1e-9, 1e-10)


def test_one_point_at_time_0_is_a_set_point_kept_as_given() -> None:
    point = TrajectoryPoint(0.0, (0.01, 0.02, 0.03), (0.4, 0.5, 0.6), (7.0, 8.0, 9.0))
    setpoint = setpoint_of(point)
    assert setpoint.joint_names == NAMES
    assert setpoint.start_time is None
    np.testing.assert_array_equal(setpoint.q, point.positions)
    np.testing.assert_array_equal(setpoint.qd, point.velocities)
    np.testing.assert_array_equal(setpoint.qdd, point.accelerations)


def test_absent_fields_of_a_set_point_are_zero() -> None:
    setpoint = setpoint_of(TrajectoryPoint(0.0, (0.01, 0.02, 0.03)))
    np.testing.assert_array_equal((setpoint.qd, setpoint.qdd), 0.0)


def test_a_set_point_of_a_continuous_joint_is_shifted_to_the_robot() -> None:
    wrist = 0.02 - 4.0 * math.pi
    setpoint = setpoint_of(TrajectoryPoint(0.0, AT_REST), position=(0.0, 0.0, wrist))
    assert setpoint.q[2] == pytest.approx(-4.0 * math.pi)


def test_a_set_point_is_held_to_limits_and_to_the_start_tolerance() -> None:
    beyond = request_of(TrajectoryPoint(0.0, (2.1, 0.0, 0.0)))
    assert rejection(beyond, position=(2.05, 0.0, 0.0)) == ('position_limit', 'shoulder', 0)
    far = request_of(TrajectoryPoint(0.0, (0.2, 0.0, 0.0)))
    assert rejection(far) == ('start_too_far', 'shoulder', 0)


def test_compiling_changes_nothing_that_it_is_given() -> None:
    points = [
        TrajectoryPoint(0.0, np.zeros(3), np.zeros(3)),
        TrajectoryPoint(1.0, np.array([0.0, 0.0, 9.0]), np.zeros(3)),
        TrajectoryPoint(2.0, np.array([0.0, 0.5, 9.0]), np.zeros(3)),
    ]
    position, velocity = np.array([0.0, 0.0, 13.0]), np.array([0.1, 0.2, 0.3])
    for last in (0.5, 5.0, math.nan):
        points[2].positions[1:2] = np.array([last])  # type: ignore[index]
        request = request_of(*points)
        given_points, given_state = deepcopy(points), (position.copy(), velocity.copy())
        try:
            compiled(request, rules(start_tolerance=1.0), position=position, velocity=velocity)
        except TrajectoryError:
            assert last != 0.5
        np.testing.assert_equal(
            [vars(point) for point in points], [vars(point) for point in given_points]
        )
        np.testing.assert_array_equal((position, velocity), given_state)
        assert position.flags.writeable


def test_later_changes_of_the_request_do_not_change_the_trajectory() -> None:
    goal, position = np.array([0.5, 0.5, 0.5]), np.zeros(3)
    trajectory = compiled(request_of(TrajectoryPoint(1.0, goal)), position=position)
    goal[:], position[:] = 99.0, 99.0
    np.testing.assert_array_equal(sample(trajectory, 0.0)[0], 0.0)
    np.testing.assert_array_equal(sample(trajectory, 1.0)[0], 0.5)


@pytest.mark.parametrize(('argument', 'value'), [
    ('lower', np.zeros(2)), ('upper', np.zeros((3, 1))),
    ('continuous', np.zeros(4, dtype=np.bool_)), ('lower', np.full(3, 5.0)),
    ('lower', np.full(3, math.nan)), ('velocity_limits', np.ones(2)),
    ('velocity_limits', np.zeros(3)), ('velocity_limits', np.full(3, math.nan)),
    ('start_tolerance', -0.1), ('start_tolerance', math.nan),
])
def test_impossible_rules_are_rejected_by_argument(argument: str, value: Any) -> None:
    with pytest.raises(InputError, match=argument):
        rules(**{argument: value})


SOME_FLOATS = st.floats() | st.floats(-3.0, 3.0) | st.just(0.0)
SOME_VALUES = st.lists(SOME_FLOATS, max_size=4)
FINITE = st.floats(-1e3, 1e3) | st.floats(allow_nan=False, allow_infinity=False)
THREE_FINITE = st.lists(FINITE, min_size=3, max_size=3) | st.just([0.0, 0.0, 0.0])


@st.composite
def any_requests(draw: st.DrawFn) -> TrajectoryRequest:
    """Requests with parts of any value, so that every rule is broken by some."""
    wild = draw(st.sampled_from(('nothing', 'names', 'values', 'times', 'start')))
    names: tuple[str, ...] = NAMES
    if wild == 'names':
        names = draw(st.lists(st.sampled_from((*NAMES, 'tail')), max_size=4).map(tuple))
    times = draw(st.lists(st.floats(0.0, 9.0), max_size=4, unique=True).map(sorted))
    if wild == 'times':
        times = draw(st.lists(SOME_FLOATS, max_size=4))
    size = len(names)
    values = st.lists(st.floats(-0.5, 0.5), min_size=size, max_size=size)
    if wild == 'values':
        values = values | SOME_VALUES
    optional = values | st.builds(list[float])
    points = [
        TrajectoryPoint(time, draw(values), draw(optional), draw(optional), draw(optional))
        for time in times
    ]
    start_time = draw(SOME_FLOATS) if wild == 'start' else None
    return TrajectoryRequest.of_points(names, points, start_time)


@st.composite
def finite_requests(draw: st.DrawFn) -> TrajectoryRequest:
    """Requests that break no rule, except perhaps by overflow."""
    time = st.floats(0.0, 100.0) | st.floats(0.0, 1e308)
    points = []
    for point_time in sorted(draw(st.lists(time, min_size=1, max_size=5, unique=True))):
        velocities = draw(THREE_FINITE | st.just([]))
        accelerations = draw(THREE_FINITE | st.just([])) if velocities else []
        points.append(TrajectoryPoint(point_time, draw(THREE_FINITE), velocities, accelerations))
    return TrajectoryRequest.of_points(NAMES, points, draw(st.none() | st.floats(0.0, 10.0)))


def outcome_of(
    request: TrajectoryRequest, held_to: JointRules, now: float, position: ArrayLike,
    velocity: ArrayLike,
) -> Trajectory | Setpoint | TrajectoryReason:
    try:
        return compile_trajectory(request, held_to, now=now, position=position, velocity=velocity)
    except TrajectoryError as error:
        return TrajectoryReason(error.reason)


def is_finite_over_time(motion: Trajectory | Setpoint) -> bool:
    if isinstance(motion, Setpoint):
        return bool(np.isfinite((motion.q, motion.qd, motion.qdd)).all())
    knots = motion.knots.times
    between = np.linspace(knots[:-1], knots[1:], 9).ravel()
    times = (*knots, *between, -1.0, -math.inf, math.inf, math.nan, 1e300)
    return all(np.isfinite(sample(motion, time)).all() for time in times)


@settings(max_examples=250)
@given(
    request=any_requests(), now=st.sampled_from((0.0, 1.0)) | SOME_FLOATS,
    position=st.just(AT_REST) | st.tuples(SOME_FLOATS, SOME_FLOATS, SOME_FLOATS),
    velocity=st.just(AT_REST) | st.tuples(SOME_FLOATS, SOME_FLOATS, SOME_FLOATS),
    lenient=st.booleans(),
)
def test_random_requests_are_finite_or_rejected_with_a_reason(
    request: TrajectoryRequest, now: float, position: tuple[float, float, float],
    velocity: tuple[float, float, float], lenient: bool,
) -> None:
    held_to = rules(
        allow_partial_joints_goal=lenient, allow_nonzero_velocity_at_trajectory_end=lenient,
        start_tolerance=math.inf if lenient else 0.1,
    )
    outcome = outcome_of(request, held_to, now, position, velocity)
    assert isinstance(outcome, TrajectoryReason) or is_finite_over_time(outcome)


@settings(max_examples=250)
@given(request=finite_requests(), position=THREE_FINITE, velocity=THREE_FINITE)
def test_requests_of_any_size_are_finite_or_rejected_as_not_finite(
    request: TrajectoryRequest, position: list[float], velocity: list[float]
) -> None:
    held_to = rules(
        lower=np.full(3, -math.inf), upper=np.full(3, math.inf), start_tolerance=math.inf,
        allow_nonzero_velocity_at_trajectory_end=True,
    )
    outcome = outcome_of(request, held_to, 0.0, position, velocity)
    if isinstance(outcome, TrajectoryReason):
        assert outcome is TrajectoryReason.NOT_FINITE
    else:
        assert is_finite_over_time(outcome)
