# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The compiled trajectory: interpolation, its derivatives, its ends, and the plain request."""

import math

import numpy as np
from numpy.typing import NDArray
import pytest

from rnea_ros.feedforward.trajectory import (
    CUBIC,
    LINEAR,
    QUINTIC,
    Knots,
    Trajectory,
    TrajectoryPoint,
    TrajectoryRequest,
    compile_trajectory,
)
from support.control.control_rig import free_rules

Array = NDArray[np.float64]

DEGREES = (LINEAR, CUBIC, QUINTIC)
JOINTS = 4


def random_knots(rng: np.random.Generator, degrees: list[int], first_time: float = 0.0) -> Knots:
    shape = (len(degrees), JOINTS)
    durations = rng.uniform(0.2, 1.5, len(degrees) - 1)
    return Knots(
        np.cumsum(np.concatenate(([first_time], durations))), rng.uniform(-2.0, 2.0, shape),
        rng.uniform(-1.0, 1.0, shape), rng.uniform(-1.0, 1.0, shape), np.array(degrees),
    )


def trajectory_of(knots: Knots) -> Trajectory:
    names = tuple(f'joint_{number}' for number in range(knots.positions.shape[1]))
    return Trajectory(names, None, knots)


def sample(trajectory: Trajectory, time: float) -> Array:
    """Position, velocity and acceleration, shape (3, joints)."""
    state = np.full((3, len(trajectory.joint_names)), np.nan)
    trajectory.sample(time, *state)
    return state


def is_over(trajectory: Trajectory, time: float) -> bool:
    return trajectory.sample(time, *np.empty((3, len(trajectory.joint_names))))


def test_the_callers_arrays_stay_writable_and_do_not_change_the_motion() -> None:
    times, q, rest = np.array([0.0, 1.0]), np.ones((2, JOINTS)), np.zeros((2, JOINTS))
    knots = Knots(times, q, rest, rest, np.array([CUBIC, CUBIC]), q)
    q[:], rest[:], times[:] = 7.0, 7.0, 7.0
    assert knots.times.tolist() == [0.0, 1.0]
    assert (knots.positions == 1.0).all()
    assert not knots.velocities.any()
    with pytest.raises(ValueError, match='read-only'):
        knots.positions[0] = 0.0


def solved_polynomial(knots: Knots, degree: int) -> Array:
    """Coefficients in seconds from the first point, by solving the boundary conditions."""
    orders = (degree + 1) // 2
    duration = knots.times[1] - knots.times[0]
    rows, values = [], []
    for end in (0, 1):
        given = (knots.positions[end], knots.velocities[end], knots.accelerations[end])
        for order in range(orders):
            row = np.zeros(degree + 1)
            for power in range(order, degree + 1):
                row[power] = math.perm(power, order) * (end * duration) ** (power - order)
            rows.append(row)
            values.append(given[order])
    return np.linalg.solve(np.array(rows), np.array(values))


@pytest.mark.parametrize('degree', DEGREES)
def test_a_segment_is_the_polynomial_that_meets_what_both_its_ends_give(degree: int) -> None:
    rng = np.random.default_rng(11)
    for _ in range(20):
        knots = random_knots(rng, [degree, degree], first_time=rng.uniform(0.0, 0.5))
        polynomials = [
            np.polynomial.Polynomial(column) for column in solved_polynomial(knots, degree).T
        ]
        trajectory = trajectory_of(knots)
        for time in rng.uniform(knots.times[0], knots.times[1], 10):
            elapsed = time - knots.times[0]
            for order, values in enumerate(sample(trajectory, time)):
                expected = [polynomial.deriv(order)(elapsed) for polynomial in polynomials]
                np.testing.assert_allclose(values, expected, 1e-9, 1e-10)


def test_each_segment_of_10000_points_is_its_own_polynomial() -> None:
    count, joints = 10_000, 7
    rng = np.random.default_rng(10)
    times = np.cumsum(rng.uniform(0.01, 0.5, count))
    degrees = rng.choice(DEGREES, count)
    fields = rng.uniform(-1.0, 1.0, (count, 3, joints))
    names = tuple(f'joint_{number}' for number in range(joints))
    points = [
        TrajectoryPoint(float(time), *values[: (degree + 1) // 2])
        for time, values, degree in zip(times, fields, degrees, strict=True)
    ]
    rules = free_rules(names, allow_nonzero_velocity_at_trajectory_end=True)
    trajectory = compile_trajectory(
        TrajectoryRequest.of_points(names, points), rules, now=0.0, position=np.zeros(joints),
        velocity=np.zeros(joints),
    )
    assert isinstance(trajectory, Trajectory)
    for segment in (0, 1, count - 2, *rng.integers(0, count - 1, 300)):
        ends = slice(segment, segment + 2)
        q, qd, qdd = np.moveaxis(fields[ends].copy(), 1, 0)
        two = Knots(times[ends], q, qd, qdd, degrees[ends])
        polynomials = solved_polynomial(two, int(min(degrees[ends])))
        time = rng.uniform(*times[ends])
        for order, values in enumerate(sample(trajectory, time)):
            expected = [
                np.polynomial.Polynomial(column).deriv(order)(time - times[segment])
                for column in polynomials.T
            ]
            # Short segments between random points: rounding of differences of large numbers.
            np.testing.assert_allclose(values, expected, rtol=1e-7, atol=1e-6)


@pytest.mark.parametrize('degree', DEGREES)
def test_a_joint_at_rest_many_turns_from_zero_has_exactly_no_velocity(degree: int) -> None:
    count = 50
    knots = Knots(
        np.linspace(0.0, 0.049, count), np.full((count, JOINTS), 12345.678901234567),
        np.zeros((count, JOINTS)), np.zeros((count, JOINTS)), np.full(count, degree),
    )
    trajectory = trajectory_of(knots)
    for time in np.linspace(0.0, 0.049, 333):
        q, qd, qdd = sample(trajectory, time)
        np.testing.assert_array_equal(q, 12345.678901234567)
        np.testing.assert_array_equal((qd, qdd), 0.0)


@pytest.mark.parametrize(('points', 'first_time', 'times', 'held', 'over'), [
    (3, 0.5, (-math.inf, -3.0, 0.0, 0.499, math.nan), 0, False),
    (3, 0.0, (9.0, 1e6, math.inf), -1, True),
    (1, 1.0, (0.0, 0.999), 0, False), (1, 1.0, (1.0, 2.0), 0, True),
], ids=['before', 'after', 'before a single point', 'after a single point'])
def test_outside_a_motion_its_end_is_held_at_rest(
    points: int, first_time: float, times: tuple[float, ...], held: int, over: bool
) -> None:
    knots = random_knots(np.random.default_rng(19), [QUINTIC] * points, first_time)
    trajectory = trajectory_of(knots)
    for time in (*times, *([trajectory.duration] if over else [])):
        q, qd, qdd = sample(trajectory, time)
        np.testing.assert_array_equal(q, knots.positions[held])
        np.testing.assert_array_equal((qd, qdd), 0.0)
        assert is_over(trajectory, time) is over


def test_samples_do_not_depend_on_the_order_in_which_they_are_taken() -> None:
    rng = np.random.default_rng(24)
    trajectory = trajectory_of(random_knots(rng, [QUINTIC] * 20))
    times = np.linspace(-0.1, trajectory.duration + 0.1, 200)
    in_order = [sample(trajectory, time) for time in times]
    for index in rng.permutation(len(times)):
        np.testing.assert_array_equal(sample(trajectory, times[index]), in_order[index])
