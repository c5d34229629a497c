# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The topics that the control reads: from messages to samples of the feedforward inputs."""

from .reference_topics import ControllerStateInput, controller_state_type, subscribe_speed_scaling
from .sensor_topics import AdditionalEffortTopic, RawSubscription, SensorTopics
from .watchdog_efforts import WatchdogEfforts

__all__ = [
    'AdditionalEffortTopic', 'ControllerStateInput', 'RawSubscription', 'SensorTopics',
    'WatchdogEfforts', 'controller_state_type', 'subscribe_speed_scaling',
]
