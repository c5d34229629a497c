# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Timing of the control loop: trigger, real-time settings, memory, statistics."""

from .joint_state_trigger import JointStateTrigger, Trigger
from .loop_statistics import LoopStatistics
from .realtime import (
    RealtimeSettings,
    check_realtime,
    enter_realtime,
    leave_realtime,
    reserve_memory,
)

__all__ = [
    'JointStateTrigger', 'LoopStatistics', 'RealtimeSettings', 'Trigger', 'check_realtime',
    'enter_realtime', 'leave_realtime', 'reserve_memory',
]
