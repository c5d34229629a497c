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

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import SingularityError

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
    task: str,
    coordinates: Sequence[int],
    M: Array,
    J: Array,
    Jdot_qd: Array,
    coriolis: Array,
    gravity: Array,
    lever: float,
) -> OperationalSpaceDynamics:
    """
    Return the dynamics of a task.

    :param task: name of the task, for the error
    :param coordinates: coordinates of the task, each from 0 to 5
    :param M: mass matrix, positive definite, shape (nv, nv)
    :param J: Jacobian of all six coordinates, angular before linear, shape (6, nv)
    :param Jdot_qd: acceleration at qdd = 0, including that of the base, shape (6,)
    :param coriolis: C qd, and the efforts that the motion of the base needs, shape (nv,)
    :param gravity: g, shape (nv,)
    :param lever: longest lever of an angular velocity in the linear rows of J, m
    :raises SingularityError: the coordinates cannot move independently, with the condition number
    """
    rows = list(coordinates)
    for row in rows:
        if not _movable(J, lever)[row]:
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
    movable: NDArray[np.bool_] = (np.abs(J) > ROUNDING * largest).max(axis=1, initial=False)
    return movable
