# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The schedule: ticks at absolute times, missed ones skipped, a clock set back, an end."""

from collections.abc import Callable
import math
import threading
import time

import numpy as np
import pytest

from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rnea_ros.ros import PeriodicSchedule

PERIOD = 0.125
"""A period without rounding errors, so that times can be compared exactly."""


class Clock:
    """
    A clock that only sleep moves on, unless a test does.

    :param oversleep: by how much a sleep takes longer than asked for, s
    :param longest: a longer sleep than that ends early, s
    """

    def __init__(
        self, now: float = 0.0, *, oversleep: float = 0.0, longest: float = math.inf
    ) -> None:
        self.time = now
        self.oversleep = oversleep
        self.longest = longest
        self.sleeps: list[float] = []
        self.during_sleep: Callable[[], None] | None = None

    def now(self) -> float:
        return self.time

    def sleep(self, duration: float) -> None:
        assert duration > 0.0
        self.sleeps.append(duration)
        assert len(self.sleeps) < 10_000, 'sleeps for ever'
        self.time += min(duration, self.longest) + self.oversleep
        if self.during_sleep is not None:
            during, self.during_sleep = self.during_sleep, None
            during()


def schedule_on(clock: Clock, period: float = PERIOD) -> PeriodicSchedule:
    schedule = PeriodicSchedule(period, clock.now, clock.sleep)
    schedule.start()
    return schedule


def test_ticks_come_at_multiples_of_the_period_from_the_start() -> None:
    clock = Clock(100.0)
    schedule = PeriodicSchedule(PERIOD, clock.now, clock.sleep)
    clock.time = 200.0
    schedule.start()
    for k in range(1, 100):
        assert schedule.wait() == 0.0
        assert clock.time == 200.0 + k * PERIOD
    assert schedule.missed == 0


def test_what_a_tick_takes_and_how_long_a_sleep_lasts_moves_no_later_tick() -> None:
    clock = Clock(oversleep=0.01)
    schedule = schedule_on(clock)
    rng = np.random.default_rng(2)
    for k in range(1, 200):
        late = schedule.wait()
        assert late == pytest.approx(0.01)
        assert clock.time == pytest.approx(k * PERIOD + 0.01)
        clock.time += rng.uniform(0.0, 0.1)  # the tick's own work
    assert schedule.missed == 0


def test_a_sleep_that_ends_early_is_gone_on_with() -> None:
    clock = Clock(longest=0.4 * PERIOD)
    schedule = schedule_on(clock)
    for k in range(1, 10):
        assert schedule.wait() == 0.0
        assert clock.time == k * PERIOD
        assert len(clock.sleeps) == 3 * k


@pytest.mark.parametrize('late', [0.0, 0.25, 0.5, 0.75])
def test_a_tick_less_than_a_period_late_comes_at_once(late: float) -> None:
    clock = Clock()
    schedule = schedule_on(clock)
    schedule.wait()
    clock.time += (1.0 + late) * PERIOD
    assert schedule.wait() == late * PERIOD
    assert clock.time == (2.0 + late) * PERIOD
    assert schedule.missed == 0
    assert schedule.wait() == 0.0
    assert clock.time == 3.0 * PERIOD


@pytest.mark.parametrize('blocked', [1.0, 1.5, 7.0, 7.75, 1000.5])
def test_missed_ticks_are_skipped_and_counted_without_a_burst(blocked: float) -> None:
    clock = Clock()
    schedule = schedule_on(clock)
    schedule.wait()
    clock.time += (1.0 + blocked) * PERIOD
    assert schedule.wait() == blocked * PERIOD
    assert schedule.missed == int(blocked)
    came = clock.time
    for _ in range(5):
        assert schedule.wait() == 0.0
        assert 0.0 < clock.time - came <= PERIOD
        assert clock.time % PERIOD == 0.0  # on the grid that it started with
        came = clock.time
    assert schedule.missed == int(blocked)


@pytest.mark.parametrize('back', [1.5, 3.0, 8000.0])
def test_a_clock_set_back_between_ticks_delays_one_tick_by_a_period(back: float) -> None:
    clock = Clock(1000.0)
    schedule = schedule_on(clock)
    schedule.wait()
    clock.time -= back * PERIOD
    here = clock.time
    assert schedule.wait() == 0.0
    assert clock.time == here + PERIOD
    assert schedule.missed == 0
    schedule.wait()
    assert clock.time == here + 2.0 * PERIOD


@pytest.mark.parametrize('back', [1.5, 3.0, 7000.0])
def test_a_clock_set_back_during_a_sleep_delays_the_tick_by_a_period(back: float) -> None:
    clock = Clock(1000.0)
    schedule = schedule_on(clock)
    schedule.wait()

    def set_back() -> None:
        clock.time -= back * PERIOD

    clock.during_sleep = set_back
    here = clock.time + PERIOD - back * PERIOD
    schedule.wait()
    assert clock.time == here + PERIOD
    assert len(clock.sleeps) == 3


def test_a_clock_that_is_set_forward_skips_what_lies_between() -> None:
    clock = Clock()
    schedule = schedule_on(clock)
    schedule.wait()
    clock.time += 3600.0
    schedule.wait()
    assert schedule.missed == round(3600.0 / PERIOD) - 1
    assert schedule.wait() == 0.0


def test_a_cancel_ends_the_wait_that_is_under_way_and_every_later_one() -> None:
    clock = Clock(longest=0.1 * PERIOD)  # looks at the time often, as in simulated time
    schedule = schedule_on(clock)
    clock.during_sleep = schedule.cancel
    assert schedule.wait() == 0.0
    assert len(clock.sleeps) == 1
    for _ in range(10):
        assert schedule.wait() == 0.0
    assert len(clock.sleeps) == 1


def test_a_cancel_from_another_thread_ends_a_wait_on_the_machine_s_clock() -> None:
    schedule = PeriodicSchedule(60.0, sleep=lambda duration: time.sleep(min(duration, 0.001)))
    schedule.start()
    waiting = threading.Thread(target=schedule.wait, daemon=True)
    waiting.start()
    schedule.cancel()
    waiting.join(timeout=5.0)
    assert not waiting.is_alive()


def test_ticks_on_the_real_clock_keep_to_the_grid_of_the_first() -> None:
    readings: list[float] = []

    def clock() -> float:
        readings.append(time.monotonic())
        return readings[-1]

    schedule = PeriodicSchedule(0.002, clock)
    schedule.start()
    began = readings[-1]
    for k in range(1, 101):
        missed = schedule.missed
        late = schedule.wait()
        assert late >= 0.0
        # Whatever the machine was busy with meanwhile: the tick was due at a whole period.
        due = readings[-1] - late
        assert due - began == pytest.approx((k + missed) * 0.002, abs=1e-9)
