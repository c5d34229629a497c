# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Measured joint states: checked, merged by joint name, with their ages."""

from .joint_states import JointStateMonitor
from .position_jumps import PositionJumps

__all__ = ['JointStateMonitor', 'PositionJumps']
