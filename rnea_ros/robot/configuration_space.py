# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Steps between joint positions, also where these hold quaternions.

The position of a spherical joint is a quaternion, that of a floating joint a vector and a
quaternion. Their velocity is that of the moving body in its own axes. Integration is the
exponential map of SO(3) or SE(3), the difference its inverse, the logarithm (Lynch and Park,
*Modern Robotics*, 2017, sections 3.2.3 and 3.3.3). Coordinates of all other joints are added and
subtracted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, finite_number, finite_result_required, finite_vector
from ..dynamics import quaternions
from ..errors import InputError
from .model_data import ModelData, checked


@finite_result_required
def integrate(model: ModelData, q: ArrayLike, v: ArrayLike, dt: float) -> Array:
    """Return the joint positions after a motion at constant velocity v, (nv,), for dt, s."""
    q, v = checked(model, q=q, v=v)
    dt = finite_number('dt', dt)
    result = q.copy()
    for positions, velocities in _vector_joints(model):
        result[positions] += v[velocities] * dt
    for _, i, j, floats in model.quaternions:
        turn = v[j : j + 3] * dt
        if floats:
            R = quaternions.rotation(q[i + 3 : i + 7])
            result[i : i + 3] += R @ quaternions.left_jacobian(turn) @ v[j + 3 : j + 6] * dt
            i += 3
        turned = quaternions.product(q[i : i + 4], quaternions.exponential(turn))
        result[i : i + 4] = turned / np.linalg.norm(turned)
    return result


@finite_result_required
def position_rate(model: ModelData, q: ArrayLike, qd: ArrayLike) -> Array:
    """
    Return dq/dt, the rate of change of every number of q, shape (nq,).

    It is qd, except for spherical and floating joints, whose q holds a quaternion. This changes by
    half its product with (omega, 0) (Featherstone 2008, eq. 4.13).
    """
    q, qd = checked(model, q=q, qd=qd)
    rate = np.zeros_like(q)
    for positions, velocities in _vector_joints(model):
        rate[positions] = qd[velocities]
    for _, i, j, floats in model.quaternions:
        if floats:
            rate[i : i + 3] = quaternions.rotation(q[i + 3 : i + 7]) @ qd[j + 3 : j + 6]
            i += 3
        rate[i : i + 4] = 0.5 * quaternions.product(q[i : i + 4], np.append(qd[j : j + 3], 0.0))
    return rate


@finite_result_required
def normalised(model: ModelData, q: ArrayLike) -> Array:
    """
    Return joint positions with quaternions scaled to unit length, shape (nq,).

    :param q: joint positions, shape (nq,); quaternions of any length but zero
    :raises InputError: a quaternion of zeros, which is not a rotation, with the joint
    """
    result = finite_vector('q', q, model.nq)
    for joint, start, _, floats in model.quaternions:
        where = slice(start + 3, start + 7) if floats else slice(start, start + 4)
        largest = np.abs(result[where]).max()
        if largest == 0.0:
            reason = f'the quaternion of joint {joint!r} is zero; no rotation is 0, 0, 0, 1'
            raise InputError('q', reason)
        result[where] /= largest  # the squares of its numbers now neither overflow nor vanish
        result[where] /= np.linalg.norm(result[where])
    return result


@finite_result_required
def difference(model: ModelData, q0: ArrayLike, q1: ArrayLike) -> Array:
    """
    Return the velocity that leads from q0 to q1 in one second, shape (nv,).

    ``integrate(q0, difference(q0, q1), 1)`` is q1. Quaternions take the shorter way; angles of
    other joints are not wrapped.
    """
    q0, q1 = checked(model, q0=q0, q1=q1)
    v = np.zeros(model.nv)
    for positions, velocities in _vector_joints(model):
        v[velocities] = q1[positions] - q0[positions]
    for _, i, j, floats in model.quaternions:
        k = i + 3 if floats else i
        back = quaternions.conjugate(q0[k : k + 4])
        turn = quaternions.logarithm(quaternions.product(back, q1[k : k + 4]))
        v[j : j + 3] = turn
        if floats:
            moved = quaternions.rotation(q0[k : k + 4]).T @ (q1[i : i + 3] - q0[i : i + 3])
            v[j + 3 : j + 6] = np.linalg.solve(quaternions.left_jacobian(turn), moved)
    return v


def _vector_joints(model: ModelData) -> list[tuple[slice, slice]]:
    """Return the parts of q and v that belong to joints without a quaternion."""
    with_quaternion = {name for name, *_ in model.quaternions}
    return [
        (coordinates.positions, coordinates.velocities)
        for name, coordinates in model.tree.joints.items()
        if name not in with_quaternion
    ]
