# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Every rejection of a request: its reason, joint and point, and the bounds on both sides."""

from collections.abc import Callable
from dataclasses import replace
import math
from typing import Any

import numpy as np
import pytest

from rnea_ros.feedforward.motion import (
    TrajectoryPoint,
    TrajectoryReason,
)
from support.control.requested_motions import (
    AT_REST,
    FREE,
    RULES,
    VALID,
    compiled,
    motion_of,
    rejection,
)

Point = TrajectoryPoint
Points = list[TrajectoryPoint]
Given = dict[str, Any]

NOT_FINITE = (math.nan, math.inf, -math.inf)
FAST = replace(FREE, velocity_limits=np.array([2.0, 1.0, math.inf]))
HARD = replace(
    FREE, acceleration_limits=np.full(3, 10.0), effort_limits=np.full(3, 5.0),
    use_trajectory_effort=True,
)


def with_point(index: int, **changes: Any) -> Points:
    points = list(VALID)
    points[index] = replace(points[index], **changes)
    return points


def with_field(field: int, *values: float) -> Points:
    """Return points of all four fields, of which one at the middle point has other values."""
    fields = [values if k == field else AT_REST for k in range(4)]
    full = [Point(float(k), *[AT_REST] * 4) for k in range(3)]
    return [full[0], Point(1.0, *fields), full[2]]


def elbow(time: float, *fields: float) -> Point:
    """Return a point of the elbow: position, velocity, acceleration; the others rest at 0."""
    return Point(time, *((0.0, value, 0.0) for value in fields))


LATE: Given = {'start_time': 100.0, 'now': 101.5}
TABLE: list[tuple[list[Point] | tuple[Point, ...], Given, tuple[str, str | None, int | None]]] = [
    ((), {}, ('no_points', None, None)),
    (VALID, {'names': ()}, ('empty_joint_names', None, None)),
    (VALID, {'names': ('shoulder', 'a', 'wrist')}, ('unknown_joint', 'a', None)),
    (VALID, {'names': ('elbow', 'wrist', 'wrist')}, ('duplicate_joint', 'wrist', None)),
    ([Point(1.0, (0.0, 0.0))], {'names': ('wrist', 'shoulder')},
     ('missing_joint', 'elbow', None)),
    (with_point(1, positions=()), {}, ('wrong_size', None, 1)),
    *((with_field(field, 0.0), {}, ('wrong_size', None, 1)) for field in range(4)),
    *((with_field(field, 0.0, 0.0, value), {}, ('not_finite', 'wrist', 1))
      for field in range(4) for value in NOT_FINITE),
    (with_point(1, time=math.nan), {}, ('not_finite', None, 1)),
    (VALID, {'start_time': math.inf}, ('not_finite', None, None)),
    (with_point(1, time=1e-200), {}, ('not_finite', 'shoulder', 1)),
    ([Point(0.0, AT_REST), Point(1.0, (0, 0, 1.0)), Point(4.0, (0, 0, 1.7e308))],
     {'rules': FREE}, ('not_finite', 'wrist', 2)),
    (with_point(1, efforts=(1.0, 2.0, 3.0)), {}, ('efforts_incomplete', None, 0)),
    (with_point(1, velocities=(), accelerations=AT_REST), {},
     ('accelerations_without_velocities', None, 1)),
    (VALID, {'position': (0.0, math.nan, 0.0)}, ('start_not_finite', 'elbow', None)),
    (VALID, {'velocity': (0.0, math.nan, 0.0)}, ('start_not_finite', 'elbow', None)),
    (VALID, {'now': math.nan}, ('start_not_finite', None, None)),
    (with_point(0, time=-0.1), {}, ('negative_time', None, 0)),
    *((with_point(2, time=t), {}, ('times_not_increasing', None, 2)) for t in (0.0, 0.9, 1.0)),
    ([Point(0, AT_REST)], {'start_time': 9.0, 'now': 9.001}, ('ended_in_past', None, 0)),
    ([Point(1.0, AT_REST, (0.0, 0.1, 0.0))], {}, ('final_velocity', 'elbow', 0)),
    ([Point(0.0, AT_REST), Point(1.0, (0.0, 0.0, 1.5))],
     {'names': ('wrist', 'shoulder', 'elbow')}, ('position_limit', 'elbow', 1)),
    (  # an overshoot on the way to the first point
        [elbow(1.0, 0.9, 0.0)], {'position': (0.0, 0.9, 0.0), 'velocity': (0.0, 3.0, 0.0)},
        ('position_limit', 'elbow', 0),
    ),
    (  # a set-point
        [Point(0.0, (2.1, 0.0, 0.0))], {'position': (2.05, 0.0, 0.0)},
        ('position_limit', 'shoulder', 0),
    ),
    ([Point(0.0, (0.2, 0.0, 0.0))], {}, ('start_too_far', 'shoulder', 0)),
    (VALID, LATE, ('start_too_far', 'shoulder', 1)),
    (VALID[1:], LATE, ('start_too_far', 'shoulder', 0)),
    ([elbow(0.01, 1.0), elbow(5.0, 1.0)], {'rules': FAST}, ('velocity_limit', 'elbow', 0)),
    ([elbow(float(k), 4.2 if k == 6 else 0.5 * k) for k in range(10)], {'rules': FAST},
     ('velocity_limit', 'elbow', 6)),
    ([elbow(0.0, 0.0, 0.0, 0.0), elbow(1.0, 1e305, 0.0, 0.0)], {'rules': FAST},
     ('velocity_limit', 'elbow', 1)),
    ([elbow(0.0, 0.0, 0.0, 1e308)], {'rules': HARD}, ('acceleration_limit', 'elbow', 0)),
]


@pytest.mark.parametrize(('points', 'state', 'expected'), TABLE)
def test_a_rejection_has_a_reason_a_joint_and_a_point(
    points: Points, state: Given, expected: tuple[str, str, int]
) -> None:
    assert rejection(points, **state) == expected


# Motions by a value: greatest accepted value, least rejected value, and the rejection.
Motion = Callable[[float], tuple[Points, Given]]


def near(value: float, sides: tuple[float, ...] = (-1.0, 1.0)) -> list[tuple[float, float]]:
    """Return values slightly within and slightly beyond a bound, on each side of 0."""
    return [(side * value * (1.0 - 1e-7), side * value * (1.0 + 1e-7)) for side in sides]


def exact(value: float) -> list[tuple[float, float]]:
    """Return the bound itself and a value slightly beyond it, on each side of 0."""
    return [(side * value, side * value * (1.0 + 1e-7)) for side in (-1.0, 1.0)]


def rest_to_rest(duration: float) -> Motion:
    """Return motions of the elbow by its way, from rest to rest, a cubic."""
    return lambda x: ([elbow(0.0, 0.0, 0.0), elbow(duration, x, 0.0)], {'rules': HARD})


BOUNDS: list[tuple[Motion, list[tuple[float, float]], tuple[str, str | None, int | None]]] = [
    (lambda x: (list(VALID), {'start_time': 100.0, 'now': x, 'position': (0.6, 0.4, 0.2)}),
     [(102.0, 102.001)], ('ended_in_past', None, 2)),
    (lambda x: (with_point(2, velocities=(0.0, x, 0.0)), {}), exact(2.0**-23),
     ('final_velocity', 'elbow', 2)),
    (lambda x: (list(VALID), {'position': (x, 0.0, 0.0)}), exact(0.1),
     ('start_too_far', 'shoulder', 0)),
    (lambda x: ([Point(0.0, (0.0, 0.0, math.pi - 0.04))], {'position': (0.0, 0.0, x - math.pi)}),
     near(0.06, (1.0,)), ('start_too_far', 'wrist', 0)),  # the short way round
    (lambda x: (with_point(1, positions=(0.0, x, 0.0), velocities=AT_REST), {}), near(1.001),
     ('position_limit', 'elbow', 1)),
    (lambda x: ([Point(0.0, AT_REST), Point(1.0, (x, 1.0, 99.0))], {'rules': FAST}),
     exact(2.1), ('velocity_limit', 'shoulder', 1)),
    (lambda x: ([elbow(0.0, 0.0, x)], {'rules': FAST}), exact(1.05),
     ('velocity_limit', 'elbow', 0)),
    (lambda x: ([elbow(0.0, 0.0, 0.0, x)], {'rules': HARD}), exact(10.0),
     ('acceleration_limit', 'elbow', 0)),
    (lambda x: ([Point(t, AT_REST, AT_REST, AT_REST, (0.0, x, 0.0)) for t in (0.0, 1.0)],
                {'rules': HARD}), exact(5.0), ('effort_limit', 'elbow', 0)),
    # A cubic accelerates by 6 d/T^2; in less than 0.1 s points may be rough.
    (rest_to_rest(1.0), near(10.0 / 6.0), ('acceleration_limit', 'elbow', 1)),
    (rest_to_rest(0.01), near(100.0 * 0.01**2 / 6.0), ('acceleration_limit', 'elbow', 1)),
    # The way to a single point: half of the limit, less within 0.1 s, also for a first step.
    (lambda x: ([elbow(1.0, x, 0.0)], {'rules': HARD}), near(5.0 / 6.0),
     ('acceleration_limit', 'elbow', 0)),
    (lambda x: ([elbow(0.05, x, 0.0)], {'rules': HARD}), near(2.5 * 0.05**2 / 6.0),
     ('acceleration_limit', 'elbow', 0)),
    (lambda x: ([elbow(0.05, x)], {'rules': HARD}), near(10.0 * 0.05**2),
     ('acceleration_limit', 'elbow', 0)),
]


@pytest.mark.parametrize(('motion', 'values', 'expected'), BOUNDS)
def test_a_bound_is_accepted_up_to_its_value_and_rejected_beyond(
    motion: Motion, values: list[tuple[float, float]], expected: tuple[str, str, int]
) -> None:
    for accepted, rejected in values:
        points, state = motion(accepted)
        motion_of(points, **state)
        points, state = motion(rejected)
        assert rejection(points, **state) == expected


def test_every_reason_is_in_these_tables() -> None:
    reasons = {row[2][0] for row in (*TABLE, *BOUNDS)}
    assert reasons == {reason.value for reason in TrajectoryReason}


@pytest.mark.parametrize(('robot', 'shoulder', 'point'), [
    (2.3, (2.3, 2.1, 2.1, 1.9, 2.0), None), (2.3, (2.2,), None), (2.5, (2.5, 1.9), None),
    (2.3, (2.3, 2.31), 1), (2.3, (2.3, 2.1, 2.2), 2), (2.3, (1.9, 2.1), 1), (2.51, (2.51, 1.9), 0),
])
@pytest.mark.parametrize('side', [-1.0, 1.0])
def test_a_robot_beyond_a_limit_may_only_come_back(
    robot: float, shoulder: tuple[float, ...], point: int | None, side: float
) -> None:
    rules = replace(RULES, start_tolerance=math.inf)
    for start in (0.0, 1.0):
        points = [Point(start + k, (side * q, 0.0, 0.0)) for k, q in enumerate(shoulder)]
        state: Given = {'rules': rules, 'position': (side * robot, 0.0, 0.0)}
        if point is None:
            motion_of(points, **state)
        elif start == 0.0:
            assert rejection(points, **state) == ('position_limit', 'shoulder', point)


def test_limits_count_as_single_precision_and_up_to_the_greatest_numbers() -> None:
    pi = float(np.float32(math.pi))
    assert pi > math.pi
    held = replace(RULES, upper=np.array([math.pi, 1.0, math.inf]))
    compiled(with_point(2, positions=(pi, 0.4, 0.2)), held)
    huge = [elbow(0.0, 0.0, 0.0, 0.0), elbow(1.0, 1e305, 0.0, 0.0)]
    compiled(huge, replace(FREE, upper=np.array((1.0, 2e305, 1.0))))
