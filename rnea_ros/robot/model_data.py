# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The data of a robot model, which all functions of this folder take first; its base's motion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
import threading
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, finite_result, finite_vector, real_array
from ..compilation import kernels_exclude_threads
from ..dynamics import Quaternions, Workspace, with_unit_quaternions
from ..dynamics.tree import Frame, JointCoordinates, KinematicTree
from ..errors import InputError, UnknownNameError, brief
from ..urdf import RobotDescription

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
"""Acceleration of free fall, m/s^2, where z points up."""


@dataclass(frozen=True)
class BaseMotion:
    """
    Motion of the root link's frame relative to the world, in that frame's own axes.

    :param linear_velocity: velocity of the frame's origin, shape (3,), m/s
    :param angular_velocity: shape (3,), rad/s
    :param linear_acceleration: acceleration of the frame's origin relative to the world, without
        gravity, shape (3,), m/s^2
    :param angular_acceleration: shape (3,), rad/s^2
    """

    linear_velocity: ArrayLike = (0.0, 0.0, 0.0)
    angular_velocity: ArrayLike = (0.0, 0.0, 0.0)
    linear_acceleration: ArrayLike = (0.0, 0.0, 0.0)
    angular_acceleration: ArrayLike = (0.0, 0.0, 0.0)

    def spatial(self) -> tuple[Array, Array]:
        """
        Return spatial velocity and acceleration, [angular; linear], shape (6,) each.

        The linear part of a spatial acceleration is that of the origin minus omega x velocity
        (Featherstone 2008, section 2.11).

        :raises InputError: a part that is not an array of shape (3,) of finite numbers
        """
        v = finite_vector('linear_velocity', self.linear_velocity, 3)
        w = finite_vector('angular_velocity', self.angular_velocity, 3)
        a = finite_vector('linear_acceleration', self.linear_acceleration, 3)
        alpha = finite_vector('angular_acceleration', self.angular_acceleration, 3)
        return np.concatenate([w, v]), np.concatenate([alpha, a - np.cross(w, v)])


AT_REST = BaseMotion()
"""A base that does not move."""


class ThreadMemory(threading.local):
    """Workspaces of the calling thread, created at its first call by a function of the gravity."""

    def __init__(self, create: Callable[[Array], Workspace], gravity: Array) -> None:
        self._create = create
        self._gravity = gravity

    @cached_property
    def workspace(self) -> Workspace:
        """A workspace with the model's gravity and base motion."""
        return self._create(self._gravity)

    @cached_property
    def weightless(self) -> Workspace:
        """A workspace without gravity."""
        return self._create(np.zeros(3))


@dataclass(frozen=True, eq=False)
class ModelData:
    """What the computations of a robot model read; made by :meth:`of`."""

    tree: KinematicTree
    name: str
    description: RobotDescription | None  # source of the tree, with limits, damping and friction
    gravity: Array  # of free fall in the root link's frame (floating base: world), (3,), m/s^2
    base_motion: BaseMotion  # of the root link's frame
    base_at_rest: bool  # whether its velocity and acceleration are zero
    nq: int
    nv: int
    matrix_shape: tuple[int, int]  # (nv, nv)
    rest: Array  # velocities of zero, shape (nv,); read-only
    quaternions: Quaternions
    shared_coordinates: bool  # whether mimic joints or screws move two bodies by one coordinate
    # Whether kernels reject all wrong arguments, so that calls need no check before: they reject
    # NaN and infinity, but check neither the length of quaternions, nor types in plain Python.
    kernels_check_arrays: bool
    link_frames: Mapping[str, tuple[int, Array]]  # body of a link, and its frame there, (4, 3)
    link_bodies: list[int]  # numbers of the bodies of the moving links
    create_workspace: Callable[[Array], Workspace]  # returns a new workspace under a gravity
    shared: Workspace  # for calls that are one kernel alone: no other thread runs meanwhile
    shared_weightless: Workspace  # as ``shared``, without gravity
    thread: ThreadMemory  # workspaces of the calling thread, for all other calls
    # By link, the data of a model with a body for the link alone, once used.
    cut_above: dict[str, ModelData] = field(default_factory=dict)

    @classmethod
    def of(
        cls, tree: KinematicTree, *, name: str, description: RobotDescription | None = None,
        gravity: ArrayLike = STANDARD_GRAVITY, base_motion: BaseMotion = AT_REST,
    ) -> ModelData:
        """Return the data of a model; the arguments are fields of the same name."""
        if not isinstance(tree, KinematicTree):
            raise InputError('tree', f'expected a KinematicTree, got {brief(tree)}')
        gravity, rest = finite_vector('gravity', gravity, 3), np.zeros(tree.nv)
        for constant in (gravity, rest):
            constant.setflags(write=False)
        if not isinstance(base_motion, BaseMotion):
            raise InputError('base_motion', f'expected a BaseMotion, got {brief(base_motion)}')
        velocity, acceleration = base_motion.spatial()
        quaternions = tree.quaternions()

        def workspace(gravity: Array) -> Workspace:
            new = Workspace(tree, gravity)
            new.set_base_motion(gravity, velocity, acceleration)
            return new

        return cls(
            tree, name, description, gravity, base_motion,
            base_at_rest=not (velocity.any() or acceleration.any()),
            nq=tree.nq,
            nv=tree.nv,
            matrix_shape=(tree.nv, tree.nv),
            rest=rest,
            quaternions=quaternions,
            shared_coordinates=tree.shared_coordinates,
            kernels_check_arrays=kernels_exclude_threads() and not quaternions,
            link_frames=tree.link_frames,
            link_bodies=[tree.frames[link.name].body for link in tree.links if link.joint],
            create_workspace=workspace,
            shared=workspace(gravity),
            shared_weightless=workspace(np.zeros(3)),
            thread=ThreadMemory(workspace, gravity),
        )

    def changed(self, **changes: Any) -> ModelData:
        """Return the data of another model, with other arguments of :meth:`of`."""
        return ModelData.of(**{**self._arguments(), **changes})

    def _arguments(self) -> dict[str, Any]:
        names = ('tree', 'name', 'description', 'gravity', 'base_motion')
        return {name: getattr(self, name) for name in names}

    def __reduce__(self) -> tuple[object, ...]:
        return (partial(ModelData.of, **self._arguments()), ())  # the memory is made anew

    @property
    def link_names(self) -> tuple[str, ...]:
        """All links, the root first."""
        return tuple(self.link_frames)

    @property
    def body_names(self) -> tuple[str, ...]:
        """The moving links."""
        return tuple(link.name for link in self.tree.links if link.joint)

    def coordinates_of(self, joint: str) -> JointCoordinates:
        """Return the parts of q and qd of a joint; UnknownNameError if it is not independent."""
        if not isinstance(joint, str) or joint not in self.tree.joints:
            raise UnknownNameError('joint', joint, self.tree.joints)
        return self.tree.joints[joint]

    def joint_of(self, qd_index: int) -> str:
        """Return the joint that a velocity coordinate belongs to."""
        joints = self.tree.joints.items()
        return next(name for name, place in joints if qd_index < place.velocities.stop)

    def frame_of(self, link: str) -> Frame:
        """Return the frame of a link; UnknownNameError if the robot has no such link."""
        if not isinstance(link, str) or link not in self.link_frames:
            raise UnknownNameError('link', link, self.link_frames)
        return self.tree.frames[link]

    def checked(self, **given: ArrayLike) -> tuple[Array, ...]:
        """
        Return arguments in their order, checked; the error names the argument.

        They are joint positions ``q``, ``q0`` or ``q1``, whose quaternions are scaled to exactly
        unit length; a ``point``, shape (3,); all others have the shape (nv,).
        """
        return tuple(
            self.checked_position(name, values) if name in ('q', 'q0', 'q1')
            else finite_vector(name, values, 3 if name == 'point' else self.nv)
            for name, values in given.items()
        )

    def checked_position(self, argument: str, values: ArrayLike) -> Array:
        """Return joint positions, checked; quaternions are scaled to exactly unit length."""
        q = finite_vector(argument, values, self.nq)
        return with_unit_quaternions(argument, q, self.quaternions) if self.quaternions else q

    def checked_positions(self, values: ArrayLike) -> Array:
        """Return positions of N samples, shape (N, nq), checked; errors name the sample."""
        given = real_array('q', values)
        if given.ndim != 2 or given.shape[1] != self.nq:
            raise InputError('q', f'has shape {given.shape}, not (N, {self.nq})')
        if not self.quaternions and np.isfinite(given).all():
            return np.ascontiguousarray(given)
        rows = [self.checked_position(f'q[{k}]', row) for k, row in enumerate(given)]
        return np.array(rows).reshape(given.shape)


def computed(
    model: ModelData, kernel: Callable[..., bool], result: Array, *first: Any, **given: ArrayLike
) -> Array:
    """Write and return the result of a kernel if finite; ``first`` are its checked arguments."""
    kernel(*first, *model.checked(**given), result)
    return finite_result(result)


def checked_names(argument: str, values: Iterable[str]) -> list[str]:
    """Return names as a list, after a check that they are not one string or no sequence."""
    try:
        if isinstance(values, str):
            raise TypeError('a string is a sequence of characters')
        return list(values)
    except Exception as error:  # a foreign object's iteration may raise anything
        reason = f'expected a sequence of names, got {brief(values)}'
        raise InputError(argument, reason) from error
