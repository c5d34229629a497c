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

MIN_RADIUS = 0.003
"""Least radius of gyration of a prior body, m. Point masses in URDFs have 0."""

MIN_MASS_SHARE = 1e-3
"""Least mass of a prior body, as a share of the greatest mass."""


def _basis() -> Array:
    """Return E with P = sum of phi_i E_i, shape (10, 4, 4)."""
    E = np.zeros((10, 4, 4))
    E[0, 3, 3] = 1.0
    for i in range(3):
        E[1 + i, i, 3] = E[1 + i, 3, i] = 1.0
    for k, (i, j) in enumerate(((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))):
        J = np.zeros((3, 3))
        J[i, j] = J[j, i] = 1.0
        E[4 + k, :3, :3] = 0.5 * np.trace(J) * np.eye(3) - J
    return E


BASIS = _basis()
"""E with P = sum of phi_i E_i, shape (10, 4, 4)."""


def pseudo_inertias(parameters: Array) -> Array:
    """
    Return the pseudo-inertia of each body, shape (bodies, 4, 4).

    :param parameters: shape (10 * bodies,): mass, first moment, Jxx, Jxy, Jyy, Jxz, Jyz, Jzz
    """
    return (parameters.reshape(-1, 10) @ BASIS.reshape(10, 16)).reshape(-1, 4, 4)


def standard_parameters(P: Array) -> Array:
    """
    Return the ten parameters of each body, shape (10 * bodies,).

    :param P: pseudo-inertias, shape (bodies, 4, 4)
    """
    Sigma = P[:, :3, :3]
    J = np.trace(Sigma, axis1=1, axis2=2)[:, np.newaxis, np.newaxis] * np.eye(3) - Sigma
    columns = [P[:, 3, 3], *P[:, :3, 3].T]
    columns += [J[:, i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))]
    return np.stack(columns, axis=1).reshape(-1)


def body_inertia(phi: Array) -> RigidBodyInertia:
    """Return the inertia with ten standard parameters, shape (10,)."""
    mass, hx, hy, hz, xx, xy, yy, xz, yz, zz = phi
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return RigidBodyInertia(float(mass), np.array([hx, hy, hz]), J)


def parameters_of(mass: float, h: Array, J: Array) -> Array:
    """
    Return ten standard parameters, shape (10,).

    :param mass: kg
    :param h: first moment, shape (3,), kg m
    :param J: inertia about the frame's origin, shape (3, 3), kg m^2
    """
    return np.array([mass, *h, J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]])


def about_centre(phi: Array) -> Array:
    """Return mass, centre of mass, and xx, xy, xz, yy, yz, zz about it, of standard parameters."""
    mass, *h, xx, xy, yy, xz, yz, zz = phi.tolist()
    c = np.array(h) / mass if mass > 0.0 else np.zeros(3)
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    # Parallel axes: J_com = J - m (|c|^2 1 - c c^T)
    J -= mass * (np.dot(c, c) * np.eye(3) - np.outer(c, c))
    return np.array([mass, *c, J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]])


def deviations_about_centre(phi: Array, covariance: Array) -> Array:
    """Return the standard deviations of :func:`about_centre`, by its derivatives."""
    step = 1e-6 * np.abs(phi).max() * np.eye(len(phi))
    derivatives = np.array([
        (about_centre(phi + each) - about_centre(phi - each)) / (2.0 * each.max())
        for each in step
    ])
    variance = np.einsum('ik,ij,jk->k', derivatives, covariance, derivatives)
    spread: Array = np.sqrt(np.maximum(variance, 0.0))
    return spread


def regular(parameters: Array) -> Array:
    """
    Return parameters of physical bodies; bodies that are physical stay unchanged.

    Too small masses and radii of gyration about the centre of mass are raised. Principal moments
    that violate the triangle inequality have a radius of gyration that is too small.

    :param parameters: of a URDF, shape (10 * bodies,)
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
