# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What a tick allocates, from a message's bytes to a command's, is free again when it is over."""

from array import array
import gc
import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest

from rnea_ros.feedforward import FeedforwardController, JointBounds, JointStateMonitor
from rnea_ros.feedforward.settings import Settings, WrenchInputSettings, resolve
from support.control.control_rig import PANDA_POSE, panda_arm
from support.python_process import least
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from rnea_ros.node.inputs import Inputs
from rnea_ros.node.publishers import CommandMessage
from rnea_ros.node.timing import LoopStatistics
from rnea_ros.ros import MachineClock

TICKS = 5000
BLOCKS = TICKS // 10
"""By how many blocks of memory two moments may differ: a flag was raised, a counter got longer."""


def topic(message: Any) -> Any:
    """Return a subscription that always has one new message."""

    def take_all() -> list[bytes]:
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(time.time_ns(), 10**9)
        return [serialize_message(message)]

    return SimpleNamespace(take_all=take_all)


def test_ticks_keep_no_memory() -> None:
    """All that a tick of the loop does, but for DDS and sleep."""
    model = panda_arm()
    settings = resolve(Settings(
        joints=model.joint_names, rate=1000.0, ramp_duration=0.01, joint_states_timeout=60.0,
        wrench_inputs=(WrenchInputSettings('wrist', 'wrist', 'fer_link7'),),
    ), model)
    states = JointStateMonitor(model.joint_names, JointBounds.of_robot(model, settings))
    controller, clock = FeedforwardController(model, settings, states), MachineClock()
    joint_states = topic(JointState(
        name=list(model.joint_names), position=array('d', PANDA_POSE),
        velocity=array('d', bytes(56)),
    ))
    topics: Any = SimpleNamespace(
        joint_states=joint_states, wrenches={'wrist': topic(WrenchStamped())}, imu=None,
        additional_effort=None,
    )
    inputs = Inputs(controller, states, topics, clock)
    message, statistics = CommandMessage(model.nv), LoopStatistics(0.001, 0.0)

    def kept() -> int:
        before = sys.getallocatedblocks()
        for _ in range(TICKS):
            now = clock.now()
            for read_messages in (inputs.read_joint_states, *inputs.message_readers):
                read_messages(now)
            command = controller.step(now)
            assert command is not None
            message.view[:] = command
            statistics.record(1e-6, 1e-4)
        return sys.getallocatedblocks() - before

    kept()
    gc.collect()
    gc.disable()
    try:
        assert least(kept) < BLOCKS, 'without a collector: no cycles either'
    finally:
        gc.enable()
