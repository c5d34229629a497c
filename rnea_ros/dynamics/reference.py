# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The old place of :mod:`rnea_ros.textbook`: imports work, with a warning, until version 0.5."""

from importlib import import_module
import sys
import warnings

warnings.warn(
    f'{__name__} has moved: import from rnea_ros.textbook', DeprecationWarning, stacklevel=2
)
for _name, _place in {
    'closed_form': 'closed_form', 'mass_matrix': 'newton_euler', 'newton_euler': 'newton_euler',
    'nonrecursive': 'nonrecursive', 'recursion': 'recursion', 'screw': 'screw',
    'textbook_tree': 'textbook_tree',
}.items():
    _module = import_module(f'rnea_ros.textbook.{_place}')
    globals()[_name] = sys.modules[f'{__name__}.{_name}'] = _module
