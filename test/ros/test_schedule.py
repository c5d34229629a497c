# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The schedule: ticks at absolute times, missed ones skipped, a clock set back, an end."""

from collections.abc import Callable
import math

import numpy as np
import pytest

from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rnea_ros.ros import PeriodicSchedule

PERIOD = 0.125
"""A period without rounding errors, so that times can be compared exactly."""


class Clock:
    """
    A clock that only sleep moves on, unless a test does; ``schedule`` starts now.

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
        self.during_sleep: Callable[[], None] = lambda: None
        self.schedule = PeriodicSchedule(PERIOD, lambda: self.time, self.sleep)
        self.schedule.start()

    def sleep(self, duration: float) -> None:
        assert duration > 0.0
        self.sleeps.append(duration)
        assert len(self.sleeps) < 10_000, 'sleeps for ever'
        self.time += min(duration, self.longest) + self.oversleep
        during, self.during_sleep = self.during_sleep, lambda: None
        during()


def test_ticks_come_at_multiples_of_the_period_from_the_start() -> None:
    clock = Clock(100.0)
    clock.time = 200.0
    clock.schedule.start()
    for k in range(1, 100):
        assert clock.schedule.wait() == 0.0
        assert clock.time == 200.0 + k * PERIOD
    assert (clock.schedule.missed, clock.schedule.untriggered) == (0, 0)


def test_what_a_tick_takes_and_how_long_a_sleep_lasts_moves_no_later_tick() -> None:
    clock = Clock(oversleep=0.01)
    rng = np.random.default_rng(2)
    for k in range(1, 200):
        assert clock.schedule.wait() == pytest.approx(0.01)
        assert clock.time == pytest.approx(k * PERIOD + 0.01)
        clock.time += rng.uniform(0.0, 0.1)  # the tick's own work
    assert clock.schedule.missed == 0


def test_a_sleep_that_ends_early_is_gone_on_with() -> None:
    clock = Clock(longest=0.4 * PERIOD)
    for k in range(1, 10):
        assert clock.schedule.wait() == 0.0
        assert clock.time == k * PERIOD
        assert len(clock.sleeps) == 3 * k


@pytest.mark.parametrize('late', [0.0, 0.25, 0.75, 1.0, 1.5, 7.0, 7.75, 1000.5])
def test_a_late_tick_comes_at_once_and_missed_ones_are_skipped_and_counted(late: float) -> None:
    clock = Clock()
    clock.schedule.wait()
    clock.time += (1.0 + late) * PERIOD
    came = clock.time
    assert clock.schedule.wait() == late * PERIOD
    assert clock.time == came
    assert clock.schedule.missed == int(late)
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
    assert clock.schedule.wait() == 0.0
    assert clock.time == here + PERIOD
    assert clock.schedule.missed == 0
    clock.schedule.wait()
    assert clock.time == here + 2.0 * PERIOD


def test_a_clock_that_is_set_forward_skips_what_lies_between() -> None:
    clock = Clock()
    clock.schedule.wait()
    clock.time += 3600.0
    clock.schedule.wait()
    assert clock.schedule.missed == round(3600.0 / PERIOD) - 1
    assert clock.schedule.wait() == 0.0


def test_a_cancel_ends_the_wait_that_is_under_way_and_every_later_one() -> None:
    clock = Clock(longest=0.1 * PERIOD)  # looks at the time often, as in simulated time
    clock.during_sleep = clock.schedule.cancel
    for _ in range(10):
        assert clock.schedule.wait() == 0.0
    assert len(clock.sleeps) == 1


def test_ticks_on_the_machines_clock_come_after_whole_periods() -> None:
    schedule = PeriodicSchedule(0.002)
    schedule.start()
    assert all(schedule.wait() >= 0.0 for _ in range(10))
