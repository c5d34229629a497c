# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The parts of a ROS node that every node of this package uses."""

from .clock import Clock, MachineClock, SimClock, seconds
from .diagnostics import diagnostic_array
from .endpoints import Endpoint, Endpoints
from .interpreter import UncollectedGarbage, prepare_interpreter
from .node_time import MACHINE_TIME, OffExecutorTime
from .parameter_answers import AnsweredParameters
from .polled_subscription import PolledClient, PolledSubscription
from .process import (
    NodeProcess,
    RosError,
    check_topic,
    logged_transition,
    own_arguments,
    ros_refusals,
)
from .schedule import PeriodicSchedule
from .shared_memory import without_shared_memory

__all__ = [
    'MACHINE_TIME',
    'AnsweredParameters',
    'Clock',
    'Endpoint',
    'Endpoints',
    'MachineClock',
    'NodeProcess',
    'OffExecutorTime',
    'PeriodicSchedule',
    'PolledClient',
    'PolledSubscription',
    'RosError',
    'SimClock',
    'UncollectedGarbage',
    'check_topic',
    'diagnostic_array',
    'logged_transition',
    'own_arguments',
    'prepare_interpreter',
    'ros_refusals',
    'seconds',
    'without_shared_memory',
]
