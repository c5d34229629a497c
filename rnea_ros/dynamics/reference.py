# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The old place of :mod:`rnea_ros.textbook`: imports work, with a warning, until version 0.5."""

from importlib import import_module
import sys
import warnings

warnings.warn(
    f'{__name__} has moved: import from rnea_ros.textbook', DeprecationWarning, stacklevel=2
)
for _name in (
    'closed_form', 'mass_matrix', 'newton_euler', 'nonrecursive', 'recursion', 'screw',
    'textbook_tree',
):
    _module = import_module(f'rnea_ros.textbook.{_name}')
    globals()[_name] = sys.modules[f'{__name__}.{_name}'] = _module
