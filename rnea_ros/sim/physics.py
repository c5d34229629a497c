# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The simulated robot: MuJoCo behind joint names and arrays, without ROS, clock and threads.

Until the first command brakes hold the robot exactly at rest. Its efforts are those of the brakes,
so that a controller can take over without a step. The first command opens the brakes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, finite_vector
from ..errors import InputError, UnknownNameError
from ..robot import STANDARD_GRAVITY, Payload, ReferenceFrame, Wrench
from ..urdf import JointLimits, parse_urdf
from .joint_roles import JointRoles, leader
from .mujoco_model import build_mujoco_model


@dataclass(frozen=True)
class Noise:
    """Standard deviations of the noise of joint measurements."""

    position: float = 0.0  # rad or m
    velocity: float = 0.0  # rad/s or m/s
    effort: float = 0.0  # N m or N
    seed: int = 0  # of the random numbers

    def __post_init__(self) -> None:
        for name in ('position', 'velocity', 'effort'):
            deviation = getattr(self, name)
            if not 0.0 <= deviation < math.inf:
                raise InputError(f'{name} noise', f'{deviation} is not a standard deviation')


NO_NOISE = Noise()


class JointStates(NamedTuple):
    """Joint measurements, in the order of :attr:`SimulatedRobot.reported_joints`."""

    positions: Array  # rad or m
    velocities: Array  # rad/s or m/s
    efforts: Array  # N m or N; NaN for a joint that is not commanded


class SimulatedRobot:
    """
    A robot that moves under motor efforts, gravity, friction and pushes.

    Arrays have a value for each of the n commanded joints.

    :param urdf_text: URDF text, including damping and friction of the joints
    :param joints: the commanded joints, in the order of the commands; None for all independent
        joints. The others are held
    :param initial_positions: rad or m; None for those of :func:`.start_position`
    :param gravity: acceleration of free fall in the root link's frame, shape (3,), m/s^2
    :param timestep: time step, s; ``command_delay`` is in time steps
    :param extra_damping: added to the URDF's, N m s/rad or N s/m
    :param extra_friction: Coulomb friction, added to the URDF's, N m or N
    :param armature: rotor inertia, kg m^2 or kg
    :raises UrdfError: the robot cannot be simulated
    """

    def __init__(
        self, urdf_text: str, *, joints: Sequence[str] | None = None,
        initial_positions: ArrayLike | None = None, gravity: ArrayLike = STANDARD_GRAVITY,
        timestep: float = 0.001, payload: Payload | None = None,
        extra_damping: ArrayLike | None = None, extra_friction: ArrayLike | None = None,
        armature: ArrayLike | None = None, noise: Noise = NO_NOISE, command_delay: int = 0,
    ) -> None:
        if command_delay < 0:
            raise InputError('command_delay', f'{command_delay} steps is negative')
        if not 0.0 < timestep < math.inf:
            raise InputError('timestep', f'{timestep} s is not a positive, finite time')
        self._description = parse_urdf(urdf_text)
        self._roles = JointRoles.assign(self._description, joints)
        self._count = len(self._roles.commanded)
        if initial_positions is not None:
            initial_positions = finite_vector('initial_positions', initial_positions, self._count)
        positions = self._roles.positions(initial_positions)
        self._model = build_mujoco_model(
            urdf_text, self._description, gravity=finite_vector('gravity', gravity, 3),
            timestep=timestep,
            held={joint.name: positions[joint.name] for joint in self._roles.held},
            payload=payload
        )
        self._index(positions)
        for argument, values, parameter in (
            ('extra_damping', extra_damping, self._model.dof_damping),
            ('extra_friction', extra_friction, self._model.dof_frictionloss),
            ('armature', armature, self._model.dof_armature),
        ):
            if values is not None:
                parameter[self._motors] += finite_vector(argument, values, self._count)

        self._data = mujoco.MjData(self._model)
        mujoco.mj_setConst(self._model, self._data)  # the stiffness of friction depends on inertia
        self._data.qpos[self._position_indices] = [
            positions[joint.name] for joint in self._roles.free
        ]
        self._noise = noise
        self._random = np.random.default_rng(noise.seed)
        self._pushes: dict[str, Wrench] = {}
        self._external_efforts = np.zeros(self._count)
        self._command: Array | None = None
        self._delayed_commands: deque[Array | None] = deque([None] * command_delay)
        self._brake()

    def _index(self, positions: dict[str, float]) -> None:
        """Find the indices of the joints in MuJoCo's arrays."""
        roles = self._roles
        ids = np.array([self._model.joint(joint.name).id for joint in roles.free], dtype=int)
        self._position_indices = self._model.jnt_qposadr[ids]
        self._velocity_indices = self._model.jnt_dofadr[ids]
        self._motors = self._velocity_indices[: self._count]
        self._held_positions = np.array([positions[joint.name] for joint in roles.held])
        self._held_velocities = np.zeros(len(roles.held))
        self._no_efforts = np.full(len(roles.mimics) + len(roles.held), np.nan)
        columns = {joint.name: column for column, joint in enumerate(roles.commanded)}
        self._coordinates = np.zeros((self._model.nv, self._count))
        for index, joint in zip(self._velocity_indices, roles.free, strict=True):
            multiplier = 1.0 if joint.mimic is None else joint.mimic.multiplier
            self._coordinates[index, columns[leader(joint)]] = multiplier

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The commanded joints, in the order of the commands."""
        return tuple(joint.name for joint in self._roles.commanded)

    @property
    def reported_joints(self) -> tuple[str, ...]:
        """All moving joints: commanded, mimic and held ones, in this order."""
        return tuple(joint.name for joint in (*self._roles.free, *self._roles.held))

    @property
    def limits(self) -> tuple[JointLimits, ...]:
        """Limits of the commanded joints in the URDF."""
        return tuple(joint.limits for joint in self._roles.commanded)

    @property
    def inertia(self) -> Array:
        """Inertia of each commanded joint in MuJoCo's zero pose, shape (n,), kg m^2 or kg."""
        inertia: Array = self._model.dof_M0[self._motors]
        return inertia

    @property
    def motion(self) -> tuple[Array, Array]:
        """Positions and velocities of the commanded joints without noise, shape (n,) each."""
        count = self._count
        return (self._data.qpos[self._position_indices[:count]], self._data.qvel[self._motors])

    @property
    def time(self) -> float:
        """Simulated time since the start, s."""
        return float(self._data.time)

    def step(self, command: ArrayLike | None = None) -> None:
        """Advance by one time step, with efforts, shape (n,), N m or N; None for the last ones."""
        if command is not None:
            self._command = finite_vector('command', command, self._count)
        self._delayed_commands.append(self._command)
        due = self._delayed_commands.popleft()
        self._apply_pushes()
        if due is None:
            self._brake()
            self._data.time += self._model.opt.timestep
        else:
            self._move(due)

    def state(self) -> JointStates:
        """Return the joint measurements; every call has new noise."""
        data = self._data
        states = JointStates(
            np.concatenate((data.qpos[self._position_indices], self._held_positions)),
            np.concatenate((data.qvel[self._velocity_indices], self._held_velocities)),
            np.concatenate((self._efforts, self._no_efforts)),
        )
        deviations = (self._noise.position, self._noise.velocity, self._noise.effort)
        for values, deviation in zip(states, deviations, strict=True):
            if deviation > 0.0:
                values += deviation * self._random.standard_normal(values.size)
        return states

    def apply_push(self, link: str, push: Wrench | None) -> None:
        """Push a link from the next step on by a wrench, constant in its frame; None ends it."""
        self._body(link)
        if push is None:
            self._pushes.pop(link, None)
            self._data.xfrc_applied[self._body(link)] = 0.0
            return
        self._frame_body(link, push)
        point = (0.0, 0.0, 0.0) if push.point is None else push.point
        for argument, values in (('force', push.force), ('torque', push.torque), ('point', point)):
            finite_vector(f'{argument} on link {link!r}', values, 3)
        self._pushes[link] = push

    def apply_efforts(self, efforts: ArrayLike) -> None:
        """Replace the environment's efforts on the commanded joints, shape (n,), N m or N."""
        self._external_efforts = finite_vector('efforts', efforts, self._count)

    def wrench(self, link: str) -> tuple[Array, Array]:
        """
        Return the reading of a force-torque sensor at a link's origin: force, N, and torque, N m.

        It is the wrench of the link and everything beyond it on the sensor, in the link's axes, at
        the start of the last step: a tool at rest reads its weight, pointing down.
        """
        body, data = self._body(link), self._data
        # cfrc_int is the wrench of the parent on the body, about the tree's centre of mass.
        about_centre, force = data.cfrc_int[body, :3], data.cfrc_int[body, 3:]
        lever = data.subtree_com[self._model.body_rootid[body]] - data.xpos[body]
        moment = np.empty(3)
        mujoco.mju_cross(moment, lever, force)
        to_link = data.xmat[body].reshape(3, 3).T
        return -(to_link @ force), -(to_link @ (about_centre + moment))

    def _body(self, link: str) -> int:
        if link not in self._description.links:
            raise UnknownNameError('link', link, self._description.links)
        return int(self._model.body(link).id)

    def _frame_body(self, link: str, push: Wrench) -> int:
        """Return the body whose axes the push refers to."""
        if isinstance(push.frame, ReferenceFrame):
            return self._body(self._description.root)
        return self._body(link if push.frame is None else push.frame)

    def _apply_pushes(self) -> None:
        if not self._pushes:
            return
        data = self._data
        mujoco.mj_kinematics(self._model, data)
        for link, push in self._pushes.items():
            body = self._body(link)
            frame = self._frame_body(link, push)
            rotation = data.xmat[frame].reshape(3, 3)
            force = rotation @ push.force
            at = data.xpos[body]
            if push.point is not None:
                at = data.xpos[frame] + rotation @ push.point
            lever = at - data.xipos[body]
            data.xfrc_applied[body, :3] = force
            data.xfrc_applied[body, 3:] = rotation @ push.torque + np.cross(lever, force)

    def _brake(self) -> None:
        """Keep the robot at rest with closed brakes."""
        self.braked = True
        mujoco.mj_forward(self._model, self._data)
        # The brakes carry the efforts that would accelerate the joints.
        self._efforts = -(self._coordinates.T @ self._data.qfrc_smooth)
        self._data.qacc[:] = 0.0
        mujoco.mj_rnePostConstraint(self._model, self._data)

    def _move(self, command: Array) -> None:
        self.braked = False
        self._data.qfrc_applied[self._motors] = command + self._external_efforts
        mujoco.mj_forward(self._model, self._data)
        mujoco.mj_rnePostConstraint(self._model, self._data)
        mujoco.mj_Euler(self._model, self._data)
        self._efforts = command
