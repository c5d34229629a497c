# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The loop's clock and its schedule: ticks at absolute times; and a request that is repeated."""

from collections.abc import Callable
from concurrent.futures import Future
import math
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rnea_ros.ros import (
    MachineClock,
    PeriodicSchedule,
    RepeatedRequest,
    SimClock,
    seconds,
    set_seconds,
)
from rnea_ros.ros.clock import MAX_WAIT

PERIOD = 0.125
"""A period without rounding errors, so that times can be compared exactly."""


@pytest.mark.parametrize(('value', 'parts'), [
    (0.0, (0, 0)), (2.25, (2, 250_000_000)), (0.9999999999, (1, 0)), (-0.25, (-1, 750_000_000)),
])
def test_seconds_become_whole_ones_and_nanoseconds(value: float, parts: tuple[int, int]) -> None:
    stamp = SimpleNamespace()
    set_seconds(stamp, value)
    assert (stamp.sec, stamp.nanosec) == parts
    assert seconds(stamp) == pytest.approx(value, abs=1e-9)


def test_a_wall_clock_that_is_set_moves_stamps_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, 'monotonic', lambda: 50.0)
    for wall in (1.7e9, 1e6, 2e9):
        monkeypatch.setattr(time, 'time', lambda now=wall: now)
        clock = MachineClock()
        assert (clock.now(), clock.latest(), clock.stamp()) == (50.0, 50.0, wall)


def test_simulated_time_is_the_newest_message_and_reports_running_back() -> None:
    messages: list[Any] = []
    waits: list[float] = []
    subscription: Any = SimpleNamespace(
        take=lambda: messages.pop() if messages else None, wait=waits.append
    )
    set_back: list[float] = []
    clock = SimClock(subscription, set_back.append)
    assert clock.now() == clock.latest() == 0.0
    for now, back in ((5.0, []), (5.25, []), (5.25, []), (900.0, []), (2.5, [2.5]), (2.75, [2.5])):
        stamp = SimpleNamespace()
        set_seconds(stamp, now)
        messages.append(SimpleNamespace(clock=stamp))
        before = clock.latest()
        assert clock.latest() == before, 'only the loop reads messages'
        assert clock.now() == clock.latest() == clock.stamp() == clock.now() == now
        assert set_back == back
    clock.sleep(5.0)
    assert waits == [MAX_WAIT]


# --- the schedule --------------------------------------------------------------------------------


class Clock:
    """
    A clock that only sleep moves on, unless a test does; ``schedule`` starts now.

    :param oversleep: by how much a sleep takes longer than asked for, s
    :param longest: a longer sleep than that ends early, s
    """

    def __init__(
        self, now: float = 0.0, *, oversleep: float = 0.0, longest: float = math.inf
    ) -> None:
        self.time, self.oversleep, self.longest = now, oversleep, longest
        self.sleeps = 0
        self.during_sleep: Callable[[], None] = lambda: None
        self.schedule = PeriodicSchedule(PERIOD, lambda: self.time, self.sleep)
        self.schedule.start()

    def sleep(self, duration: float) -> None:
        assert duration > 0.0
        self.sleeps += 1
        assert self.sleeps < 10_000, 'sleeps for ever'
        self.time += min(duration, self.longest) + self.oversleep
        during, self.during_sleep = self.during_sleep, lambda: None
        during()


def test_ticks_come_at_multiples_of_the_period_from_the_start() -> None:
    clock = Clock(oversleep=0.01)
    clock.time = 200.0
    clock.schedule.start()
    rng = np.random.default_rng(2)
    for k in range(1, 200):
        assert clock.schedule.wait() == pytest.approx(0.01)
        assert clock.time == pytest.approx(200.0 + k * PERIOD + 0.01)
        clock.time += rng.uniform(0.0, 0.1)  # the tick's own work
    assert (clock.schedule.missed, clock.schedule.untriggered) == (0, 0)


def test_a_sleep_that_ends_early_is_gone_on_with() -> None:
    clock = Clock(longest=0.4 * PERIOD)
    for k in range(1, 10):
        assert clock.schedule.wait() == 0.0
        assert (clock.time, clock.sleeps) == (k * PERIOD, 3 * k)


@pytest.mark.parametrize('late', [0.0, 0.25, 0.75, 1.0, 1.5, 7.75, 28800.0])
def test_a_late_tick_comes_at_once_and_missed_ones_are_skipped_and_counted(late: float) -> None:
    clock = Clock()
    clock.schedule.wait()
    clock.time += (1.0 + late) * PERIOD
    came = clock.time
    assert clock.schedule.wait() == late * PERIOD
    assert clock.time == came
    for k in range(1, 4):  # no burst, and on the grid that it started with
        assert clock.schedule.wait() == 0.0
        assert clock.time == (2 + int(late) + k) * PERIOD
    assert clock.schedule.missed == int(late)


@pytest.mark.parametrize('back', [1.5, 3.0, 7000.0])
@pytest.mark.parametrize('asleep', [False, True])
def test_a_clock_set_back_delays_one_tick_by_a_period(back: float, *, asleep: bool) -> None:
    clock = Clock(1000.0)
    clock.schedule.wait()

    def set_back() -> None:
        clock.time -= back * PERIOD

    here = clock.time - back * PERIOD
    if asleep:
        clock.during_sleep = set_back
        here += PERIOD
    else:
        set_back()
    for k in (1, 2):
        assert clock.schedule.wait() == 0.0
        assert clock.time == here + k * PERIOD
    assert clock.schedule.missed == 0


def test_a_cancel_ends_the_wait_that_is_under_way_and_every_later_one() -> None:
    clock = Clock(longest=0.1 * PERIOD)  # looks at the time often, as in simulated time
    clock.during_sleep = clock.schedule.cancel
    for _ in range(10):
        assert clock.schedule.wait() == 0.0
    assert clock.sleeps == 1


# --- a request whose answer may be lost ----------------------------------------------------------


@pytest.mark.parametrize('answered', [0, 2])
def test_a_request_is_sent_each_second_until_one_is_answered(
    monkeypatch: pytest.MonkeyPatch, answered: int
) -> None:
    sent: list[Future[str]] = []
    now, ready = 100.0, False
    monkeypatch.setattr(time, 'monotonic', lambda: now)

    def call_async(request: str) -> Future[str]:
        assert request == 'what'
        sent.append(Future())
        return sent[-1]

    client: Any = SimpleNamespace(service_is_ready=lambda: ready, call_async=call_async)
    repeated = RepeatedRequest(client, 'what')
    for k, count in enumerate((0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3)):
        ready = k >= 3
        assert not repeated.poll()
        assert len(sent) == count
        now += 0.25
    sent[answered].set_result('that')
    now += 5.0
    assert repeated.poll()
    assert (repeated.response, len(sent)) == ('that', 3)
