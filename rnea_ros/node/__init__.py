# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The node ``feedforward``."""

from .control_setup import joint_rules

__all__ = [
    'joint_rules',
]
