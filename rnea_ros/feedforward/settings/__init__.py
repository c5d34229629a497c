# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the control, each declared once, checked together before they take effect."""

from .base_sensor import BaseSensorSettings, BaseUse, StaleBase, check_base_sensor, links_on_base
from .effort_units import EffortUnits
from .external_effort import ContactAction, ContactSettings, EffortSource, ExternalEffortSettings
from .friction import FrictionSettings
from .payloads import PayloadSettings
from .resolved import ResolvedSettings, default_timeout, resolve
from .settings import AdditionalEffortSettings, Settings, StaleAction
from .soft_limits import SoftLimitSettings, SoftLimitZones
from .wrench_inputs import (
    Measures,
    PublishFrame,
    SensorPlacement,
    WrenchInputSettings,
    check_wrench_inputs,
)

__all__ = [
    'AdditionalEffortSettings', 'BaseSensorSettings', 'BaseUse', 'ContactAction',
    'ContactSettings', 'EffortSource', 'EffortUnits', 'ExternalEffortSettings', 'FrictionSettings',
    'Measures', 'PayloadSettings', 'PublishFrame', 'ResolvedSettings', 'SensorPlacement',
    'Settings', 'SoftLimitSettings', 'SoftLimitZones', 'StaleAction', 'StaleBase',
    'WrenchInputSettings', 'check_base_sensor', 'check_wrench_inputs', 'default_timeout',
    'links_on_base', 'resolve',
]
