# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""``interpolation: spline``: positions only become a motion without a step; oracle: SciPy."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest

from rnea_ros.feedforward.motion import (
    CUBIC,
    QUINTIC,
    Interpolation,
    Reference,
    Setpoint,
    Trajectory,
    TrajectoryPoint,
)
from rnea_ros.feedforward.motion.trajectory import derivative
from support.control.control_rig import free_rules
from support.control.requested_motions import NAMES, compiled, motion_of

RULES = free_rules(
    NAMES, continuous=np.array([False, False, True]), interpolation=Interpolation.SPLINE,
    allow_partial_joints_goal=True, allow_trajectory_replacement=True,
)
POLICY = 1.0 / 30.0
"""Time between the points of a policy, s."""


def chunk(times: NDArray[Any], positions: NDArray[Any]) -> list[TrajectoryPoint]:
    return [TrajectoryPoint(float(t), q) for t, q in zip(times, positions, strict=True)]


@pytest.mark.parametrize('first', [0.0, 0.1])
@pytest.mark.parametrize('count', [2, 3, 4, 30])
def test_positions_become_the_cubic_spline_with_the_way_to_the_first(
    count: int, first: float
) -> None:
    interpolate = pytest.importorskip('scipy.interpolate')
    rng = np.random.default_rng(count)
    times = first + np.append(0.0, np.cumsum(rng.uniform(0.02, 0.2, count - 1)))
    positions = 0.3 * rng.normal(size=(count, 3)) * (1.0, 1.0, 0.1)
    start, velocity = 0.1 * rng.normal(size=(2, 3)) if first else np.zeros((2, 3))
    motion = compiled(chunk(times, positions), RULES, position=start, velocity=velocity)
    knots, way = (times, positions) if not first else (
        np.append(0.0, times), np.vstack((start, positions))
    )
    # The last point has no acceleration, which a trajectory controller would repeat for ever.
    assert motion.knots.degrees.tolist() == [QUINTIC] * (len(knots) - 1) + [CUBIC]
    spline = interpolate.CubicSpline(knots, way, bc_type=((1, velocity), (1, np.zeros(3))))
    for time in rng.uniform(0.0, times[-1], 40):
        expected = [spline(time, order) for order in range(3)]
        atol = 1e-9 * np.abs(spline.c).max()
        np.testing.assert_allclose(motion.state(time)[:3], expected, atol=atol)


class Stream:
    """A reference that follows chunks, each joined to the one before."""

    def __init__(self) -> None:
        self.now = 0.0
        self.reference = Reference(3, 0.2)
        self.newest: Trajectory | Setpoint | None = None

    def send(
        self, times: NDArray[Any], positions: NDArray[Any], joints: int = 3,
        start: float | None = None,
    ) -> Trajectory:
        handover = self.reference.handover(self.now + 0.003, self.newest)
        motion = compiled(
            chunk(times, positions), RULES, names=NAMES[:joints], handover=handover,
            start_time=self.now if start is None else start,
            now=self.now if handover is None else self.now + 0.003,
        )
        self.newest = motion
        assert self.reference.accept(motion, None)
        return motion

    def run(self, seconds: float) -> None:
        for _ in range(round(1000.0 * seconds)):
            self.now += 1e-3
            self.reference.advance(self.now)


@pytest.mark.parametrize('seed', range(4))
def test_a_stream_of_overlapping_chunks_is_smooth_across_handovers(seed: int) -> None:
    """Noisy chunks of 0.5 s at random times, at a changing speed; the last one of some joints."""
    rng = np.random.default_rng(seed)
    stream = Stream()
    ahead = POLICY * np.arange(1, 16)
    for left in range(6, -1, -1):
        count = 3 if left else int(rng.integers(1, 3))
        noise = 2e-3 * rng.normal(size=(15, count))
        positions = np.sin(stream.reference.time + ahead)[:, np.newaxis] + noise
        motion = stream.send(ahead, positions, count)
        for order in range(3):  # both sides of every point
            values = derivative(motion, order)[:, :, :count]
            atol = 1e-9 * np.abs(values).sum(axis=1).max()
            np.testing.assert_allclose(values[:-1].sum(axis=1), values[1:, 0], atol=atol)
        np.testing.assert_allclose(motion.state(motion.duration).velocity, 0.0, atol=1e-12)
        stream.reference.scaling.set_target(rng.choice([0.4, 1.0]))
        stream.run(rng.uniform(0.02, 0.3))


@pytest.mark.parametrize(('run', 'is_dropped'), [(0.197, True), (0.175, False)])
def test_a_point_right_after_the_handover_is_dropped(run: float, is_dropped: bool) -> None:
    stream, times = Stream(), POLICY * np.arange(1, 20)
    stream.send(times, np.zeros((19, 3)))
    stream.run(run)  # the sixth point is 1 ms after the handover, or most of an interval
    joined = stream.send(times, np.ones((19, 3)), start=1e-3)
    assert joined.join is not None
    gaps = [np.abs(joined.knots.times - joined.join.zero - time).min() for time in times[5:7]]
    assert gaps[1] < 1e-4
    assert (gaps[0] > 1e-4) == is_dropped


def test_points_with_velocities_and_setpoints_are_as_without_the_spline() -> None:
    points = [
        TrajectoryPoint(t, (q, q, q), (0.1, 0.1, 0.1) if t < 0.1 else (0.0,) * 3)
        for t, q in ((0.0, 0.0), (0.05, 0.1), (0.1, 0.3))
    ]
    linear = replace(RULES, interpolation=Interpolation.LINEAR)
    motions = [compiled(points, rules) for rules in (RULES, linear)]
    assert (motions[0].coefficients == motions[1].coefficients).all()
    assert isinstance(motion_of([TrajectoryPoint(0.0, np.zeros(3))], RULES), Setpoint)
