# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Rigid-body dynamics of kinematic trees, in numpy and compiled kernels. No URDF, no ROS."""

from .contacts import ContactSolution, constrained_inverse_dynamics
from .manifold import with_unit_quaternions
from .operational_space import TaskSpaceDynamics, task_space_dynamics
from .self_test import refuse_blind_code, untried
from .workspace import Workspace

__all__ = [
    'ContactSolution',
    'TaskSpaceDynamics',
    'Workspace',
    'constrained_inverse_dynamics',
    'refuse_blind_code',
    'task_space_dynamics',
    'untried',
    'with_unit_quaternions',
]
