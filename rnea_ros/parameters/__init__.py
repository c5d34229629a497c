# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters: each declared once, in the field of a settings class. Importable without ROS."""

from .declaration import (
    EACH,
    Declaration,
    check_ranges,
    declarations_of,
    from_values,
    group,
    in_range,
    parameter,
    per_joint,
    with_value_per_joint,
)
from .file_text import Value, parameter_file_text
from .on_node import (
    declare,
    declare_all,
    described,
    parameter_overrides,
    read_settings,
    reject_unknown,
)

__all__ = [
    'EACH', 'Declaration', 'Value', 'check_ranges', 'declarations_of', 'declare', 'declare_all',
    'described', 'from_values', 'group', 'in_range', 'parameter', 'parameter_file_text',
    'parameter_overrides', 'per_joint', 'read_settings', 'reject_unknown', 'with_value_per_joint',
]
