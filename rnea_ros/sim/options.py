# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Options of the simulated robot: ROS parameters of its node, read once at the start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import math
from typing import Any

from rclpy.exceptions import InvalidNodeNameException
from rclpy.parameter import Parameter
from rclpy.validate_node_name import validate_node_name

from ..errors import InputError
from ..parameters import Declaration, declare_all
from ..robot import STANDARD_GRAVITY, Payload, Wrench
from ..urdf import read_urdf
from .physics import Noise, SimulatedRobot
from .push import ScheduledPush

TIMESTEP = 0.001
"""Time step of the physics and period of the simulated controller manager, s."""

NUMBERS = Parameter.Type.DOUBLE_ARRAY
NAMES = Parameter.Type.STRING_ARRAY

OPTIONS: Mapping[str, tuple[Any, str]] = {
    'robot_description': ('', 'URDF text'),
    'urdf': ('', 'path of a URDF or xacro file, if robot_description is not set'),
    'joints': (NAMES, 'commanded joints, in order; unset: all independent joints'),
    'initial_positions': (
        NUMBERS,
        'one per commanded joint, rad or m; unset: usual pose of the shipped robots, else the '
        'middle of the limits',
    ),
    'gravity': (
        list(STANDARD_GRAVITY),
        "acceleration of free fall in the root link's frame, m/s^2",
    ),
    'controller': ('effort_controller', 'name of the node that receives the commands'),
    'state_rate': (1000.0, 'rate of joint states and wrenches, Hz'),
    'publish_clock': (False, 'publish /clock and stamp with simulated time'),
    'lockstep': (
        False,
        'simulated time waits for a command after each state; needs publish_clock, and a node '
        'with trigger joint_states and rate equal to state_rate',
    ),
    'wrench_link': ('', 'first link beyond the force-torque sensor; empty: no sensor'),
    'command_delay': (0, 'delay of commands, steps of 1 ms'),
    'extra_damping': (NUMBERS, "one per commanded joint, added to the URDF's, N m s/rad or N s/m"),
    'extra_friction': (NUMBERS, "one per commanded joint, added to the URDF's, N m or N"),
    'armature': (NUMBERS, 'rotor inertia, one per commanded joint, kg m^2 or kg'),
    'noise.position': (0.0, 'standard deviation of measured positions, rad or m'),
    'noise.velocity': (0.0, 'standard deviation of measured velocities, rad/s or m/s'),
    'noise.effort': (0.0, 'standard deviation of measured efforts, N m or N'),
    'noise.seed': (0, 'seed of the noise'),
    'payload.link': ('', 'link with a payload; empty: none'),
    'payload.mass': (0.0, 'mass, kg'),
    'payload.com': ([0.0, 0.0, 0.0], "centre of mass in the link's frame, m"),
    'payload.inertia': (
        [0.0] * 6, "about the centre of mass, in the link's axes: xx xy xz yy yz zz, kg m^2"
    ),
    'push.link': ('', 'pushed link; empty: none'),
    'push.force': ([0.0, 0.0, 0.0], 'force of the environment on the link, N'),
    'push.torque': ([0.0, 0.0, 0.0], 'torque of the environment on the link, N m'),
    'push.frame': ('', 'link whose axes and origin the push refers to; empty: the pushed link'),
    'push.start': (0.0, 'time after the first command, s'),
    'push.duration': (math.inf, 'duration of the push, s'),
}


@dataclass(frozen=True)
class Options:
    """
    Options of a simulated robot; see :data:`OPTIONS`.

    :param urdf: URDF text
    :param steps_per_state: physics steps between published states
    """

    urdf: str
    joints: Sequence[str] | None
    initial_positions: Sequence[float] | None
    gravity: Sequence[float]
    controller: str
    steps_per_state: int
    publish_clock: bool
    lockstep: bool
    wrench_link: str | None
    command_delay: int
    extra_damping: Sequence[float] | None
    extra_friction: Sequence[float] | None
    armature: Sequence[float] | None
    noise: Noise
    payload: Payload | None
    push_link: str | None
    push: Wrench
    push_start: float
    push_duration: float

    def make_robot(self) -> SimulatedRobot:
        """
        Return the robot of the options.

        :raises RneaError: the robot cannot be simulated
        """
        return SimulatedRobot(
            self.urdf,
            joints=self.joints,
            initial_positions=self.initial_positions,
            gravity=self.gravity,
            timestep=TIMESTEP,
            payload=self.payload,
            extra_damping=self.extra_damping,
            extra_friction=self.extra_friction,
            armature=self.armature,
            noise=self.noise,
            command_delay=self.command_delay,
        )

    def make_push(self, robot: SimulatedRobot) -> ScheduledPush | None:
        """
        Return the push of the options, None for none.

        :param robot: robot to push
        :raises RneaError: the push is invalid
        """
        if self.push_link is None:
            return None
        times = (self.push_start, self.push_duration)
        return ScheduledPush(robot, self.push_link, self.push, *times)


def described() -> dict[str, tuple[Any, str]]:
    """Return default (None if unset) and description of each option."""
    return {
        name: (None if isinstance(default, Parameter.Type) else default, description)
        for name, (default, description) in OPTIONS.items()
    }


def declare(node: Any) -> None:
    """
    Declare all options on a node.

    :param node: ROS node
    :raises InputError: a given value has the wrong type, or an option is unknown
    """
    declare_all(node, {
        name: Declaration(default, description, read_only=True)
        for name, (default, description) in OPTIONS.items()
    })


def read(node: Any) -> Options:
    """
    Return the options given at the start.

    :param node: ROS node with declared options
    :raises RneaError: a value is invalid
    """
    given = {name: node.get_parameter_or(name, Parameter(name)).value for name in OPTIONS}
    if not (given['robot_description'] or given['urdf']):
        raise InputError('robot_description', 'neither robot_description nor urdf is set')
    try:
        validate_node_name(given['controller'])
    except InvalidNodeNameException as error:
        raise InputError('controller', str(error)) from error
    fastest = 1.0 / TIMESTEP
    if not 0.0 < given['state_rate'] <= fastest:
        raise InputError('state_rate', f'{given["state_rate"]} is not from 0 to {fastest} Hz')
    if given['lockstep'] and not given['publish_clock']:
        raise InputError('lockstep', 'needs publish_clock, as the wall clock cannot wait')
    payload = None
    if given['payload.link']:
        payload = Payload(
            given['payload.link'],
            given['payload.mass'],
            given['payload.com'],
            given['payload.inertia'],
        )
    return Options(
        urdf=given['robot_description'] or read_urdf(given['urdf']),
        joints=given['joints'],
        initial_positions=given['initial_positions'],
        gravity=given['gravity'],
        controller=given['controller'],
        steps_per_state=round(fastest / given['state_rate']),
        publish_clock=given['publish_clock'],
        lockstep=given['lockstep'],
        wrench_link=given['wrench_link'] or None,
        command_delay=given['command_delay'],
        extra_damping=given['extra_damping'],
        extra_friction=given['extra_friction'],
        armature=given['armature'],
        noise=Noise(
            given['noise.position'],
            given['noise.velocity'],
            given['noise.effort'],
            given['noise.seed'],
        ),
        payload=payload,
        push_link=given['push.link'] or None,
        push=Wrench(given['push.force'], given['push.torque'], given['push.frame'] or None),
        push_start=given['push.start'],
        push_duration=given['push.duration'],
    )
