# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Statistics of the loop: rate, late and missed ticks, percentiles of the newest ticks."""

from itertools import pairwise

import numpy as np
import pytest

from rnea_ros.node.timing import LoopStatistics, loop_statistics

PERIOD = 0.002
BEGIN = 50.0


class Time:
    """Stands for the module ``time``: monotonic time and the process's time, set by the test."""

    def __init__(self) -> None:
        self.now = BEGIN
        self.cpu = 3.0

    def monotonic(self) -> float:
        return self.now

    def process_time(self) -> float:
        return self.cpu


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    fake = Time()
    monkeypatch.setattr(loop_statistics, 'time', fake)
    return fake


def test_rate_and_share_of_a_core_are_those_since_the_last_report(time: Time) -> None:
    loop = LoopStatistics(PERIOD, BEGIN)
    for ticks, cpu, seconds in ((500, 0.1, 1.0), (100, 0.5, 0.5), (0, 0.0, 2.0), (1000, 3.0, 1.0)):
        for _ in range(ticks):
            loop.record(0.0, 0.0)
        time.now += seconds
        time.cpu += cpu
        report = loop.report(time.now)
        assert report.rate == pytest.approx(ticks / seconds)
        assert report.cpu == pytest.approx(cpu / seconds)


def test_the_rate_counts_the_loops_time_and_the_share_the_machines(time: Time) -> None:
    loop = LoopStatistics(PERIOD, 7.0)
    for _ in range(500):
        loop.record(0.0, 0.0)
    time.now += 2.0  # the simulation runs at half the machine's speed
    time.cpu += 1.0
    report = loop.report(8.0)
    assert report.rate == pytest.approx(500.0)
    assert report.cpu == pytest.approx(0.5)


@pytest.mark.usefixtures('time')
def test_two_reports_at_the_same_time_do_not_divide_by_zero() -> None:
    loop = LoopStatistics(PERIOD, BEGIN)
    loop.record(0.0, 0.0)
    assert loop.report(BEGIN).rate == 0.0
    assert loop.report(BEGIN - 1.0).rate == 0.0  # simulated time was set back


def test_ticks_over_half_a_period_late_are_counted_from_the_start() -> None:
    loop = LoopStatistics(PERIOD, BEGIN)
    for lateness in (0.0, 0.0005, 0.001, 0.0011, 0.002, 1.0):
        loop.record(lateness, 0.0)
    assert loop.report(BEGIN).late == 3
    assert loop.report(BEGIN).late == 3
    loop.record(0.0015, 0.0)
    assert loop.report(BEGIN).late == 4


def test_where_no_tick_came_all_is_zero() -> None:
    loop = LoopStatistics(PERIOD, BEGIN)
    for _ in range(2):
        report = loop.report(BEGIN)
        assert report.lateness == report.compute == (0.0, 0.0)
        loop.record(1.0, 1.0)
        loop.report(BEGIN)


@pytest.mark.parametrize('ticks', [5, 10, 11, 25, 30, 1000])
def test_a_report_looks_back_at_no_more_ticks_than_the_ring_holds(ticks: int) -> None:
    loop = LoopStatistics(PERIOD, BEGIN, capacity=10)
    values = np.random.default_rng(ticks).uniform(size=(ticks, 2))
    for lateness, compute in values:
        loop.record(lateness, compute)
    report = loop.report(BEGIN)
    newest = values[-10:]
    for column, reported in enumerate((report.lateness, report.compute)):
        expected = (np.percentile(newest[:, column], 99.0), newest[:, column].max())
        assert reported == pytest.approx(expected)


def test_a_report_across_the_end_of_the_ring_takes_the_new_ticks_only() -> None:
    loop = LoopStatistics(PERIOD, BEGIN, capacity=10)
    ends = [0, 7, 13, 14, 23, 40]
    for begin, end in pairwise(ends):
        for k in range(begin, end):
            loop.record(float(k), float(-k))
        newest = np.arange(max(begin, end - 10), end)
        report = loop.report(BEGIN)
        assert report.lateness == pytest.approx((np.percentile(newest, 99.0), end - 1))
        assert report.compute[1] == -newest[0]
