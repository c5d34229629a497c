# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters of a node: declared from a table, with ranges. Importable without ROS."""

from .declaration import Declaration, declare, declare_all, described, refuse_unknown

__all__ = [
    'Declaration',
    'declare',
    'declare_all',
    'described',
    'refuse_unknown',
]
