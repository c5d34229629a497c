# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The rules of silence, with time as a plain number."""

from collections.abc import Callable, Sequence
import math

from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

from rnea_ros.watchdog.silence import MAX_JOINTS, ZEROS_DURATION, SilenceMonitor, WatchState

TIMEOUT = 0.025
RAMP = 0.2
PERIOD = 0.004
COMMAND = (2.0, -30.0, 0.0)

Sent = list[tuple[float, list[float]]]

properties = settings(max_examples=150)
efforts = st.lists(
    st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8
).filter(any)


class Bench:
    """
    Updates a monitor every period; time is counted in whole milliseconds.

    :param ramp_duration: s
    :param timeout: s
    """

    def __init__(self, ramp_duration: float = RAMP, timeout: float = TIMEOUT) -> None:
        self.monitor = SilenceMonitor(timeout, ramp_duration, PERIOD)
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
    ) -> None:
        """Let a publisher command for a time, a period apart, s."""
        end, due = self.now + duration, self.now
        while self.now < end:
            if self.now >= due:
                self.receive(command)
                due += period
            self.update()

    def silence(self, duration: float) -> Sent:
        """Let a time without commands pass, s; return the watchdog's commands in it."""
        self.sent.clear()
        end = self.now + duration
        while self.now < end:
            self.update()
        return self.sent

    def stall(self, duration: float) -> None:
        """Let the whole machine stand still, s."""
        self.milliseconds += round(1e3 * duration)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_nothing_is_sent_while_commands_come(bench: Bench) -> None:
    assert bench.monitor.age(bench.now) == math.inf
    bench.publisher(2.0)
    assert bench.sent == []
    assert bench.monitor.state is WatchState.WATCHING


def test_silence_after_zeros_is_harmless(bench: Bench) -> None:
    bench.publisher(1.0)
    bench.receive([0.0, -0.0, 0.0])
    assert bench.silence(10.0) == []
    assert bench.monitor.state is WatchState.QUIET


def test_silence_after_anything_else_ends_in_zeros_and_then_in_silence(bench: Bench) -> None:
    bench.publisher(1.0)
    heard = bench.now
    sent = bench.silence(5.0)
    assert bench.monitor.state is WatchState.ACTED
    assert bench.monitor.acted == 1
    assert sent[0][0] - heard <= TIMEOUT + 2.0 * PERIOD
    assert abs(sent[0][1][0]) < abs(COMMAND[0])
    assert sent[-1][1] == [0.0, 0.0, 0.0]
    assert sent[-1][0] - sent[0][0] == pytest.approx(RAMP + ZEROS_DURATION, abs=3.0 * PERIOD)


def test_a_ramp_of_no_duration_sends_zeros_at_once() -> None:
    bench = Bench(ramp_duration=0.0)
    bench.publisher(0.5)
    assert {tuple(command) for _, command in bench.silence(2.0)} == {(0.0, 0.0, 0.0)}


@pytest.mark.parametrize('acting_for', [0.04, 0.15, 0.3])
def test_commands_that_resume_take_over_at_once(bench: Bench, acting_for: float) -> None:
    bench.publisher(0.5)
    assert bench.silence(acting_for)
    bench.sent.clear()
    bench.publisher(1.0)
    assert bench.sent == []
    assert (bench.monitor.acted, bench.monitor.handed_back) == (1, 1)
    assert bench.monitor.silence == pytest.approx(acting_for, abs=0.01)


def test_zeros_received_during_the_ramp_are_followed_by_own_zeros(bench: Bench) -> None:
    # Its own last command may reach the controller after the publisher's zeros.
    bench.publisher(0.5)
    assert bench.silence(0.5 * RAMP)[-1][1] != [0.0, 0.0, 0.0]
    bench.receive([0.0, 0.0, 0.0])
    bench.receive([0.0, 0.0, 0.0])
    sent = bench.silence(2.0)
    assert {tuple(command) for _, command in sent} == {(0.0, 0.0, 0.0)}
    assert sent[-1][0] - sent[0][0] == pytest.approx(ZEROS_DURATION, abs=3.0 * PERIOD)
    assert bench.monitor.handed_back == 1


def test_a_new_publisher_after_the_action_is_watched(bench: Bench) -> None:
    bench.publisher(0.5)
    bench.silence(5.0)
    bench.publisher(0.5)
    assert bench.monitor.handed_back == 0
    assert bench.silence(1.0)
    assert bench.monitor.acted == 2


@pytest.mark.parametrize('bad', [
    [], [math.nan, 0.0, 0.0], [1.0, math.inf, 1.0], (MAX_JOINTS + 1) * [1.0],
])
def test_what_the_controller_drops_is_counted_as_silence(bench: Bench, bad: list[float]) -> None:
    bench.publisher(0.5)
    bench.publisher(1.0, bad)
    assert bench.monitor.rejected > 100
    assert bench.monitor.acted == 1
    assert bench.monitor.last_command == list(COMMAND)
    assert bench.sent[-1][1] == [0.0] * 3


@properties
@given(period=st.integers(1, 250).map(lambda n: PERIOD * n))
def test_a_steady_publisher_is_disturbed_at_most_once_however_slow(period: float) -> None:
    bench = Bench()
    bench.publisher(max(20.0 * period, 0.5), period=period)
    assert bench.monitor.acted <= 1
    bench.sent.clear()
    bench.publisher(20.0 * period, period=period)
    assert bench.sent == []


def test_one_late_command_and_a_burst_do_not_change_the_usual_interval(bench: Bench) -> None:
    bench.publisher(2.0, period=0.1)
    bench.sent.clear()
    bench.silence(0.02)
    for _ in range(2):
        bench.receive()
        bench.update()
    bench.publisher(2.0, period=0.1)
    assert bench.sent == []


def test_a_slower_publisher_after_a_fast_one_is_disturbed_once(bench: Bench) -> None:
    bench.publisher(1.0)
    bench.publisher(1.0, period=0.1)
    assert bench.monitor.acted == 1


@pytest.mark.parametrize('live', [
    lambda bench: (bench.publisher(0.5), bench.silence(0.15), bench.publisher(3.0 * PERIOD)),
    lambda bench: (bench.publisher(5.0, period=1.0), bench.publisher(0.1)),
], ids=['after a long gap', 'faster than before'])
def test_a_dead_publisher_is_missed_in_time(bench: Bench, live: Callable[[Bench], object]) -> None:
    live(bench)
    heard = bench.now
    assert bench.silence(1.0)[0][0] - heard <= TIMEOUT + 2.0 * PERIOD


def test_a_publisher_that_dies_right_after_a_stall_is_missed_in_time(bench: Bench) -> None:
    bench.publisher(0.5)
    bench.stall(10.0)
    bench.publisher(PERIOD)
    heard = bench.now
    assert bench.silence(1.0)[0][0] - heard <= TIMEOUT + 3.0 * PERIOD


def test_a_second_long_hang_is_noticed_within_a_second(bench: Bench) -> None:
    bench.publisher(0.5)
    bench.silence(60.0)
    bench.receive()
    heard = bench.now
    assert bench.silence(5.0)[0][0] - heard <= 1.0 + TIMEOUT + 2.0 * PERIOD


@properties
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


def test_a_machine_that_stalls_repeatedly_silences_no_publisher() -> None:
    patient = Bench(timeout=0.2)
    patient.publisher(0.5)
    for _ in range(8):  # the publisher gets no turn in half a second, nor does the watchdog
        patient.stall(0.07)
        patient.update()
    patient.publisher(0.1)
    assert patient.sent == []


def test_a_watchdog_that_is_always_late_acts_all_the_same(bench: Bench) -> None:
    bench.publisher(0.5)
    for _ in range(5):
        bench.stall(0.1)
        bench.update()
    assert bench.sent


def test_a_publisher_that_did_not_survive_a_stall_is_missed_after_it(bench: Bench) -> None:
    bench.publisher(0.5)
    bench.stall(10.0)
    assert bench.silence(TIMEOUT + 3.0 * PERIOD)


@properties
@given(
    command=efforts, ramp_duration=st.floats(0.0, 3.0),
    looks=st.lists(st.floats(1e-4, 0.5), min_size=1, max_size=200),
)
def test_sent_efforts_shrink_from_the_last_command_to_zero(
    command: list[float], ramp_duration: float, looks: list[float]
) -> None:
    watch = SilenceMonitor(TIMEOUT, ramp_duration, PERIOD)
    now = 50.0
    watch.receive(command, now)
    before = command
    for step in looks:
        now += step
        sent = watch.command_at(now)
        if sent is None:
            continue
        assert len(sent) == len(before)
        for new, old, first in zip(sent, before, command, strict=True):
            assert abs(new) <= abs(old)
            assert new * first >= 0.0
        before = sent
    if watch.state in (WatchState.ZEROING, WatchState.ACTED):
        assert not any(before)


@properties
@given(events=st.lists(
    st.one_of(
        st.floats(1e-3, 0.3), st.lists(st.floats(-100.0, 100.0), min_size=0, max_size=3),
        st.just([math.nan]),
    ),
    max_size=60,
))
def test_it_sends_only_in_silence_and_never_more(events: list[float | list[float]]) -> None:
    watch, now = SilenceMonitor(TIMEOUT, RAMP, PERIOD), 10.0
    last: list[float] = []
    heard = -math.inf
    for event in events:
        if isinstance(event, list):
            watch.receive(event, now)
            if event and all(map(math.isfinite, event)):
                last, heard = event, now
        else:
            now += event
        sent = watch.command_at(now)
        if sent is not None:
            assert any(last)
            assert now - heard > TIMEOUT
            assert len(sent) == len(last)
            assert all(abs(x) <= abs(y) for x, y in zip(sent, last, strict=True))
