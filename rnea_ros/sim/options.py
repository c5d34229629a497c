# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Options of the simulated robot: ROS parameters of its node, read once at the start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
import math

import numpy as np
from rclpy.exceptions import InvalidNodeNameException
from rclpy.parameter import Parameter
from rclpy.validate_node_name import validate_node_name

from ..arrays import Array
from ..errors import InputError
from ..parameters import declarations_of, parameter
from ..robot import STANDARD_GRAVITY, Payload, Wrench
from ..urdf import read_urdf
from .hand import ScheduledPush
from .physics import Noise, SimulatedRobot

TIMESTEP = 0.001  # of the physics; period of the simulated controller manager, s

ZEROS = (0.0, 0.0, 0.0)

_option = partial(parameter, read_only=True)
_names = partial(_option, None, unset=Parameter.Type.STRING_ARRAY)
_numbers = partial(_option, None, unset=Parameter.Type.DOUBLE_ARRAY)


@dataclass(frozen=True)
class Options:
    """Options of a simulated robot; unset ones are None."""

    robot_description: str = _option('', 'URDF text')
    urdf: str = _option('', 'path of a URDF or xacro file, if robot_description is not set')
    joints: Sequence[str] | None = _names(
        'commanded joints, in order; unset: all independent joints'
    )
    initial_positions: Sequence[float] | None = _numbers(
        'one per commanded joint, rad or m; unset: usual pose of the shipped robots, else the '
        'middle of the limits',
    )
    gravity: tuple[float, ...] = _option(
        tuple(STANDARD_GRAVITY), "acceleration of free fall in the root link's frame, m/s^2"
    )
    controller: str = _option('effort_controller', 'name of the node that receives the commands')
    state_rate: float = _option(1000.0, 'rate of joint states and wrenches, Hz')
    publish_clock: bool = _option(False, 'publish /clock and stamp with simulated time')
    lockstep: bool = _option(
        False,
        'simulated time waits for a command after each state; needs publish_clock, and a node '
        'with trigger joint_states and rate equal to state_rate',
    )
    watched: bool = _option(False, 'with lockstep: not faster than real time')
    wrench_link: str = _option('', 'first link beyond the force-torque sensor; empty: no sensor')
    effort_scale: Sequence[float] | None = _numbers(
        'N m or N per unit of commanded and measured efforts, one per commanded joint, as of '
        'motors that take currents; unset: 1'
    )
    command_delay: int = _option(0, 'delay of commands, steps of 1 ms')
    extra_damping: Sequence[float] | None = _numbers(
        "one per commanded joint, added to the URDF's, N m s/rad or N s/m"
    )
    extra_friction: Sequence[float] | None = _numbers(
        "one per commanded joint, added to the URDF's, N m or N"
    )
    armature: Sequence[float] | None = _numbers(
        'rotor inertia, one per commanded joint, kg m^2 or kg'
    )
    noise_position: float = _option(
        0.0, 'standard deviation of measured positions, rad or m', name='noise.position'
    )
    noise_velocity: float = _option(
        0.0, 'standard deviation of measured velocities, rad/s or m/s', name='noise.velocity'
    )
    noise_effort: float = _option(
        0.0, 'standard deviation of measured efforts, N m or N', name='noise.effort'
    )
    noise_seed: int = _option(0, 'seed of the noise', name='noise.seed')
    payload_link: str = _option('', 'link with a payload; empty: none', name='payload.link')
    payload_mass: float = _option(0.0, 'mass, kg', name='payload.mass')
    payload_com: tuple[float, ...] = _option(
        ZEROS, "centre of mass in the link's frame, m", name='payload.com'
    )
    payload_inertia: tuple[float, ...] = _option(
        2 * ZEROS, "about the centre of mass, in the link's axes: xx xy xz yy yz zz, kg m^2",
        name='payload.inertia'
    )
    push_link: str = _option('', 'pushed link; empty: none', name='push.link')
    push_force: tuple[float, ...] = _option(
        ZEROS, 'force of the environment on the link, N', name='push.force'
    )
    push_torque: tuple[float, ...] = _option(
        ZEROS, 'torque of the environment on the link, N m', name='push.torque'
    )
    push_frame: str = _option(
        '', 'link whose axes and origin the push refers to; empty: the pushed link',
        name='push.frame'
    )
    push_start: float = _option(0.0, 'time after the first command, s', name='push.start')
    push_duration: float = _option(math.inf, 'duration of the push, s', name='push.duration')

    def __post_init__(self) -> None:
        if not (self.robot_description or self.urdf):
            raise InputError('robot_description', 'neither robot_description nor urdf is set')
        try:
            validate_node_name(self.controller)
        except InvalidNodeNameException as error:
            raise InputError('controller', str(error)) from error
        fastest = 1.0 / TIMESTEP
        if not 0.0 < self.state_rate <= fastest:
            raise InputError('state_rate', f'{self.state_rate} is not from 0 to {fastest} Hz')
        if self.lockstep and not self.publish_clock:
            raise InputError('lockstep', 'needs publish_clock, as the wall clock cannot wait')

    @cached_property
    def urdf_text(self) -> str:
        """URDF text of the robot."""
        return self.robot_description or read_urdf(self.urdf)

    def joint_scales(self, robot: SimulatedRobot) -> Array:
        """Return N m or N per unit of commanded and measured efforts of each commanded joint."""
        count = len(robot.joint_names)
        scale = np.ones(count) if self.effort_scale is None else np.array(self.effort_scale)
        if scale.shape != (count,) or not (np.isfinite(scale) & (scale != 0.0)).all():
            raise InputError(
                'effort_scale', f'{scale.tolist()} is not {count} finite values other than 0'
            )
        return scale

    @property
    def steps_per_state(self) -> int:
        """Physics steps between published states."""
        return round(1.0 / TIMESTEP / self.state_rate)

    def make_robot(self) -> SimulatedRobot:
        """Return the robot of the options."""
        payload = None
        if self.payload_link:
            payload = Payload(
                self.payload_link, self.payload_mass, self.payload_com, self.payload_inertia
            )
        return SimulatedRobot(
            self.urdf_text,
            joints=self.joints,
            initial_positions=self.initial_positions,
            gravity=self.gravity,
            timestep=TIMESTEP,
            payload=payload,
            extra_damping=self.extra_damping,
            extra_friction=self.extra_friction,
            armature=self.armature,
            noise=Noise(
                self.noise_position, self.noise_velocity, self.noise_effort, self.noise_seed
            ),
            command_delay=self.command_delay,
        )

    def make_push(self, robot: SimulatedRobot) -> ScheduledPush | None:
        """Return the push of the options, None for none."""
        if not self.push_link:
            return None
        push = Wrench(self.push_force, self.push_torque, self.push_frame or None)
        return ScheduledPush(robot, self.push_link, push, self.push_start, self.push_duration)


PARAMETERS = declarations_of(Options)
