# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Computations for N samples at once, on several cores.

Arrays have one sample in each row. The argument ``threads`` is the number of cores to use; by
default all cores of the process.
"""

from .methods import (
    forward_dynamics_batch,
    forward_dynamics_derivatives_batch,
    gravity_torques_batch,
    inverse_dynamics_batch,
    inverse_dynamics_derivatives_batch,
    mass_matrix_batch,
    regressor_batch,
)
from .rows import BLOCK

__all__ = [
    'BLOCK', 'forward_dynamics_batch', 'forward_dynamics_derivatives_batch',
    'gravity_torques_batch', 'inverse_dynamics_batch', 'inverse_dynamics_derivatives_batch',
    'mass_matrix_batch', 'regressor_batch',
]
