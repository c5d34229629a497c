# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A trajectory that is joined to the active one: no step, and omitted joints go on.

The oracle of the active part is the active trajectory itself.
"""

from dataclasses import replace
import math
from typing import Any

import numpy as np
import pytest

from rnea_ros.feedforward import Reason
from rnea_ros.feedforward.motion import (
    JointRules,
    Reference,
    Setpoint,
    Trajectory,
    TrajectoryError,
    TrajectoryPoint,
)
from support.control.control_rig import free_rules, setpoint, swing
from support.control.requested_motions import compiled

NAMES = ('lift', 'bend', 'turn')
RULES = free_rules(
    NAMES, continuous=np.array([False, False, True]), allow_partial_joints_goal=True,
    use_trajectory_effort=True, allow_trajectory_replacement=True,
)
PERIOD = 2e-3
STAMP = 1e6
"""Clock of the stamps minus that of the ticks, s."""

Point = TrajectoryPoint
REST, UP = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
HOME = Point(1.0, REST, REST)


class Bench:
    """A reference that follows a motion, and requests that are joined to it."""

    def __init__(self, motion: Trajectory | Setpoint, rules: JointRules = RULES) -> None:
        self.rules = rules
        self.now = 100.0
        self.reference = Reference(3, 0.2)
        self.follow(motion)
        self.run(PERIOD)

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / PERIOD)):
            self.now += PERIOD
            self.reference.advance(self.now)

    def compile(
        self, *points: Point, names: tuple[str, ...] = NAMES, stamp: float | None = None,
        ahead: float = PERIOD,
    ) -> Trajectory:
        """
        Return a joined trajectory.

        :param stamp: start time relative to now, None for at once
        :param ahead: time from now to the handover, unless the stamp is later
        """
        ahead = max(ahead, -math.inf if stamp is None else stamp)
        handover = self.reference.handover(self.now + ahead, self.newest)
        assert handover is not None
        return compiled(
            points, self.rules, names=names, now=STAMP + self.now + ahead, handover=handover,
            start_time=None if stamp is None else STAMP + self.now + stamp,
        )

    def follow(self, motion: Trajectory | Setpoint, start: float | None = None) -> bool:
        self.newest = motion
        return self.reference.accept(motion, start)


def swinging(duration: float = 1.0, run: float = 0.5) -> Bench:
    """Return a bench that has swung from 0 to 1 rad for a time, s."""
    bench = Bench(swing(NAMES, REST, UP, duration))
    bench.run(run)
    return bench


def random_points(rng: np.random.Generator, joints: int, first: float) -> list[Point]:
    """Return points of a random number of fields; the last one is at rest."""
    count, fields = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    times = first + np.append(0.0, np.cumsum(rng.uniform(0.1, 0.6, count - 1)))
    rows = rng.uniform(-1.0, 1.0, (count, 4, joints))
    rows[-1, 1:3] = 0.0
    has = np.append(np.arange(3) < fields, rng.random() < 0.5)
    return [
        Point(float(time), *(row[k] if has[k] else () for k in range(4)))
        for time, row in zip(times, rows, strict=True)
    ]


@pytest.mark.parametrize('seed', range(25))
def test_joining_has_no_step_and_omitted_joints_follow_the_active_motion(seed: int) -> None:
    """Random trajectories, stamps, joints, speed factors, and times between request and start."""
    rng = np.random.default_rng(seed)
    first = random_points(rng, 3, rng.choice([0.0, 0.3]))
    bench = Bench(compiled(first, RULES, names=NAMES, position=rng.uniform(-1.0, 1.0, 3)))
    reference = bench.reference
    for _ in range(3):
        reference.scaling.set_target(rng.choice([0.0, 0.3, 1.0]))
        bench.run(rng.uniform(0.0, 0.3))
        before = bench.newest
        assert isinstance(before, Trajectory)
        if reference.time >= before.duration:
            break
        columns = np.sort(rng.permutation(3)[: rng.integers(1, 4)])
        points = random_points(rng, columns.size, float(rng.choice([0.0, 0.2])))
        ticks = int(rng.integers(1, 5))
        motion = bench.compile(
            *points, names=tuple(NAMES[column] for column in columns),
            stamp=(None, 0.4, -0.07)[rng.integers(3)], ahead=max(ticks, 2) * PERIOD,
        )
        join = motion.join
        assert join is not None
        rows = [0, 1, 3]  # position, velocity and effort
        reached = np.array(before.state(join.begin))[rows]
        for time in (join.begin - 1e-9, math.nextafter(join.begin, math.inf)):
            np.testing.assert_allclose(np.array(motion.state(time))[rows], reached, atol=1e-6)
        kept = [point for point in points if join.zero + point.time > join.begin + 1e-12]
        assert kept
        for point in kept:
            off = motion.state(join.zero + point.time).position[columns] - point.positions
            off -= math.tau * np.round(off / math.tau) * (columns == 2)
            np.testing.assert_allclose(off, 0.0, atol=1e-9)
        others = np.setdiff1d(np.arange(3), columns)
        for time in np.linspace(reference.time, max(motion.duration, before.duration) + 0.1, 40):
            after, active = (np.array(each.state(time))[:, others] for each in (motion, before))
            np.testing.assert_allclose(after, active, atol=1e-7)
        # The reference does not step when the trajectory is accepted, whatever the speed does.
        assert bench.follow(motion)
        reference.scaling.set_target(rng.choice([0.0, 0.3, 1.0]))
        for _ in range(ticks):
            bench.run(PERIOD)
            if reference.time < join.begin:
                expected = before.state(reference.time).position
                np.testing.assert_allclose(reference.position, expected, atol=1e-9)


def test_points_at_the_start_or_before_are_dropped() -> None:
    bench = swinging(2.0)
    points = [Point(time, (time, time, time)) for time in (0.0, 0.2, 0.4)]
    for stamp, reached in ((None, (0.2, 0.4)), (0.1, (0.2, 0.4)), (-0.25, (0.4,))):
        motion = bench.compile(*points, stamp=stamp)
        assert motion.join is not None
        after = motion.knots.times[motion.knots.times > motion.join.begin] - motion.join.zero
        np.testing.assert_allclose(after, reached, atol=1e-6)
        # The bridge ends with the velocity of the straight line after it, 0 at the last point.
        velocity = motion.state(motion.join.zero + reached[0] - 1e-9).velocity
        np.testing.assert_allclose(velocity, float(len(reached) > 1), atol=1e-6)
    with pytest.raises(TrajectoryError, match='ended_in_past'):
        bench.compile(*points, stamp=-0.4 + 0.5 * PERIOD)


def test_a_request_that_starts_far_from_the_handover_is_rejected() -> None:
    bench = swinging(2.0, run=1.0)
    bench.rules = replace(RULES, start_tolerance=0.1)
    near, far = (
        [Point(time, (0.5, bend, 0.5)) for time in (0.0, 0.2, 0.4)] for bend in (0.5, 0.2)
    )
    assert bench.compile(*near)
    with pytest.raises(TrajectoryError, match="start_too_far, point 1, joint 'bend'"):
        bench.compile(*far, stamp=-0.3)


@pytest.mark.parametrize(('limits', 'time', 'bend', 'reason'), [
    # At 1.05 rad/s: to a point 0.1 s away, which is fast; to a point 1 s away, far beyond.
    ({'velocity_limits': np.full(3, 1.0)}, 0.02, -0.95, 'velocity_limit'),
    ({'lower': np.full(3, -1.0)}, 2.0, -0.6, 'position_limit'),
])
def test_the_way_from_the_desired_state_is_held_to_the_limits(
    limits: dict[str, Any], time: float, bend: float, reason: str
) -> None:
    bench = Bench(swing(NAMES, (9.0, -0.6, 0.0), (9.0, -0.95, 0.0), 0.5), replace(RULES, **limits))
    bench.run(0.25)
    lift, now, _ = bench.reference.position
    points = [
        Point(at, (lift, q, 0.0), REST) for at, q in ((0.0, now), (time, bend), (3.0, -0.95))
    ]
    with pytest.raises(TrajectoryError, match=f"^{reason}, point 1, joint 'bend'"):
        bench.compile(*points)


def test_a_continuous_joint_goes_on_within_half_a_turn() -> None:
    turns = 4.0 * math.pi
    bench = Bench(swing(NAMES, (0.0, 0.0, turns), (1.0, 1.0, turns + 1.0), 1.0))
    bench.run(0.5)
    motion = bench.compile(Point(1.0, (0.0, 0.0, 0.2), REST))
    assert motion.final_position[2] == pytest.approx(turns + 0.2)


def test_efforts_that_a_request_lacks_fade_until_its_first_point() -> None:
    points = [Point(t, (t, t, t), efforts=(3.0, 3.0, 3.0)) for t in (0.0, 2.0)]
    bench = Bench(compiled(points, RULES, names=NAMES))
    bench.run(0.5)
    joined = bench.compile(Point(1.0, (0.0, 0.0)), names=('lift', 'bend'))
    assert joined.join is not None
    for time, lift in ((0.0, 3.0), (0.5, 1.5), (1.0, 0.0)):
        effort = joined.state(joined.join.begin + time).effort
        np.testing.assert_allclose(effort, (lift, lift, 3.0), atol=1e-9)


def test_trajectories_are_joined_to_active_trajectories_only() -> None:
    held, streamed = swinging(), Bench(setpoint(NAMES, REST))
    held.reference.hold(np.zeros(3))
    for bench in (swinging(0.1, run=0.2), held, streamed):
        assert bench.reference.handover(bench.now + PERIOD, bench.newest) is None


def test_a_trajectory_joined_to_an_ended_motion_is_followed_to_a_dropped_one_not() -> None:
    bench = swinging(0.1, run=0.09)
    motion = bench.compile(HOME, ahead=0.05)
    bench.run(0.03)
    assert bench.follow(motion)
    bench.run(0.5)
    assert bench.reference.moving
    assert bench.reference.reason is Reason.REPLACED
    bench = swinging()
    motion = bench.compile(HOME)
    bench.reference.hold(np.full(3, 0.3), Reason.CONTACT)
    assert not bench.follow(motion)
    bench.run(PERIOD)
    assert bench.reference.position.tolist() == [0.3, 0.3, 0.3]
    assert bench.reference.reason is Reason.CONTACT


def test_a_waiting_trajectory_is_followed_until_a_later_stamp() -> None:
    bench = swinging(0.1, run=0.2)
    waiting = swing(NAMES, UP, (2.0, 2.0, 2.0), 1.0)
    assert bench.follow(waiting, bench.now + 0.5)
    assert bench.reference.handover(bench.now + 0.4, waiting) is None
    assert bench.follow(bench.compile(HOME, stamp=1.0))
    for seconds, position in ((0.4, 1.0), (0.6, 1.5), (1.1, 0.0)):
        bench.run(seconds)
        np.testing.assert_allclose(bench.reference.position, position, atol=1e-2)


def test_a_stream_of_requests_does_not_grow_the_trajectory() -> None:
    bench = swinging(5.0, run=0.0)
    for k in range(100):
        bench.run(0.02)
        points = [Point(t, (0.01 * (k % 7),), (0.0,)) for t in (0.1, 0.2)]
        motion = bench.compile(*points, names=('lift',))
        assert motion.knots.times.size <= 8
        assert bench.follow(motion)
