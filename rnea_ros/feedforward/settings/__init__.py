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
    settings_from,
)
from .resolved import (
    ResolvedSettings,
    acceleration_limits,
    check_efforts,
    default_timeout,
    links_on_base,
    load_robot,
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
)
from .settings import (
    AdditionalEffortSettings,
    ContactAction,
    ContactSettings,
    EffortSource,
    EffortUnits,
    ExternalEffortSettings,
    FrictionSettings,
    Settings,
    SoftLimitSettings,
    SpringSettings,
    StaleAction,
)

__all__ = [
    'PARAMETERS', 'AdditionalEffortSettings', 'BaseSensorSettings', 'BaseUse', 'ContactAction',
    'ContactSettings', 'EffortSource', 'EffortUnits', 'ExternalEffortSettings',
    'FrictionSettings', 'JointGoalSettings', 'Measures', 'NodeSettings', 'PublishFrame',
    'RealtimeSettings', 'ReferenceSettings', 'ResolvedSettings', 'SensorPlacement', 'Settings',
    'SoftLimitSettings', 'SpringSettings', 'StaleAction', 'StaleBase', 'Trigger',
    'WrenchInputSettings', 'acceleration_limits', 'all_declarations', 'check_efforts',
    'complete_values', 'default_timeout', 'links_on_base', 'load_robot', 'make_law',
    'missing_hardware_compensates', 'resolve', 'settings_from',
]
