# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The node starts by itself once nothing is missing, and no second robot is on its domain."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rclpy.lifecycle import TransitionCallbackReturn

from rnea_ros.node import autostart

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class Bench:
    """A node in virtual time that notes its transitions; ``activation`` is their result."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(autostart, 'time', SimpleNamespace(monotonic=lambda: self.now))
        self.missing, self.activation = '', SUCCESS
        self.transitions: list[str] = []
        self.joints = SimpleNamespace(appeared_at=self.now)
        others: Any = SimpleNamespace(unnamed=False)
        joints: Any = self.joints
        self.autostart = autostart.Autostart(self, others, joints, lambda: self.missing)
        self.autostart.enable()

    def get_parameter(self, name: str) -> SimpleNamespace:
        assert name == 'autostart'
        return SimpleNamespace(value=True)

    def get_logger(self) -> SimpleNamespace:
        return SimpleNamespace(info=lambda _: None)

    def trigger_configure(self) -> TransitionCallbackReturn:
        self.transitions.append('configure')
        return SUCCESS

    def trigger_activate(self) -> TransitionCallbackReturn:
        self.transitions.append('activate')
        return self.activation

    def trigger_cleanup(self) -> None:
        self.transitions.append('cleanup')

    def after(self, seconds: float) -> list[str]:
        """Return the transitions until a time from now, s."""
        self.transitions.clear()
        self.now += seconds
        self.autostart.poll(None, configured=False)
        return self.transitions


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(monkeypatch)


def test_a_second_controller_is_waited_for_after_the_newest_one(bench: Bench) -> None:
    assert bench.after(0.9 * autostart.DISCOVERY) == []
    bench.joints.appeared_at = bench.now
    assert bench.after(0.9 * autostart.DISCOVERY) == []
    bench.missing = 'only one controller'
    assert bench.after(0.2 * autostart.DISCOVERY) == []
    bench.missing = ''
    assert bench.after(0.0) == ['configure', 'activate']


def test_a_start_that_a_late_discovery_prevents_is_tried_again(bench: Bench) -> None:
    def discover() -> TransitionCallbackReturn:
        bench.transitions.append('activate')
        bench.missing = 'only one controller'
        return FAILURE

    bench.trigger_activate = discover  # type: ignore[method-assign]
    assert bench.after(autostart.DISCOVERY) == ['configure', 'activate', 'cleanup']
    assert bench.after(autostart.TRY_LATER[1]) == []
    bench.missing = ''
    assert bench.after(0.0) == ['configure', 'activate', 'cleanup']


def test_a_start_that_fails_for_another_reason_is_left_to_the_user(bench: Bench) -> None:
    bench.activation = FAILURE
    assert bench.after(autostart.DISCOVERY) == ['configure', 'activate']
    assert bench.after(autostart.TRY_LATER[1]) == []
