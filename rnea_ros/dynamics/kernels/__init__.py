# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The recursive algorithms over 3-tuples of floats, written like the equations."""

from .aba import articulated_dtype
from .bodies import BASE, BODY, body_records
from .checked_kernels import SMALLEST_RELATIVE_INERTIA
from .crba import composite_dtype
from .joints import DEGREES, FIRST_COLUMN, POSITIONS, JointKind
from .regressor import PARAMETERS
from .simd import LANES, LARGEST_ANGLE

__all__ = [
    'BASE',
    'BODY',
    'DEGREES',
    'FIRST_COLUMN',
    'LANES',
    'LARGEST_ANGLE',
    'PARAMETERS',
    'POSITIONS',
    'SMALLEST_RELATIVE_INERTIA',
    'JointKind',
    'articulated_dtype',
    'body_records',
    'composite_dtype',
]
