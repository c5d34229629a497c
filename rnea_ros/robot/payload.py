# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A payload: a rigid body that the robot carries and its description does not contain."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, finite_number, finite_vector
from ..dynamics.tree import RigidBodyInertia
from ..errors import InputError
from ..urdf import inertia_problem


@dataclass(frozen=True)
class Payload:
    """
    A rigid body that is fixed to a link.

    :param link: the link's name
    :param mass: kg
    :param com: centre of mass in the link's frame, shape (3,), m
    :param inertia: inertia about the centre of mass, in the link's axes, xx, xy, xz, yy, yz, zz as
        in a URDF, kg m^2; zeros for a point mass
    :raises InputError: no rigid body has this mass and inertia
    """

    link: str
    mass: float
    com: ArrayLike = (0.0, 0.0, 0.0)
    inertia: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        mass = finite_number('payload mass', self.mass)
        if mass < 0.0:
            raise InputError('payload mass', f'{mass} is negative')
        com = finite_vector('payload com', self.com, 3)
        reason = inertia_problem(mass, self._moments())
        if reason:
            raise InputError('payload inertia', reason)
        with np.errstate(over='ignore', invalid='ignore'):
            moments = self.rigid_body_inertia.J
        if not np.isfinite(moments).all():
            raise InputError('payload com', f'{com.tolist()} m is too far away for {mass} kg')

    @cached_property
    def rigid_body_inertia(self) -> RigidBodyInertia:
        """The inertia about the link's origin, in the link's axes."""
        com = finite_vector('payload com', self.com, 3)
        return RigidBodyInertia.from_centre_of_mass(float(self.mass), com, self._moments())

    def _moments(self) -> Array:
        xx, xy, xz, yy, yz, zz = finite_vector('payload inertia', self.inertia, 6)
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
