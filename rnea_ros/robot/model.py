# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The robot model: its constructors, modified copies, and methods."""

from __future__ import annotations

import os
import warnings

from numpy.typing import ArrayLike

from ..arrays import Array
from ..dynamics.tree import KinematicTree, with_added_inertia
from ..errors import InputError, UrdfWarning, brief
from ..urdf import RobotDescription, parse_urdf, read_urdf
from . import (
    batch,
    configuration_space,
    contacts,
    derivatives,
    equation_of_motion,
    kinematics,
    link_forces,
    operational_space,
)
from . import inertial_parameters as inertias
from .builder import build_tree
from .inertial_parameters import Payload
from .model_data import AT_REST, STANDARD_GRAVITY, BaseMotion, ModelData, changed, frame_of


class RobotModel(ModelData):
    """
    Rigid-body dynamics of one robot.

    Positions q (rad or m) are arrays of shape (nq,). Velocities qd (rad/s or m/s), accelerations
    qdd (rad/s^2 or m/s^2) and efforts tau (N m or N) are arrays of shape (nv,), in the order of
    :attr:`joint_names`. A joint with one axis has one number in each; for other joints see
    :mod:`rnea_ros.dynamics.tree.joint_types`. Every method takes anything array-like, and raises
    :class:`~rnea_ros.errors.InputError` on a wrong shape, a value that is not finite, or a
    quaternion that is not of unit length. A model never changes, and several threads may use it.

    ``link`` is a link's name, ``point`` a point in the link's frame, shape (3,), m.
    ``external_wrenches`` are those that the environment exerts on the robot, by link. The name of
    a link that the robot does not have raises :class:`~rnea_ros.errors.UnknownNameError`.

    Methods for a batch take and return arrays with one of N samples in each row; the vectors of a
    wrench have shape (3,), or (N, 3) with one row for each sample. ``threads`` is the number of
    cores to use; all by default.

    Create it by :meth:`from_urdf`, :meth:`from_description` or :meth:`from_tree`.
    """

    @classmethod
    def from_urdf(
        cls, source: str | os.PathLike[str], *, floating_base: bool = False,
        gravity: ArrayLike = STANDARD_GRAVITY, strict_inertia: bool = False,
    ) -> RobotModel:
        """
        Return the model of a URDF.

        A :class:`~rnea_ros.errors.UrdfWarning` reports values that are usable but not physical.

        :param source: XML text, or the path of a file
        :param floating_base: connect the root link to the world by a free joint ``floating_base``
        :param gravity: acceleration of free fall in the root link's frame (in the world frame if
            the base floats), shape (3,), m/s^2
        :param strict_inertia: raise an error for an inertia that no rigid body can have
        :raises UrdfError: the URDF cannot be used; the error names the element and the value
        """
        if not isinstance(source, str | os.PathLike):
            raise InputError('source', f'expected XML text or a path, got {brief(source)}')
        description = parse_urdf(read_urdf(source), strict_inertia=strict_inertia)
        for message in description.warnings:
            warnings.warn(message, UrdfWarning, stacklevel=2)
        return cls.from_description(description, floating_base=floating_base, gravity=gravity)

    @classmethod
    def from_description(
        cls, description: RobotDescription, *, floating_base: bool = False,
        gravity: ArrayLike = STANDARD_GRAVITY,
    ) -> RobotModel:
        """Return the model of a description that :func:`~rnea_ros.urdf.parse_urdf` returned."""
        if not isinstance(description, RobotDescription):
            raise InputError(
                'description', f'expected a RobotDescription, got {brief(description)}'
            )
        tree = build_tree(description, floating_base=floating_base)
        return cls(tree, description.name, description, gravity, AT_REST)

    @classmethod
    def from_tree(
        cls, tree: KinematicTree, *, name: str = 'robot', gravity: ArrayLike = STANDARD_GRAVITY
    ) -> RobotModel:
        """Return the model of a tree that a :class:`~rnea_ros.dynamics.tree.TreeBuilder` built."""
        return cls(tree, name, None, gravity, AT_REST)

    def with_gravity(self, gravity: ArrayLike) -> RobotModel:
        """Return a copy of the model under another :attr:`gravity`, shape (3,), m/s^2."""
        return changed(self, gravity=gravity)

    def with_base_motion(self, base_motion: BaseMotion) -> RobotModel:
        """Return a copy of the model with another :attr:`base_motion`: of a vehicle, a ship."""
        return changed(self, base_motion=base_motion)

    def with_payload(
        self, link: str, mass: float, com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    ) -> RobotModel:
        """Return a copy with one more rigid body, a :class:`~.inertial_parameters.Payload`."""
        payload = Payload(link, mass, com, inertia)
        frame_of(self, link)  # raises UnknownNameError
        tree = with_added_inertia(self.tree, link, payload.rigid_body_inertia)
        return changed(self, tree=tree)

    # Each module of this folder holds the functions of one topic; here they become methods.
    inverse_dynamics = equation_of_motion.inverse_dynamics
    gravity_torques = equation_of_motion.gravity_torques
    coriolis_torques = equation_of_motion.coriolis_torques
    bias_torques = equation_of_motion.bias_torques
    mass_matrix = equation_of_motion.mass_matrix
    mass_matrix_rate = equation_of_motion.mass_matrix_rate
    coriolis_matrix = equation_of_motion.coriolis_matrix
    forward_dynamics = equation_of_motion.forward_dynamics
    inverse_dynamics_derivatives = derivatives.inverse_dynamics_derivatives
    forward_dynamics_derivatives = derivatives.forward_dynamics_derivatives
    kinetic_energy = equation_of_motion.kinetic_energy
    potential_energy = equation_of_motion.potential_energy

    forward_kinematics = kinematics.forward_kinematics
    link_positions_batch = kinematics.link_positions_batch
    jacobian = kinematics.jacobian
    jacobian_rate = kinematics.jacobian_rate
    link_velocity = kinematics.link_velocity
    link_acceleration = kinematics.link_acceleration
    bias_acceleration = kinematics.bias_acceleration
    centre_of_mass = kinematics.centre_of_mass

    integrate = configuration_space.integrate
    difference = configuration_space.difference
    position_rate = configuration_space.position_rate
    normalised = configuration_space.normalised

    internal_wrench = link_forces.internal_wrench
    link_dynamics = link_forces.link_dynamics
    motion_subspace = link_forces.motion_subspace
    constraint_force_subspace = link_forces.constraint_force_subspace
    operational_space_dynamics = operational_space.operational_space_dynamics
    constrained_inverse_dynamics = contacts.constrained_inverse_dynamics
    regressor = inertias.regressor

    @property
    def inertial_parameters(self) -> Array:
        """
        The ten standard parameters of every moving body, phi, shape (10 * bodies,).

        Mass, first moment (mx, my, mz), and rotational inertia about the origin (Jxx, Jxy, Jyy,
        Jxz, Jyz, Jzz) of each link of :attr:`body_names`, in that link's frame. Links at fixed
        joints count as part of the link that carries them.
        """
        return inertias.inertial_parameters(self)

    def with_inertial_parameters(
        self, parameters: ArrayLike, *, strict_inertia: bool = False
    ) -> RobotModel:
        """
        Return a copy of the model with other inertial parameters of the moving bodies.

        Links at fixed joints keep their inertia; the link that carries them gets the rest.

        :param parameters: phi, in the order of :attr:`inertial_parameters`, shape (10 * bodies,)
        :param strict_inertia: raise an error for an inertia that no rigid body can have;
            otherwise accept all finite numbers, because an estimate may be unphysical
        """
        tree = inertias.tree_with_parameters(self, parameters, strict_inertia=strict_inertia)
        return changed(self, tree=tree)

    inverse_dynamics_batch = batch.inverse_dynamics_batch
    gravity_torques_batch = batch.gravity_torques_batch
    mass_matrix_batch = batch.mass_matrix_batch
    forward_dynamics_batch = batch.forward_dynamics_batch
    regressor_batch = batch.regressor_batch
    inverse_dynamics_derivatives_batch = batch.inverse_dynamics_derivatives_batch
    forward_dynamics_derivatives_batch = batch.forward_dynamics_derivatives_batch

    def __repr__(self) -> str:
        return (
            f'RobotModel({self.name!r}, {len(self.joint_names)} joints, '
            f'{len(self.link_names)} links)'
        )
