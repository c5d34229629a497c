# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Timing of the control loop: real-time settings, memory, statistics. Importable without ROS."""

from .loop_statistics import LoopStatistics
from .realtime import enter_realtime, leave_realtime, reserve_memory

__all__ = ['LoopStatistics', 'enter_realtime', 'leave_realtime', 'reserve_memory']
