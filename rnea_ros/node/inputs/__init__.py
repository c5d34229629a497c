# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The topics that the control reads: from messages to samples of the feedforward inputs."""

from .controller_state import ControllerStateInput, controller_state_type
from .sensors import Inputs, RawSubscription
from .speed_scaling import SpeedScalingInput

__all__ = [
    'ControllerStateInput',
    'Inputs',
    'RawSubscription',
    'SpeedScalingInput',
    'controller_state_type',
]
