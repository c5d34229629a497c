# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The rules of silence, with time as a plain number."""

from collections.abc import Callable, Sequence
import math

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from rnea_ros.watchdog.silence import SilenceMonitor, WatchState

TIMEOUT, RAMP, ZEROS_DURATION, PERIOD = 0.025, 0.2, 0.5, 0.004
COMMAND, ZEROS = (2.0, -30.0, 0.0), [0.0, 0.0, 0.0]
MAX_JOINTS = 1000

Sent = list[tuple[float, list[float]]]


class Bench:
    """A monitor that is asked every period; time is counted in whole milliseconds."""

    def __init__(self, timeout: float = TIMEOUT) -> None:
        self.monitor = SilenceMonitor(timeout, RAMP, PERIOD)
        self.milliseconds = 100_000
        self.sent: Sent = []

    @property
    def now(self) -> float:
        return 1e-3 * self.milliseconds

    def update(self) -> None:
        self.milliseconds += round(1e3 * PERIOD)
        command = self.monitor.command_at(self.now)
        if command is not None:
            self.sent.append((self.now, command))

    def receive(self, command: Sequence[float] = COMMAND) -> None:
        self.monitor.receive(command, self.now)

    def publisher(
        self, duration: float, command: Sequence[float] = COMMAND, period: float = PERIOD
    ) -> Sent:
        """Let a publisher command for a time; return the watchdog's commands in it."""
        before, end, due = len(self.sent), self.now + duration, self.now
        while self.now < end:
            if self.now >= due:
                self.receive(command)
                due += period
            self.update()
        return self.sent[before:]

    def silence(self, duration: float) -> Sent:
        """Let a time without commands pass; return the watchdog's commands in it."""
        before, end = len(self.sent), self.now + duration
        while self.now < end:
            self.update()
        return self.sent[before:]

    def stall(self, duration: float) -> None:
        """Let the whole machine stand still."""
        self.milliseconds += round(1e3 * duration)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_nothing_is_sent_while_commands_come_nor_after_zeros(bench: Bench) -> None:
    assert Bench().monitor.state is WatchState.QUIET
    assert bench.monitor.age(bench.now) == math.inf
    assert bench.publisher(2.0) == []
    states = [bench.monitor.state]
    bench.receive([0.0, -0.0, 0.0])
    assert bench.silence(10.0) == []
    assert [*states, bench.monitor.state] == [WatchState.WATCHING, WatchState.QUIET]


def test_silence_after_anything_else_ends_in_zeros_and_then_in_silence(bench: Bench) -> None:
    bench.publisher(1.0)
    last = bench.now - PERIOD
    sent = bench.silence(5.0)
    assert (bench.monitor.state, bench.monitor.acted) == (WatchState.ACTED, 1)
    assert bench.monitor.silence == pytest.approx(sent[0][0] - last)
    # The usual time between two commands is a period; checks are a period apart.
    assert TIMEOUT + PERIOD < sent[0][0] - last <= TIMEOUT + 2.0 * PERIOD
    left = np.maximum(1.0 - (np.arange(len(sent)) + 1) * PERIOD / RAMP, 0.0)
    efforts = [command for _, command in sent]
    np.testing.assert_allclose(efforts, np.outer(left, COMMAND), rtol=1e-9, atol=1e-9)
    assert sent[-1][0] - sent[0][0] == pytest.approx(RAMP + ZEROS_DURATION, abs=2.0 * PERIOD)
    bench.publisher(0.5)
    assert bench.monitor.handed_back == 0
    assert bench.silence(1.0), 'a new publisher is watched'
    assert bench.monitor.acted == 2


@pytest.mark.parametrize('acting_for', [0.04, 0.15, 0.3])
def test_commands_that_resume_take_over_at_once(bench: Bench, acting_for: float) -> None:
    bench.publisher(0.5)
    assert bench.silence(acting_for)
    assert bench.publisher(1.0) == []
    assert (bench.monitor.acted, bench.monitor.handed_back) == (1, 1)
    assert bench.monitor.silence == pytest.approx(acting_for, abs=0.01)


def test_zeros_received_during_the_ramp_are_followed_by_own_zeros(bench: Bench) -> None:
    # Its own last command may reach the controller after the publisher's zeros.
    bench.publisher(0.5)
    assert bench.silence(0.5 * RAMP)[-1][1] != ZEROS
    for _ in range(2):
        bench.receive(ZEROS)
    sent = bench.silence(2.0)
    assert all(command == ZEROS for _, command in sent)
    assert sent[-1][0] - sent[0][0] == pytest.approx(ZEROS_DURATION, abs=3.0 * PERIOD)
    assert bench.monitor.handed_back == 1


@pytest.mark.parametrize('bad', [
    [], [math.nan, 0.0, 0.0], [1.0, math.inf, 1.0], (MAX_JOINTS + 1) * [1.0],
])
def test_what_the_controller_drops_is_counted_as_silence(bench: Bench, bad: list[float]) -> None:
    bench.publisher(0.5)
    assert bench.publisher(1.0, bad)[-1][1] == ZEROS
    assert bench.monitor.rejected == pytest.approx(1.0 / PERIOD, abs=1)
    assert bench.monitor.last_command == list(COMMAND)
    bench.receive(MAX_JOINTS * [1.0])
    assert bench.monitor.last_command == MAX_JOINTS * [1.0]


@settings(max_examples=25)
@given(period=st.integers(1, 250).map(lambda n: PERIOD * n))
def test_a_steady_publisher_is_disturbed_at_most_once_however_slow(period: float) -> None:
    bench = Bench()
    bench.publisher(max(20.0 * period, 0.5), period=period)
    assert bench.monitor.acted <= 1
    assert bench.publisher(20.0 * period, period=period) == []


def test_a_slower_publisher_is_learned_and_a_late_command_and_a_burst_are_not(
    bench: Bench
) -> None:
    bench.publisher(1.0)
    bench.publisher(2.0, period=0.1)
    assert bench.monitor.acted == 1
    before = len(bench.sent)
    bench.silence(0.02)
    for _ in range(2):
        bench.receive()
        bench.update()
    bench.publisher(2.0, period=0.1)
    assert len(bench.sent) == before


@pytest.mark.parametrize(('live', 'longest'), [
    (lambda b: (b.publisher(0.5), b.stall(10.0), b.publisher(PERIOD)), TIMEOUT + 3.0 * PERIOD),
    (lambda b: (b.publisher(0.5), b.silence(0.15), b.publisher(3.0 * PERIOD)),
     TIMEOUT + 2.0 * PERIOD),
    (lambda b: (b.publisher(5.0, period=1.0), b.publisher(0.1)), TIMEOUT + 2.0 * PERIOD),
    (lambda b: (b.publisher(0.5), b.silence(60.0), b.receive()), 1.0 + TIMEOUT + 2.0 * PERIOD),
], ids=['after a stall', 'after a long gap', 'faster than before', 'after a long hang'])
def test_a_dead_publisher_is_missed_in_time(
    bench: Bench, live: Callable[[Bench], object], longest: float
) -> None:
    live(bench)
    last = bench.now
    assert bench.silence(5.0)[0][0] - last <= longest


@settings(max_examples=50)
@given(stalls=st.lists(st.floats(0.013, 10.0), min_size=1, max_size=10))
def test_a_stall_of_the_machine_is_not_taken_for_a_dead_publisher(stalls: list[float]) -> None:
    bench = Bench()
    bench.publisher(0.5)
    for stall in stalls:
        bench.stall(stall)
        bench.update()  # the watchdog runs first, and the publisher a little later
        bench.update()
        bench.publisher(0.1)
    assert bench.sent == []


@pytest.mark.parametrize(('timeout', 'stall', 'times', 'acts'), [
    (0.2, 0.07, 8, False),  # the publisher gets no turn in half a second, nor does the watchdog
    (TIMEOUT, 0.1, 5, True), (TIMEOUT, 10.0, 1, True),
])
def test_a_watchdog_that_is_late_waits_for_the_publisher_and_acts_all_the_same(
    timeout: float, stall: float, times: int, acts: bool
) -> None:
    bench = Bench(timeout)
    bench.publisher(0.5)
    for _ in range(times):
        bench.stall(stall)
        bench.update()
    if acts:
        assert bench.sent or bench.silence(TIMEOUT + 3.0 * PERIOD)
    else:
        bench.publisher(0.1)
        assert bench.sent == []


EVENTS = st.one_of(
    st.floats(1e-4, 0.5), st.just([math.nan]),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=8),
)


@settings(max_examples=100)
@given(ramp_duration=st.floats(0.0, 3.0), events=st.lists(EVENTS, max_size=100))
def test_it_sends_only_in_silence_and_what_shrinks_to_zero(
    ramp_duration: float, events: list[float | list[float]]
) -> None:
    watch, now, heard = SilenceMonitor(TIMEOUT, ramp_duration, PERIOD), 10.0, -math.inf
    last: list[float] = []
    before: list[float] = []
    for event in events:
        if isinstance(event, list):
            watch.receive(event, now)
            if event and all(map(math.isfinite, event)):
                heard, last, before = now, event, event
        else:
            now += event
        sent = watch.command_at(now)
        if sent is None:
            continue
        assert any(last) or watch.state is WatchState.ZEROING
        assert now - heard > TIMEOUT or not any(last)
        for new, old, first in zip(sent, before, last, strict=True):
            assert abs(new) <= abs(old)
            assert new * first >= 0.0
        before = sent
    if watch.state in (WatchState.ZEROING, WatchState.ACTED):
        assert not any(before)
