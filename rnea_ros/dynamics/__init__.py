# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Rigid-body dynamics of kinematic trees, in numpy and compiled kernels. No URDF, no ROS."""

from .contacts import ContactSolution, check_contact_motion, constrained_inverse_dynamics
from .manifold import with_unit_quaternions
from .operational_space import OperationalSpaceDynamics, operational_space_dynamics
from .self_test import check_compiled_code, needs_check
from .workspace import Derivatives, Workspace

__all__ = [
    'ContactSolution',
    'Derivatives',
    'OperationalSpaceDynamics',
    'Workspace',
    'check_compiled_code',
    'check_contact_motion',
    'constrained_inverse_dynamics',
    'needs_check',
    'operational_space_dynamics',
    'with_unit_quaternions',
]
