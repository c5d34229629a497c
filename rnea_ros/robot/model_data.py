# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The data of a robot model: its tree, names, limits, gravity, base motion and workspaces."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
import threading
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array, finite_vector, real_array
from ..compilation import kernels_exclude_threads
from ..dynamics import Workspace, with_unit_quaternions
from ..dynamics.tree import WORLD, Frame, JointCoordinates, KinematicTree
from ..errors import InputError, UnknownNameError, brief
from ..urdf import Joint, Limits, RobotDescription
from .base_motion import BaseMotion

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
"""Acceleration of free fall, m/s^2, where z points up."""


class _ThreadMemory(threading.local):
    """
    Workspaces of one thread, created at its first call.

    :param model: the model
    """

    def __init__(self, model: ModelData) -> None:
        self._model = model

    @cached_property
    def workspace(self) -> Workspace:
        """A workspace with the model's gravity and base motion."""
        return self._model.workspace()

    @cached_property
    def weightless(self) -> Workspace:
        """A workspace without gravity."""
        return self._model._new_workspace(np.zeros(3))


class ModelData:
    """
    The data that all computations of a robot model read.

    The computations are functions in the modules of this folder, with the model as their first
    argument. Only these functions may use the attributes with a leading underscore.

    :param tree: bodies and joints
    :param name: the robot's name
    :param description: source of the tree, with limits, damping and friction of the joints; None
        for a tree without a description
    :param gravity: acceleration of free fall in the root link's frame (in the world frame if the
        base floats), shape (3,), m/s^2
    :param base_motion: motion of the root link's frame
    """

    def __init__(
        self,
        tree: KinematicTree,
        *,
        name: str,
        description: RobotDescription | None,
        gravity: ArrayLike,
        base_motion: BaseMotion,
    ) -> None:
        if not isinstance(tree, KinematicTree):
            raise InputError('tree', f'expected a KinematicTree, got {brief(tree)}')
        self._tree = tree
        self._name = name
        self._description = description
        self._gravity = finite_vector('gravity', gravity, 3)
        self._gravity.setflags(write=False)
        if not isinstance(base_motion, BaseMotion):
            raise InputError('base_motion', f'expected a BaseMotion, got {brief(base_motion)}')
        self._base_motion = base_motion
        self._base_velocity, self._base_acceleration = base_motion.spatial()
        self._nq, self._nv = tree.nq, tree.nv
        self._matrix_shape, self._rest = (tree.nv, tree.nv), np.zeros(tree.nv)
        self._quaternions = tree.quaternions()
        self._base_at_rest = not (self._base_velocity.any() or self._base_acceleration.any())
        # Mimic joints and screws move two bodies by one coordinate.
        self._shared_coordinates = int(tree.bodies['dofs'].sum()) > tree.nv
        # Kernels reject NaN and infinity. They do not check the length of quaternions, and in
        # plain Python they do not check types.
        self._kernels_check_arrays = kernels_exclude_threads() and not self._quaternions
        # For calls that are one kernel alone: no other thread runs before it returns.
        self._shared_workspace = self.workspace()
        self._shared_weightless = self._new_workspace(np.zeros(3))
        self._thread_memory = _ThreadMemory(self)
        self._link_frames: dict[str, tuple[int, Array]] = {}
        self._link_bodies = [tree.frames[link].body for link in self.body_names]
        self._models_cut_above: dict[str, ModelData] = {}

    @property
    def name(self) -> str:
        """The robot's name."""
        return self._name

    @property
    def description(self) -> RobotDescription | None:
        """The description that the model was built from; None if it was built from a tree."""
        return self._description

    @property
    def tree(self) -> KinematicTree:
        """The bodies and joints that the algorithms run on."""
        return self._tree

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The moving, independent joints, in the order of every joint array."""
        return tuple(self._tree.joints)

    @property
    def link_names(self) -> tuple[str, ...]:
        """All links, the root first, including those behind fixed joints."""
        return tuple(name for name in self._tree.frames if name != WORLD)

    @property
    def body_names(self) -> tuple[str, ...]:
        """The moving links, in the order of the regressor; each includes the links fixed to it."""
        return tuple(link.name for link in self._tree.links if link.joint)

    @property
    def nq(self) -> int:
        """The number of position coordinates."""
        return self._nq

    @property
    def nv(self) -> int:
        """The number of velocity coordinates."""
        return self._nv

    def position_indices(self, joint: str) -> slice:
        """
        Return the part of q that belongs to a joint.

        :param joint: a joint's name
        :raises UnknownNameError: no such independent joint
        """
        return self._coordinates_of(joint).positions

    def velocity_indices(self, joint: str) -> slice:
        """
        Return the part of qd, qdd and tau that belongs to a joint.

        :param joint: a joint's name
        :raises UnknownNameError: no such independent joint
        """
        return self._coordinates_of(joint).velocities

    @property
    def has_one_axis_joints_only(self) -> bool:
        """Whether every joint has one position and one velocity, as in most arms."""
        return self._nq == self._nv == len(self._tree.joints)

    @property
    def neutral_position(self) -> Array:
        """Positions of zero, with identity quaternions, shape (nq,)."""
        q = np.zeros(self._nq)
        for _, start, _, floats in self._quaternions:
            q[start + (6 if floats else 3)] = 1.0
        return q

    @property
    def gravity(self) -> Array:
        """
        The acceleration of free fall, shape (3,), m/s^2; read-only.

        In the root link's frame; in the world frame if the base floats.
        """
        return self._gravity

    @property
    def base_motion(self) -> BaseMotion:
        """Motion of the root link's frame (of the world frame if the base floats)."""
        return self._base_motion

    @property
    def position_lower(self) -> Array:
        """The lower position limits, shape (nq,), rad or m; -inf for a joint without a limit."""
        return self._limit(-np.inf, lambda limits: limits.lower, of_positions=True)

    @property
    def position_upper(self) -> Array:
        """The upper position limits, shape (nq,), rad or m; inf for a joint without a limit."""
        return self._limit(np.inf, lambda limits: limits.upper, of_positions=True)

    @property
    def velocity_limits(self) -> Array:
        """The speed limits, shape (nv,), rad/s or m/s; inf for a joint without a limit."""
        return self._limit(np.inf, lambda limits: limits.velocity)

    @property
    def effort_limits(self) -> Array:
        """The effort limits, shape (nv,), N m or N; inf for a joint without a limit."""
        return self._limit(np.inf, lambda limits: limits.effort)

    @property
    def damping(self) -> Array:
        """The joints' viscous friction, shape (nv,), N m s/rad or N s/m."""
        return self._by_joint(0.0, lambda joint: joint.damping)

    @property
    def friction(self) -> Array:
        """The joints' Coulomb friction, shape (nv,), N m or N."""
        return self._by_joint(0.0, lambda joint: joint.friction)

    @property
    def continuous(self) -> NDArray[np.bool_]:
        """Which velocity coordinates belong to continuous joints, shape (nv,)."""
        return self._by_joint(0.0, lambda joint: float(joint.type == 'continuous')).astype(bool)

    def workspace(self) -> Workspace:
        """Return a workspace for one thread; its methods neither check arguments nor allocate."""
        return self._new_workspace(self._gravity)

    def _named_arguments(self) -> dict[str, Any]:
        """Return the arguments that created the model, except the tree."""
        return {
            'name': self._name,
            'description': self._description,
            'gravity': self._gravity,
            'base_motion': self._base_motion,
        }

    def _limit(
        self, default: float, pick: Callable[[Limits], float], *, of_positions: bool = False
    ) -> Array:
        return self._by_joint(default, lambda joint: pick(joint.limits), of_positions=of_positions)

    def _by_joint(
        self, default: float, pick: Callable[[Joint], float], *, of_positions: bool = False
    ) -> Array:
        values = np.full(self._nq if of_positions else self._nv, default)
        joints = {} if self._description is None else self._description.joints
        for name, coordinates in self._tree.joints.items():
            if name in joints:
                part = coordinates.positions if of_positions else coordinates.velocities
                values[part] = pick(joints[name])
        return values

    def _coordinates_of(self, joint: str) -> JointCoordinates:
        if not isinstance(joint, str) or joint not in self._tree.joints:
            raise UnknownNameError('joint', joint, self._tree.joints)
        return self._tree.joints[joint]

    def _joint_of(self, dof: int) -> str:
        """Return the joint that a velocity coordinate belongs to."""
        joints = self._tree.joints.items()
        return next(name for name, place in joints if dof < place.velocities.stop)

    def _frame(self, link: str) -> Frame:
        if not isinstance(link, str) or link == WORLD or link not in self._tree.frames:
            raise UnknownNameError('link', link, self.link_names)
        return self._tree.frames[link]

    @staticmethod
    def _names(argument: str, values: Iterable[str]) -> list[str]:
        """Return names as a list, after a check that they are not one string or no sequence."""
        try:
            if isinstance(values, str):
                raise TypeError('a string is a sequence of characters')
            return list(values)
        except Exception as error:  # a foreign object's iteration may raise anything
            reason = f'expected a sequence of names, got {brief(values)}'
            raise InputError(argument, reason) from error

    def _checked_position(self, argument: str, values: ArrayLike) -> Array:
        """Return joint positions, checked; quaternions are scaled to exactly unit length."""
        q = finite_vector(argument, values, self._nq)
        return with_unit_quaternions(argument, q, self._quaternions) if self._quaternions else q

    def _checked_positions(self, values: ArrayLike) -> Array:
        """Return positions of N samples, shape (N, nq), checked; errors name the sample."""
        given = real_array('q', values)
        if given.ndim != 2 or given.shape[1] != self._nq:
            raise InputError('q', f'has shape {given.shape}, not (N, {self._nq})')
        if not self._quaternions and np.isfinite(given).all():
            return np.ascontiguousarray(given)
        rows = [self._checked_position(f'q[{k}]', row) for k, row in enumerate(given)]
        return np.array(rows).reshape(given.shape)

    def _checked_velocity(self, argument: str, values: ArrayLike) -> Array:
        """Return joint velocities, accelerations or efforts, checked."""
        return finite_vector(argument, values, self._nv)

    def _new_workspace(self, gravity: Array) -> Workspace:
        workspace = Workspace(self._tree, gravity)
        workspace.set_base_motion(gravity, self._base_velocity, self._base_acceleration)
        return workspace
