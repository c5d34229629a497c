# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The watchdog's thread: what goes wrong in it is not taken for a publisher that lives."""

from typing import Any

import pytest

from support.ros.ros_process import NO_ROS, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)

from rnea_ros.watchdog.loop import WatchLoop
from rnea_ros.watchdog.silence import SilenceMonitor

PERIOD = 0.004


class Link:
    """A command topic with one received command; with ``broken``, taking raises."""

    def __init__(self) -> None:
        self.heard: list[list[float]] = [[5.0, -2.0]]
        self.sent: list[list[float]] = []
        self.broken = False

    def take(self) -> list[float] | None:
        if self.broken:
            raise RuntimeError('deaf')
        return self.heard.pop() if self.heard else None

    def send(self, command: list[float]) -> None:
        self.sent.append(command)


def watch_loop(link: Any, ramp_duration: float) -> WatchLoop:
    return WatchLoop(SilenceMonitor(0.02, ramp_duration, PERIOD), link, PERIOD)


def test_an_error_ends_the_thread_and_is_kept_with_its_traceback() -> None:
    link = Link()
    loop = watch_loop(link, 0.2)
    loop.start()
    assert wait_until(lambda: len(link.sent) > 0)
    assert loop.running
    link.broken = True
    assert wait_until(lambda: not loop.running)
    failure = loop.failure or ''
    assert 'Traceback' in failure
    assert 'RuntimeError: deaf' in failure
    loop.stop()


def test_an_end_in_the_middle_of_a_ramp_leaves_zeros_behind() -> None:
    link = Link()
    loop = watch_loop(link, 60.0)
    loop.start()
    assert wait_until(lambda: len(link.sent) > 5)
    loop.stop()
    assert link.sent[-1] == [0.0, 0.0]
    assert all(any(command) for command in link.sent[:-1])
    assert loop.failure is None


def test_an_end_while_commands_come_sends_nothing() -> None:
    link = Link()
    loop = watch_loop(link, 60.0)
    link.heard.clear()
    loop.start()
    loop.stop()
    assert link.sent == []
