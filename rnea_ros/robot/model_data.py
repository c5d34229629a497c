# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The data of a robot model: tree, names, limits, gravity, base motion, memory of the kernels.

All functions of this folder take it first; a :class:`~rnea_ros.robot.model.RobotModel` is it too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
import threading
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array, finite_result, finite_vector, real_array
from ..compilation import kernels_exclude_threads
from ..dynamics import SpecialisedWorkspace, Workspace, with_unit_quaternions
from ..dynamics.tree import Frame, JointCoordinates, KinematicTree
from ..errors import InputError, UnknownNameError, brief
from ..urdf import Joint, RobotDescription

Model = TypeVar('Model', bound='ModelData')

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
        self.create = create
        self._gravity = gravity

    @cached_property
    def workspace(self) -> Workspace:
        """A workspace with the model's gravity and base motion."""
        return self.create(self._gravity)

    @cached_property
    def weightless(self) -> Workspace:
        """A workspace without gravity."""
        return self.create(np.zeros(3))


class _NoKernels:
    """In place of a workspace: kernels that reject all arguments."""

    def __getattr__(self, name: str) -> Callable[..., bool]:
        return lambda *arguments: False


class ModelData:
    """
    The robot, and what computations of its model need. It never changes.

    :param tree: the bodies and joints that the algorithms run on
    :param name: the robot's name
    :param description: the description that the model was built from; None if built from a tree
    :param gravity: acceleration of free fall in the root link's frame (in the world frame if the
        base floats), shape (3,), m/s^2; read-only
    :param base_motion: motion of the root link's frame (of the world frame if the base floats)
    :ivar nq: number of position coordinates
    :ivar nv: number of velocity coordinates
    """

    def __init__(
        self, tree: KinematicTree, name: str, description: RobotDescription | None,
        gravity: ArrayLike, base_motion: BaseMotion,
    ) -> None:
        if not isinstance(tree, KinematicTree):
            raise InputError('tree', f'expected a KinematicTree, got {brief(tree)}')
        self.tree = tree
        self.name = name
        self.description = description
        self.gravity = finite_vector('gravity', gravity, 3)
        if not isinstance(base_motion, BaseMotion):
            raise InputError('base_motion', f'expected a BaseMotion, got {brief(base_motion)}')
        self.base_motion = base_motion
        self.nq = tree.nq
        self.nv = tree.nv
        self.matrix_shape = (tree.nv, tree.nv)
        self.rest = np.zeros(tree.nv)  # velocities of zero; read-only
        velocity, acceleration = base_motion.spatial()
        self.base_at_rest = not (velocity.any() or acceleration.any())
        self.quaternions = tree.quaternions()
        self.shared_coordinates = tree.shared_coordinates
        self.link_frames = tree.link_frames
        self.link_bodies = [tree.frames[link.name].body for link in tree.links if link.joint]

        def workspace(gravity: Array) -> Workspace:
            new = Workspace(tree, gravity)
            new.set_base_motion(gravity, velocity, acceleration)
            return new

        self.thread = ThreadMemory(workspace, self.gravity)
        # For calls that are one kernel alone, which checks its arguments: no other thread runs
        # meanwhile. Kernels check neither the length of quaternions nor, in plain Python, types;
        # then these reject all arguments.
        self.shared: Any = _NoKernels()
        self.shared_weightless: Any = _NoKernels()
        if kernels_exclude_threads() and not self.quaternions:
            self.shared, self.shared_weightless = workspace(self.gravity), workspace(np.zeros(3))
        self.cut_above: dict[str, ModelData] = {}  # models with a body for one link alone
        for constant in (self.gravity, self.rest):
            constant.setflags(write=False)
        self._complete = True

    def __setattr__(self, name: str, value: object) -> None:
        if hasattr(self, '_complete'):
            raise AttributeError(f'a model does not change: {name} cannot be set')
        object.__setattr__(self, name, value)

    def _arguments(self) -> dict[str, Any]:
        names = ('tree', 'name', 'description', 'gravity', 'base_motion')
        return {name: getattr(self, name) for name in names}

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), tuple(self._arguments().values()))  # the memory is made anew

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The moving, independent joints, in the order of every joint array."""
        return tuple(self.tree.joints)

    @property
    def link_names(self) -> tuple[str, ...]:
        """All links, the root first, including those behind fixed joints."""
        return tuple(self.link_frames)

    @property
    def body_names(self) -> tuple[str, ...]:
        """The moving links, in the order of the regressor; each includes the links fixed to it."""
        return tuple(link.name for link in self.tree.links if link.joint)

    def position_indices(self, joint: str) -> slice:
        """Return a joint's part of q; UnknownNameError if it is not an independent joint."""
        return self._coordinates(joint).positions

    def velocity_indices(self, joint: str) -> slice:
        """Return a joint's part of qd, qdd and tau; errors as :meth:`position_indices`."""
        return self._coordinates(joint).velocities

    def _coordinates(self, joint: str) -> JointCoordinates:
        if not isinstance(joint, str) or joint not in self.tree.joints:
            raise UnknownNameError('joint', joint, self.tree.joints)
        return self.tree.joints[joint]

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
        for _, start, _, floats in self.quaternions:
            q[start + (6 if floats else 3)] = 1.0
        return q

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
    def jerk_limits(self) -> Array:
        """The jerk limits, shape (nv,), rad/s^3 or m/s^3; inf for a joint without a limit."""
        return self._by_velocity(np.inf, lambda joint: joint.limits.jerk or np.inf)

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
        return self.thread.create(self.gravity)

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
        payloads = checked_names('payloads', payloads)
        wrenches = checked_names('wrenches', wrenches)
        for link in (*payloads, *wrenches):
            frame_of(self, link)
        return SpecialisedWorkspace(
            self.tree, (self.gravity, *self.base_motion.spatial()),
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


def changed(model: Model, **changes: Any) -> Model:
    """Return another model, with other arguments."""
    return type(model)(**{**model._arguments(), **changes})


def checked(model: ModelData, **given: ArrayLike) -> tuple[Array, ...]:
    """
    Return arguments in their order, checked; the error names the argument.

    They are joint positions ``q``, ``q0`` or ``q1``, whose quaternions are scaled to exactly
    unit length; a ``point``, shape (3,); all others have the shape (nv,).
    """
    return tuple(
        checked_position(model, name, values) if name in ('q', 'q0', 'q1')
        else finite_vector(name, values, 3 if name == 'point' else model.nv)
        for name, values in given.items()
    )


def checked_position(model: ModelData, argument: str, values: ArrayLike) -> Array:
    """Return joint positions, checked; quaternions are scaled to exactly unit length."""
    q = finite_vector(argument, values, model.nq)
    return with_unit_quaternions(argument, q, model.quaternions) if model.quaternions else q


def checked_positions(model: ModelData, values: ArrayLike) -> Array:
    """Return positions of N samples, shape (N, nq), checked; errors name the sample."""
    given = real_array('q', values)
    if given.ndim != 2 or given.shape[1] != model.nq:
        raise InputError('q', f'has shape {given.shape}, not (N, {model.nq})')
    if not model.quaternions and np.isfinite(given).all():
        return np.ascontiguousarray(given)
    rows = [checked_position(model, f'q[{k}]', row) for k, row in enumerate(given)]
    return np.array(rows).reshape(given.shape)


def joint_of(model: ModelData, qd_index: int) -> str:
    """Return the joint that a velocity coordinate belongs to."""
    joints = model.tree.joints.items()
    return next(name for name, place in joints if qd_index < place.velocities.stop)


def frame_of(model: ModelData, link: str) -> Frame:
    """Return the frame of a link; UnknownNameError if the robot has no such link."""
    if not isinstance(link, str) or link not in model.link_frames:
        raise UnknownNameError('link', link, model.link_frames)
    return model.tree.frames[link]


def computed(
    model: ModelData, kernel: str, result: Array, *first: Any, **given: ArrayLike
) -> Array:
    """Write and return a kernel's result if finite; ``first`` are its checked arguments."""
    getattr(model.thread.workspace, kernel)(*first, *checked(model, **given), result)
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
