# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Data from live topics and motions of a live robot, for tools."""

from .joint_states import LiveRobot, live_robot
from .moving_robot import moving_robot
from .node import live_node
from .trajectory import live_trajectory

__all__ = [
    'LiveRobot',
    'live_node',
    'live_robot',
    'live_trajectory',
    'moving_robot',
]
