# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The loop in a time of its own that stalls between any two statements: the rate limit holds."""

from pathlib import Path
import threading
from types import FrameType
from typing import Any, cast

import numpy as np
import pytest

import rnea_ros
from rnea_ros.feedforward import FeedforwardController, State
from rnea_ros.feedforward.inputs import JointStateMonitor
from rnea_ros.feedforward.law import Gravity
from rnea_ros.feedforward.settings import Settings, resolve
from support.control.control_rig import PANDA_POSE, panda_arm
from support.ros.ros_process import NO_ROS, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)

from rnea_ros.node.loop import ControlLoop
from rnea_ros.node.timing import RealtimeSettings
from rnea_ros.ros import MachineClock, PeriodicSchedule

STALLED = tuple(
    str(Path(rnea_ros.__file__).parent / part) for part in ('node/loop.py', 'feedforward/')
)
COMMANDS = 1000


class StallingClock(MachineClock):
    """
    Time that passes only when the loop sleeps, and in random stalls.

    :param seed: of the stalls
    :param longest: longest stall, s
    """

    def __init__(self, seed: int, longest: float) -> None:
        self._time = 100.0
        self._rng = np.random.default_rng(seed)
        self._longest = longest

    def now(self) -> float:
        return self._time

    latest = stamp = now

    def sleep(self, duration: float) -> None:
        self._time += duration

    def stall(self, probability: float) -> None:
        if self._rng.random() < probability:
            self._time += 0.01 * self._rng.random() ** 3
        if self._rng.random() < probability / 300.0:
            self._time += self._longest * self._rng.random()

    def trace(self, frame: FrameType, event: str, argument: object) -> Any:
        """Stall before any statement of the loop and the control, as ``sys.settrace`` asks."""
        del argument
        if not frame.f_code.co_filename.startswith(STALLED):
            return None
        if event == 'line' and threading.current_thread().name == 'control_loop':
            self.stall(0.003)
        return self.trace


class Robot:
    """An arm that is somewhere else every 50 ticks: takes commands and gives joint states."""

    def __init__(self, clock: StallingClock, states: JointStateMonitor) -> None:
        self._clock, self._states = clock, states
        self._rng = np.random.default_rng(1)
        self._q = np.array(PANDA_POSE)
        self._ticks = 0
        self.controller: FeedforwardController | None = None
        self.sent: list[tuple[float, np.ndarray]] = []

    def take(self, now: float) -> None:
        self._ticks += 1
        if self._ticks % 50 == 0:
            self._q = np.array(PANDA_POSE) + self._rng.uniform(-1.0, 1.0, 7)
        self._states.take_sample(
            panda_arm().joint_names, self._q, np.zeros(7), np.zeros(0),
            stamp=0.0, clock=now, received=now,
        )

    def send_command(self, command: np.ndarray) -> None:
        self._clock.stall(0.1)
        self.sent.append((self._clock.now(), command.copy()))
        self._clock.stall(0.1)
        if len(self.sent) == COMMANDS:
            assert self.controller is not None
            self.controller.request_stop()

    def send_extras(self, *_: object) -> None:
        self._clock.stall(0.1)


class Permission:
    """Permits every command."""

    unconfirmed = False

    def check(self) -> bool:
        return True


@pytest.mark.parametrize(
    ('longest', 'timeout', 'seed'), [(0.0, 0.1, 0), (0.15, 0.02, 1), (0.5, 0.1, 2)]
)
def test_commands_keep_the_rate_limit_when_sent(longest: float, timeout: float, seed: int) -> None:
    settings = resolve(
        Settings(
            panda_arm().joint_names, rate=1000.0, mode=Gravity, ramp_duration=0.05,
            joint_states_timeout=timeout, velocity_limit_factor=0.0,
        ),
        panda_arm(),
    )
    clock = StallingClock(seed, longest)
    states = JointStateMonitor(panda_arm().joint_names)
    robot = Robot(clock, states)
    robot.controller = controller = FeedforwardController(panda_arm(), settings, states)
    loop = ControlLoop(
        controller, [robot.take], cast(Any, robot), cast(Any, Permission()),
        settings.parameters.period, clock, PeriodicSchedule(0.001, clock.now, clock.sleep),
        RealtimeSettings(),
    )
    before = threading.gettrace()
    threading.settrace(clock.trace)
    try:
        loop.start()
    finally:
        threading.settrace(before)
    assert wait_until(lambda: controller.state in (State.STOPPED, State.FAULT))
    controller.request_stop()
    assert not loop.join(60.0)
    assert controller.error is None
    assert controller.stalls.counts or not longest
    stamps = np.array([stamp for stamp, _ in robot.sent])
    commands = np.array([command for _, command in robot.sent])
    assert len(stamps) > COMMANDS // 3
    ratios = np.abs(np.diff(commands, axis=0)) / settings.effort_rate_limit
    assert (ratios.max(axis=1) <= np.diff(stamps) * (1.0 + 1e-6)).all()
