# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Data from live topics and motions of a live robot, for tools."""

from .gazebo import GazeboError, unpause
from .guided_robot import GuidedRobot, Mode
from .keys import pressed_keys
from .moving_robot import MovingRobot, confirm
from .node import LiveNode, live_node
from .topics import collect_joint_states, live_trajectory, robot_description

__all__ = [
    'GazeboError', 'GuidedRobot', 'LiveNode', 'Mode', 'MovingRobot', 'collect_joint_states',
    'confirm', 'live_node', 'live_trajectory', 'pressed_keys', 'robot_description', 'unpause'
]
