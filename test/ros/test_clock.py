# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The loop's clock: a set wall clock moves stamps only, reset simulated time is reported."""

import time
from types import SimpleNamespace
from typing import Any

import pytest

from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rnea_ros.ros import MachineClock, SimClock, seconds, set_seconds


@pytest.mark.parametrize(('value', 'parts'), [
    (0.0, (0, 0)), (2.25, (2, 250_000_000)), (0.9999999999, (1, 0)), (-0.25, (-1, 750_000_000)),
])
def test_seconds_become_whole_ones_and_nanoseconds(value: float, parts: tuple[int, int]) -> None:
    stamp = SimpleNamespace()
    set_seconds(stamp, value)
    assert (stamp.sec, stamp.nanosec) == parts
    assert seconds(stamp) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize('step', [-1e6, -0.5, 0.5, 1e6])
def test_a_wall_clock_that_is_set_moves_stamps_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, step: float
) -> None:
    monotonic, wall = [50.0], [1.7e9]
    monkeypatch.setattr(time, 'monotonic', lambda: monotonic[0])
    monkeypatch.setattr(time, 'time', lambda: wall[0])
    clock = MachineClock()
    assert (clock.now(), clock.latest(), clock.stamp()) == (50.0, 50.0, 1.7e9)
    wall[0] += step
    assert (clock.now(), clock.latest(), clock.stamp()) == (50.0, 50.0, 1.7e9 + step)
    monotonic[0] += 0.002
    assert (clock.now(), clock.latest()) == (50.002, 50.002)


class Ticks:
    """A subscription to /clock."""

    def __init__(self) -> None:
        self.newest: Any = None

    def send(self, now: float) -> None:
        stamp = SimpleNamespace(sec=int(now), nanosec=round(1e9 * (now % 1.0)))
        self.newest = SimpleNamespace(clock=stamp)

    def take(self) -> Any:
        newest, self.newest = self.newest, None
        return newest


def test_simulated_time_is_the_newest_message_and_reports_running_back() -> None:
    ticks: Any = Ticks()
    set_back: list[float] = []
    clock = SimClock(ticks, set_back.append)
    assert clock.now() == 0.0
    for now in (5.0, 5.25, 5.25, 900.0):
        ticks.send(now)
        assert clock.now() == clock.latest() == clock.stamp() == now
    assert set_back == []
    ticks.send(2.5)
    assert clock.now() == 2.5
    assert set_back == [2.5]
    ticks.send(2.75)
    assert clock.now() == 2.75
    assert set_back == [2.5]
