# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The algorithms over a tree of bodies, as compiled functions that read like the equations."""

from .aba import articulated_dtype
from .bodies import BASE, BODY, Records, body_records
from .checked_kernels import MIN_INERTIA_RATIO
from .coriolis import MOVING_COMPOSITE
from .crba import composite_dtype
from .derivatives import branch_dtype
from .joints import DEGREES, FIRST_COLUMN, POSITIONS, JointKind
from .momentum import generalised_momentum
from .regressor import PARAMETERS
from .simd import LANES, MAX_ANGLE, cosine_and_sine_in_range

__all__ = [
    'BASE', 'BODY', 'DEGREES', 'FIRST_COLUMN', 'LANES', 'MAX_ANGLE', 'MIN_INERTIA_RATIO',
    'MOVING_COMPOSITE', 'PARAMETERS', 'POSITIONS', 'JointKind', 'Records', 'articulated_dtype',
    'body_records', 'branch_dtype', 'composite_dtype', 'cosine_and_sine_in_range',
    'generalised_momentum',
]
