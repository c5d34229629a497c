# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The node's parameters: declarations, values, parameter files. Importable without ROS."""

from .file import complete_values, parse_assignment, read_parameter_file
from .hardware_compensation import missing_hardware_compensates
from .table import (
    PARAMETERS,
    ReferenceSettings,
    RobotSettings,
    Trigger,
    all_declarations,
    constraint_declarations,
    sensor_declarations,
    sensor_names,
)
from .values import (
    check_without_robot,
    deceleration_from,
    joint_rules,
    listed_joints,
    realtime_from,
    settings_from,
    tolerances_from,
)

__all__ = [
    'PARAMETERS', 'ReferenceSettings', 'RobotSettings', 'Trigger', 'all_declarations',
    'check_without_robot', 'complete_values', 'constraint_declarations', 'deceleration_from',
    'joint_rules', 'listed_joints', 'missing_hardware_compensates', 'parse_assignment',
    'read_parameter_file', 'realtime_from', 'sensor_declarations', 'sensor_names',
    'settings_from', 'tolerances_from',
]
