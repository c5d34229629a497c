# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What a tick allocates, from a message's bytes to a command's, is free again when it is over."""

from array import array
import gc
import sys
import time
import tracemalloc
from typing import Any, cast

import pytest

from rnea_ros.feedforward import FeedforwardController, State
from rnea_ros.feedforward.inputs import JointBounds, JointStateMonitor
from rnea_ros.feedforward.settings import Settings, WrenchInputSettings, resolve
from support.control.control_rig import PANDA_POSE, panda_arm
from support.memory_use import least
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from rnea_ros.node.inputs import SensorTopics
from rnea_ros.node.outputs.messages import CommandMessage
from rnea_ros.node.timing import LoopStatistics
from rnea_ros.ros import MachineClock

TICKS = 5000
BLOCKS = TICKS // 10
"""By how many blocks of memory two moments may differ: a flag was raised, a counter got longer."""


class Topic:
    """A subscription that always has one new message."""

    def __init__(self, message: Any) -> None:
        self._message = message

    def take_all(self) -> list[bytes]:
        stamp = self._message.header.stamp
        stamp.sec, stamp.nanosec = divmod(time.time_ns(), 1_000_000_000)
        return [serialize_message(self._message)]


class Arm:
    """All that a tick of the loop does, but for DDS and sleep."""

    def __init__(self) -> None:
        model = panda_arm()
        settings = resolve(
            Settings(
                joints=model.joint_names, rate=1000.0, ramp_duration=0.01,
                joint_states_timeout=60.0,
                wrench_inputs=(WrenchInputSettings('wrist', 'wrist', 'fer_link7'),),
            ),
            model,
        )
        states = JointStateMonitor(
            model.joint_names, JointBounds.of_robot(model, settings),
        )
        self.controller = FeedforwardController(model, settings, states)
        self._clock = MachineClock()
        joint_state = JointState(
            name=list(model.joint_names), position=array('d', PANDA_POSE),
            velocity=array('d', bytes(56)),
        )
        self._inputs = SensorTopics(
            states, self.controller.environment, cast(Any, Topic(joint_state)),
            {'wrist': cast(Any, Topic(WrenchStamped()))}, None, self._clock,
        )
        self._command = CommandMessage(model.nv)
        self._statistics = LoopStatistics(0.001, 0.0)

    def tick(self) -> int:
        now = self._clock.now()
        for take in (self._inputs.take_joint_states, *self._inputs.take_others):
            take(now)
        command = self.controller.step(now)
        assert command is not None
        self._command.view[:] = command
        self._statistics.record(1e-6, 1e-4)
        return len(self._command.data)


def test_ticks_keep_no_memory() -> None:
    arm = Arm()

    def kept() -> int:
        before = sys.getallocatedblocks()
        for _ in range(TICKS):
            arm.tick()
        return sys.getallocatedblocks() - before

    kept()
    assert arm.controller.state is State.ACTIVE
    gc.collect()
    gc.disable()
    try:
        assert least(kept) < BLOCKS, 'without a collector: no cycles either'
    finally:
        gc.enable()


def test_no_tick_allocates_more_than_its_messages_are_long() -> None:
    arm = Arm()
    for _ in range(100):
        arm.tick()

    def allocated() -> int:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        arm.tick()
        return tracemalloc.get_traced_memory()[1] - before

    tracemalloc.start()
    try:
        arm.tick()
        assert least(allocated) < 8192
    finally:
        tracemalloc.stop()
