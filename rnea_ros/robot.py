# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The robot model: words in, arrays out. The public face of the dynamics library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import os
import threading
from typing import TypeAlias
import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import finite_vector
from .dynamics.inertia import RigidBodyInertia
from .dynamics.joints import JointKind
from .dynamics.placement import Placement
from .dynamics.tree import Coordinate, KinematicTree, MovingJoint, TreeBuilder
from .dynamics.workspace import Workspace
from .errors import InputError, UnknownNameError, UrdfWarning
from .urdf import Inertial, Joint, Limits, RobotDescription, parse_urdf, read_urdf
from .wrench import Wrench

Array: TypeAlias = NDArray[np.float64]
ExternalWrenches: TypeAlias = Mapping[str, Wrench | Sequence[Wrench]]

STANDARD_GRAVITY = (0.0, 0.0, -9.81)


class RobotModel:
    """
    Rigid-body dynamics of one robot.

    Positions, velocities, accelerations and efforts are arrays of shape (n,) in the order of
    :attr:`joint_names`: rad or m, rad/s or m/s, rad/s^2 or m/s^2, N m or N. Every method takes
        anything array-like, and raises :class:`~rnea_ros.errors.InputError` on a wrong shape or a
        value that is not finite. A model never changes, and may be used from several threads.

    :param description: the robot, as :func:`~rnea_ros.urdf.parse_urdf` returns it
    :param gravity: acceleration of free fall in the root link's frame, shape (3,), m/s^2
    """

    def __init__(
        self, description: RobotDescription, gravity: ArrayLike = STANDARD_GRAVITY
    ) -> None:
        self._description = description
        self._gravity = finite_vector('gravity', gravity, 3)
        self._gravity.setflags(write=False)
        self._independent = [
            joint for joint in description.joints.values() if joint.moves and joint.mimic is None
        ]
        self._joint_names = tuple(joint.name for joint in self._independent)
        self._tree = build_tree(description, self._joint_names)
        self._per_thread = threading.local()

    @classmethod
    def from_urdf(
        cls,
        source: str | os.PathLike[str],
        *,
        gravity: ArrayLike = STANDARD_GRAVITY,
        strict_inertia: bool = False,
    ) -> RobotModel:
        """
        Return the model of a URDF.

        What is usable but not physical is told by :class:`~rnea_ros.errors.UrdfWarning`.

        :param source: XML text, or the path of a file
        :param gravity: acceleration of free fall in the root link's frame, shape (3,), m/s^2
        :param strict_inertia: refuse an inertia that no rigid body has
        :raises UrdfError: what cannot be used, naming the element and the value
        """
        description = parse_urdf(read_urdf(source), strict_inertia=strict_inertia)
        for message in description.warnings:
            warnings.warn(message, UrdfWarning, stacklevel=2)
        return cls(description, gravity)

    def __reduce__(self) -> tuple[type[RobotModel], tuple[RobotDescription, Array]]:
        return (RobotModel, (self._description, self._gravity))

    def __repr__(self) -> str:
        return f'RobotModel({self.name!r}, {self.nv} joints, {len(self.link_names)} links)'

    @property
    def name(self) -> str:
        """The robot's name."""
        return self._description.name

    @property
    def description(self) -> RobotDescription:
        """What the model was built from."""
        return self._description

    @property
    def tree(self) -> KinematicTree:
        """What the algorithms run on."""
        return self._tree

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The moving, independent joints, in the order of every joint array."""
        return self._joint_names

    @property
    def link_names(self) -> tuple[str, ...]:
        """Every link, the root first, those behind fixed joints too."""
        return tuple(self._tree.frames)

    @property
    def nq(self) -> int:
        """The number of position coordinates."""
        return len(self._joint_names)

    @property
    def nv(self) -> int:
        """The number of velocity coordinates."""
        return len(self._joint_names)

    @property
    def gravity(self) -> Array:
        """The acceleration of free fall in the root link's frame, shape (3,), m/s^2; read-only."""
        return self._gravity

    @property
    def position_lower(self) -> Array:
        """The least joint positions, shape (n,), rad or m; -inf where there is no limit."""
        return self._limit(lambda limits: limits.lower)

    @property
    def position_upper(self) -> Array:
        """The greatest joint positions, shape (n,), rad or m; inf where there is no limit."""
        return self._limit(lambda limits: limits.upper)

    @property
    def velocity_limits(self) -> Array:
        """The greatest joint speeds, shape (n,), rad/s or m/s; inf where there is no limit."""
        return self._limit(lambda limits: limits.velocity)

    @property
    def effort_limits(self) -> Array:
        """The greatest joint efforts, shape (n,), N m or N; inf where there is no limit."""
        return self._limit(lambda limits: limits.effort)

    @property
    def damping(self) -> Array:
        """The joints' viscous friction, shape (n,), N m s/rad or N s/m."""
        return np.array([joint.damping for joint in self._independent])

    @property
    def friction(self) -> Array:
        """The joints' Coulomb friction, shape (n,), N m or N."""
        return np.array([joint.friction for joint in self._independent])

    @property
    def continuous(self) -> NDArray[np.bool_]:
        """Which joints turn without end, shape (n,)."""
        return np.array([joint.type == 'continuous' for joint in self._independent], dtype=bool)

    def with_gravity(self, gravity: ArrayLike) -> RobotModel:
        """
        Return a copy of the model under another gravity.

        :param gravity: acceleration of free fall in the root link's frame, shape (3,), m/s^2
        """
        return RobotModel(self._description, gravity)

    def workspace(self) -> Workspace:
        """Return memory of its own for a control loop: no checks, no allocation, one thread."""
        return Workspace(self._tree, self._gravity)

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        external_wrenches: ExternalWrenches | None = None,
    ) -> Array:
        """
        Return the efforts that a motion needs: tau = M(q) qdd + C(q, qd) qd + g(q) - J^T f_ext.

        :param q: joint positions, shape (n,)
        :param qd: joint velocities, shape (n,)
        :param qdd: joint accelerations, shape (n,)
        :param external_wrenches: what the environment exerts on the robot, by link
        :return: joint efforts, shape (n,)
        :raises UnknownNameError: a wrench names a link that the robot does not have
        """
        motion = (self._vector('q', q), self._vector('qd', qd), self._vector('qdd', qdd))
        workspace = self._own_workspace()
        if external_wrenches is None:
            return _result(workspace.inverse_dynamics(*motion))
        try:
            self._apply(workspace, motion[0], external_wrenches)
            return _result(workspace.inverse_dynamics(*motion))
        finally:
            workspace.clear_external_forces()

    def gravity_torques(self, q: ArrayLike) -> Array:
        """
        Return g(q), the efforts that hold the robot still.

        :param q: joint positions, shape (n,)
        """
        return _result(self._own_workspace().gravity_torques(self._vector('q', q)))

    def bias_torques(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """
        Return C(q, qd) qd + g(q), the efforts at which the joints do not accelerate.

        :param q: joint positions, shape (n,)
        :param qd: joint velocities, shape (n,)
        """
        state = (self._vector('q', q), self._vector('qd', qd))
        return _result(self._own_workspace().bias_torques(*state))

    def coriolis_torques(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """
        Return C(q, qd) qd, the Coriolis and centrifugal efforts.

        :param q: joint positions, shape (n,)
        :param qd: joint velocities, shape (n,)
        """
        state = (self._vector('q', q), self._vector('qd', qd))
        return _result(self._own_workspace(weightless=True).bias_torques(*state))

    def forward_kinematics(self, q: ArrayLike, link: str) -> Array:
        """
        Return the pose of a link's frame in the root link's frame, homogeneous, shape (4, 4).

        :param q: joint positions, shape (n,)
        :param link: a link's name
        :raises UnknownNameError: the robot has no such link
        """
        placements = self._own_workspace().body_placements(self._vector('q', q))
        return self._link_placement(placements, link).matrix()

    def _vector(self, argument: str, values: ArrayLike) -> Array:
        return finite_vector(argument, values, len(self._joint_names))

    def _limit(self, pick: Callable[[Limits], float]) -> Array:
        return np.array([pick(joint.limits) for joint in self._independent])

    def _own_workspace(self, *, weightless: bool = False) -> Workspace:
        """Return this thread's workspace, with the model's gravity or with none."""
        name = 'weightless' if weightless else 'workspace'
        workspace: Workspace | None = getattr(self._per_thread, name, None)
        if workspace is None:
            gravity = np.zeros(3) if weightless else self._gravity
            workspace = Workspace(self._tree, gravity)
            setattr(self._per_thread, name, workspace)
        return workspace

    def _link_placement(self, bodies: Sequence[Placement], link: str) -> Placement:
        if link not in self._tree.frames:
            raise UnknownNameError('link', link, self._tree.frames)
        frame = self._tree.frames[link]
        return bodies[frame.body] @ frame.placement

    def _apply(self, workspace: Workspace, q: Array, wrenches: ExternalWrenches) -> None:
        """Add external wrenches, moved to the origin of their body and into its coordinates."""
        bodies = workspace.body_placements(q)
        for link, given in wrenches.items():
            link_in_base = self._link_placement(bodies, link)
            frame = self._tree.frames[link]
            body_in_base = bodies[frame.body]
            for wrench in _wrenches(link, given):
                force = finite_vector(f'force on link {link!r}', wrench.force, 3)
                torque = finite_vector(f'torque on link {link!r}', wrench.torque, 3)
                point = finite_vector(f'point on link {link!r}', wrench.point, 3)
                stated_in = (
                    link_in_base
                    if wrench.frame is None
                    else self._link_placement(bodies, wrench.frame)
                )
                to_body = body_in_base.inverse() @ stated_in
                force_in_body = to_body.rotation @ force
                arm = to_body.rotation @ point + to_body.translation
                moment = to_body.rotation @ torque + np.cross(arm, force_in_body)
                workspace.add_external_force(frame.body, moment, force_in_body)


def _result(efforts: Array) -> Array:
    """Return a workspace's efforts as an array of the caller's own."""
    if not np.isfinite(efforts).all():
        raise InputError('motion', 'is so large that the efforts are not finite')
    return efforts.copy()


def _wrenches(link: str, given: Wrench | Sequence[Wrench]) -> Sequence[Wrench]:
    """Return what is given for a link as a sequence of wrenches."""
    wrenches = [given] if isinstance(given, Wrench) else given
    if not isinstance(wrenches, Sequence) or not all(isinstance(w, Wrench) for w in wrenches):
        raise InputError(f'wrench on link {link!r}', f'is no Wrench, nor several: {given!r}')
    return wrenches


def build_tree(description: RobotDescription, coordinates: Sequence[str]) -> KinematicTree:
    """
    Return the kinematic tree of a description, fixed links lumped and mimic joints folded in.

    :param description: the robot
    :param coordinates: names of the independent joints, in the order of q
    """
    builder = TreeBuilder(description.root, coordinates)
    for joint in description.joints.values():
        builder.add_link(
            joint.child,
            joint.parent,
            Placement.from_xyz_rpy(joint.origin.xyz, joint.origin.rpy),
            _moving_joint(joint),
            _link_inertia(description.links[joint.child].inertial),
        )
    return builder.build()


def _moving_joint(joint: Joint) -> MovingJoint | None:
    if not joint.moves:
        return None
    kind = JointKind.PRISMATIC if joint.type == 'prismatic' else JointKind.REVOLUTE
    coordinate = Coordinate(joint.name)
    if joint.mimic is not None:
        coordinate = Coordinate(joint.mimic.joint, joint.mimic.multiplier, joint.mimic.offset)
    return MovingJoint(kind, np.array(joint.axis), coordinate)


def _link_inertia(inertial: Inertial | None) -> RigidBodyInertia:
    if inertial is None:
        return RigidBodyInertia.zero()
    placement = Placement.from_xyz_rpy(inertial.origin.xyz, inertial.origin.rpy)
    ixx, ixy, ixz, iyy, iyz, izz = inertial.inertia
    J = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    about_com = RigidBodyInertia(inertial.mass, np.zeros(3), J)
    return about_com.seen_from(placement)
