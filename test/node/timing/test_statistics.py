# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Statistics of the loop: rate, late and missed ticks, percentiles of the newest ticks."""

from types import SimpleNamespace

import numpy as np
import pytest

from rnea_ros.node.timing import LoopStatistics, loop_statistics

PERIOD, BEGIN = 0.002, 50.0


def test_rate_and_share_of_a_core_are_those_since_the_last_report(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    machine, cpu_time, now = BEGIN, 3.0, 7.0
    monkeypatch.setattr(loop_statistics, 'time', SimpleNamespace(
        monotonic=lambda: machine, process_time=lambda: cpu_time
    ))
    loop = LoopStatistics(PERIOD, now)
    # The rate counts the loop's time, here at half the machine's speed, the share the machine's.
    for ticks, cpu, seconds in ((500, 0.1, 1.0), (100, 0.5, 0.5), (0, 0.0, 2.0), (1000, 3.0, 1.0)):
        for _ in range(ticks):
            loop.record(0.0, 0.0)
        machine, cpu_time, now = machine + seconds, cpu_time + cpu, now + 0.5 * seconds
        report = loop.report(now)
        assert report.rate == pytest.approx(ticks / (0.5 * seconds))
        assert report.cpu == pytest.approx(cpu / seconds)
    loop.record(0.0, 0.0)
    assert loop.report(now).rate == 0.0, 'two reports at the same time'
    assert loop.report(now - 1.0).rate == 0.0, 'simulated time was set back'


def test_ticks_over_half_a_period_late_are_counted_from_the_start() -> None:
    loop = LoopStatistics(PERIOD, BEGIN)
    for lateness, late in ((0.0005, 0), (0.001, 0), (0.0011, 1), (0.002, 2), (1.0, 3)):
        loop.record(lateness, 0.0)
        assert loop.report(BEGIN).late == late


def test_a_report_looks_back_at_the_new_ticks_that_the_ring_holds() -> None:
    loop = LoopStatistics(PERIOD, BEGIN, capacity=10)
    rng = np.random.default_rng(3)
    for ticks in (0, 7, 6, 1, 0, 9, 17, 5, 10, 11, 1000):
        values = rng.uniform(size=(ticks, 2))
        for lateness, compute in values:
            loop.record(lateness, compute)
        report, newest = loop.report(BEGIN), values[-10:]
        for column, reported in enumerate((report.lateness, report.compute)):
            expected = (0.0, 0.0)
            if ticks:
                expected = (np.percentile(newest[:, column], 99.0), newest[:, column].max())
            assert reported == pytest.approx(expected)
