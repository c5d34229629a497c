# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A signal that comes in a call of ROS is raised after the call."""

from concurrent.futures import ThreadPoolExecutor
import signal
from types import SimpleNamespace
from typing import Any

import pytest

from rnea_ros.interrupts import interrupts_held


def nested(steps: list[str]) -> None:
    with interrupts_held() as outer:
        with interrupts_held() as inner:
            signal.raise_signal(signal.SIGINT)
            steps += ['inner'] if inner() else []
        steps += ['outer'] if outer() else []


def test_a_signal_is_raised_at_the_end_of_the_outer_block_unless_ignored() -> None:
    steps: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        nested(steps)
    assert steps == ['inner', 'outer']
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    nested(steps)
    assert len(steps) == 2, 'it did not come'
    assert signal.signal(signal.SIGINT, before) is signal.SIG_IGN
    with ThreadPoolExecutor() as pool:  # where no signal can be held
        pool.submit(interrupts_held().__enter__).result()


def test_a_tool_handles_a_message_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip('rclpy', reason='ROS 2 is not installed')
    from rnea_ros.live import node as module

    handled = []

    def spin_once(timeout_sec: float) -> None:
        signal.raise_signal(signal.SIGINT)
        handled.append(timeout_sec)

    executor: Any = SimpleNamespace(add_node=lambda node: None, spin_once=spin_once)
    monkeypatch.setattr(module, 'SingleThreadedExecutor', lambda: executor)
    live = module.LiveNode(None)
    with pytest.raises(KeyboardInterrupt):
        live.spin(10.0)
    assert len(handled) == 1
