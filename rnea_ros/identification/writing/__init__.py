# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The identified model as files: a URDF, and parameters of the node."""

from .link_inertials import link_inertials

__all__ = ['link_inertials']
