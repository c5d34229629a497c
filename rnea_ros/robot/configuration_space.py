# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Steps between joint positions, also where these hold quaternions."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..arrays import Array, finite_number, finite_result_required, finite_vector
from ..dynamics import manifold
from .model_data import ModelData


@finite_result_required
def integrate(model: ModelData, q: ArrayLike, v: ArrayLike, dt: float) -> Array:
    """
    Return the joint positions after a motion at constant velocity.

    :param q: joint positions, shape (nq,)
    :param v: joint velocities, shape (nv,)
    :param dt: duration, s
    """
    q, v = model.checked(q=q, v=v)
    dt = finite_number('dt', dt)
    return manifold.integrate(q, v, dt, model.quaternions, _vector_joints(model))


@finite_result_required
def position_rate(model: ModelData, q: ArrayLike, qd: ArrayLike) -> Array:
    """
    Return dq/dt, the rate of change of every number of q, shape (nq,).

    It is qd, except for spherical and floating joints, whose q holds a quaternion.

    :param q: joint positions, shape (nq,)
    :param qd: joint velocities, shape (nv,)
    """
    q, qd = model.checked(q=q, qd=qd)
    return manifold.position_rate(q, qd, model.quaternions, _vector_joints(model))


@finite_result_required
def normalised(model: ModelData, q: ArrayLike) -> Array:
    """
    Return joint positions with quaternions scaled to unit length, shape (nq,).

    :param q: joint positions, shape (nq,); quaternions of any length but zero
    """
    return manifold.normalised(finite_vector('q', q, model.nq), model.quaternions)


@finite_result_required
def difference(model: ModelData, q0: ArrayLike, q1: ArrayLike) -> Array:
    """
    Return the velocity that leads from q0 to q1 in one second, shape (nv,).

    ``integrate(q0, difference(q0, q1), 1)`` is q1. Quaternions take the shorter way; angles of
    other joints are not wrapped.

    :param q0: joint positions, shape (nq,)
    :param q1: joint positions, shape (nq,)
    """
    q0, q1 = model.checked(q0=q0, q1=q1)
    return manifold.difference(q0, q1, model.quaternions, _vector_joints(model), model.nv)


def _vector_joints(model: ModelData) -> list[tuple[slice, slice]]:
    """Return the parts of q and v that belong to joints without a quaternion."""
    with_quaternion = {name for name, *_ in model.quaternions}
    return [
        (coordinates.positions, coordinates.velocities)
        for name, coordinates in model.tree.joints.items()
        if name not in with_quaternion
    ]
