# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""How every contender subscribes and publishes: as the node does."""

from __future__ import annotations

from rclpy.qos import QoSProfile, ReliabilityPolicy

STATES = QoSProfile(depth=16, reliability=ReliabilityPolicy.BEST_EFFORT)
WRENCHES = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
COMMANDS = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
