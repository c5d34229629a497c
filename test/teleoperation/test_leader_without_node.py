# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A leader that publishes positions alone, few and uneven, leads as one with a node does."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
import pytest

from rnea_ros.feedforward.motion import JointRules, online
from rnea_ros.messages import JointStateSample
from rnea_ros.teleoperation import Coupling, CouplingState, TeleoperationSettings, Uncoupled
from rnea_ros.teleoperation.coupling import FADE_IN, PAUSE

Array = NDArray[np.float64]

JOINTS, LEADER_JOINTS = ('shoulder', 'finger'), ('base', 'trigger')
SENT = ('trigger', 'wrist', 'base')  # by the leader: more joints, in another order
PERIOD, JITTER, NOTHING = 0.002, 0.3, np.empty(0)
SPEEDS, LOWER, UPPER = np.array([2.6, 0.2]), np.array([-1.5, 0.0]), np.array([1.5, 0.04])
SCALE, OFFSET = np.array([-1.0, -0.04]), np.array([0.2, 0.04])  # a pressed trigger closes


def hand(times: ArrayLike) -> Array:
    """Return the leader's joints at times, (..., 2), rad; at rest before 0."""
    t = np.maximum(times, 0.0)
    t = t * t / (t + 0.5)  # it begins slowly
    base = 0.6 * np.sin(1.5 * t) + 0.1 * np.sin(6.0 * t)
    return np.stack((base, 0.5 - 0.4 * np.cos(2.0 * t)), axis=-1)


class Arms:
    """A leader of positions alone, moved by a hand, and a follower that goes along at once."""

    def __init__(self, frequency: float, stamped: bool = False) -> None:
        rules = JointRules(JOINTS, LOWER, UPPER, np.zeros(2, dtype=bool), SPEEDS)
        self.coupling = Coupling(TeleoperationSettings(
            joints=JOINTS, leader_joints=LEADER_JOINTS, scale=tuple(SCALE), offset=tuple(OFFSET),
            leader_node=False, align_speed=1.0,
        ), rules)
        self.now, self.follower = 50.0, np.array([0.4, 0.01])
        self.moves_from, self.shift, self.velocity, self.split = np.inf, 0.0, NOTHING, False
        self.clock = 1e6 if stamped else -np.inf
        self.rows: list[tuple[float, Array]] = []
        self._period = 1.0 / frequency
        self._made, self._next, self._second = self.now, self.now, np.inf
        self._random = np.random.default_rng(int(frequency))

    def send(self, part: slice) -> None:
        """Let a message of some of the leader's joints come now."""
        base, trigger = self.shift + hand(self.now - self.moves_from)
        sample = np.array((trigger, np.nan, base))
        self.coupling.leader.states.take_sample(
            SENT[part], sample[part], self.velocity[part], NOTHING,
            stamp=max(self.clock + self.now, 0.0), clock=1e6 + self.now, received=self.now,
        )

    def run(self, duration: float, *, silent: bool = False) -> None:
        end = self.now + duration
        while self.now < end:
            self.now += PERIOD
            if self.now >= self._next:
                self._made += self._period
                self._next = self._made + JITTER * self._random.uniform(-1.0, 1.0) * self._period
                self._second = self.now + 0.4 * self._period if self.split else np.inf
                if not silent:
                    self.send(slice(2) if self.split else slice(3))
            if self.now >= self._second:
                self._second = np.inf
                self.send(slice(2, 3))
            self._tick()

    def _tick(self) -> None:
        coupling, now = self.coupling, self.now
        coupling.follower.states.take_sample(
            JOINTS, self.follower, NOTHING, NOTHING, stamp=0.0, clock=now, received=now
        )
        coupling.follower.take_effort(JointStateSample(JOINTS, NOTHING, NOTHING, np.zeros(2)), now)
        output = coupling.step(now)
        assert output.effort is None
        if output.setpoint is not None:
            setpoint = np.array(output.setpoint)
            assert (np.abs(setpoint[0] - self.follower) <= SPEEDS * PERIOD + 1e-12).all()
            assert ((setpoint[0] >= LOWER) & (setpoint[0] <= UPPER)).all()
            assert (np.abs(setpoint[1]) <= SPEEDS + 1e-9).all()
            self.follower = setpoint[0].copy()
            self.rows.append((now, setpoint))

    def couple(self) -> None:
        while self.coupling.state is not CouplingState.COUPLED:
            self.run(0.1)
            assert self.now < 65.0, self.coupling.reason
        self.run(FADE_IN)
        self.moves_from = self.now

    def recorded(self, first: int = 0) -> tuple[Array, Array]:
        """Return times and states, (3, N, 2), of set-points."""
        times, states = zip(*self.rows[first:], strict=True)
        return np.array(times), np.array(states).transpose(1, 0, 2)

    def behind(self, lag: float) -> Array:
        """Return the error, (N, 2), of set-points that are late by a lag, s."""
        times, (q, _, _) = self.recorded()
        times = times - self.moves_from
        errors: Array = q - SCALE * hand(times - lag) - OFFSET
        return errors[times > 0.0]

    def uncoupled(self, reason: Uncoupled) -> bool:
        coupling = self.coupling
        return coupling.state is CouplingState.UNCOUPLED and coupling.reason is reason


@pytest.mark.parametrize('stamped', [False, True])
@pytest.mark.parametrize('frequency', [20.0, 50.0, 200.0])
def test_the_follower_is_late_by_one_and_a_half_periods(frequency: float, stamped: bool) -> None:
    arms = Arms(frequency, stamped)
    arms.couple()
    arms.run(6.0)
    assert arms.coupling.state is CouplingState.COUPLED
    assert arms.coupling.ended == 0
    assert not arms.coupling.leader.states.rejections
    times, (q, qd, qdd) = arms.recorded()
    # No step, also not when the arms couple.
    assert np.abs(np.diff(q, axis=0) - PERIOD * qd[1:]).max() < 50.0 * PERIOD**2
    moving = times > arms.moves_from
    assert np.abs(np.diff(qd[moving], axis=0)).max() <= 50.0 * PERIOD
    assert np.abs(np.diff(qdd[moving], axis=0)).max() <= 2500.0 * PERIOD + 1e-9

    def errors(lag: float) -> Array:
        rms: Array = np.sqrt(np.mean(arms.behind(lag) ** 2, axis=0))
        return rms

    lags = np.arange(0.0, 3.0 / frequency, 0.0005)
    lag = min(lags, key=lambda lag: float(errors(lag).sum()))
    assert lag <= 1.5 / frequency + PERIOD
    assert (errors(lag) <= 0.004 * np.abs(SCALE)).all()


@pytest.mark.parametrize(('frequency', 'pause'), [(20.0, 0.06), (200.0, 0.15)])
def test_a_silence_ends_the_coupling_a_pause_does_not(frequency: float, pause: float) -> None:
    arms = Arms(frequency)
    arms.couple()
    arms.run(1.0)
    arms.run(pause, silent=True)
    arms.run(1.0)
    assert arms.coupling.ended == 0
    arms.run(0.25 + 1.6 / frequency, silent=True)
    assert arms.uncoupled(Uncoupled.LEADER_STALE)
    began = len(arms.rows)
    arms.run(1.0, silent=True)
    _, (q, qd, _) = arms.recorded(began)
    assert np.abs(np.diff(qd, axis=0)).max() <= 10.0 * PERIOD + 1e-9
    assert not qd[-1].any()
    arms.run(PAUSE + 0.3)
    assert arms.coupling.state is CouplingState.ALIGNING
    assert np.abs(arms.follower - q[-1]).max() < 0.3


@pytest.mark.parametrize('silent', [0.0, 0.15])
def test_a_leader_that_jumps_is_not_followed(silent: float) -> None:
    arms = Arms(20.0)
    arms.couple()
    arms.run(1.0, silent=False)
    arms.run(silent, silent=True)
    before, arms.shift = arms.follower.copy(), 3.5
    arms.run(0.5)
    assert arms.uncoupled(Uncoupled.LEADER_JUMP)
    assert np.abs(arms.follower - before).max() < 0.15


def test_after_a_silence_the_leader_may_be_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(online, 'has_ruckig', lambda: False)
    arms = Arms(50.0)
    arms.couple()
    arms.run(1.0)
    arms.shift = 6.0
    arms.run(1.0, silent=True)
    arms.run(5.0)
    assert arms.coupling.state is CouplingState.COUPLED
    assert arms.follower == pytest.approx([-1.5, 0.0], abs=1e-3)


def test_without_ruckig_the_motion_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = []
    for has_ruckig in (online.has_ruckig, lambda: False):
        monkeypatch.setattr(online, 'has_ruckig', has_ruckig)
        arms = Arms(50.0)
        arms.couple()
        arms.run(2.0)
        ends.append(arms.follower)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-3)


def test_velocities_of_the_leader_do_not_count() -> None:
    ends = []
    for velocity in (NOTHING, np.zeros(3), np.full(3, np.nan)):
        arms = Arms(50.0)
        arms.velocity = velocity
        arms.couple()
        arms.run(2.0)
        ends.append(arms.follower)
    np.testing.assert_array_equal(ends[1:], [ends[0]] * 2)


def test_joints_may_come_in_several_messages() -> None:
    arms = Arms(50.0)
    arms.split = True
    arms.couple()
    arms.run(3.0)
    assert np.sqrt(np.mean(arms.behind(0.03) ** 2, axis=0)) == pytest.approx(0.0, abs=0.015)


def test_a_leader_whose_clock_is_set_goes_on_leading() -> None:
    arms = Arms(20.0, stamped=True)
    arms.couple()
    arms.run(1.0)
    arms.clock += 1.7e9
    arms.run(2.0)
    assert arms.coupling.state is CouplingState.COUPLED
    assert np.abs(arms.behind(0.072)).max() < 0.02
