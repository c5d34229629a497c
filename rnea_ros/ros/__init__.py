# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What every node of this package uses of ROS: process, parameters, clock, topics, requests."""

from .clock import MACHINE_TIME, Clock, MachineClock, PeriodicSchedule, PolledNodeTime, SimClock
from .endpoints import HINT, LATCHED, Endpoint, EndpointReader, OtherPublishers, watchdog_topic
from .loop_thread import LoopThread, ManualGarbageCollection, finish
from .message_builders import DiagnosticsPublisher, seconds, set_seconds, trajectory_message
from .parameters import ParameterServices, declare, declare_all, read_settings
from .process import (
    NodeProcess,
    RosError,
    check_topic,
    ros_errors,
    transition,
    without_ros_arguments,
)
from .rclpy_internals import (
    PolledRequest,
    PolledSubscription,
    RepeatedRequest,
    parameter_overrides,
)

__all__ = [
    'HINT', 'LATCHED', 'MACHINE_TIME', 'Clock', 'DiagnosticsPublisher', 'Endpoint',
    'EndpointReader', 'LoopThread', 'MachineClock', 'ManualGarbageCollection', 'NodeProcess',
    'OtherPublishers', 'ParameterServices', 'PeriodicSchedule', 'PolledNodeTime', 'PolledRequest',
    'PolledSubscription', 'RepeatedRequest', 'RosError', 'SimClock', 'check_topic', 'declare',
    'declare_all', 'finish', 'parameter_overrides', 'read_settings',
    'ros_errors', 'seconds', 'set_seconds', 'trajectory_message', 'transition', 'watchdog_topic',
    'without_ros_arguments',
]
