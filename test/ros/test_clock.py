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
from rnea_ros.ros.clock import MAX_WAIT


@pytest.mark.parametrize(('value', 'parts'), [
    (0.0, (0, 0)), (2.25, (2, 250_000_000)), (0.9999999999, (1, 0)), (-0.25, (-1, 750_000_000)),
])
def test_seconds_become_whole_ones_and_nanoseconds(value: float, parts: tuple[int, int]) -> None:
    stamp = SimpleNamespace()
    set_seconds(stamp, value)
    assert (stamp.sec, stamp.nanosec) == parts
    assert seconds(stamp) == pytest.approx(value, abs=1e-9)


def test_a_wall_clock_that_is_set_moves_stamps_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    monotonic, wall = [50.0], [1.7e9]
    monkeypatch.setattr(time, 'monotonic', lambda: monotonic[0])
    monkeypatch.setattr(time, 'time', lambda: wall[0])
    clock = MachineClock()
    for step in (0.0, -1e6, -0.5, 0.5, 1e6):
        wall[0] = 1.7e9 + step
        monotonic[0] += 0.002
        now = monotonic[0]
        assert (clock.now(), clock.latest(), clock.stamp()) == (now, now, 1.7e9 + step)


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
