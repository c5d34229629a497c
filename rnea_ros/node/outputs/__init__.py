# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The topics that the node publishes."""

from .publishers import Publishers
from .reporter import Reporter
from .terms import TERMS

__all__ = ['TERMS', 'Publishers', 'Reporter']
