# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
``interpolation: spline``: points with positions only become a motion without a step (C2).

The oracle of the spline is SciPy's.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest

from rnea_ros.feedforward.trajectory import (
    Interpolation,
    JointRules,
    MotionState,
    Reference,
    Setpoint,
    Trajectory,
    TrajectoryPoint,
    TrajectoryRequest,
    compile_trajectory,
    derivative,
)
from support.control.control_rig import free_rules

Array = NDArray[Any]

NAMES = ('shoulder', 'elbow', 'wrist')
RULES = free_rules(
    NAMES, continuous=np.array([False, False, True]), interpolation=Interpolation.SPLINE,
    allow_partial_joints_goal=True, allow_trajectory_replacement=True,
)
POLICY = 1.0 / 30.0
"""Time between the points of a policy, s."""


def chunk(times: Array, positions: Array, names: tuple[str, ...] = NAMES) -> TrajectoryRequest:
    points = [TrajectoryPoint(float(t), q) for t, q in zip(times, positions, strict=True)]
    return TrajectoryRequest.of_points(names, points)


def compiled(request: TrajectoryRequest, rules: JointRules = RULES, **state: Any) -> Trajectory:
    given: dict[str, Any] = {'now': 0.0, 'position': np.zeros(3), 'velocity': np.zeros(3)} | state
    motion = compile_trajectory(request, rules, **given)
    assert isinstance(motion, Trajectory)
    return motion


def random_chunk(rng: np.random.Generator, first: float) -> tuple[Array, Array]:
    count = int(rng.integers(2, 30))
    times = first + np.append(0.0, np.cumsum(rng.uniform(0.02, 0.2, count - 1)))
    return times, 0.3 * rng.normal(size=(count, 3))


def assert_smooth(motion: Trajectory, joints: int) -> None:
    """Compare position, velocity and acceleration on both sides of every point."""
    for order in range(3):
        values = derivative(motion, order)[:, :, :joints]
        scale = np.abs(values).sum(axis=1).max()
        before, after = values[:-1].sum(axis=1), values[1:, 0]
        np.testing.assert_allclose(before, after, atol=1e-9 * scale)


@pytest.mark.parametrize('first', [0.0, 0.1])
@pytest.mark.parametrize('seed', range(10))
def test_positions_become_the_cubic_spline_with_the_way_to_the_first(
    seed: int, first: float
) -> None:
    interpolate = pytest.importorskip('scipy.interpolate')
    rng = np.random.default_rng(seed)
    times, positions = random_chunk(rng, first)
    positions[:, 2] *= 0.1
    start, velocity = 0.1 * rng.normal(size=(2, 3)) if first else np.zeros((2, 3))
    motion = compiled(chunk(times, positions), position=start, velocity=velocity)
    knots, way = (times, positions) if not first else (
        np.append(0.0, times), np.vstack((start, positions))
    )
    spline = interpolate.CubicSpline(knots, way, bc_type=((1, velocity), (1, np.zeros(3))))
    for time in rng.uniform(0.0, times[-1], 20):
        state = motion.state(time)
        for order in range(3):
            expected = spline(time, order)
            np.testing.assert_allclose(state[order], expected, atol=1e-9 * np.abs(spline.c).max())


class Stream:
    """
    A reference that follows chunks, each joined to the one before.

    :param rules: rules for the chunks
    """

    def __init__(self, rules: JointRules = RULES) -> None:
        self.rules = rules
        self.now = 0.0
        self.reference = Reference(3, 0.2)
        self.newest: Trajectory | Setpoint | None = None

    def send(
        self, times: Array, positions: Array, names: tuple[str, ...] = NAMES,
        start: float | None = None,
    ) -> Trajectory:
        handover = self.reference.handover(self.now + 0.003, self.newest)
        stamp = self.now if start is None else start
        motion = compiled(
            replace(chunk(times, positions, names), start_time=stamp), self.rules,
            now=self.now if handover is None else self.now + 0.003, handover=handover,
        )
        self.newest = motion
        assert self.reference.accept(motion, None)
        return motion

    def run(self, seconds: float) -> None:
        for _ in range(round(1000.0 * seconds)):
            self.now += 1e-3
            self.reference.advance(self.now)


@pytest.mark.parametrize('seed', range(5))
def test_a_stream_of_overlapping_chunks_is_smooth_across_handovers(seed: int) -> None:
    """Noisy chunks of 0.5 s at random times, at a changing speed; the last one of some joints."""
    rng = np.random.default_rng(seed)
    stream = Stream()
    ahead = POLICY * np.arange(1, 16)
    stream.send(ahead, np.sin(ahead)[:, np.newaxis] * np.ones(3))
    for left in range(5, -1, -1):
        stream.reference.scaling.set_target(rng.choice([0.4, 1.0]))
        stream.run(rng.uniform(0.02, 0.3))
        count = 3 if left else int(rng.integers(1, 3))
        noise = 2e-3 * rng.normal(size=(15, count))
        chunk_of = np.sin(stream.reference.time + ahead)[:, np.newaxis] + noise
        motion = stream.send(ahead, chunk_of, NAMES[:count])
        assert_smooth(motion, count)
        np.testing.assert_allclose(motion.state(motion.duration).velocity, 0.0, atol=1e-12)


def test_the_same_points_sent_again_change_nothing() -> None:
    stream = Stream()
    times = POLICY * np.arange(1, 20)
    positions = np.random.default_rng(0).normal(size=(19, 3))
    first = stream.send(times, positions)
    stream.run(0.207)
    joined = stream.send(times, positions, start=1e-3)
    for time in np.linspace(stream.now, times[-1], 50):
        for again, before in zip(joined.state(time), first.state(time), strict=True):
            np.testing.assert_allclose(again, before, rtol=1e-9, atol=1e-7)


def test_a_point_right_after_a_handover_is_left_out() -> None:
    """A deviation of 2 mrad, 1 ms after the handover, would need 2 rad/s."""
    stream = Stream()
    times = POLICY * np.arange(1, 20)
    stream.send(times, 0.1 * times[:, np.newaxis] * np.ones(3))
    stream.run(0.2)
    soon = 0.004 + POLICY * np.arange(10)
    motion = stream.send(soon, 0.002 + 0.1 * (stream.now + soon)[:, np.newaxis] * np.ones(3))
    speeds = [motion.state(t).velocity for t in np.linspace(0.0, 0.9 * motion.duration, 200)]
    assert np.abs(speeds).max() < 0.4


def test_points_with_velocities_and_setpoints_are_as_without_the_spline() -> None:
    times, positions = POLICY * np.arange(3), np.zeros((3, 3))
    points = [TrajectoryPoint(t, q, 0.1 * q) for t, q in zip(times, positions, strict=True)]
    request = TrajectoryRequest.of_points(NAMES, points)
    linear = replace(RULES, interpolation=Interpolation.LINEAR)
    assert (compiled(request).coefficients == compiled(request, linear).coefficients).all()
    alone = compile_trajectory(
        chunk(times[:1], positions[:1]), RULES, now=0.0, position=np.zeros(3),
        velocity=np.zeros(3), desired=MotionState.at_rest(np.ones(3)),
    )
    assert isinstance(alone, Setpoint)
