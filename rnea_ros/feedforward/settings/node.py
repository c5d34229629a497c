# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""All parameters of the node ``feedforward``: those of the control, and those that it adds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
import enum
import re
from typing import Any

import numpy as np

from ...errors import InputError, brief
from ...parameters import (
    Declaration,
    active,
    check_ranges,
    check_type,
    declarations_of,
    from_values,
    group,
    parameter,
    with_value_per_joint,
)
from ...robot import RobotModel
from ..laws import LAWS
from ..loaded_model import HardwareCompensation
from ..motion import (
    NO_POSE,
    Deceleration,
    JointRules,
    MotionLimits,
    ReferenceSource,
    StreamSettings,
    Tolerances,
    default_tolerances,
)
from .resolved import ResolvedSettings, acceleration_limits
from .sensors import BaseSensorSettings, WrenchInputSettings
from .settings import PayloadSettings, Settings

MAX_PRIORITY = 98  # 99 is for threads of the kernel
MAX_CORES = 1024  # number of cores in Linux's cpu_set_t
MAX_VELOCITY = 1000.0  # limit of joints without a limit, rad/s or m/s

NOTHING = 'none'  # value of hardware_compensates for a robot whose own controller adds nothing
COMPENSATIONS = ' | '.join(part.value for part in HardwareCompensation)


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
        (-100.0, 100.0),
    )
    command_topic: str = parameter(
        'effort_controller/commands', 'topic of the effort controller', read_only=True
    )
    joints: tuple[str, ...] = parameter(
        ('',),
        "commanded joints in the controller's order; ['']: the controller's parameter joints",
    )
    hardware_compensates: tuple[str, ...] = parameter(
        ('',), f"what the robot adds to every command: {NOTHING}, or a list of {COMPENSATIONS}; "
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
class RealtimeSettings:
    """
    Parameters ``realtime.*`` of a thread.

    With a priority the process's other threads get one less, so that no other process delays one
    that holds the interpreter.
    """

    priority: int = parameter(
        0, "SCHED_FIFO priority of the loop, 2 to 98, the process's other threads one lower; 0: "
        "normal scheduling", (0, MAX_PRIORITY),
    )
    cpu_affinity: tuple[int, ...] = parameter(
        (-1,), 'cores on which the loop may run; [-1]: all', (-1, MAX_CORES - 1)
    )
    lock_memory: bool = parameter(False, "lock the process's memory against paging")

    def __post_init__(self) -> None:
        check_ranges(self, 'realtime.')
        if self.priority == 1:
            raise InputError('realtime.priority', f'1 is neither 0 nor from 2 to {MAX_PRIORITY}')
        if wrong := [cpu for cpu in self.cpus if cpu < 0 or self.cpus.count(cpu) > 1]:
            raise InputError(
                'realtime.cpu_affinity', f'{brief(self.cpus)} is not a list of cores: {wrong[0]}'
            )

    @property
    def cpus(self) -> tuple[int, ...]:
        """The cores that the thread may run on; empty for all."""
        return () if self.cpu_affinity == (-1,) else self.cpu_affinity


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
        (1e-3, 1e3),
    )


@dataclass(frozen=True)
class JointGoalSettings:
    """Parameters ``constraints.<joint>.*`` of one joint's goals."""

    trajectory: float = active(
        0.0, 'maximum position error while a motion of an action goal lasts, rad or m; 0: any',
        (0.0, 100.0),
    )
    goal: float = active(0.0, 'maximum position error at the goal, rad or m; 0: any', (0.0, 100.0))
    max_deceleration_on_cancel: float = active(
        0.0, 'maximum deceleration after a cancel, rad/s^2 or m/s^2', (0.0, 1e4)
    )


@dataclass(frozen=True)
class NodeSettings:
    """
    All parameters of the node, each valid without a robot.

    :param values: their values by name
    :param control: parameters of the control
    :param constraints: parameters of single joints' goals
    :param motion: rules for motions, without joints
    """

    values: Mapping[str, Any]
    control: Settings
    realtime: RealtimeSettings
    constraints: Mapping[str, JointGoalSettings]
    robot: RobotSettings = group(RobotSettings(), '')
    motion: JointRules = group(JointRules((), *np.zeros((4, 0))), '')
    reference: ReferenceSettings = group(ReferenceSettings(), '')
    stream: StreamSettings = group(StreamSettings())
    action_monitor_rate: float = parameter(
        20.0, 'rate of feedback and results of follow_joint_trajectory, Hz', (0.1, 200.0),
        read_only=True,
    )
    goal_time: float = active(
        0.0, 'longest time after the end of a motion until its goal is reached, s; 0: no limit',
        (0.0, 3600.0), name='constraints.goal_time',
    )
    stopped_velocity_tolerance: float = active(
        0.01, 'maximum velocity of each joint at the goal, rad/s or m/s; 0: any', (0.0, 100.0),
        name='constraints.stopped_velocity_tolerance',
    )
    decelerate_on_cancel: bool = active(
        False, 'decelerate after a cancel, by at most '
        'constraints.<joint>.max_deceleration_on_cancel; false: hold at once',
        name='constraints.decelerate_on_cancel',
    )
    rest_pose: tuple[float, ...] = parameter(
        NO_POSE, 'pose to which the arm moves before a stop ramps down, one value per commanded '
        'joint, rad or m; [0.0]: none', (-1e3, 1e3),
    )
    rest_speed: float = parameter(
        0.5, 'greatest speed of the joints on the way to rest_pose, rad/s or m/s', (0.01, 10.0)
    )

    def __post_init__(self) -> None:
        check_ranges(self)
        for joint, settings in self.constraints.items():
            check_ranges(settings, f'constraints.{joint}.')
        if len(self.robot.gravity) != 3:
            raise InputError('gravity', f'{brief(self.robot.gravity)} is not three numbers')

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> NodeSettings:
        """Return the settings from values by name; InputError for the first unusable one."""
        base_sensor = from_values(BaseSensorSettings, values, 'base_sensor.')
        control = from_values(
            Settings, values,
            joints=tuple(filter(None, values['joints'])),
            payloads=from_values(PayloadSettings, values, 'payload.').payloads(),
            hardware_compensates=parse_compensation(values['hardware_compensates']),
            wrench_inputs=tuple(
                from_values(WrenchInputSettings, values, f'wrench_inputs.{name}.', name=name)
                for name in filter(None, values['wrench_inputs.names'])
            ),
            base_sensor=base_sensor if base_sensor.topic else None,
            law_parameters={
                mode: from_values(law.Parameters, values, f'{mode}.') for mode, law in LAWS.items()
            },
        )
        constraints = {
            joint: from_values(JointGoalSettings, values, f'constraints.{joint}.')
            for joint in _constrained_joints(values)
        }
        return from_values(
            cls, values, values=values, control=control, constraints=constraints,
            realtime=from_values(RealtimeSettings, values, 'realtime.'),
        )

    def rules(self, model: RobotModel, settings: ResolvedSettings) -> JointRules:
        """Return the rules for motions of the commanded joints."""
        commanded = settings.joint_indices
        speeds = model.velocity_limits[commanded]
        return replace(
            self.motion,
            joint_names=settings.joints,
            lower=model.position_lower[commanded],
            upper=model.position_upper[commanded],
            continuous=model.continuous[commanded],
            # In many URDFs a velocity limit of 0 means unknown.
            velocity_limits=np.minimum(np.where(speeds > 0.0, speeds, np.inf), MAX_VELOCITY),
            acceleration_limits=acceleration_limits(model, settings),
            effort_limits=np.array(settings.effort_limits),
        )

    def stream_limits(self, model: RobotModel, rules: JointRules) -> MotionLimits:
        """Return the limits of motions made of streams, for the commanded joints."""
        joints = [model.joint_names.index(name) for name in rules.joint_names]
        urdf = MotionLimits(
            rules.velocity_limits, model.acceleration_limits[joints], model.jerk_limits[joints],
            rules.lower, rules.upper,
        )
        stream = with_value_per_joint(self.stream, rules.joint_names, 'stream.')
        return stream.limits(urdf, rules.acceleration_limits)

    def tolerances(self, joints: tuple[str, ...]) -> Tolerances:
        """Return the default tolerances; InputError for a joint that is not commanded."""
        for joint in self.constraints:
            if joint not in joints:
                raise InputError(
                    f'constraints.{joint}', f'not one of the commanded joints {", ".join(joints)}'
                )
        return default_tolerances(
            joints, {joint: each.trajectory for joint, each in self.constraints.items()},
            {joint: each.goal for joint, each in self.constraints.items()},
            self.stopped_velocity_tolerance, self.goal_time,
        )

    def deceleration(self, rules: JointRules) -> Deceleration | None:
        """Return limits of a stop, None to hold; InputError for a joint without a maximum."""
        if not self.decelerate_on_cancel:
            return None
        maximum = [
            self.constraints.get(name, JointGoalSettings()).max_deceleration_on_cancel
            for name in rules.joint_names
        ]
        if 0.0 in maximum:
            joint = rules.joint_names[maximum.index(0.0)]
            raise InputError(
                f'constraints.{joint}.max_deceleration_on_cancel',
                'constraints.decelerate_on_cancel needs a value above 0',
            )
        return Deceleration(np.array(maximum), rules.lower, rules.upper)


PARAMETERS: Mapping[str, Declaration] = {
    **declarations_of(RobotSettings),
    **declarations_of(RealtimeSettings, 'realtime.'),
    **declarations_of(Settings),
    **declarations_of(PayloadSettings, 'payload.'),
    **declarations_of(NodeSettings),
    **declarations_of(BaseSensorSettings, 'base_sensor.'),
}
"""All parameters but those of single laws, force-torque sensors and joints."""


def all_declarations(sensors: Iterable[str], names: Iterable[str]) -> dict[str, Declaration]:
    """
    Return all parameters of the node, for a value of ``wrench_inputs.names``.

    A registered law with a class ``Parameters`` has ``<mode>.*``; a joint has its
    ``constraints.<joint>.*`` if one of them is among ``names``, those with a value.
    """
    table = dict(PARAMETERS)
    for mode, law in LAWS.items():
        table |= declarations_of(law.Parameters, f'{mode}.')
    for sensor in filter(None, sensors):
        table |= declarations_of(WrenchInputSettings, f'wrench_inputs.{sensor}.')
    for joint in _constrained_joints(names):
        table |= declarations_of(JointGoalSettings, f'constraints.{joint}.')
    return table


def _constrained_joints(names: Iterable[str]) -> list[str]:
    """Return the joints with parameters ``constraints.<joint>.*`` among names, sorted."""
    own = '|'.join(declarations_of(JointGoalSettings))
    matches = (re.fullmatch(rf'constraints\.(.+)\.({own})', name) for name in names)
    return sorted({match[1] for match in matches if match})


def settings_from(values: Mapping[str, Any], joints: tuple[str, ...] = ()) -> Settings:
    """Return the control's settings, for some joints if parameter ``joints`` has none."""
    control = NodeSettings.of(values).control
    return control if control.joints else replace(control, joints=joints)


def complete_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the values of all parameters by name, defaults included.

    :raises InputError: a parameter that does not exist, or a value that the node would reject
    """
    sensors = values.get('wrench_inputs.names')
    table = all_declarations(sensors if isinstance(sensors, list) else (), values)
    complete = {name: declaration.default for name, declaration in table.items()}
    for name, value in values.items():
        if name == 'use_sim_time' or name.startswith('qos_overrides.'):
            continue  # a parameter of every node
        if name not in table:
            raise InputError(name, 'no such parameter')
        check_type(name, value, table[name])
        complete[name] = value
    NodeSettings.of(complete)
    return complete


def missing_hardware_compensates(values: Mapping[str, Any]) -> str:
    """Return why the node must not command while the parameter is not stated; empty if it is."""
    if any(values['hardware_compensates']):
        return ''
    return (
        'hardware_compensates is not stated. Arms of Franka, Universal Robots and KUKA add '
        'gravity to every command; if the commands include gravity too, the arm jumps upward. Set '
        f"hardware_compensates to what this robot adds, or to ['{NOTHING}'], or launch with the "
        "arm's preset:="
    )


def parse_compensation(words: Sequence[str]) -> tuple[HardwareCompensation, ...]:
    """Return what the hardware compensates; raise an InputError for words that make no sense."""
    known = {NOTHING: None} | {part.value: part for part in HardwareCompensation}
    stated = [word for word in dict.fromkeys(words) if word]
    for word in stated:
        if word not in known:
            raise InputError(
                'hardware_compensates', f'{brief(word)} is none of {", ".join(known)}'
            )
    if NOTHING in stated and len(stated) > 1:
        raise InputError('hardware_compensates', f'{brief(stated)}: {NOTHING} stands alone')
    return tuple(part for part in map(known.get, stated) if part)
