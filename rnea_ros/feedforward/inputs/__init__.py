# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Measured joint states and additional efforts: checked, by joint name, with their ages."""

from ..stamps import SampleMonitor
from .additional_effort import AdditionalEffort
from .joint_states import JointStateMonitor
from .joint_table import JointLayouts
from .position_jumps import PositionJumps

__all__ = [
    'AdditionalEffort', 'JointLayouts', 'JointStateMonitor', 'PositionJumps', 'SampleMonitor',
]
