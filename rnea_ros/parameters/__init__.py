# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters: declared once, in a table or a settings class. Importable without ROS."""

from .declaration import (
    Declaration,
    check_ranges,
    choice,
    declarations_of,
    described,
    from_values,
    in_range,
    parameter,
)
from .file_text import Value, parameter_file_text
from .on_node import declare, declare_all, reject_unknown

__all__ = [
    'Declaration',
    'Value',
    'check_ranges',
    'choice',
    'declarations_of',
    'declare',
    'declare_all',
    'described',
    'from_values',
    'in_range',
    'parameter',
    'parameter_file_text',
    'reject_unknown',
]
