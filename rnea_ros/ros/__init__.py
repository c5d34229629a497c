# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What every node of this package uses of ROS: process, parameters, clock, subscriptions."""

from .clock import (
    MACHINE_TIME,
    Clock,
    MachineClock,
    PeriodicSchedule,
    PolledNodeTime,
    SimClock,
    seconds,
    set_seconds,
)
from .endpoints import LATCHED, Endpoint, EndpointReader, process_of, watchdog_topic
from .interpreter import ManualGarbageCollection, prepare_interpreter
from .loop_thread import LoopThread, finish
from .message_builders import DiagnosticsPublisher, trajectory_message
from .node_parameters import declare, declare_all, read_settings, reject_unknown
from .parameter_services import ParameterServices
from .polled_subscription import PolledClient, PolledSubscription
from .process import (
    NodeProcess,
    RosError,
    check_topic,
    logged_transition,
    ros_errors,
    without_ros_arguments,
)
from .rclpy_internals import parameter_overrides
from .repeated_request import RepeatedRequest

__all__ = [
    'LATCHED', 'MACHINE_TIME', 'Clock', 'DiagnosticsPublisher', 'Endpoint', 'EndpointReader',
    'LoopThread', 'MachineClock', 'ManualGarbageCollection', 'NodeProcess', 'ParameterServices',
    'PeriodicSchedule', 'PolledClient', 'PolledNodeTime', 'PolledSubscription', 'RepeatedRequest',
    'RosError', 'SimClock', 'check_topic', 'declare', 'declare_all', 'finish', 'logged_transition',
    'parameter_overrides', 'prepare_interpreter', 'process_of', 'read_settings', 'reject_unknown',
    'ros_errors', 'seconds', 'set_seconds', 'trajectory_message', 'watchdog_topic',
    'without_ros_arguments',
]
