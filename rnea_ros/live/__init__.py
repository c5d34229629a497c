# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A client of the feedforward node and of a live robot, for tools and the demo."""

from .client import NodeClient, Trajectories
from .moving_robot import MovingRobot, confirm
from .node import (
    LiveNode,
    SilentTopicError,
    StateRecorder,
    collect_joint_states,
    live_node,
    live_trajectory,
    robot_description,
    sample_of,
)

__all__ = [
    'LiveNode', 'MovingRobot', 'NodeClient', 'SilentTopicError', 'StateRecorder', 'Trajectories',
    'collect_joint_states', 'confirm', 'live_node', 'live_trajectory', 'robot_description',
    'sample_of'
]
