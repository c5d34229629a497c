# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The equation of motion of a task, in operational space: Lambda xdd + mu + p = F.

After O. Khatib, *A unified approach for motion and force control of robot manipulators: the
operational space formulation*, IEEE Journal of Robotics and Automation, 1987, for a velocity
xd = J qd.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import index

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array, finite_array
from ..errors import InputError, SingularityError, brief
from .equation_of_motion import (
    bias_without_gravity,
    forward_dynamics,
    gravity_torques,
    mass_matrix,
)
from .kinematics import bias_acceleration, jacobian, link_pose, placed_bodies
from .model_data import ModelData, checked_position, frame_of

WORST_CONDITION = 1e8
"""Largest condition number of the mobility J M^-1 J^T; above it, half of all digits are lost."""

TINY = 1e-150

ROUNDING = 1e-13
"""Size of an element of J, relative to its terms, below which it is a rounding error."""


@dataclass(frozen=True)
class OperationalSpaceDynamics:
    """
    Dynamics of a task of m coordinates.

    :param inertia: Lambda = (J M^-1 J^T)^-1, shape (m, m)
    :param bias: mu = Jbar^T C qd - Lambda Jdot qd, with the effects of a moving base, shape (m,)
    :param gravity: p = Jbar^T g, shape (m,)
    :param jacobian: J, shape (m, nv)
    :param inverse: Jbar = M^-1 J^T Lambda, the dynamically consistent inverse of J, shape (nv, m)
    """

    inertia: Array
    bias: Array
    gravity: Array
    jacobian: Array
    inverse: Array


def operational_space_dynamics(
    model: ModelData, q: ArrayLike, qd: ArrayLike, link: str, *,
    coordinates: Sequence[int] = (0, 1, 2, 3, 4, 5), point: ArrayLike = (0.0, 0.0, 0.0),
) -> OperationalSpaceDynamics:
    """
    Return the equation of motion of a link: Lambda a + mu + p = F.

    a is the link's spatial acceleration, F the wrench [moment; force] that the joints apply, both
    in the link's axes at ``point``. On a moving base, a is the acceleration relative to the world,
    as in :meth:`link_acceleration`, and mu includes what velocity and acceleration of the base
    need; p is the weight alone.

    :param coordinates: the coordinates of the task, 0 to 2 angular, 3 to 5 linear
    :raises SingularityError: the coordinates cannot move independently, with the condition
        number; or a joint without inertia to accelerate
    """
    rows = _task_rows(coordinates)
    frame_of(model, link)  # raises the error of an unknown link
    task = f'link {link!r}'
    # Raises the error of a joint without inertia
    forward_dynamics(model, q, model.rest, model.rest)
    p = finite_array('point', point, (3,))
    M, J = mass_matrix(model, q), jacobian(model, q, link, p)
    Jdot_qd = bias_acceleration(model, q, qd, link, p)
    coriolis, gravity = bias_without_gravity(model, q, qd), gravity_torques(model, q)
    movable = _movable(J, _longest_lever(model, q, link, p))
    for row in rows:
        if not movable[row]:
            reason = f'cannot move in its coordinate {row}: no joint moves it'
            raise SingularityError(task, reason)
    # With M = L L^T, J M^-1 J^T = A^T A: near singularities, A loses half as many digits.
    A = np.linalg.solve(np.linalg.cholesky(M), J.T)
    # Angular and linear columns have different units: scale each kind by its norm.
    angular, linear = np.linalg.norm(A[:, :3]), np.linalg.norm(A[:, 3:])
    scale = np.repeat([angular, linear], 3)[rows]
    least_singular_value = np.linalg.svd(A[:, rows] / scale, compute_uv=False)[-1]
    condition = np.inf if len(rows) > len(M) else 1.0 / max(least_singular_value, TINY) ** 2
    if not condition < WORST_CONDITION:
        raise SingularityError(
            task,
            f'is at or near a singularity: its {len(rows)} coordinates cannot move independently '
            f'(condition number {condition:.3g}); choose fewer coordinates',
        )
    inertia = np.linalg.inv(A[:, rows].T @ A[:, rows])
    inertia = 0.5 * (inertia + inertia.T)
    inverse = np.linalg.solve(M, J[rows].T) @ inertia
    return OperationalSpaceDynamics(
        inertia=inertia,
        bias=inverse.T @ coriolis - inertia @ Jdot_qd[rows],
        gravity=inverse.T @ gravity,
        jacobian=J[rows],
        inverse=inverse,
    )


def _movable(J: Array, lever: float) -> NDArray[np.bool_]:
    """Return which rows of J have elements larger than rounding errors, shape (6,)."""
    angular, linear = np.abs(J[:3]), np.abs(J[3:])
    largest_angular = angular.max(axis=0, initial=0.0)
    largest_linear = np.maximum(linear.max(axis=0, initial=0.0), lever * largest_angular)
    largest = np.repeat([largest_angular, largest_linear], 3, axis=0)
    return np.asarray((np.abs(J) > ROUNDING * largest).max(axis=1, initial=False))


def _longest_lever(model: ModelData, q: ArrayLike, link: str, point: Array) -> float:
    """Return the distance of a link's point from the farthest body, m."""
    bodies = placed_bodies(model, checked_position(model, 'q', q))
    pose = link_pose(model, bodies, link)
    levers = bodies['p'] - (pose.rotation @ point + pose.translation)
    return float(np.linalg.norm(levers, axis=1).max())


def _task_rows(coordinates: Sequence[int]) -> list[int]:
    """Return the coordinates of a task, checked."""
    try:
        rows = [index(coordinate) for coordinate in coordinates]
    except Exception as error:  # a foreign object's conversion may raise anything
        raise InputError('coordinates', f'expected integers, got {brief(coordinates)}') from error
    if not rows or len(set(rows)) < len(rows) or not set(rows) <= set(range(6)):
        raise InputError(
            'coordinates',
            f'expected different integers from 0 to 5, at least one, got {brief(rows)}',
        )
    return rows
