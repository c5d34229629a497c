# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Feedforward control of one robot. Time is an argument: no ROS, no clock, no thread."""

from .active_law import check_efforts
from .controller import FeedforwardController
from .environment import Environment
from .reasons import Reason
from .state_machine import CONTROLLING, State

__all__ = [
    'CONTROLLING',
    'Environment',
    'FeedforwardController',
    'Reason',
    'State',
    'check_efforts',
]
