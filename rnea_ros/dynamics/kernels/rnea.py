# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The recursive Newton-Euler algorithm: tau = ID(q, qd, qdd, f_ext).

Two passes over the tree (Featherstone 2008, table 5.1, equations in body coordinates). The outward
pass, from the base to the leaves, computes the velocity and acceleration of each body from its
parent's, and from them the net force on the body. The inward pass, from the leaves to the base,
adds up the forces that the joints transmit; the effort of a joint is S^T times its force.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...compilation import compiled
from .bodies import BASE, Records
from .joints import add_joint_efforts, add_joint_motion, joint_transform, velocity_product
from .spatial import (
    ZERO,
    SpatialVector,
    add,
    inertia_force,
    load,
    store,
    subtract,
    transform_force_back,
    transform_motion,
)
from .vectors import cross, load3, load33, rotate, scale3, store3, store33


@compiled
def inverse_dynamics(bodies: Records, q: Array, qd: Array, qdd: Array, tau: Array) -> None:
    """
    Write the joint efforts of a motion into tau (table 5.1).

    :param bodies: bodies of a :class:`~rnea_ros.dynamics.workspace.Workspace`, base first, parent
        before child. Read: ``v`` and ``a`` of the base, its velocity and its acceleration minus
        gravity; ``f_ext``, the force of the environment on a body, [moment; force] in body
        coordinates. Written: ``E``, ``r``, ``v``, ``a``, and ``f``, the force through the joint
    :param q: joint positions, shape (nq,), rad or m
    :param qd: joint velocities, shape (nv,), rad/s or m/s
    :param qdd: joint accelerations, shape (nv,), rad/s^2 or m/s^2
    :param tau: joint efforts, shape (nv,), N m or N; overwritten
    """
    v, a = load(bodies[BASE]['v']), load(bodies[BASE]['a'])
    for i in range(1, bodies.shape[0]):
        body = bodies[i]
        if body['parent'] != i - 1:  # otherwise v and a are already the parent's
            parent = bodies[body['parent']]
            v, a = load(parent['v']), load(parent['a'])
        v, a = move_body(body, v, a, q, qd, qdd)
        # f_i = I_i a_i + v_i x* I_i v_i - f_ext       (5.9), with f_ext of (5.20)
        mass, h, J = body['mass'], load3(body['h']), load33(body['J'])
        f = inertia_force(mass, h, J, v, a)
        store(body['f'], subtract(f, load(body['f_ext'])))
    gather_efforts(bodies, tau)


@compiled
def gravity_torques(bodies: Records, q: Array, tau: Array) -> None:
    """
    Write the joint efforts that hold the tree at rest into tau: ID(q, 0, 0, f_ext).

    At rest, velocities and angular accelerations are zero: (5.14), (5.15) and (5.9) become
    shorter. Only the linear part of the base's ``a`` is used. Arguments as in
    :func:`inverse_dynamics`; ``E``, ``r``, ``a`` and ``f`` are written.
    """
    a = load(bodies[BASE]['a'])[1]
    for i in range(1, bodies.shape[0]):
        body = bodies[i]
        if body['parent'] != i - 1:
            a = load(bodies[body['parent']]['a'])[1]
        E, r = joint_transform(body, q)
        store33(body['E'], E)
        store3(body['r'], r)
        a = rotate(E, a)
        store(body['a'], (ZERO[0], a))
        f = (cross(load3(body['h']), a), scale3(body['mass'], a))
        store(body['f'], subtract(f, load(body['f_ext'])))
    gather_efforts(bodies, tau)


@compiled
def move_body(
    body: np.void, v: SpatialVector, a: SpatialVector, q: Array, qd: Array, qdd: Array
) -> tuple[SpatialVector, SpatialVector]:
    """Return a body's v and a from those of its parent, and write ``E``, ``r``, ``v``, ``a``."""
    # X_up = X_J X_T
    E, r = joint_transform(body, q)
    # v_i = X_up v_parent + S qd                                              (5.14)
    v = add_joint_motion(body, transform_motion(E, r, v), qd)
    # a_i = X_up a_parent + S qdd + v_i x S qd, with a_0 = -g                 (5.15)
    a = add_joint_motion(body, transform_motion(E, r, a), qdd)
    a = add(a, velocity_product(body, v, qd))
    store33(body['E'], E)
    store3(body['r'], r)
    store(body['v'], v)
    store(body['a'], a)
    return v, a


@compiled
def gather_efforts(bodies: Records, tau: Array) -> None:
    """Add each body's force to its parent's, and write the joint efforts into tau."""
    tau[:] = 0.0
    store(bodies[BASE]['f'], ZERO)
    f_of_child = ZERO
    for i in range(bodies.shape[0] - 1, 0, -1):
        body = bodies[i]
        f = add(load(body['f']), f_of_child)
        store(body['f'], f)
        # tau_i = S^T f_i                                                     (5.11)
        add_joint_efforts(body, f, tau)
        # f_parent = f_parent + X_up^T f_i                                    (5.20)
        f_of_child = transform_force_back(load33(body['E']), load3(body['r']), f)
        if body['parent'] != i - 1:
            parent = bodies[body['parent']]
            store(parent['f'], add(load(parent['f']), f_of_child))
            f_of_child = ZERO
    store(bodies[BASE]['f'], add(load(bodies[BASE]['f']), f_of_child))
