# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The reference of a JointTrajectoryControllerState is read as the installed rclpy writes it."""

from typing import Any

import pytest

pytest.importorskip('control_msgs.msg', reason='control_msgs (ROS 2) is not installed')

from control_msgs.msg import JointTrajectoryControllerState
from rclpy.serialization import serialize_message

from rnea_ros.messages import FixedLayoutReader, controller_state_reader
from support.control.encoded_trajectories import HUMBLE, JAZZY


def test_rclpy_writes_what_is_read() -> None:
    fields = JointTrajectoryControllerState.get_fields_and_field_types()
    assert fields in (JAZZY, HUMBLE)
    message: Any = JointTrajectoryControllerState(joint_names=['a', 'bc'])
    message.header.stamp.sec = 12
    message.reference.positions = [1.0, 2.0]
    message.reference.velocities = [3.0, 4.0]
    message.output.effort = [5.0, 6.0]
    has_speed = hasattr(message, 'speed_scaling_factor')
    if has_speed:
        message.speed_scaling_factor = 0.25
    read = FixedLayoutReader(controller_state_reader(fields))
    sample, stamp = read(serialize_message(message))
    assert (stamp, sample.names) == (12.0, ('a', 'bc'))
    numbers = [values.tolist() for values in sample[1:]]
    assert numbers == [[1.0, 2.0], [3.0, 4.0], [], [0.25] if has_speed else []]
