# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Rigid-body dynamics of kinematic trees, in numpy and compiled kernels. No URDF, no ROS."""

from .batch import NO_BAD_SAMPLE, QUANTITIES, BatchWorkspace
from .quaternions import Quaternions, with_unit_quaternions
from .self_test import check_compiled_code, needs_check, require_nan_detection
from .specialised import SpecialisedKernels, SpecialisedWorkspace, can_specialise
from .workspace import Derivatives, Workspace

__all__ = [
    'NO_BAD_SAMPLE', 'QUANTITIES', 'BatchWorkspace', 'Derivatives', 'Quaternions',
    'SpecialisedKernels', 'SpecialisedWorkspace', 'Workspace', 'can_specialise',
    'check_compiled_code', 'needs_check', 'require_nan_detection', 'with_unit_quaternions',
]
