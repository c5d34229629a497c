# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The equation of motion as a tool sees it: Lambda xdd + mu + p = F.

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
"""Of the mobility J M^-1 J^T, against the link's own; beyond it, half of all digits are lost."""

TINY = 1e-150

ROUNDING = 1e-13
"""What part of the numbers that it is made of an entry of J must be, or it is rounding."""


@dataclass(frozen=True)
class TaskSpaceDynamics:
    """
    Dynamics of a task of m coordinates.

    :param inertia: Lambda = (J M^-1 J^T)^-1, shape (m, m)
    :param bias: mu = Jbar^T C qd - Lambda Jdot qd, shape (m,)
    :param gravity: p = Jbar^T g, shape (m,)
    :param jacobian: J, shape (m, nv)
    :param inverse: Jbar = M^-1 J^T Lambda, the dynamically consistent inverse of J, shape (nv, m)
    """

    inertia: Array
    bias: Array
    gravity: Array
    jacobian: Array
    inverse: Array


def task_space_dynamics(
    task: str,
    coordinates: Sequence[int],
    M: Array,
    J: Array,
    Jdot_qd: Array,
    coriolis: Array,
    gravity: Array,
    lever: float,
) -> TaskSpaceDynamics:
    """
    Return the dynamics of a task.

    :param task: its name, for the error
    :param coordinates: which of the six the task has
    :param M: mass matrix, positive definite, shape (nv, nv)
    :param J: of all six coordinates, angular before linear, shape (6, nv)
    :param Jdot_qd: shape (6,)
    :param coriolis: C qd, shape (nv,)
    :param gravity: g, shape (nv,)
    :param lever: the longest that an angular velocity may have in what it adds to J, m
    :raises SingularityError: the coordinates cannot move independently, with the condition number
    """
    rows = list(coordinates)
    for row in rows:
        if not _moved(J, lever)[row]:
            reason = f'cannot move in its coordinate {row}: no joint moves it'
            raise SingularityError(task, reason)
    # With M = L L^T, J M^-1 J^T = A^T A: in A, half as many digits are lost near singularities.
    A = np.linalg.solve(np.linalg.cholesky(M), J.T)
    # Radians and metres: scaled by what moves most of each, so that units do not decide.
    angular, linear = np.linalg.norm(A[:, :3]), np.linalg.norm(A[:, 3:])
    scale = np.repeat([angular, linear], 3)[rows]
    stiffest = np.linalg.svd(A[:, rows] / scale, compute_uv=False)[-1]
    condition = np.inf if len(rows) > len(M) else 1.0 / max(stiffest, TINY) ** 2
    if not condition < WORST_CONDITION:
        raise SingularityError(
            task,
            f'is at or near a singularity: its {len(rows)} coordinates cannot move independently '
            f'(condition number {condition:.3g}); choose fewer coordinates',
        )
    inertia = np.linalg.inv(A[:, rows].T @ A[:, rows])
    inertia = 0.5 * (inertia + inertia.T)
    inverse = np.linalg.solve(M, J[rows].T) @ inertia
    return TaskSpaceDynamics(
        inertia=inertia,
        bias=inverse.T @ coriolis - inertia @ Jdot_qd[rows],
        gravity=inverse.T @ gravity,
        jacobian=J[rows],
        inverse=inverse,
    )


def _moved(J: Array, lever: float) -> NDArray[np.bool_]:
    """Return which rows of J have more in them than rounding errors, shape (6,)."""
    angular, linear = np.abs(J[:3]), np.abs(J[3:])
    turns = angular.max(axis=0, initial=0.0)
    largest = np.repeat([turns, np.maximum(linear.max(axis=0, initial=0.0), lever * turns)], 3, 0)
    moved: NDArray[np.bool_] = (np.abs(J) > ROUNDING * largest).max(axis=1, initial=False)
    return moved
