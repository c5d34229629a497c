# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The robot model: how it comes to be, and what changes it."""

from __future__ import annotations

from functools import partial
import os
from typing import Any
import warnings

from numpy.typing import ArrayLike

from ..dynamics.tree import KinematicTree, with_added_inertia
from ..errors import UrdfWarning
from ..urdf import RobotDescription, parse_urdf, read_urdf
from .base_motion import BaseMotion
from .batch import Batch
from .builder import build_tree
from .names import STANDARD_GRAVITY
from .payload import Payload


class RobotModel(Batch):
    """
    Rigid-body dynamics of one robot.

    Positions are arrays of shape (nq,), velocities, accelerations and efforts of shape (nv,), in
    the order of :attr:`joint_names`: rad or m, rad/s or m/s, rad/s^2 or m/s^2, N m or N. A joint
    that turns about or slides along one axis has one number in each; for others see
    :mod:`rnea_ros.dynamics.tree.joint_types`. Every method takes anything array-like, and raises
    :class:`~rnea_ros.errors.InputError` on a wrong shape, a value that is not finite, or a
    quaternion that has not unit length. A model never changes, and may be used from several
    threads.

    Made by :meth:`from_urdf`, :meth:`from_description` or :meth:`from_tree`.
    """

    @classmethod
    def from_urdf(
        cls,
        source: str | os.PathLike[str],
        *,
        floating_base: bool = False,
        gravity: ArrayLike = STANDARD_GRAVITY,
        strict_inertia: bool = False,
    ) -> RobotModel:
        """
        Return the model of a URDF.

        What is usable but not physical is told by :class:`~rnea_ros.errors.UrdfWarning`.

        :param source: XML text, or the path of a file
        :param floating_base: let the root link move freely, by a joint named ``floating_base``
        :param gravity: acceleration of free fall in the root link's frame, in the world's where
            the base floats, shape (3,), m/s^2
        :param strict_inertia: refuse an inertia that no rigid body has
        :raises UrdfError: what cannot be used, naming the element and the value
        """
        description = parse_urdf(read_urdf(source), strict_inertia=strict_inertia)
        for message in description.warnings:
            warnings.warn(message, UrdfWarning, stacklevel=2)
        return cls.from_description(description, floating_base=floating_base, gravity=gravity)

    @classmethod
    def from_description(
        cls,
        description: RobotDescription,
        *,
        floating_base: bool = False,
        gravity: ArrayLike = STANDARD_GRAVITY,
    ) -> RobotModel:
        """
        Return the model of a robot that was read already.

        :param description: the robot, as :func:`~rnea_ros.urdf.parse_urdf` returns it
        :param floating_base: let the root link move freely
        :param gravity: acceleration of free fall, shape (3,), m/s^2
        """
        tree = build_tree(description, floating_base=floating_base)
        return cls(
            tree,
            name=description.name,
            description=description,
            gravity=gravity,
            base_motion=BaseMotion(),
        )

    @classmethod
    def from_tree(
        cls,
        tree: KinematicTree,
        *,
        name: str = 'robot',
        gravity: ArrayLike = STANDARD_GRAVITY,
    ) -> RobotModel:
        """
        Return the model of a tree that :class:`~rnea_ros.dynamics.tree.TreeBuilder` built.

        :param tree: bodies and joints
        :param name: the robot's name
        :param gravity: acceleration of free fall in the root's frame, shape (3,), m/s^2
        """
        return cls(
            tree, name=name, description=None, gravity=gravity, base_motion=BaseMotion()
        )

    def with_gravity(self, gravity: ArrayLike) -> RobotModel:
        """
        Return a copy of the model under another gravity.

        :param gravity: acceleration of free fall in the root link's frame, in the world's where
            the base floats, shape (3,), m/s^2
        """
        return self._copy(gravity=gravity)

    def with_base_motion(self, base_motion: BaseMotion) -> RobotModel:
        """
        Return a copy of the model on a base that moves: a vehicle, a ship, another machine.

        :param base_motion: motion of the root link's frame; where the base floats, of the frame
            that it floats in
        """
        return self._copy(base_motion=base_motion)

    def with_payload(
        self,
        link: str,
        mass: float,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    ) -> RobotModel:
        """
        Return a copy of the model with one more rigid body fixed to a link.

        :param link: the link's name
        :param mass: kg
        :param com: the body's centre of mass in the link's frame, shape (3,), m
        :param inertia: about the centre of mass, in the link's axes, xx, xy, xz, yy, yz, zz,
            shape (6,), kg m^2; zeros for a point mass
        :raises UnknownNameError: the robot has no such link
        """
        payload = Payload(link, mass, com, inertia)
        self._frame(link)
        return self._copy(tree=with_added_inertia(self._tree, link, payload.rigid_body_inertia))

    def _copy(self, **changes: Any) -> RobotModel:
        made_of = {
            'tree': self._tree,
            'name': self._name,
            'description': self._description,
            'gravity': self._gravity,
            'base_motion': self._base_motion,
        }
        return RobotModel(**{**made_of, **changes})

    def __reduce__(self) -> tuple[partial[RobotModel], tuple[KinematicTree]]:
        rebuilt = partial(
            RobotModel,
            name=self._name,
            description=self._description,
            gravity=self._gravity,
            base_motion=self._base_motion,
        )
        return (rebuilt, (self._tree,))

    def __repr__(self) -> str:
        return (
            f'RobotModel({self.name!r}, {len(self.joint_names)} joints, '
            f'{len(self.link_names)} links)'
        )
