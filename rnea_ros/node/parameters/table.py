# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
All parameters of the node ``feedforward``.

Parameters of the control are declared in the settings classes of ``feedforward.settings``, rules
for trajectories in ``feedforward.motion.parse``, real-time settings in ``node.timing``, the
others here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
import enum
import re

from ...feedforward.loaded_model import HardwareCompensation
from ...feedforward.motion import JointRules, ReferenceSource
from ...feedforward.settings import (
    BaseSensorSettings,
    PayloadSettings,
    Settings,
    WrenchInputSettings,
)
from ...parameters import Declaration, declarations_of, parameter
from ..timing import RealtimeSettings
from .hardware_compensation import NOTHING

_COMPENSATIONS = ' | '.join(part.value for part in HardwareCompensation)


class Trigger(enum.Enum):
    """What triggers a tick."""

    TIMER = 'timer'                # time, at the rate
    JOINT_STATES = 'joint_states'  # new states of all commanded joints, or 1.5 periods without


@dataclass(frozen=True)
class RobotSettings:
    """Parameters of robot, controller and sensors, and when the node starts and ticks."""

    robot_description: str = parameter(
        '', 'URDF text, or path of a URDF or xacro file; empty: from the topic robot_description'
    )
    strict_inertia: bool = parameter(
        False, 'reject a URDF with inertias that no rigid body can have; false: warn'
    )
    gravity: tuple[float, ...] = parameter(
        (0.0, 0.0, -9.81), 'gravitational acceleration in the root link frame, m/s^2',
        span=(-100.0, 100.0),
    )
    command_topic: str = parameter(
        'effort_controller/commands', 'topic of the effort controller', read_only=True
    )
    joints: tuple[str, ...] = parameter(
        ('',),
        "commanded joints in the controller's order; ['']: the controller's parameter joints",
    )
    hardware_compensates: tuple[str, ...] = parameter(
        ('',),
        f'what the robot adds to every command: {NOTHING}, or a list of {_COMPENSATIONS}; '
        "['']: not set, the node does not activate",
    )
    autostart: bool = parameter(
        True, 'configure and activate as soon as all inputs are available', read_only=True
    )
    trigger: Trigger = parameter(Trigger.TIMER, 'what starts a tick')
    wrench_inputs: tuple[str, ...] = parameter(
        ('',), 'names of force-torque sensors; each has parameters wrench_inputs.<name>.*',
        read_only=True, name='wrench_inputs.names',
    )


@dataclass(frozen=True)
class ReferenceSettings:
    """Parameters of the source of the reference motion and of its speed."""

    differentiate_velocity: bool = parameter(
        False, 'differentiate positions if joint states have no velocities'
    )
    reference_source: ReferenceSource = parameter(
        ReferenceSource.JOINT_TRAJECTORY, 'source of the reference motion'
    )
    controller_state_topic: str = parameter(
        'joint_trajectory_controller/controller_state',
        'control_msgs/JointTrajectoryControllerState, for reference_source controller_state',
    )
    speed_scaling_topic: str = parameter(
        '', 'std_msgs/Float64 that scales the speed of motions; empty: none'
    )
    speed_scaling_scale: float = parameter(
        1.0, 'multiplies the values of speed_scaling_topic to get 0 to 1; 0.01 for percent',
        span=(1e-3, 1e3),
    )


@dataclass(frozen=True)
class GoalSettings:
    """Parameters of the goals of all joints."""

    action_monitor_rate: float = parameter(
        20.0, 'rate of feedback and results of follow_joint_trajectory, Hz',
        span=(0.1, 200.0), read_only=True,
    )
    goal_time: float = parameter(
        0.0, 'longest time after the end of a motion until its goal is reached, s; 0: no limit',
        span=(0.0, 3600.0), while_active=True, name='constraints.goal_time',
    )
    stopped_velocity_tolerance: float = parameter(
        0.01, 'maximum velocity of each joint at the goal, rad/s or m/s; 0: any',
        span=(0.0, 100.0), while_active=True, name='constraints.stopped_velocity_tolerance',
    )
    decelerate_on_cancel: bool = parameter(
        False,
        'decelerate after a cancel, by at most constraints.<joint>.max_deceleration_on_cancel; '
        'false: hold at once',
        while_active=True, name='constraints.decelerate_on_cancel',
    )


@dataclass(frozen=True)
class JointGoalSettings:
    """Parameters ``constraints.<joint>.*`` of one joint's goals."""

    trajectory: float = parameter(
        0.0, 'maximum position error while a motion of an action goal lasts, rad or m; 0: any',
        span=(0.0, 100.0), while_active=True,
    )
    goal: float = parameter(
        0.0, 'maximum position error at the goal, rad or m; 0: any',
        span=(0.0, 100.0), while_active=True,
    )
    max_deceleration_on_cancel: float = parameter(
        0.0, 'maximum deceleration after a cancel, rad/s^2 or m/s^2',
        span=(0.0, 1e4), while_active=True,
    )


_CONSTRAINT = re.compile(r'constraints\.(.+)\.(trajectory|goal|max_deceleration_on_cancel)')
"""Name of a parameter of one joint's goals."""

PARAMETERS: Mapping[str, Declaration] = {
    **declarations_of(RobotSettings),
    **declarations_of(RealtimeSettings, 'realtime.'),
    **declarations_of(Settings),
    **declarations_of(PayloadSettings, 'payload.'),
    **declarations_of(JointRules),
    **declarations_of(ReferenceSettings),
    **declarations_of(GoalSettings),
    **declarations_of(BaseSensorSettings, 'base_sensor.'),
}
"""All parameters but those of single force-torque sensors and joints."""


def sensor_declarations(name: str) -> dict[str, Declaration]:
    """Return the parameters of a force-torque sensor."""
    return declarations_of(WrenchInputSettings, sensor_prefix(name))


def constraint_declarations(joint: str) -> dict[str, Declaration]:
    """Return the parameters of one joint's goals."""
    return declarations_of(JointGoalSettings, f'constraints.{joint}.')


def all_declarations(sensors: Iterable[str], given: Iterable[str]) -> dict[str, Declaration]:
    """
    Return all parameters of the node, for a value of ``wrench_inputs.names``.

    :param given: names of the parameters with a value; a joint has its ``constraints.<joint>.*``
        if one of them is given
    """
    table = dict(PARAMETERS)
    for name in sensor_names(sensors):
        table.update(sensor_declarations(name))
    for joint in constrained_joints(given):
        table.update(constraint_declarations(joint))
    return table


def constrained_joints(names: Iterable[str]) -> list[str]:
    """Return the joints with parameters ``constraints.<joint>.*`` among names, sorted."""
    found = (_CONSTRAINT.fullmatch(name) for name in names)
    return sorted({match[1] for match in found if match})


def sensor_prefix(name: str) -> str:
    """Return what the names of a sensor's parameters begin with."""
    return f'wrench_inputs.{name}.'


def sensor_names(names: Iterable[str]) -> list[str]:
    """Return the names of the sensors; [''] stands for no sensor."""
    return [name for name in names if name]
