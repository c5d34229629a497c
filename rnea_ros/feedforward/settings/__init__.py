# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Settings of the control, checked as a whole before they take effect."""

from .base_sensor import (
    BASE_SENSOR_RANGES,
    BaseSensorSettings,
    BaseUse,
    StaleBase,
    check_base_sensor,
    links_on_base,
)
from .checks import in_range
from .friction import FrictionSettings
from .ranges import RANGES
from .settings import DEFAULT_TIMEOUT_PERIODS, ResolvedSettings, Settings, StaleAction, resolve
from .wrench_inputs import (
    WRENCH_RANGES,
    Measures,
    SensorPlacement,
    WrenchInputSettings,
    check_wrench_inputs,
)

__all__ = [
    'BASE_SENSOR_RANGES',
    'DEFAULT_TIMEOUT_PERIODS',
    'RANGES',
    'WRENCH_RANGES',
    'BaseSensorSettings',
    'BaseUse',
    'FrictionSettings',
    'Measures',
    'ResolvedSettings',
    'SensorPlacement',
    'Settings',
    'StaleAction',
    'StaleBase',
    'WrenchInputSettings',
    'check_base_sensor',
    'check_wrench_inputs',
    'in_range',
    'links_on_base',
    'resolve',
]
