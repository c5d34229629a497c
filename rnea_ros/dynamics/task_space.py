# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The equation of motion as a tool sees it: Lambda xdd + mu + p = F.

After O. Khatib, *A unified approach for motion and force control of robot manipulators: the
operational space formulation*, IEEE Journal of Robotics and Automation, 1987, for a velocity
xd = J qd.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import SingularityError

Array = NDArray[np.float64]

WORST_CONDITION = 1e8
"""Of J M^-1 J^T scaled to ones on its diagonal; beyond it, half of all digits are lost."""


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
    task: str, M: Array, J: Array, Jdot_qd: Array, coriolis: Array, gravity: Array
) -> TaskSpaceDynamics:
    """
    Return the dynamics of a task.

    :param task: its name, for the error
    :param M: mass matrix, shape (nv, nv)
    :param J: shape (m, nv)
    :param Jdot_qd: shape (m,)
    :param coriolis: C qd, shape (nv,)
    :param gravity: g, shape (nv,)
    :raises SingularityError: J has not the rank m, or nearly, with the condition number
    """
    M_inv_JT = np.linalg.solve(M, J.T)
    mobility = J @ M_inv_JT
    # Radians and metres: scaled, so that the choice of units does not decide.
    scale = np.sqrt(np.diag(mobility))
    if not (scale > 0.0).all():
        row = int(np.argmin(scale))
        raise SingularityError(task, f'cannot move in its coordinate {row}: no joint moves it')
    condition = np.linalg.cond(mobility / np.outer(scale, scale))
    if not condition < WORST_CONDITION:
        raise SingularityError(
            task,
            f'is at or near a singularity: its {len(J)} coordinates cannot move independently '
            f'(condition number {condition:.3g}); choose fewer coordinates',
        )
    inertia = np.linalg.inv(mobility)
    inertia = 0.5 * (inertia + inertia.T)
    inverse = M_inv_JT @ inertia
    return TaskSpaceDynamics(
        inertia=inertia,
        bias=inverse.T @ coriolis - inertia @ Jdot_qd,
        gravity=inverse.T @ gravity,
        jacobian=J,
        inverse=inverse,
    )
