# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters: each declared once, in the field of a settings class; their files. Without ROS."""

from .declaration import (
    EACH,
    Declaration,
    active,
    check_ranges,
    declarations_of,
    described,
    from_values,
    group,
    in_range,
    parameter,
    per_joint,
    with_value_per_joint,
)
from .files import Value, check_type, parameter_file_text, parse_assignment, read_parameter_file

__all__ = [
    'EACH', 'Declaration', 'Value', 'active', 'check_ranges', 'check_type',
    'declarations_of', 'described', 'from_values', 'group', 'in_range', 'parameter',
    'parameter_file_text', 'parse_assignment', 'per_joint', 'read_parameter_file',
    'with_value_per_joint',
]
