# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Masses and inertias: a payload, the parameters phi of the links, the regressor Y.

A payload is a rigid body that the robot carries and its description does not contain. Efforts are
linear in the inertial parameters: tau = Y(q, qd, qdd) phi.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, finite_number, finite_vector
from ..dynamics.kernels import PARAMETERS
from ..dynamics.tree import KinematicTree, RigidBodyInertia, with_added_inertia
from ..errors import InputError
from ..urdf import inertia_problem
from .model_data import ModelData, computed, frame_of


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


def inertial_parameters(model: ModelData) -> Array:
    """Return phi, shape (10 * bodies,)."""
    phi = []
    for name in model.body_names:
        frame = frame_of(model, name)
        body = model.tree.bodies[frame.body]
        inertia = RigidBodyInertia(float(body['mass']), body['h'], body['J'])
        phi.append(inertia.transformed(frame.placement.inverse()).parameters)
    return np.array(phi).reshape(-1)


def tree_with_parameters(
    model: ModelData, parameters: ArrayLike, *, strict_inertia: bool
) -> KinematicTree:
    """Return the model's tree with other inertial parameters phi, shape (10 * bodies,)."""
    before = inertial_parameters(model)
    phi = finite_vector('parameters', parameters, before.size)
    tree = model.tree
    for name, new, old in zip(
        model.body_names, phi.reshape(-1, 10), before.reshape(-1, 10), strict=True
    ):
        if strict_inertia and (problem := _problem(new)):
            raise InputError('parameters', f'the inertia of link {name!r} {problem}')
        if (new != old).any():
            tree = with_added_inertia(tree, name, RigidBodyInertia.from_parameters(new - old))
    return tree


def _problem(phi: Array) -> str:
    """Return why no rigid body has these parameters; empty if one has."""
    body = RigidBodyInertia.from_parameters(phi)
    if body.mass <= 0.0:
        return f'has a mass of {body.mass:.6g} kg'
    # J_com is a difference, and has rounding errors of the size of J.
    rounding = 1e-12 * float(np.abs(body.J).max())
    return inertia_problem(body.mass, body.J_com, rounding)


def regressor(model: ModelData, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
    """Return Y, (nv, 10 * bodies), with tau = Y phi, where phi is :attr:`inertial_parameters`."""
    return of_links(model, regressor_of_bodies(model, q, qd, qdd))


def regressor_of_bodies(
    model: ModelData, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
) -> Array:
    """Return the regressor of all bodies, shape (nv, bodies, 10)."""
    Y = np.empty((model.nv, len(model.tree.bodies) - 1, len(PARAMETERS)))
    if model.shared.regressor_into(q, qd, qdd, Y):
        return Y
    return computed(model, 'regressor_into', Y, q=q, qd=qd, qdd=qdd)


def of_links(model: ModelData, Y: Array) -> Array:
    """Return the columns of the links only: a screw joint has a body that is not a link."""
    if Y.shape[-2] != len(model.link_bodies):
        Y = Y[..., [body - 1 for body in model.link_bodies], :]
    return Y.reshape(*Y.shape[:-2], Y.shape[-2] * Y.shape[-1])
