# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The compiled trajectory: its polynomials, its efforts, and what is held outside of it."""

from dataclasses import replace
import math
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
import pytest

from rnea_ros.feedforward.motion import (
    CUBIC,
    LINEAR,
    QUINTIC,
    JointRules,
    Knots,
    MotionState,
    Trajectory,
    TrajectoryPoint,
)
from support.control.control_rig import Array, free_rules
from support.control.requested_motions import FREE, compiled, rejection, sampled

DEGREES = (LINEAR, CUBIC, QUINTIC)
NAMES = ('a', 'b', 'c', 'd')


def solved(times: Array, ends: Array, degree: int, time: float) -> Array:
    """
    Return position, velocity and acceleration by solving the boundary conditions.

    :param ends: position, velocity and acceleration of both ends, shape (2, 3, joints)
    """
    duration = times[1] - times[0]
    orders, powers = range((degree + 1) // 2), range(degree + 1)

    def row(order: int, t: float) -> list[float]:
        return [math.perm(p, order) * t ** max(p - order, 0) for p in powers]

    rows = [row(order, end * duration) for end in (0, 1) for order in orders]
    values = [ends[end, order] for end in (0, 1) for order in orders]
    polynomials = np.linalg.solve(np.array(rows), np.array(values))
    return np.array([row(order, time - times[0]) for order in range(3)]) @ polynomials


@pytest.mark.parametrize('first', DEGREES)
@pytest.mark.parametrize('count', [2, 3000])
def test_the_bridge_and_each_segment_are_of_what_both_ends_have(count: int, first: int) -> None:
    rng = np.random.default_rng(10)
    times = np.append(0.0, 0.3 + np.cumsum(rng.uniform(0.2, 0.5, count)))
    degrees = np.append(first, rng.choice(DEGREES, count))
    degrees[1] = first
    fields = rng.uniform(-1.0, 1.0, (count + 1, 3, 4))
    fields[0, 2] = 0.0  # the measured state has no acceleration
    points = [
        TrajectoryPoint(float(time), *values[: (degree + 1) // 2])
        for time, values, degree in zip(times[1:], fields[1:], degrees[1:], strict=True)
    ]
    rules = free_rules(NAMES, allow_nonzero_velocity_at_trajectory_end=True)
    motion = compiled(points, rules, names=NAMES, position=fields[0, 0], velocity=fields[0, 1])
    for segment in {0, 1, count - 1, *rng.integers(0, count, 60).tolist()}:
        ends = slice(segment, segment + 2)
        for share in (0.0, rng.random(), 1.0 - 1e-9):
            time = times[segment] + share * (times[segment + 1] - times[segment])
            expected = solved(times[ends], fields[ends], int(degrees[ends].min()), time)
            # Between random points: rounding of differences of large numbers.
            np.testing.assert_allclose(sampled(motion, time), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize('degree', DEGREES)
def test_a_joint_at_rest_many_turns_from_zero_has_exactly_no_velocity(degree: int) -> None:
    position, rest = np.full((50, 4), 12345.678901234567), np.zeros((50, 4))
    knots = Knots(np.linspace(0.0, 0.049, 50), position, rest, rest, np.full(50, degree))
    for time in np.linspace(0.0, 0.049, 99):
        state = sampled(Trajectory(NAMES, None, knots), time)
        np.testing.assert_array_equal(state, (position[0], rest[0], rest[0]))


@pytest.mark.parametrize(('points', 'times', 'held', 'over'), [
    (3, (-math.inf, 0.0, 0.499, math.nan), 0, False), (3, (2.5, 9.0, math.inf), -1, True),
    (1, (0.0, 0.499), 0, False), (1, (0.5, 2.0), 0, True),
])
def test_outside_a_motion_its_end_is_held_at_rest(
    points: int, times: tuple[float, ...], held: int, over: bool
) -> None:
    q, qd, qdd = np.random.default_rng(19).uniform(-1.0, 1.0, (3, points, 4))
    knots = Knots(0.5 + np.arange(float(points)), q, qd, qdd, np.full(points, QUINTIC))
    for time in times:
        state = MotionState(*np.full((4, 4), np.nan))
        assert Trajectory(NAMES, None, knots).sample(time, state) is over
        np.testing.assert_array_equal(state.position, knots.positions[held])
        np.testing.assert_array_equal(state[1:], 0.0)


# Peaks between points are exact; the oracle is the roots of numpy's polynomials.


def random_points(rng: np.random.Generator) -> list[TrajectoryPoint]:
    times = np.cumsum(rng.uniform(0.2, 1.5, 6)) - 0.2
    times[0] = 0.0
    return [
        TrajectoryPoint(float(time), *rng.uniform(-1.0, 1.0, (int(rng.integers(1, 4)), 3)))
        for time in times
    ]


def extremes(motion: Trajectory, order: int, joint: int) -> tuple[float, float]:
    """Return the least and the greatest value of a derivative."""
    values = []
    for h, c in zip(np.diff(motion.knots.times), motion.coefficients[:, :, joint], strict=True):
        of_segment = Polynomial(c).deriv(order) / h**order
        roots = of_segment.deriv().roots()
        inside = roots.real[(np.abs(roots.imag) < 1e-9) & (roots.real > 0) & (roots.real < 1)]
        values += [of_segment(s) for s in (0.0, 1.0, *inside)]
    return min(values), max(values)


def with_limit(field: str, joint: int, value: float) -> JointRules:
    """Return rules in which one joint has one limit."""
    limits = np.array(getattr(FREE, field))
    limits[joint] = value
    change: Any = {field: limits}
    return replace(FREE, **change)


@pytest.mark.parametrize('seed', range(4))
def test_peak_speeds_and_accelerations_of_random_motions_are_exact(seed: int) -> None:
    points = random_points(np.random.default_rng(seed))
    motion = compiled(points, FREE)
    for order, field, share in ((1, 'velocity', 1.05), (2, 'acceleration', 1.0)):
        for joint, name in enumerate(FREE.joint_names):
            peak = max(map(abs, extremes(motion, order, joint))) / share
            if order == 2:  # points have accelerations that linear segments do not reach
                peak = max([peak, *(abs(point.accelerations[joint]) for point in points
                                    if len(point.accelerations))])
            below, above = (
                with_limit(f'{field}_limits', joint, peak * (1.0 + side)) for side in (-1e-8, 1e-8)
            )
            compiled(points, above)
            assert rejection(points, below)[:2] == (f'{field}_limit', name)


def test_the_extreme_positions_of_random_motions_are_exact() -> None:
    rng = np.random.default_rng(8)
    swings = 0
    for _ in range(12):
        points = random_points(rng)
        motion = compiled(points, FREE)
        for joint, name in enumerate(FREE.joint_names):
            ends = extremes(motion, 0, joint)
            for field, sign, extreme in zip(('lower', 'upper'), (-1.0, 1.0), ends, strict=True):
                farthest = max(sign * point.positions[joint] for point in points)
                if sign * extreme < farthest + 2e-3:
                    continue  # the position of a point
                swings += 1
                within, beyond = (
                    with_limit(field, joint, extreme - sign * (1e-3 + side))
                    for side in (-1e-9, 1e-9)
                )
                compiled(points, within)
                assert rejection(points, beyond)[:2] == ('position_limit', name)
    assert swings > 10
