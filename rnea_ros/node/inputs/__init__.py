# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The topics that the control reads: from messages to samples of the feedforward inputs."""

from .reference_topics import ControllerStateInput, SpeedScalingInput, controller_state_type
from .sensor_topics import AdditionalEffortTopic, RawSubscription, SensorTopics
from .watchdog_efforts import WatchdogEfforts

__all__ = [
    'AdditionalEffortTopic', 'ControllerStateInput', 'RawSubscription', 'SensorTopics',
    'SpeedScalingInput', 'WatchdogEfforts', 'controller_state_type',
]
