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

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, finite_array, finite_vector
from ..errors import InputError, SingularityError
from .equation_of_motion import inverse_dynamics
from .model_data import ModelData, checked, checked_names
from .wrench import ExternalWrenches

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


def constrained_inverse_dynamics(
    model: ModelData, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, contact_jacobian: ArrayLike,
    unactuated: Sequence[str] = (), *, contact_bias: ArrayLike | None = None,
    external_wrenches: ExternalWrenches | None = None,
) -> ContactSolution:
    """
    Return joint efforts and contact forces for a motion of a robot in contact.

    Contacts do not accelerate, J qdd + Jdot qd = 0; another motion is rejected. Velocities are not
    checked, since the ground may move. If it accelerates, subtract its acceleration from
    ``contact_bias``.

    If several sets of contact forces give the same motion, the set of least norm is returned, and
    ``determined`` of the result is False. Contacts may pull: signs and friction cones are not
    checked.

    :param contact_jacobian: rows of :meth:`jacobian`, one for each contact force, shape (k, nv)
    :param unactuated: names of joints without an actuator, such as the floating base
    :param contact_bias: Jdot qd, the same rows of :meth:`bias_acceleration`, shape (k,), rad/s^2
        and m/s^2; zeros by default if neither the joints nor the base move
    :param external_wrenches: wrenches that the environment exerts on the robot beside the contact
        forces, by link
    :raises InputError: a motion that the contacts do not allow; no ``contact_bias`` although the
        robot or its base moves
    :raises SingularityError: no contact forces give this motion
    :raises UnknownNameError: no such joint
    """
    actuated = np.ones(model.nv, dtype=bool)
    for joint in checked_names('unactuated', unactuated):
        actuated[model.velocity_indices(joint)] = False
    J = finite_array('contact_jacobian', contact_jacobian, (None, model.nv))
    (velocity,) = checked(model, qd=qd)
    if contact_bias is not None:
        bias = finite_vector('contact_bias', contact_bias, len(J))
    elif len(J) and (velocity.any() or not model.base_at_rest):
        raise InputError(
            'contact_bias', 'is required if the robot or its base moves: the rows of '
            'bias_acceleration for the rows of contact_jacobian',
        )
    else:
        bias = np.zeros(len(J))
    (acceleration,) = checked(model, qdd=qdd)
    _check_contact_motion(acceleration, J, bias)
    generalised_forces = inverse_dynamics(model, q, velocity, acceleration, external_wrenches)
    needed = generalised_forces[~actuated]
    JT = J.T
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


def _check_contact_motion(qdd: Array, contact_jacobian: Array, bias: Array) -> None:
    """Raise an error if the contacts accelerate: J qdd + Jdot qd = 0, with bias Jdot qd."""
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
