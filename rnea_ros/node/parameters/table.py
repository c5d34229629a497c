# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
All parameters of the node ``feedforward``.

Parameters of the control are declared in the settings classes of ``feedforward.settings``, the
others here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
import math
import re

from ...feedforward.law import HardwareCompensation
from ...feedforward.settings import (
    PAYLOAD_PARAMETERS,
    BaseSensorSettings,
    ContactSettings,
    EffortUnits,
    ExternalEffortSettings,
    FrictionSettings,
    Settings,
    WrenchInputSettings,
)
from ...feedforward.trajectory import ReferenceSource
from ...parameters import Declaration, choice, declarations_of
from ..timing import MAX_CORES, MAX_PRIORITY, Trigger
from .hardware_compensation import NOTHING

_COMPENSATIONS = ' | '.join(part.value for part in HardwareCompensation)

_ROBOT_AND_LOOP: Mapping[str, Declaration] = {
    'robot_description': Declaration('', 'URDF text; empty: from the topic robot_description'),
    'strict_inertia': Declaration(
        False, 'reject a URDF with inertias that no rigid body can have; false: warn'
    ),
    'gravity': Declaration(
        [0.0, 0.0, -9.81],
        'gravitational acceleration in the root link frame, m/s^2',
        span=(-100.0, 100.0),
    ),
    'command_topic': Declaration(
        'effort_controller/commands', 'topic of the effort controller', read_only=True
    ),
    'joints': Declaration(
        [''], "commanded joints in the controller's order; ['']: the controller's parameter joints"
    ),
    'hardware_compensates': Declaration(
        [''],
        f'what the robot adds to every command: {NOTHING}, or a list of {_COMPENSATIONS}; '
        "['']: not set, the node does not activate",
    ),
    'autostart': Declaration(
        True, 'configure and activate as soon as all inputs are available', read_only=True
    ),
    'trigger': choice(Trigger.TIMER, 'what starts a tick'),
    'realtime.priority': Declaration(
        0,
        "SCHED_FIFO priority of the loop, 2 to 98, the process's other threads one lower; "
        '0: normal scheduling',
        span=(0, MAX_PRIORITY),
    ),
    'realtime.cpu_affinity': Declaration(
        [-1], 'cores on which the loop may run; [-1]: all', span=(-1, MAX_CORES - 1)
    ),
    'realtime.lock_memory': Declaration(False, "lock the process's memory against paging"),
}

_MOTIONS: Mapping[str, Declaration] = {
    'differentiate_velocity': Declaration(
        False, 'differentiate positions if joint states have no velocities'
    ),
    'start_tolerance': Declaration(
        0.1,
        'maximum distance from the robot to the start of a motion, rad or m',
        span=(0.0, math.tau),
    ),
    'allow_partial_joints_goal': Declaration(
        False, 'accept trajectories without all joints; missing joints hold'
    ),
    'allow_nonzero_velocity_at_trajectory_end': Declaration(
        False, 'accept trajectories whose last point has a velocity'
    ),
    'interpolate_from_desired_state': Declaration(
        False,
        'true: a segment to a first point after time 0 starts at the desired state; '
        'false: at the measured state',
    ),
    'allow_trajectory_replacement': Declaration(
        False,
        'join a trajectory to the active one: it starts at the desired state, without a step, and '
        'missing joints follow the active one',
    ),
    'use_trajectory_effort': Declaration(
        False, 'add the efforts of trajectory points to the command'
    ),
    'reference_source': choice(
        ReferenceSource.JOINT_TRAJECTORY, 'source of the reference motion'
    ),
    'controller_state_topic': Declaration(
        'joint_trajectory_controller/controller_state',
        'control_msgs/JointTrajectoryControllerState, for reference_source controller_state',
    ),
    'speed_scaling_topic': Declaration(
        '', 'std_msgs/Float64 that scales the speed of motions; empty: none'
    ),
    'speed_scaling_scale': Declaration(
        1.0,
        'multiplies the values of speed_scaling_topic to get 0 to 1; 0.01 for percent',
        span=(1e-3, 1e3),
    ),
}

_GOALS: Mapping[str, Declaration] = {
    'action_monitor_rate': Declaration(
        20.0,
        'rate of feedback and results of follow_joint_trajectory, Hz',
        span=(0.1, 200.0),
        read_only=True,
    ),
    'constraints.goal_time': Declaration(
        0.0,
        'longest time after the end of a motion until its goal is reached, s; 0: no limit',
        span=(0.0, 3600.0),
        while_active=True,
    ),
    'constraints.stopped_velocity_tolerance': Declaration(
        0.01,
        'maximum velocity of each joint at the goal, rad/s or m/s; 0: any',
        span=(0.0, 100.0),
        while_active=True,
    ),
}

_CONSTRAINT = re.compile(r'constraints\.(.+)\.(trajectory|goal)')
"""Name of a parameter of one joint's goals."""

PARAMETERS: Mapping[str, Declaration] = {
    **_ROBOT_AND_LOOP,
    **declarations_of(Settings),
    **declarations_of(EffortUnits),
    **PAYLOAD_PARAMETERS,
    **declarations_of(FrictionSettings, 'friction.'),
    **_MOTIONS,
    **_GOALS,
    **declarations_of(BaseSensorSettings, 'base_sensor.'),
    **declarations_of(ExternalEffortSettings, 'external_effort.'),
    **declarations_of(ContactSettings, 'contact.'),
    'wrench_inputs.names': Declaration(
        [''],
        'names of force-torque sensors; each has parameters wrench_inputs.<name>.*',
        read_only=True,
    ),
}
"""All parameters but those of single force-torque sensors and joints."""


def sensor_declarations(name: str) -> dict[str, Declaration]:
    """
    Return the parameters of a force-torque sensor.

    :param name: name of the sensor
    """
    return declarations_of(WrenchInputSettings, sensor_prefix(name))


def constraint_declarations(joint: str) -> dict[str, Declaration]:
    """
    Return the parameters of one joint's goals.

    :param joint: name of the joint
    """
    span = (0.0, 100.0)
    return {
        f'constraints.{joint}.trajectory': Declaration(
            0.0,
            'maximum position error while a motion of an action goal lasts, rad or m; 0: any',
            span=span,
            while_active=True,
        ),
        f'constraints.{joint}.goal': Declaration(
            0.0,
            'maximum position error at the goal, rad or m; 0: any',
            span=span,
            while_active=True,
        ),
    }


def all_declarations(sensors: Iterable[str], given: Iterable[str]) -> dict[str, Declaration]:
    """
    Return all parameters of the node.

    :param sensors: value of ``wrench_inputs.names``
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
    """
    Return the joints that have parameters ``constraints.<joint>.*``, sorted.

    :param names: names of parameters
    """
    found = (_CONSTRAINT.fullmatch(name) for name in names)
    return sorted({match[1] for match in found if match})


def sensor_prefix(name: str) -> str:
    """Return what the names of a sensor's parameters begin with."""
    return f'wrench_inputs.{name}.'


def sensor_names(names: Iterable[str]) -> list[str]:
    """Return the names of the sensors; [''] stands for no sensor."""
    return [name for name in names if name]
