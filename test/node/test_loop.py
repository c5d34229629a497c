# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The hot loop with all around it replaced: what goes wrong there never leaves torque on."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
import time
from typing import Any

import numpy as np
import pytest
from ros_process import NO_ROS, wait_until

import rnea_ros
from rnea_ros.feedforward.controller import FeedforwardController
from rnea_ros.feedforward.joint_state import JointStateMonitor
from rnea_ros.feedforward.reasons import Reason
from rnea_ros.feedforward.settings import Settings, resolve
from rnea_ros.feedforward.supervisor import State

pytest.importorskip('rclpy', reason=NO_ROS)
from rnea_ros.node.clock import MachineClock
from rnea_ros.node.loop import ControlLoop

URDF = Path(__file__).resolve().parents[2] / 'urdf/panda_arm.urdf'
MODEL = rnea_ros.RobotModel.from_urdf(URDF)
PERIOD = 0.002


class Inputs:
    """Joint states that never end; ``broken`` makes every one unreadable."""

    def __init__(self) -> None:
        self.broken = False

    def take_all(self) -> Iterator[Any]:
        from sensor_msgs.msg import JointState

        if self.broken:
            raise RuntimeError('unreadable')
        yield JointState(
            name=list(MODEL.joint_names),
            position=array('d', [0.1, -0.4, 0.2, -1.9, 0.3, 1.7, 0.5]),
            velocity=array('d', [0.0] * 7),
        )


class HeldUp(Inputs):
    """Joint states with stamps; ``delay`` is what a tick waits for them, s."""

    delay = 0.0

    def take_all(self) -> Iterator[Any]:
        time.sleep(self.delay)
        for message in super().take_all():
            seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
            message.header.stamp.sec, message.header.stamp.nanosec = seconds, nanoseconds
            yield message


class Outputs:
    """Collects commands; ``broken`` refuses the extra topics."""

    named_wanted = False
    terms_wanted = False

    def __init__(self) -> None:
        self.commands: list[np.ndarray] = []
        self.broken = False

    def send_command(self, command: np.ndarray) -> None:
        self.commands.append(command.copy())
        if self.broken:
            raise RuntimeError('unsendable')


@pytest.mark.parametrize('part', ['inputs', 'outputs'])
def test_an_error_around_the_control_ends_in_zero_effort(part: str) -> None:
    settings = resolve(
        Settings(
            joints=MODEL.joint_names,
            rate=1.0 / PERIOD,
            ramp_duration=0.05,
            hold_duration=0.05,
            joint_states_timeout=10.0,
        ),
        MODEL,
    )
    states = JointStateMonitor(MODEL.joint_names)
    controller = FeedforwardController(MODEL, settings, states)
    inputs: Any = Inputs()
    outputs: Any = Outputs()
    loop = ControlLoop(controller, states, inputs, {}, None, outputs, PERIOD, MachineClock())
    loop.start()
    try:
        assert wait_until(lambda: controller.state is State.ACTIVE)
        {'inputs': inputs, 'outputs': outputs}[part].broken = True
        assert wait_until(lambda: controller.state is State.FAULT)
        assert controller.reason is Reason.INTERNAL_ERROR
        assert isinstance(controller.error, RuntimeError)
        assert not outputs.commands[-1].any()
        changes = np.abs(np.diff(outputs.commands, axis=0))
        assert (changes <= settings.effort_rate_limit * PERIOD * (1.0 + 1e-9)).all()
    finally:
        controller.stop()
        assert loop.finish(10.0)


def test_a_sample_that_comes_while_a_tick_is_held_up_is_not_from_the_future() -> None:
    settings = resolve(
        Settings(joints=MODEL.joint_names, rate=1.0 / PERIOD, joint_states_timeout=10.0), MODEL
    )
    states = JointStateMonitor(MODEL.joint_names)
    controller = FeedforwardController(MODEL, settings, states)
    inputs: Any = HeldUp()
    outputs: Any = Outputs()
    loop = ControlLoop(controller, states, inputs, {}, None, outputs, PERIOD, MachineClock())
    loop.start()
    try:
        assert wait_until(lambda: controller.state is State.RAMPING)
        inputs.delay = 0.05
        time.sleep(1.0)
        assert not states.rejections
    finally:
        controller.stop()
        inputs.delay = 0.0
        assert loop.finish(10.0)
