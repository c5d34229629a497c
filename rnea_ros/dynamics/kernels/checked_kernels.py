# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The algorithms as compiled functions for one sample, with checks of shapes and numbers.

Each returns whether lengths and numbers were right; the caller ensures the shapes of results.
Inverse and forward dynamics check the numbers of their results alone, which depend on all
arguments; other kernels check those of their arguments too. The checks take a few nanoseconds
here; in Python they would take ten times as long as the algorithm.

A frame on a body is the body's number and an array of shape (4, 3): E, from the body's coordinates
to the frame's, and below it the frame's origin in the body's coordinates.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...compilation import compiled, entry
from . import aba, coriolis, crba, derivatives, kinematics, rnea
from . import regressor as regressors
from .bodies import BASE, Records
from .spatial import load, store, transform_motion
from .vectors import Vector3, add3, dot3, load3, load33, rotate_back, scale3, store3


@compiled
def finite(array: Array) -> bool:
    """Return whether every number of an array is finite."""
    all_finite = True
    for x in array.flat:
        all_finite &= math.isfinite(x)
    return all_finite


@compiled
def fits(bodies: Records, q: Array, qd: Array, qdd: Array) -> bool:
    """Return whether the arrays have the shapes of the tree's coordinates."""
    nq, nv = bodies[BASE]['q_index'], bodies[BASE]['qd_index']
    return bool(q.shape[0] == nq and qd.shape[0] == nv and qdd.shape[0] == nv)


@entry
def inverse_dynamics(bodies: Records, q: Array, qd: Array, qdd: Array, tau: Array) -> bool:
    """Write tau as :func:`rnea.inverse_dynamics` does; return whether inputs were valid."""
    if not fits(bodies, q, qd, qdd):
        tau[:] = math.nan
        return False
    rnea.inverse_dynamics(bodies, q, qd, qdd, tau)
    return finite(tau)


@entry
def gravity_torques(bodies: Records, q: Array, tau: Array) -> bool:
    """Write tau as :func:`rnea.gravity_torques` does; return whether inputs were valid."""
    if not fits(bodies, q, tau, tau):
        tau[:] = math.nan
        return False
    rnea.gravity_torques(bodies, q, tau)
    return finite(q) and finite(tau)


@entry
def mass_matrix(bodies: Records, composites: Records, q: Array, M: Array) -> bool:
    """Write M as :func:`crba.mass_matrix` does; return whether inputs were valid."""
    if q.shape[0] != bodies[BASE]['q_index']:
        M[:] = math.nan
        return False
    crba.mass_matrix(bodies, composites, q, M)
    return finite(q) and finite(M)


@entry
def coriolis_matrix(bodies: Records, composites: Records, q: Array, qd: Array, C: Array) -> bool:
    """Write C as :func:`coriolis.coriolis_matrix` does; return whether inputs were valid."""
    if not fits(bodies, q, qd, qd):
        return False
    coriolis.coriolis_matrix(bodies, composites, q, qd, C)
    return finite(q) and finite(qd) and finite(C)


@entry
def forward_dynamics(
    bodies: Records, articulated: Records, q: Array, qd: Array, tau: Array, qdd: Array
) -> bool:
    """Write qdd as :func:`aba.forward_dynamics`; return whether inputs were valid."""
    if not fits(bodies, q, qd, tau):
        qdd[:] = math.nan
        return False
    aba.forward_dynamics(bodies, articulated, q, qd, tau, qdd)
    return finite(qdd) and body_without_inertia(bodies, articulated) == BASE


@entry
def inverse_dynamics_derivatives(
    bodies: Records, branches: Records, q: Array, qd: Array, qdd: Array, by_q: Array, by_qd: Array,
    M: Array,
) -> bool:
    """Write as :mod:`derivatives` does; return whether inputs were valid."""
    if not fits(bodies, q, qd, qdd):
        by_q[:] = math.nan
        by_qd[:] = math.nan
        M[:] = math.nan
        return False
    derivatives.inverse_dynamics_derivatives(bodies, branches, q, qd, qdd, by_q, by_qd, M)
    inputs = finite(q) and finite(qd) and finite(qdd)
    return inputs and finite(by_q) and finite(by_qd) and finite(M)


@entry
def forward_dynamics_derivatives(
    bodies: Records, articulated: Records, branches: Records, qdd: Array,
    chains: NDArray[np.int64], X: Array, q: Array, qd: Array, tau: Array, by_q: Array,
    by_qd: Array, by_tau: Array,
) -> bool:
    """Write as :func:`derivatives.from_inverse_dynamics`; return whether inputs were valid."""
    if not forward_dynamics(bodies, articulated, q, qd, tau, qdd):
        by_q[:] = math.nan
        by_qd[:] = math.nan
        by_tau[:] = math.nan
        return False
    if not inverse_dynamics_derivatives(bodies, branches, q, qd, qdd, by_q, by_qd, by_tau):
        return False
    derivatives.from_inverse_dynamics(bodies, chains, X, by_q, by_qd, by_tau)
    return finite(tau) and finite(by_q) and finite(by_qd) and finite(by_tau)


MIN_INERTIA_RATIO = 1e-13
"""Inertia along a joint, relative to that in all directions; less is a rounding error."""


@compiled
def body_without_inertia(bodies: Records, articulated: Records) -> int:
    """
    Return the outermost body without inertia along its joint; BASE for none.

    Call it after forward dynamics. A body without inertia leaves numbers in the bodies that carry
    it that are not finite, so the search starts at the leaves.
    """
    for i in range(bodies.shape[0] - 1, 0, -1):
        body, own = bodies[i], articulated[i]
        for k in range(body['qd_size']):
            if not own['D'][k] > MIN_INERTIA_RATIO * own['trace'][(body['column'] + k) // 3]:
                return i
    return BASE


@entry
def regressor(bodies: Records, q: Array, qd: Array, qdd: Array, Y: Array) -> bool:
    """Write Y as :func:`regressors.regressor` does; return whether inputs were valid."""
    if not fits(bodies, q, qd, qdd):
        return False
    regressors.regressor(bodies, q, qd, qdd, Y)
    return finite(q) and finite(qd) and finite(qdd) and finite(Y)


@entry
def link_pose(bodies: Records, carrier: int, frame: Array, q: Array, T: Array) -> bool:
    """Write T as :func:`kinematics.frame_pose` does; return whether inputs were valid."""
    if q.shape[0] != bodies[BASE]['q_index']:
        return False
    kinematics.frame_pose(bodies, carrier, load33(frame), load3(frame[3]), q, T)
    return finite(q) and finite(T)


@entry
def jacobian(
    bodies: Records, carrier: int, frame: Array, point: Array, q: Array, J: Array
) -> bool:
    """Write J as :func:`kinematics.frame_jacobian` does; return whether inputs were valid."""
    if q.shape[0] != bodies[BASE]['q_index'] or point.shape[0] != 3:
        return False
    kinematics.frame_jacobian(bodies, carrier, load33(frame), at_point(frame, point), q, J)
    return finite(q) and finite(point) and finite(J)


@entry
def jacobian_rate(
    bodies: Records, carrier: int, frame: Array, point: Array, q: Array, qd: Array, J_rate: Array
) -> bool:
    """Write as :func:`kinematics.frame_jacobian_rate` does; return whether inputs were valid."""
    if not fits(bodies, q, qd, qd) or point.shape[0] != 3:
        return False
    kinematics.move_bodies(bodies, q, qd, qd)  # with any qdd: only velocities are used
    kinematics.frame_jacobian_rate(bodies, carrier, load33(frame), at_point(frame, point), J_rate)
    return finite(q) and finite(qd) and finite(point) and finite(J_rate)


@entry
def link_motion(
    bodies: Records, carrier: int, frame: Array, point: Array, q: Array, qd: Array, qdd: Array,
    v: Array, a: Array,
) -> bool:
    """Write velocity and acceleration of a link's point; return whether inputs were valid."""
    if not fits(bodies, q, qd, qdd) or point.shape[0] != 3:
        return False
    kinematics.move_bodies(bodies, q, qd, qdd)
    E, r = load33(frame), at_point(frame, point)
    store(v, transform_motion(E, r, load(bodies[carrier]['v'])))
    store(a, transform_motion(E, r, load(bodies[carrier]['a'])))
    inputs = finite(q) and finite(qd) and finite(qdd) and finite(point)
    return inputs and finite(v) and finite(a)


@compiled
def at_point(frame: Array, point: Array) -> Vector3:
    """Return the position of a frame's point in its body's coordinates."""
    return add3(load3(frame[3]), rotate_back(load33(frame), load3(point)))


@entry
def centre_of_mass(bodies: Records, q: Array, c: Array) -> bool:
    """Write the centre of mass in the base frame; return whether inputs were valid."""
    if q.shape[0] != bodies[BASE]['q_index']:
        return False
    m, h = kinematics.first_moment(bodies, q)
    store3(c, scale3(1.0 / m, h) if m != 0.0 else h)
    return finite(q) and finite(c)


@entry
def kinetic_energy(bodies: Records, q: Array, qd: Array, energy: Array) -> bool:
    """Write the kinetic energy, shape (1,), J; return whether inputs were valid."""
    if not fits(bodies, q, qd, qd):
        return False
    energy[0] = kinematics.kinetic_energy(bodies, q, qd)
    return finite(q) and finite(qd) and finite(energy)


@entry
def potential_energy(bodies: Records, gravity: Array, q: Array, energy: Array) -> bool:
    """Write the potential energy, shape (1,), J; return whether inputs were valid."""
    if q.shape[0] != bodies[BASE]['q_index']:
        return False
    energy[0] = -dot3(load3(gravity), kinematics.first_moment(bodies, q)[1])
    return finite(q) and finite(energy)
