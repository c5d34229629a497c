# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Names, sizes, limits, friction, gravity and base motion of a robot model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..dynamics import SpecialisedWorkspace, Workspace
from ..dynamics.tree import JointCoordinates, KinematicTree
from ..urdf import Joint, RobotDescription
from .model_data import BaseMotion, ModelData, checked_names


class RobotProperties:
    """What a robot model states about its robot."""

    def __init__(self, data: ModelData) -> None:
        self._data = data

    @property
    def name(self) -> str:
        """The robot's name."""
        return self._data.name

    @property
    def description(self) -> RobotDescription | None:
        """The description that the model was built from; None if it was built from a tree."""
        return self._data.description

    @property
    def tree(self) -> KinematicTree:
        """The bodies and joints that the algorithms run on."""
        return self._data.tree

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The moving, independent joints, in the order of every joint array."""
        return tuple(self.tree.joints)

    @property
    def link_names(self) -> tuple[str, ...]:
        """All links, the root first, including those behind fixed joints."""
        return self._data.link_names

    @property
    def body_names(self) -> tuple[str, ...]:
        """The moving links, in the order of the regressor; each includes the links fixed to it."""
        return self._data.body_names

    @property
    def nq(self) -> int:
        """The number of position coordinates."""
        return self._data.nq

    @property
    def nv(self) -> int:
        """The number of velocity coordinates."""
        return self._data.nv

    def position_indices(self, joint: str) -> slice:
        """Return a joint's part of q; UnknownNameError if it is not an independent joint."""
        return self._data.coordinates_of(joint).positions

    def velocity_indices(self, joint: str) -> slice:
        """
        Return the part of qd, qdd and tau that belongs to a joint.

        :param joint: a joint's name
        :raises UnknownNameError: no such independent joint
        """
        return self._data.coordinates_of(joint).velocities

    @property
    def has_one_axis_joints_only(self) -> bool:
        """Whether every joint has one position and one velocity, as in most arms."""
        return not self.joints_of_several_axes

    @property
    def joints_of_several_axes(self) -> tuple[str, ...]:
        """The joints with more than one position, such as a floating base."""
        places = self.tree.joints.items()
        return tuple(name for name, at in places if at.positions.stop - at.positions.start != 1)

    @property
    def neutral_position(self) -> Array:
        """Positions of zero, with identity quaternions, shape (nq,)."""
        q = np.zeros(self.nq)
        for _, start, _, floats in self._data.quaternions:
            q[start + (6 if floats else 3)] = 1.0
        return q

    @property
    def gravity(self) -> Array:
        """
        The acceleration of free fall, shape (3,), m/s^2; read-only.

        In the root link's frame; in the world frame if the base floats.
        """
        return self._data.gravity

    @property
    def base_motion(self) -> BaseMotion:
        """Motion of the root link's frame (of the world frame if the base floats)."""
        return self._data.base_motion

    @property
    def position_lower(self) -> Array:
        """The lower position limits, shape (nq,), rad or m; -inf for a joint without a limit."""
        return self._by_position(-np.inf, lambda joint: joint.limits.lower)

    @property
    def position_upper(self) -> Array:
        """The upper position limits, shape (nq,), rad or m; inf for a joint without a limit."""
        return self._by_position(np.inf, lambda joint: joint.limits.upper)

    @property
    def velocity_limits(self) -> Array:
        """The speed limits, shape (nv,), rad/s or m/s; inf for a joint without a limit."""
        return self._by_velocity(np.inf, lambda joint: joint.limits.velocity)

    @property
    def effort_limits(self) -> Array:
        """The effort limits, shape (nv,), N m or N; inf for a joint without a limit."""
        return self._by_velocity(np.inf, lambda joint: joint.limits.effort)

    @property
    def acceleration_limits(self) -> Array:
        """The lower one of acceleration and deceleration limit, shape (nv,), rad/s^2 or m/s^2."""
        return self._by_velocity(np.inf, lambda joint: min(
            joint.limits.acceleration or np.inf, joint.limits.deceleration or np.inf))  # fmt: skip

    @property
    def damping(self) -> Array:
        """The joints' viscous friction, shape (nv,), N m s/rad or N s/m."""
        return self._by_velocity(0.0, lambda joint: joint.damping)

    @property
    def friction(self) -> Array:
        """The joints' Coulomb friction, shape (nv,), N m or N."""
        return self._by_velocity(0.0, lambda joint: joint.friction)

    @property
    def continuous(self) -> NDArray[np.bool_]:
        """Which velocity coordinates belong to continuous joints, shape (nv,)."""
        return self._by_velocity(0.0, lambda joint: joint.type == 'continuous').astype(bool)

    def workspace(self) -> Workspace:
        """Return a workspace for one thread; its methods neither check arguments nor allocate."""
        return self._data.create_workspace(self.gravity)

    def specialise(
        self, *, payloads: Iterable[str] = (), wrenches: Iterable[str] = (),
        moving_base: bool = False,
    ) -> SpecialisedWorkspace:
        """
        Return a workspace with kernels that are compiled for this model.

        A cold start takes seconds; from then on the kernels come from the disk. What no argument
        names is a constant.

        :param payloads: links that ``set_payload`` of the workspace can load
        :param wrenches: links that external forces can act on
        :param moving_base: whether ``set_base_motion`` can be used
        :raises InputError: no names
        :raises UnknownNameError: the robot has no such link
        """
        model = self._data
        payloads = checked_names('payloads', payloads)
        wrenches = checked_names('wrenches', wrenches)
        for link in (*payloads, *wrenches):
            model.frame_of(link)
        return SpecialisedWorkspace(
            model.tree, (model.gravity, *model.base_motion.spatial()),
            payloads=tuple(payloads), wrenches=tuple(wrenches), moving_base=moving_base,
        )

    def _by_position(self, default: float, pick: Callable[[Joint], float]) -> Array:
        values = np.full(self.nq, default)
        for joint, place in self._described_joints():
            values[place.positions] = pick(joint)
        return values

    def _by_velocity(self, default: float, pick: Callable[[Joint], float]) -> Array:
        values = np.full(self.nv, default)
        for joint, place in self._described_joints():
            values[place.velocities] = pick(joint)
        return values

    def _described_joints(self) -> Iterator[tuple[Joint, JointCoordinates]]:
        described = {} if self.description is None else self.description.joints
        for name, place in self.tree.joints.items():
            if name in described:
                yield described[name], place
