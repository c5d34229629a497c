# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Data from live topics and motions of a live robot, for tools."""

from .moving_robot import MovingRobot
from .node import LiveNode, live_node
from .topics import LiveRobot, live_trajectory

__all__ = ['LiveNode', 'LiveRobot', 'MovingRobot', 'live_node', 'live_trajectory']
