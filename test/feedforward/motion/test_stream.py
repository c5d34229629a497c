# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Streams of points: the motion made of them is smooth, within limits, and late by 1.4 periods."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros.feedforward.motion import (
    JointRules,
    Knots,
    MotionLimits,
    Motions,
    MotionState,
    Reference,
    Shaping,
    StreamSettings,
    StreamShaper,
    Trajectory,
    TrajectoryError,
    TrajectoryPoint,
    TrajectoryRequest,
)
from rnea_ros.feedforward.motion.online import motion_to_rest
from support.control.control_rig import Array

pytest.importorskip('ruckig', reason='ruckig is not installed')

DT, DELAY = 0.002, 0.006  # of the control: its period, and from a message to its motion
NAMES = ('shoulder', 'elbow', 'wrist')
LIMITS = MotionLimits(
    np.array([2.0, 3.0, 4.0]), np.array([8.0, 15.0, 20.0]), np.array([400.0, 750.0, 2000.0]),
    np.array([-1.5, -2.0, -np.inf]), np.array([1.5, 2.0, np.inf]),
)
CONTINUOUS = np.array([False, False, True])
RULES = JointRules(NAMES, LIMITS.lower, LIMITS.upper, CONTINUOUS, LIMITS.velocity)
NONE = np.zeros(3)
RUCKIG = StreamSettings(Shaping.RUCKIG)


@dataclass
class Follower:
    """Follows a stream as the control does, from rest at zero."""

    settings: StreamSettings = RUCKIG
    rules: JointRules = RULES
    now: float = 0.0
    states: list[Array] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.shaper = StreamShaper(self.settings, self.rules, LIMITS)
        self.reference = Reference(len(NAMES), 0.2)
        self.motions = Motions(self.reference, 0.2)
        self.reference.hold(np.zeros(len(NAMES)))

    def send(self, *points: TrajectoryPoint, names: Sequence[str] = NAMES, **given: Any) -> None:
        """Take a message now."""
        request = TrajectoryRequest.of_points(tuple(names), points, **given)
        assert self.shaper.is_of_stream(request)
        q = self.reference.position.copy()
        self.shaper.take(request, self.now, self.now + 1e9, q, q)
        begin = self.now + DELAY
        handover = self.motions.handover(begin)
        start = handover or self.motions.reference_at(begin)
        assert start is not None
        motion = self.shaper.follow(begin, start)
        self.motions.newest = motion
        self.motions.follow(motion, None if handover else begin, None, mode_follows=True)

    def go_to(self, *q: float, **given: Any) -> None:
        """Take a point of positions."""
        self.send(TrajectoryPoint(0.0, q), **given)

    def run(self, duration: float) -> None:
        """Follow for a time, s, which need not be a multiple of the period."""
        self.now += duration
        while (ticked := DT * (len(self.states) + 1)) <= self.now + 1e-9:
            self.reference.advance(ticked)
            now = self.reference
            self.states.append(np.array([now.position, now.velocity, now.acceleration]))

    def judge(self) -> Array:
        """Return positions, (ticks, 3); every state is within the limits, none has a step."""
        q: Array
        q, qd, qdd = np.array(self.states).transpose(1, 0, 2)
        for rates, limit in ((qd, LIMITS.velocity), (qdd, LIMITS.acceleration)):
            assert (np.abs(rates) <= limit).all(), np.abs(rates).max(axis=0)
        assert (np.abs(np.diff(qdd, axis=0)) <= LIMITS.jerk * DT).all()
        assert (np.abs(np.diff(q, axis=0) - DT * qd[1:]) <= LIMITS.acceleration * DT * DT).all()
        assert ((q >= LIMITS.lower - 1e-3) & (q <= LIMITS.upper + 1e-3)).all()
        return q


def swing(t: float) -> Array:
    """Return positions of a hand at a time, shape (3,), rad."""
    elbow = 0.8 * math.sin(2.0 * t) + 0.2 * math.sin(6.0 * t)
    return np.array((math.sin(1.5 * t), elbow, 3.0 * t), dtype=np.float64)


@pytest.mark.parametrize('frequency', [5.0, 15.0, 50.0, 100.0, 200.0])
@pytest.mark.parametrize('with_velocity', [False, True])
def test_a_steady_stream_is_followed_one_and_a_half_periods_late(
    frequency: float, with_velocity: bool
) -> None:
    follower, velocity = Follower(), (0.2, -0.3, 1.5)
    for k in range(round(3.0 * frequency)):
        given = velocity if with_velocity else ()
        follower.send(TrajectoryPoint(0.0, np.array(velocity) * k / frequency, given))
        follower.run(1.0 / frequency)
    q = follower.judge()
    behind = np.array(velocity) * DT * len(q) - q[-1]
    lag = behind / velocity * frequency
    assert lag == pytest.approx(np.full(3, 1.4), abs=0.1)


@pytest.mark.parametrize('seed', range(8))
def test_any_stream_makes_a_smooth_motion_within_the_limits_that_ends_at_rest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frequency = (5.0, 15.0, 50.0, 200.0)[seed % 4]
    follower = Follower(replace(RUCKIG, frequency=frequency * (seed % 3 == 0)))
    shift = np.zeros(3)
    for k in range(round(6.0 * frequency)):
        shift += rng.choice((0.0, 1.0), p=(0.97, 0.03)) * rng.uniform(-2.0, 2.0, 3)
        points = [
            TrajectoryPoint(0.0, shift + swing((k + later) / frequency))
            for later in range(6 if follower.settings.frequency and k % 2 else 1)
        ]
        if rng.random() < 0.9:
            follower.send(*points)
        follower.run(rng.uniform(0.7, 1.3) / frequency * rng.choice((1.0, 4.0), p=(0.95, 0.05)))
    last = np.clip(points[-1].positions, LIMITS.lower, LIMITS.upper)
    for _ in range(20):
        follower.go_to(*last)
        follower.run(1.0 / frequency)
    follower.run(6.0)
    q = follower.judge()
    assert RULES.shortest_way(q[-1] - last) == pytest.approx(np.zeros(3), abs=1e-6)
    assert not follower.reference.velocity.any()


def test_a_swing_is_followed_and_a_silence_ends_it_at_rest_soon() -> None:
    follower, rng, frequency = Follower(), np.random.default_rng(3), 15.0
    for k in range(120):
        follower.run(max((k + 0.3 * rng.random()) / frequency - follower.now, 0.0))
        follower.go_to(*swing(k / frequency))
    sent, q = follower.now, follower.judge()
    late = (1.4 + 0.15) / frequency
    wanted = np.array([swing(DT * (k + 1) - late) for k in range(len(q))])
    error = (q - wanted)[len(q) // 2 :]
    assert np.sqrt(np.mean(error[:, :2] ** 2)) < 0.02
    follower.run(2.0)
    rests = [not state[1].any() for state in follower.states]
    assert DT * rests.index(True, round(sent / DT)) < sent + 0.6


def test_a_chunk_is_followed_point_by_point_and_replaced_in_the_middle() -> None:
    follower, frequency = Follower(replace(RUCKIG, frequency=20.0)), 20.0
    for first in range(0, 100, 7):
        follower.send(*(
            TrajectoryPoint(0.0, swing((first + k) / frequency)) for k in range(16)
        ))
        follower.run(7 / frequency)
    q = follower.judge()
    wanted = np.array([swing(DT * (k + 1) - 1.4 / frequency) for k in range(len(q))])
    assert np.abs(q - wanted)[len(q) // 3 :].max() < 0.01


def test_a_far_point_is_approached_as_fast_as_the_limits_permit() -> None:
    follower = Follower()
    follower.go_to(1.5, -1.0, 3.0)
    follower.run(2.0)
    q = follower.judge()
    assert q[-1] == pytest.approx([1.5, -1.0, 3.0], abs=1e-9)
    arrived = DT * np.argmax(np.abs(q[:, 0] - 1.5) < 1e-3)
    assert 1.0 < arrived < 1.2  # 1.5 rad at 2 rad/s, 8 rad/s^2, 400 rad/s^3


def test_targets_beyond_a_position_limit_end_at_it() -> None:
    follower = Follower()
    for k in range(60):
        follower.go_to(0.1 * k, 0.0, 0.0)
        follower.run(0.05)
    assert follower.judge()[-1, 0] == pytest.approx(1.5, abs=1e-6)


def test_a_joint_that_must_stop_at_its_limit_makes_no_jerk_of_the_others() -> None:
    q, qd, qdd = np.array([(1.4, 0.0, 0.0), (2.0, -0.01, 0.1), (0.0, 15.0, -20.0)])
    state = MotionState(q, qd, qdd, NONE)
    motion = Trajectory(NAMES, None, Knots.quintic(*motion_to_rest(state, LIMITS)))
    states = np.array([motion.state(0.001 * k)[:3] for k in range(1000)])
    assert states[:, 0, 0].max() == pytest.approx(1.5, abs=1e-3)
    assert (np.abs(np.diff(states[:, 2, 1:], axis=0)) < 0.001 * LIMITS.jerk[1:]).all()
    assert not states[-1, 1].any()


def test_joints_that_a_message_leaves_out_stay_and_turns_are_not_counted() -> None:
    follower = Follower(rules=replace(RULES, allow_partial_joints_goal=True))
    for k in range(40):
        follower.go_to(0.02 * min(k, 35) + 4.0 * math.pi, names=('wrist',))
        follower.run(0.05)
    follower.run(1.0)
    assert follower.judge()[-1] == pytest.approx([0.0, 0.0, 0.7], abs=1e-6)


def test_stamps_tell_when_uneven_points_were_made() -> None:
    follower, rng, made = Follower(), np.random.default_rng(1), 0.0
    while made < 4.0:
        follower.go_to(0.3 * made, -0.3 * made, 1.5 * made, start_time=1e9 + made)
        step = 0.05 * rng.uniform(0.7, 1.3)
        follower.run(step)
        made += step
    q = follower.judge()[-500:]
    speed = np.diff(q, axis=0) / DT
    assert np.abs(speed / (0.3, -0.3, 1.5) - 1.0).max() < 0.35


@pytest.mark.parametrize('frequency', [15.0, 50.0, 100.0])
@pytest.mark.parametrize(('row', 'most'), [
    ((0.0, 0.3), 0.01), ((0.0, 0.05), 0.03), ((0.0, 1.0), 0.01), ((0.0, 0.3, 0.3), 0.01),
    ((*np.linspace(0.0, 1.0, 30), 1.0), 0.08), ((*7 * (0.0,), 0.05), 0.01),
])
@pytest.mark.parametrize('in_chunk', [False, True])
def test_a_jump_or_a_sudden_end_is_no_motion_that_goes_on(
    frequency: float, row: tuple[float, ...], most: float, *, in_chunk: bool
) -> None:
    follower = Follower(replace(RUCKIG, frequency=frequency))
    if in_chunk:
        follower.send(*(TrajectoryPoint(0.0, np.full(3, q)) for q in row))
    for q in () if in_chunk else row:
        follower.go_to(q, q, q)
        follower.run(1.0 / frequency)
    follower.run(4.0)
    moved = follower.judge()
    assert moved[-1] == pytest.approx(np.full(3, row[-1]), abs=1e-6)
    assert moved.max() < row[-1] + most
    assert moved.min() > -1e-3


def test_after_silence_the_robot_rests_at_the_last_point() -> None:
    follower, frequency = Follower(), 15.0
    for k in range(30):
        follower.go_to(*swing(k / frequency))
        follower.run(1.0 / frequency)
    follower.run(3.0)
    q = follower.judge()
    assert q[-1] == pytest.approx(swing(29 / frequency), abs=1e-6)
    assert np.abs(q - q[-1])[-1500:, :2].max() < 0.3


def test_two_streams_of_some_joints_do_not_disturb_each_other() -> None:
    follower = Follower(rules=replace(RULES, allow_partial_joints_goal=True))
    for k in range(60):
        given = {'names': ('wrist',)} if k % 2 else {'names': ('elbow', 'shoulder')}
        follower.go_to(*((0.5,) if k % 2 else (0.3, 0.1)), **given)
        follower.run(0.02)
    follower.run(1.0)
    q = follower.judge()
    assert q[-1] == pytest.approx([0.1, 0.3, 0.5], abs=1e-6)
    assert q.max() < 0.51


@pytest.mark.parametrize('wraps', [False, True])
def test_a_continuous_joint_passes_half_a_turn(*, wraps: bool) -> None:
    follower = Follower()
    for k in range(60):
        angle = 0.1 * k
        follower.go_to(0.0, 0.0, math.remainder(angle, math.tau) if wraps else angle)
        follower.run(0.05)
    follower.run(1.0)
    q = follower.judge()
    assert q[-1, 2] == pytest.approx(5.9, abs=1e-6)
    assert follower.judge()[:, 2].max() < 6.2


def test_a_window_of_points_with_times_is_followed_at_their_times() -> None:
    follower = Follower()
    rows = [(0.0, 0.0, 0.2 * math.sin(math.pi * k / 7.0)) for k in range(8)]
    follower.send(*(TrajectoryPoint(0.02 * k, row) for k, row in enumerate(rows)))
    follower.run(1.0)
    q = follower.judge()
    assert q[:, 2].max() > 0.1
    assert q[-1] == pytest.approx(np.zeros(3), abs=1e-6)


def test_points_in_time_that_stands_still_replace_each_other() -> None:
    follower = Follower()
    for k in range(40):
        follower.go_to(0.025 * k, 0.0, 0.0)
        follower.go_to(0.025 * k, 0.0, 0.0)
        follower.run(0.05)
    speeds = np.array(follower.states)[-500:, 1, 0]
    assert speeds == pytest.approx(np.full(500, 0.5), abs=0.02)


CASES: Sequence[tuple[StreamSettings, tuple[ArrayLike, ...], str]] = (
    (RUCKIG, (np.zeros(3), np.zeros(3)), 'times_not_increasing.*: set stream.frequency'),
    (replace(RUCKIG, max_deviation=0.3), ((0.0, -0.4, 0.0),),
     "start_too_far, point 0, joint 'elbow': -0.4 is more than 0.3 from 0.0"),
    (RUCKIG, ((0.0, np.nan, 0.0),), 'not_finite'), (RUCKIG, ((0.0, 0.0, 1e9),), 'position_limit'),
    (RUCKIG, ((0.0, 0.0),), 'wrong_size'),
)


@pytest.mark.parametrize(('settings', 'rows', 'why'), CASES)
def test_a_bad_message_is_rejected_and_the_stream_goes_on(
    settings: StreamSettings, rows: tuple[ArrayLike, ...], why: str
) -> None:
    follower = Follower(settings)
    for k in range(20):
        follower.go_to(0.01 * k, 0.0, 0.0)
        if k == 10:
            with pytest.raises(TrajectoryError, match=why):
                follower.send(*(TrajectoryPoint(0.0, row) for row in rows))  # type: ignore[arg-type]
        follower.run(0.05)
    for _ in range(5):
        follower.go_to(0.19, 0.0, 0.0)
        follower.run(0.05)
    follower.run(1.0)
    assert follower.judge()[-1, 0] == pytest.approx(0.19, abs=1e-6)


def test_messages_that_take_longer_are_trajectories() -> None:
    shaper = StreamShaper(RUCKIG, RULES, LIMITS)
    for times, streamed in (
        ((0.0,), True), ((0.04,), True), ((0.0, 0.1), True), ((0.5,), False), ((0.1, 0.3), False)
    ):
        points = [TrajectoryPoint(time, np.zeros(3)) for time in times]
        assert shaper.is_of_stream(TrajectoryRequest.of_points(NAMES, points)) is streamed


def test_efforts_of_the_points_are_blended_in() -> None:
    follower = Follower(rules=replace(RULES, use_trajectory_effort=True))
    for _ in range(10):
        follower.send(TrajectoryPoint(0.0, np.zeros(3), efforts=(1.0, 2.0, 3.0)))
        follower.run(0.05)
    assert follower.reference.effort == pytest.approx([1.0, 2.0, 3.0], rel=1e-3)
    follower.run(1.0)
    assert not follower.reference.effort.any()


def test_the_default_limits_are_those_of_the_urdf_and_of_the_robot() -> None:
    urdf = LIMITS._replace(jerk=np.full(3, np.inf), acceleration=np.array([2.0, np.inf, np.inf]))
    limits = StreamSettings(max_velocity=(1.0, 0.0, 9.0)).limits(urdf, np.full(3, 40.0))
    assert limits.velocity.tolist() == [1.0, 3.0, 4.0]
    assert limits.acceleration.tolist() == [2.0, 10.0, 10.0]
    assert limits.jerk.tolist() == [40.0, 200.0, 200.0]
