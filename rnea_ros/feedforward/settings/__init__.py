# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the control and of its node, each declared once; resolved for a robot."""

from .node import (
    PARAMETERS,
    JointGoalSettings,
    NodeSettings,
    RealtimeSettings,
    ReferenceSettings,
    Trigger,
    all_declarations,
    complete_values,
    missing_hardware_compensates,
    parse_compensation,
    settings_from,
)
from .resolved import (
    MAX_ACCELERATION,
    ResolvedSettings,
    acceleration_limits,
    check_efforts,
    default_timeout,
    make_law,
    resolve,
)
from .sensors import (
    BaseSensorSettings,
    BaseUse,
    Measures,
    PublishFrame,
    SensorPlacement,
    StaleBase,
    WrenchInputSettings,
    links_on_base,
)
from .settings import (
    AdditionalEffortSettings,
    ContactAction,
    ContactSettings,
    EffortSource,
    EffortUnits,
    ExternalEffortSettings,
    FrictionSettings,
    PayloadSettings,
    Settings,
    SoftLimitSettings,
    StaleAction,
)
from .soft_limits import SoftLimitZones

__all__ = [
    'MAX_ACCELERATION', 'PARAMETERS', 'AdditionalEffortSettings', 'BaseSensorSettings',
    'BaseUse', 'ContactAction', 'ContactSettings', 'EffortSource', 'EffortUnits',
    'ExternalEffortSettings', 'FrictionSettings', 'JointGoalSettings', 'Measures',
    'NodeSettings', 'PayloadSettings', 'PublishFrame', 'RealtimeSettings', 'ReferenceSettings',
    'ResolvedSettings', 'SensorPlacement', 'Settings', 'SoftLimitSettings', 'SoftLimitZones',
    'StaleAction', 'StaleBase', 'Trigger', 'WrenchInputSettings', 'acceleration_limits',
    'all_declarations', 'check_efforts', 'complete_values', 'default_timeout', 'links_on_base',
    'make_law', 'missing_hardware_compensates', 'parse_compensation', 'resolve',
    'settings_from',
]
