# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Inverse dynamics in contact: efforts and contact forces for a given motion.

The equation of motion with contact forces lambda is M qdd + h = S^T tau + J^T lambda (Featherstone
2008, section 11.2, and L. Righetti and others, *Inverse dynamics control of floating-base robots
with external constraints: a unified view*, ICRA 2011). The rows of joints without an actuator
determine the contact forces. If several sets of forces solve them, the set of least norm is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import InputError, SingularityError

TOLERANCE = 1e-6
"""
Largest acceleration of a contact that counts as zero, rad/s^2 or m/s^2.

Relative to the largest terms of J qdd + Jdot qd if these are above 1.
"""


@dataclass(frozen=True)
class ContactSolution:
    """
    Efforts and contact forces for a motion.

    :param efforts: tau, shape (nv,), N m or N; zero for coordinates without an actuator
    :param contact_forces: lambda, in the order of the contact Jacobian's rows, shape (k,)
    :param free_forces: number of directions in which the contact forces can change, together with
        the efforts, without a change of the motion; 0 if the motion determines the forces
    """

    efforts: Array
    contact_forces: Array
    free_forces: int

    @property
    def determined(self) -> bool:
        """Whether the motion determines the forces; otherwise they are those of least norm."""
        return self.free_forces == 0


def check_contact_motion(qdd: Array, contact_jacobian: Array, bias: Array) -> None:
    """
    Raise an error if the contacts accelerate: J qdd + Jdot qd = 0.

    :param qdd: joint accelerations, shape (nv,)
    :param contact_jacobian: J, shape (k, nv)
    :param bias: Jdot qd, shape (k,), rad/s^2 or m/s^2
    :raises InputError: a contact accelerates; with the accelerations
    """
    with np.errstate(over='ignore', invalid='ignore'):
        acceleration = contact_jacobian @ qdd + bias
        parts = np.abs(contact_jacobian) @ np.abs(qdd) + np.abs(bias)
        allowed = TOLERANCE * max(1.0, parts.max(initial=0.0))
    if not (np.abs(acceleration) <= allowed).all():
        raise InputError(
            'qdd',
            'contradicts the contacts, J qdd + Jdot qd is not zero but '
            f'{acceleration.tolist()}; the nearest motion that the contacts allow is '
            'qdd - pinv(J) (J qdd + Jdot qd)',
        )


def constrained_inverse_dynamics(
    generalised_forces: Array, contact_jacobian: Array, actuated: NDArray[np.bool_]
) -> ContactSolution:
    """
    Return the efforts of the actuated joints and the contact forces of least norm.

    :param generalised_forces: M qdd + h, shape (nv,), N m or N
    :param contact_jacobian: J, shape (k, nv); row i times qd is the velocity along contact force i
    :param actuated: whether a coordinate has an actuator, shape (nv,)
    :raises SingularityError: no contact forces give the motion; with the missing forces
    """
    needed = generalised_forces[~actuated]
    JT = contact_jacobian.T
    # Least norm by the singular value decomposition: lambda = (J_u^T)^+ (M qdd + h)_u
    solution, _, rank, _ = np.linalg.lstsq(JT[~actuated], needed, rcond=1e-10)
    forces = np.asarray(solution, dtype=np.float64)
    missing = needed - JT[~actuated] @ forces
    if np.abs(missing).max(initial=0.0) > 1e-8 * max(1.0, np.abs(needed).max(initial=0.0)):
        raise SingularityError(
            'contacts',
            f'cannot make this motion: forces {missing.tolist()} are missing in the coordinates '
            f'{np.flatnonzero(~actuated).tolist()}, which have no actuator',
        )
    efforts: Array = np.where(actuated, generalised_forces - JT @ forces, 0.0)
    return ContactSolution(efforts, forces, len(forces) - int(rank))
