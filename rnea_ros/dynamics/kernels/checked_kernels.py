# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The algorithms as compiled functions for one sample, with checks of shapes and numbers.

Each returns whether shapes and numbers were right. If an argument has a number that is not finite,
so has the result. Mass matrix, Coriolis matrix, gravity and derivatives may not depend on all
numbers: there arguments are checked too. The checks take a few nanoseconds here; in Python they
would take ten times as long as the algorithm.
"""

from __future__ import annotations

from collections.abc import Callable
import math

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ..compilation import compiled, entry
from . import aba, coriolis, crba, derivatives, forward_derivatives, rnea
from . import regressor as regressors
from .bodies import BASE

CheckedKernel = Callable[..., bool]


@compiled
def finite(array: Array) -> bool:
    """Return whether every number of an array is finite."""
    all_finite = True
    for x in array.flat:
        all_finite &= math.isfinite(x)
    return all_finite


@compiled
def fits(bodies: NDArray[np.void], q: Array, qd: Array, qdd: Array) -> bool:
    """Return whether the arrays have the shapes of the tree's coordinates."""
    nq, nv = bodies[BASE]['position'], bodies[BASE]['dof']
    return bool(q.shape[0] == nq and qd.shape[0] == nv and qdd.shape[0] == nv)


@entry
def inverse_dynamics(
    bodies: NDArray[np.void], q: Array, qd: Array, qdd: Array, tau: Array
) -> bool:
    """Write tau as :func:`rnea.inverse_dynamics` does; return whether inputs were valid."""
    if not fits(bodies, q, qd, qdd):
        return False
    rnea.inverse_dynamics(bodies, q, qd, qdd, tau)
    return finite(tau)


@entry
def gravity_torques(bodies: NDArray[np.void], q: Array, tau: Array) -> bool:
    """Write tau as :func:`rnea.gravity_torques` does; return whether inputs were valid."""
    if not fits(bodies, q, tau, tau):
        return False
    rnea.gravity_torques(bodies, q, tau)
    return finite(q) and finite(tau)


@entry
def mass_matrix(
    bodies: NDArray[np.void], composites: NDArray[np.void], q: Array, M: Array
) -> bool:
    """Write M as :func:`crba.mass_matrix` does; return whether inputs were valid."""
    if q.shape[0] != bodies[BASE]['position']:
        return False
    crba.mass_matrix(bodies, composites, q, M)
    return finite(q) and finite(M)


@entry
def coriolis_matrix(
    bodies: NDArray[np.void], composites: NDArray[np.void], q: Array, qd: Array, C: Array
) -> bool:
    """Write C as :func:`coriolis.coriolis_matrix` does; return whether inputs were valid."""
    if not fits(bodies, q, qd, qd):
        return False
    coriolis.coriolis_matrix(bodies, composites, q, qd, C)
    return finite(q) and finite(qd) and finite(C)


@entry
def forward_dynamics(
    bodies: NDArray[np.void],
    articulated: NDArray[np.void],
    q: Array,
    qd: Array,
    tau: Array,
    qdd: Array,
) -> bool:
    """Write qdd as :func:`aba.forward_dynamics`; return whether inputs were valid."""
    if not fits(bodies, q, qd, tau):
        return False
    aba.forward_dynamics(bodies, articulated, q, qd, tau, qdd)
    return finite(qdd) and body_without_inertia(bodies, articulated) == BASE


@entry
def inverse_dynamics_derivatives(
    bodies: NDArray[np.void],
    branches: NDArray[np.void],
    q: Array,
    qd: Array,
    qdd: Array,
    by_q: Array,
    by_qd: Array,
    M: Array,
) -> bool:
    """Write as :mod:`derivatives` does; return whether inputs were valid."""
    if not fits(bodies, q, qd, qdd):
        return False
    derivatives.inverse_dynamics_derivatives(bodies, branches, q, qd, qdd, by_q, by_qd, M)
    inputs = finite(q) and finite(qd) and finite(qdd)
    return inputs and finite(by_q) and finite(by_qd) and finite(M)


@entry
def forward_dynamics_derivatives(
    bodies: NDArray[np.void],
    articulated: NDArray[np.void],
    branches: NDArray[np.void],
    qdd: Array,
    chains: NDArray[np.int64],
    X: Array,
    q: Array,
    qd: Array,
    tau: Array,
    by_q: Array,
    by_qd: Array,
    by_tau: Array,
) -> bool:
    """Write as :mod:`forward_derivatives` does; return whether inputs were valid."""
    if not forward_dynamics(bodies, articulated, q, qd, tau, qdd):
        return False
    if not inverse_dynamics_derivatives(bodies, branches, q, qd, qdd, by_q, by_qd, by_tau):
        return False
    forward_derivatives.from_inverse_dynamics(bodies, chains, X, by_q, by_qd, by_tau)
    return finite(tau) and finite(by_q) and finite(by_qd) and finite(by_tau)


LEAST_INERTIA_RATIO = 1e-13
"""Inertia along a joint, relative to that in all directions; less is a rounding error."""


@compiled
def body_without_inertia(bodies: NDArray[np.void], articulated: NDArray[np.void]) -> int:
    """
    Return the outermost body without inertia along its joint; BASE for none.

    Forward dynamics must have run. Numbers of bodies nearer to the base are not finite then, and
    say nothing about these bodies.
    """
    for i in range(bodies.shape[0] - 1, 0, -1):
        body, own = bodies[i], articulated[i]
        for k in range(body['dofs']):
            if not own['D'][k] > LEAST_INERTIA_RATIO * own['trace'][(body['column'] + k) // 3]:
                return i
    return BASE


@entry
def regressor(
    bodies: NDArray[np.void], q: Array, qd: Array, qdd: Array, Y: Array, column: Array
) -> None:
    """Write Y as :func:`regressors.regressor` does."""
    regressors.regressor(bodies, q, qd, qdd, Y, column)
