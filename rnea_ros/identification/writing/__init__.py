# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The identified model as mass properties of links and as parameters of the node."""

from .link_inertials import link_inertials
from .node_parameters import joint_parameters, payload_parameters

__all__ = ['joint_parameters', 'link_inertials', 'payload_parameters']
