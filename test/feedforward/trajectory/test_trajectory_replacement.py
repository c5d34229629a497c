# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A trajectory that is joined to the active one: no step, and omitted joints go on.

The oracle of the active part is the active trajectory itself, followed by a second reference.
"""

from dataclasses import replace
import math
from typing import Any

import numpy as np
import pytest

from rnea_ros.feedforward import Reason
from rnea_ros.feedforward.trajectory import (
    JointRules,
    Reference,
    Setpoint,
    Trajectory,
    TrajectoryError,
    TrajectoryPoint,
    TrajectoryReason,
    TrajectoryRequest,
    compile_trajectory,
)
from support.control.control_rig import Array, setpoint, swing

NAMES = ('lift', 'bend', 'turn')
RULES = JointRules(
    joint_names=NAMES, lower=np.full(3, -10.0), upper=np.full(3, 10.0),
    continuous=np.array([False, False, True]), velocity_limits=np.full(3, np.inf),
    start_tolerance=np.inf, allow_partial_joints_goal=True, use_trajectory_effort=True,
    allow_trajectory_replacement=True,
)
PERIOD = 2e-3
STAMP = 1e6
"""Clock of the stamps minus that of the ticks, s."""


class Bench:
    """Two references: one with the requests joined, one that follows the first motion alone."""

    def __init__(self, motion: Trajectory | Setpoint, rules: JointRules = RULES) -> None:
        self.rules = rules
        self.now = 100.0
        self.joined, self.alone = Reference(3, 0.2), Reference(3, 0.2)
        self.newest = motion
        self.both = (self.joined, self.alone)
        for reference in self.both:
            reference.accept(motion, None)
        self.tick()

    def tick(self) -> None:
        self.now += PERIOD
        for reference in self.both:
            reference.advance(self.now)

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / PERIOD)):
            self.tick()

    def factor(self, factor: float) -> None:
        for reference in self.both:
            reference.scaling.set_target(factor)

    def compile(
        self, *points: TrajectoryPoint, names: tuple[str, ...] = NAMES, stamp: float | None = None,
        ahead: float = PERIOD,
    ) -> Trajectory:
        """
        Return a joined trajectory.

        :param stamp: start time relative to now, None for at once
        :param ahead: time from now to the handover, unless the stamp is later
        """
        ahead = max(ahead, -math.inf if stamp is None else stamp)
        handover = self.joined.handover(self.now + ahead, self.newest)
        assert handover is not None
        start_time = None if stamp is None else STAMP + self.now + stamp
        motion = compile_trajectory(
            TrajectoryRequest.of_points(names, points, start_time), self.rules,
            now=STAMP + self.now + ahead, position=np.zeros(3), velocity=np.zeros(3),
            handover=handover,
        )
        assert isinstance(motion, Trajectory)
        return motion

    def follow(self, motion: Trajectory | Setpoint, start: float | None = None) -> bool:
        self.newest = motion
        return self.joined.accept(motion, start)


def state(reference: Reference) -> Array:
    """Return desired position, velocity, acceleration and effort, shape (4, 3)."""
    return np.array(
        (reference.position, reference.velocity, reference.acceleration, reference.effort)
    )


def random_points(
    rng: np.random.Generator, joints: int, first: float
) -> tuple[TrajectoryPoint, ...]:
    """Return points of a random number of fields; the last one is at rest."""
    count, fields = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    times = first + np.concatenate(([0.0], np.cumsum(rng.uniform(0.1, 0.6, count - 1))))
    efforts = rng.random() < 0.5
    rows = rng.uniform(-1.0, 1.0, (count, 4, joints))
    rows[-1, 1:3] = 0.0
    points = []
    for time, row in zip(times, rows, strict=True):
        q, qd, qdd, effort = row
        points.append(TrajectoryPoint(
            float(time), q, qd if fields > 1 else (), qdd if fields > 2 else (),
            effort if efforts else (),
        ))
    return tuple(points)


def random_motion(rng: np.random.Generator) -> Trajectory:
    request = TrajectoryRequest.of_points(NAMES, random_points(rng, 3, rng.choice([0.0, 0.3])))
    motion = compile_trajectory(
        request, RULES, now=0.0, position=rng.uniform(-1.0, 1.0, 3), velocity=np.zeros(3)
    )
    assert isinstance(motion, Trajectory)
    return motion


@pytest.mark.parametrize('seed', range(60))
def test_joining_has_no_step_and_omitted_joints_follow_the_active_motion(seed: int) -> None:
    """Random trajectories, stamps, joints, speed factors, and times between request and start."""
    rng = np.random.default_rng(seed)
    bench = Bench(random_motion(rng))
    for _ in range(3):
        factor, later = rng.choice([0.0, 0.3, 1.0], 2)
        bench.factor(factor)
        bench.run(rng.uniform(0.0, 0.3))
        if bench.joined.time >= bench.newest.duration:  # type: ignore[union-attr]
            break
        before = bench.newest
        assert isinstance(before, Trajectory)
        columns = np.sort(rng.permutation(3)[: rng.integers(1, 4)])
        names = tuple(NAMES[column] for column in columns)
        first = float(rng.choice([0.0, 0.2]))
        stamp = (None, 0.4, -0.07)[rng.integers(3)]
        points = random_points(rng, columns.size, first)
        ticks = int(rng.integers(1, 5))
        motion = bench.compile(*points, names=names, stamp=stamp, ahead=max(ticks, 2) * PERIOD)
        join = motion.join
        assert join is not None
        # Position, velocity and effort have no step at the handover.
        reached = np.array(before.state(join.begin))
        left, right = (
            np.array(motion.state(time))
            for time in (join.begin - 1e-9, math.nextafter(join.begin, math.inf))
        )
        for row in (0, 1, 3):
            np.testing.assert_allclose(left[row], reached[row], atol=1e-6)
            np.testing.assert_allclose(right[row], reached[row], atol=1e-6)
        # The points after the handover are reached at their times.
        kept = [point for point in points if join.zero + point.time > join.begin + 1e-12]
        assert kept
        for point in kept:
            q = motion.state(join.zero + point.time).position[columns]
            difference = np.zeros(3)
            difference[columns] = q - point.positions
            np.testing.assert_allclose(RULES.shortest_way(difference), 0.0, atol=1e-9)
        # Joints that are left out do what they would have done.
        others = np.setdiff1d(np.arange(3), columns)
        end = max(motion.duration, before.duration) + 0.1
        for time in np.linspace(bench.joined.time, end, 60):
            np.testing.assert_allclose(
                np.array(motion.state(time))[:, others], np.array(before.state(time))[:, others],
                atol=1e-7,
            )
        # The reference does not step when the trajectory is accepted, whatever the speed does.
        assert bench.follow(motion)
        bench.factor(later)
        for _ in range(ticks):
            bench.tick()
            if bench.joined.time < join.begin:
                np.testing.assert_allclose(
                    bench.joined.position, before.state(bench.joined.time).position, atol=1e-9
                )


def test_points_at_the_start_or_before_are_dropped() -> None:
    bench = Bench(swing(NAMES, np.zeros(3), (1.0, 1.0, 1.0), 2.0))
    bench.run(0.5)
    points = [TrajectoryPoint(time, (time, time, time)) for time in (0.0, 0.2, 0.4)]
    for stamp, reached in ((None, (0.2, 0.4)), (0.1, (0.2, 0.4)), (-0.25, (0.4,))):
        motion = bench.compile(*points, stamp=stamp)
        assert motion.join is not None
        after = motion.knots.times[motion.knots.times > motion.join.begin] - motion.join.zero
        np.testing.assert_allclose(after, reached, atol=1e-6)
    with pytest.raises(TrajectoryError, match='ended_in_past'):
        bench.compile(*points, stamp=-0.5)
    with pytest.raises(TrajectoryError, match='ended_in_past'):
        bench.compile(*points, stamp=-0.4 + 0.5 * PERIOD)


def test_a_request_that_starts_far_from_the_handover_is_rejected() -> None:
    bench = Bench(
        swing(NAMES, np.zeros(3), (1.0, 1.0, 1.0), 2.0), replace(RULES, start_tolerance=0.1)
    )
    bench.run(1.0)
    points = [TrajectoryPoint(time, (0.5, 0.5, 0.5)) for time in (0.0, 0.2, 0.4)]
    assert bench.compile(*points)
    far = [TrajectoryPoint(time, (0.5, 0.2, 0.5)) for time in (0.0, 0.2, 0.4)]
    with pytest.raises(TrajectoryError, match="start_too_far, point 1, joint 'bend'"):
        bench.compile(*far, stamp=-0.3)


@pytest.mark.parametrize(('limits', 'point', 'reason'), [
    ({'velocity_limits': np.full(3, 1.0)}, 1, TrajectoryReason.VELOCITY_LIMIT),
    ({'lower': np.full(3, -1.0)}, 0, TrajectoryReason.POSITION_LIMIT),
])
def test_the_way_from_the_desired_state_is_held_to_the_limits(
    limits: dict[str, Any], point: int, reason: TrajectoryReason
) -> None:
    bench = Bench(swing(NAMES, (9.0, -0.6, 0.0), (9.0, -0.95, 0.0), 0.5), replace(RULES, **limits))
    bench.run(0.25)
    near = bench.joined.position[0]
    first = -0.95 if point else -0.6
    q = [(near, bench.joined.position[1], 0.0), (near, first, 0.0), (near, -0.95, 0.0)]
    with pytest.raises(TrajectoryError) as caught:
        # At 1.05 rad/s: to a point 0.1 s away, which is fast; to a point 1 s away, far beyond.
        bench.compile(
            TrajectoryPoint(0.0, q[0], (0.0, 0.0, 0.0)),
            TrajectoryPoint(0.02 if point else 2.0, q[1], (0.0, 0.0, 0.0)),
            TrajectoryPoint(3.0, q[2], (0.0, 0.0, 0.0)),
        )
    assert caught.value.reason is reason
    assert caught.value.joint == 'bend'
    assert caught.value.point == 1


def test_a_continuous_joint_goes_on_within_half_a_turn() -> None:
    turns = 4.0 * math.pi
    bench = Bench(swing(NAMES, (0.0, 0.0, turns), (1.0, 1.0, turns + 1.0), 1.0))
    bench.run(0.5)
    motion = bench.compile(TrajectoryPoint(1.0, (0.0, 0.0, 0.2), (0.0, 0.0, 0.0)))
    assert motion.final_position[2] == pytest.approx(turns + 0.2)
    partial = bench.compile(TrajectoryPoint(1.0, (0.0,), (0.0,)), names=('lift',))
    assert partial.final_position[2] == turns + 1.0


def test_efforts_that_a_request_lacks_fade_until_its_first_point() -> None:
    points = [TrajectoryPoint(t, (t, t, t), efforts=(3.0, 3.0, 3.0)) for t in (0.0, 2.0)]
    motion = compile_trajectory(
        TrajectoryRequest.of_points(NAMES, points), RULES, now=0.0,
        position=np.zeros(3), velocity=np.zeros(3),
    )
    bench = Bench(motion)
    bench.run(0.5)
    joined = bench.compile(TrajectoryPoint(1.0, (0.0, 0.0)), names=('lift', 'bend'))
    assert joined.join is not None
    for time, lift in ((0.0, 3.0), (0.5, 1.5), (1.0, 0.0)):
        effort = joined.state(joined.join.begin + time).effort
        np.testing.assert_allclose(effort, (lift, lift, 3.0), atol=1e-9)


def test_trajectories_are_joined_to_active_trajectories_only() -> None:
    ended = Bench(swing(NAMES, np.zeros(3), (1.0, 1.0, 1.0), 0.1))
    ended.run(0.2)
    held = Bench(swing(NAMES, np.zeros(3), (1.0, 1.0, 1.0), 1.0))
    held.joined.hold(np.zeros(3))
    streamed = Bench(setpoint(NAMES, np.zeros(3)))
    for bench in (ended, held, streamed):
        assert bench.joined.handover(bench.now + PERIOD, bench.newest) is None


def test_a_trajectory_that_was_joined_to_a_dropped_motion_is_not_followed() -> None:
    bench = Bench(swing(NAMES, np.zeros(3), (1.0, 1.0, 1.0), 1.0))
    bench.run(0.5)
    motion = bench.compile(TrajectoryPoint(1.0, (0.0, 0.0, 0.0)))
    bench.joined.hold(np.full(3, 0.3), Reason.CONTACT)
    assert not bench.follow(motion)
    bench.tick()
    assert bench.joined.position.tolist() == [0.3, 0.3, 0.3]
    assert bench.joined.reason is Reason.CONTACT


def test_a_motion_that_ends_between_the_request_and_its_tick_is_continued() -> None:
    bench = Bench(swing(NAMES, np.zeros(3), (1.0, 1.0, 1.0), 0.1))
    bench.run(0.09)
    motion = bench.compile(TrajectoryPoint(1.0, (0.0, 0.0, 0.0)), ahead=0.05)
    bench.run(0.03)
    assert bench.follow(motion)
    bench.run(0.5)
    assert bench.joined.moving


def test_a_waiting_trajectory_is_followed_until_a_later_stamp() -> None:
    bench = Bench(swing(NAMES, np.zeros(3), (1.0, 1.0, 1.0), 0.1))
    bench.run(0.2)
    waiting = swing(NAMES, (1.0, 1.0, 1.0), (2.0, 2.0, 2.0), 1.0)
    assert bench.follow(waiting, bench.now + 0.5)
    assert bench.joined.handover(bench.now + 0.4, waiting) is None
    motion = bench.compile(TrajectoryPoint(1.0, (0.0, 0.0, 0.0)), stamp=1.0)
    assert bench.follow(motion)
    bench.run(0.4)
    assert bench.joined.position.tolist() == [1.0, 1.0, 1.0]
    bench.run(0.6)
    np.testing.assert_allclose(bench.joined.position, 1.5, atol=1e-2)
    bench.run(1.1)
    np.testing.assert_allclose(bench.joined.position, 0.0, atol=1e-12)


def test_a_reference_that_is_sampled_ahead_has_no_step_either() -> None:
    bench = Bench(swing(NAMES, np.zeros(3), (1.0, 1.0, 1.0), 1.0))
    ahead, newest = Reference(3, 0.2, lead=PERIOD), bench.newest
    ahead.accept(newest, None)
    positions = []
    for tick in range(500):
        bench.tick()
        ahead.advance(bench.now)
        positions.append(ahead.position.copy())
        if tick == 200:
            bench.joined = ahead
            # Accepted at the next tick, which looks one period ahead.
            assert bench.follow(bench.compile(TrajectoryPoint(0.5, (0.0,) * 3), ahead=3 * PERIOD))
    assert np.abs(np.diff(positions, n=2, axis=0)).max() < 30.0 * PERIOD**2
    np.testing.assert_allclose(positions[-1], 0.0, atol=1e-12)


def test_the_past_is_forgotten() -> None:
    """A stream of requests must not grow the trajectory."""
    bench = Bench(swing(NAMES, np.zeros(3), (1.0, 1.0, 1.0), 5.0))
    for k in range(100):
        bench.run(0.02)
        q = 0.01 * (k % 7)
        points = [TrajectoryPoint(t, (q,), (0.0,)) for t in (0.1, 0.2)]
        motion = bench.compile(*points, names=('lift',))
        assert motion.knots.times.size <= 8
        assert bench.follow(motion)
    np.testing.assert_allclose(
        state(bench.joined)[:, 1:], state(bench.alone)[:, 1:], rtol=1e-7, atol=1e-9
    )
