# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Topics that the control loop reads."""

from .controller_state import ControllerStateInput, controller_state_type
from .robot import Inputs, Raw
from .speed_scaling import SpeedScalingInput

__all__ = [
    'ControllerStateInput',
    'Inputs',
    'Raw',
    'SpeedScalingInput',
    'controller_state_type',
]
