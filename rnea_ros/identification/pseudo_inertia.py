# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Pseudo-inertia: ten standard parameters of a body as a symmetric 4x4 matrix.

::

    P = | Sigma  h |      Sigma = 1/2 tr(J) 1 - J
        | h^T    m |

A body of positive mass density has these parameters if and only if P is positive definite
(Wensing, Kim, Slotine, IEEE RA-L 3(1), 2018, eq. 11 and theorem 3).
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..dynamics.tree import RigidBodyInertia

MIN_RADIUS = 0.003  # least radius of gyration of a prior body, m. Point masses in URDFs have 0
MIN_MASS_SHARE = 1e-3  # least mass of a prior body, as a share of the greatest mass


def _basis() -> Array:
    """Return E with P = sum of phi_i E_i, shape (10, 4, 4)."""
    E = np.zeros((10, 4, 4))
    E[0, 3, 3] = 1.0
    for i in range(3):
        E[1 + i, i, 3] = E[1 + i, 3, i] = 1.0
    for k, (row, column) in enumerate(zip(*np.tril_indices(3), strict=True)):
        J = np.zeros((3, 3))
        J[row, column] = J[column, row] = 1.0
        E[4 + k, :3, :3] = 0.5 * np.trace(J) * np.eye(3) - J
    return E


BASIS = _basis()  # E with P = sum of phi_i E_i, shape (10, 4, 4)


def pseudo_inertias(parameters: Array) -> Array:
    """Return P of each body, shape (bodies, 4, 4), from parameters of shape (10 * bodies,)."""
    return (parameters.reshape(-1, 10) @ BASIS.reshape(10, 16)).reshape(-1, 4, 4)


def standard_parameters(P: Array) -> Array:
    """Return the parameters, shape (10 * bodies,), from P of shape (bodies, 4, 4)."""
    Sigma = P[:, :3, :3]
    J = np.trace(Sigma, axis1=1, axis2=2)[:, np.newaxis, np.newaxis] * np.eye(3) - Sigma
    i, j = np.tril_indices(3)
    return np.column_stack([P[:, 3, 3], P[:, :3, 3], J[:, i, j]]).reshape(-1)


def about_centre(phi: Array) -> Array:
    """Return mass, centre of mass, and xx, xy, xz, yy, yz, zz about it, of standard parameters."""
    body = RigidBodyInertia.from_parameters(phi)
    return np.array([body.mass, *body.com, *body.J_com[np.triu_indices(3)]])


def deviations_about_centre(phi: Array, covariance: Array) -> Array:
    """Return the standard deviations of :func:`about_centre`, by its derivatives."""
    step = 1e-6 * np.abs(phi).max() * np.eye(len(phi))
    derivatives = np.array([
        (about_centre(phi + each) - about_centre(phi - each)) / (2.0 * each.max())
        for each in step
    ])
    variance = np.einsum('ik,ij,jk->k', derivatives, covariance, derivatives)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


def regular(parameters: Array) -> Array:
    """
    Return parameters of physical bodies, (10 * bodies,); physical ones stay unchanged.

    Too small masses and radii of gyration about the centre of mass are raised. Principal moments
    that violate the triangle inequality have a radius of gyration that is too small.
    """
    bodies = parameters.reshape(-1, 10)
    least_mass = MIN_MASS_SHARE * max(float(bodies[:, 0].max()), MIN_MASS_SHARE)
    P = pseudo_inertias(parameters)
    for body in P:
        com = body[:3, 3] / body[3, 3] if body[3, 3] > 0.0 else np.zeros(3)
        mass = max(body[3, 3], least_mass)
        about_com = body[:3, :3] - body[3, 3] * np.outer(com, com)
        size, axes = np.linalg.eigh(about_com)
        least = mass * MIN_RADIUS**2
        if mass == body[3, 3] and size[0] >= least:
            continue
        about_com = (axes * np.maximum(size, least)) @ axes.T
        body[:3, :3] = about_com + mass * np.outer(com, com)
        body[:3, 3] = body[3, :3] = mass * com
        body[3, 3] = mass
    return standard_parameters(P)
