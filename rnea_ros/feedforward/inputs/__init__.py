# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Measured joint states and additional efforts: checked, by joint name, with their ages."""

from ..stamps import SampleMonitor
from .additional_effort import AdditionalEffort
from .frozen_states import FrozenStates
from .joint_bounds import JointBounds
from .joint_layouts import JointLayouts
from .joint_states import JointStateMonitor

__all__ = [
    'AdditionalEffort', 'FrozenStates', 'JointBounds', 'JointLayouts', 'JointStateMonitor',
    'SampleMonitor',
]
