# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Peaks between points are exact; the oracle is the roots of numpy's polynomials."""

from dataclasses import replace

import numpy as np
from numpy.polynomial import Polynomial
import pytest

from rnea_ros.feedforward.trajectory import JointRules, Trajectory, TrajectoryPoint
from support.control.requested_motions import FREE, NAMES, compiled, rejection


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
    return replace(FREE, **{field: limits})


@pytest.mark.parametrize('seed', range(6))
def test_peak_speeds_and_accelerations_of_random_motions_are_exact(seed: int) -> None:
    points = random_points(np.random.default_rng(seed))
    motion = compiled(points, FREE)
    for order, field, share in ((1, 'velocity', 1.05), (2, 'acceleration', 1.0)):
        for joint in range(3):
            peak = max(map(abs, extremes(motion, order, joint))) / share
            if order == 2:  # points have accelerations that linear segments do not reach
                peak = max([peak, *(abs(point.accelerations[joint]) for point in points
                                    if len(point.accelerations))])
            compiled(points, with_limit(f'{field}_limits', joint, peak * (1.0 + 1e-8)))
            word, name, _ = rejection(
                points, with_limit(f'{field}_limits', joint, peak * (1.0 - 1e-8))
            )
            assert (word, name) == (f'{field}_limit', NAMES[joint])


def test_the_extreme_positions_of_random_motions_are_exact() -> None:
    rng = np.random.default_rng(8)
    swings = 0
    for _ in range(12):
        points = random_points(rng)
        motion = compiled(points, FREE)
        for joint in range(3):
            for field, sign, extreme in zip(
                ('lower', 'upper'), (-1.0, 1.0), extremes(motion, 0, joint), strict=True
            ):
                farthest = max(sign * point.positions[joint] for point in points)
                if sign * extreme < farthest + 2e-3:
                    continue  # the position of a point
                swings += 1
                bound = extreme - sign * 1e-3
                compiled(points, with_limit(field, joint, bound + sign * 1e-9))
                word, name, _ = rejection(points, with_limit(field, joint, bound - sign * 1e-9))
                assert (word, name) == ('position_limit', NAMES[joint])
    assert swings > 10
