# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Kernels run once on expressions instead of numbers: straight-line code of one tree."""

from .algorithms import ARGUMENTS, TracedTree, Values, placement
from .expressions import Expression, Trace, Value, needed, operations

__all__ = [
    'ARGUMENTS', 'Expression', 'Trace', 'TracedTree', 'Value', 'Values', 'needed', 'operations',
    'placement',
]
