# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What a model consists of: its joints and links by name, their limits, its gravity and base."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
import threading

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array, finite_vector
from ..dynamics import Workspace, with_unit_quaternions
from ..dynamics.compilation import COMPILED
from ..dynamics.tree import WORLD, Frame, KinematicTree
from ..errors import UnknownNameError
from ..urdf import Joint, Limits, RobotDescription
from .base_motion import BaseMotion

STANDARD_GRAVITY = (0.0, 0.0, -9.81)


class _PerThread(threading.local):
    """
    Memory that each thread has for itself; made when a thread first asks.

    :param model: the model
    """

    def __init__(self, model: NamedModel) -> None:
        self._model = model
        self.workspace = model._new_workspace(model.gravity)

    @cached_property
    def weightless(self) -> Workspace:
        """A workspace without gravity."""
        return self._model._new_workspace(np.zeros(3))


class NamedModel:
    """
    A kinematic tree with names, limits, gravity and the motion of its base.

    :param tree: what the algorithms run on
    :param name: the robot's name
    :param description: what the tree was built from, with limits and losses of joints; without
        it there are none
    :param gravity: acceleration of free fall in the root link's frame, in the world's where the
        base floats, shape (3,), m/s^2
    :param base_motion: how the root link's frame moves
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
        self._tree = tree
        self._name = name
        self._description = description
        self._gravity = finite_vector('gravity', gravity, 3)
        self._gravity.setflags(write=False)
        self._base_motion = base_motion
        self._base_velocity, self._base_acceleration = base_motion.spatial()
        self._nq, self._nv = tree.nq, tree.nv
        self._matrix_shape = (tree.nv, tree.nv)
        self._quaternions = tree.quaternions()
        self._base_at_rest = not (self._base_velocity.any() or self._base_acceleration.any())
        # Mimic joints and screws move two bodies by one coordinate.
        self._shared_coordinates = int(tree.bodies['dofs'].sum()) > tree.nv
        # Quaternions must be looked at before a kernel sees them, and numba at array types.
        self._direct = COMPILED and not self._quaternions
        self._memory = _PerThread(self)

    @property
    def name(self) -> str:
        """The robot's name."""
        return self._name

    @property
    def description(self) -> RobotDescription | None:
        """What the model was built from, unless it was a tree."""
        return self._description

    @property
    def tree(self) -> KinematicTree:
        """What the algorithms run on."""
        return self._tree

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The moving, independent joints, in the order of every joint array."""
        return tuple(self._tree.joints)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Every link, the root first, those behind fixed joints too."""
        return tuple(name for name in self._tree.frames if name != WORLD)

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
        Return where a joint's numbers stand in q.

        :param joint: a joint's name
        :raises UnknownNameError: no such independent joint
        """
        return self._tree.joints[self._known_joint(joint)].positions

    def velocity_indices(self, joint: str) -> slice:
        """
        Return where a joint's numbers stand in qd, qdd and tau.

        :param joint: a joint's name
        :raises UnknownNameError: no such independent joint
        """
        return self._tree.joints[self._known_joint(joint)].velocities

    @property
    def has_one_axis_joints_only(self) -> bool:
        """Whether every joint has one position and one velocity: an arm, not a mobile robot."""
        return self._nq == self._nv == len(self._tree.joints)

    @property
    def neutral_position(self) -> Array:
        """A position of zeros and of quaternions that turn nothing, shape (nq,)."""
        q = np.zeros(self._nq)
        for _, start, _, floats in self._quaternions:
            q[start + (6 if floats else 3)] = 1.0
        return q

    @property
    def gravity(self) -> Array:
        """
        The acceleration of free fall, shape (3,), m/s^2; read-only.

        In the root link's frame, or in the world's where the base floats.
        """
        return self._gravity

    @property
    def base_motion(self) -> BaseMotion:
        """How the root link's frame moves; where the base floats, the frame that it floats in."""
        return self._base_motion

    @property
    def position_lower(self) -> Array:
        """The least joint positions, shape (nq,), rad or m; -inf where there is no limit."""
        return self._limit(-np.inf, lambda limits: limits.lower, of_positions=True)

    @property
    def position_upper(self) -> Array:
        """The greatest joint positions, shape (nq,), rad or m; inf where there is no limit."""
        return self._limit(np.inf, lambda limits: limits.upper, of_positions=True)

    @property
    def velocity_limits(self) -> Array:
        """The greatest joint speeds, shape (nv,), rad/s or m/s; inf where there is no limit."""
        return self._limit(np.inf, lambda limits: limits.velocity)

    @property
    def effort_limits(self) -> Array:
        """The greatest joint efforts, shape (nv,), N m or N; inf where there is no limit."""
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
        """Which joint coordinates turn without end, shape (nv,)."""
        return self._by_joint(0.0, lambda joint: float(joint.type == 'continuous')).astype(bool)

    def _limit(
        self, default: float, pick: Callable[[Limits], float], *, of_positions: bool = False
    ) -> Array:
        return self._by_joint(
            default, lambda joint: pick(joint.limits), of_positions=of_positions
        )

    def _by_joint(
        self, default: float, pick: Callable[[Joint], float], *, of_positions: bool = False
    ) -> Array:
        values = np.full(self._nq if of_positions else self._nv, default)
        joints = {} if self._description is None else self._description.joints
        for name, place in self._tree.joints.items():
            if name in joints:
                where = place.positions if of_positions else place.velocities
                values[where] = pick(joints[name])
        return values

    def _known_joint(self, joint: str) -> str:
        if joint not in self._tree.joints:
            raise UnknownNameError('joint', joint, self._tree.joints)
        return joint

    def _frame(self, link: str) -> Frame:
        if link not in self._tree.frames or link == WORLD:
            raise UnknownNameError('link', link, self.link_names)
        return self._tree.frames[link]

    def _position(self, argument: str, values: ArrayLike) -> Array:
        """Return joint positions, checked; quaternions are brought to unit length exactly."""
        q = finite_vector(argument, values, self._nq)
        return with_unit_quaternions(argument, q, self._quaternions) if self._quaternions else q

    def _velocity(self, argument: str, values: ArrayLike) -> Array:
        """Return joint velocities, accelerations or efforts, checked."""
        return finite_vector(argument, values, self._nv)

    def _new_workspace(self, gravity: Array) -> Workspace:
        workspace = Workspace(self._tree, gravity)
        workspace.set_base_motion(gravity, self._base_velocity, self._base_acceleration)
        return workspace
