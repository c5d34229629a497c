# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The parameters of the node ``feedforward``: one table, and one for each force-torque sensor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
import enum

from ...feedforward.law import FrictionModel, HardwareCompensation, Mode, VelocitySource
from ...feedforward.settings import (
    BASE_SENSOR_RANGES,
    RANGES,
    WRENCH_RANGES,
    BaseSensorSettings,
    BaseUse,
    Measures,
    SensorPlacement,
    StaleAction,
    StaleBase,
    WrenchInputSettings,
)
from ...feedforward.trajectory import ReferenceSource
from ...parameters import Declaration
from ..timing import GREATEST_PRIORITY, MOST_CORES, Trigger
from .hardware_compensation import NOTHING


def words(kind: type[enum.Enum]) -> str:
    """Return the words that a parameter may have."""
    return ' | '.join(member.value for member in kind)


def _from_settings(
    prefix: str,
    defaults: object,
    descriptions: Mapping[str, str],
    spans: Mapping[str, tuple[float, float]],
) -> dict[str, Declaration]:
    """Return a parameter for each field of a settings object that is described."""
    table = {}
    for field, description in descriptions.items():
        default = getattr(defaults, field)
        if isinstance(default, enum.Enum):
            default = default.value
        table[f'{prefix}.{field}'] = Declaration(default, description, span=spans.get(field))
    return table


EACH = 'one value or one per joint'

_PARAMETERS: Mapping[str, Declaration] = {
    'robot_description': Declaration('', 'URDF text; empty: from the topic robot_description'),
    'strict_inertia': Declaration(
        False, 'reject a URDF with inertias that no rigid body can have; false: warn'
    ),
    'command_topic': Declaration(
        'effort_controller/commands', 'topic of the effort controller', read_only=True
    ),
    'joints': Declaration(
        [''], "commanded joints in the controller's order; ['']: the controller's parameter joints"
    ),
    'autostart': Declaration(
        True, 'configure and activate as soon as all inputs are available', read_only=True
    ),
    'rate': Declaration(500.0, 'commands per second, Hz'),
    'trigger': Declaration('timer', f'what starts a tick: {words(Trigger)}'),
    'realtime.priority': Declaration(
        0,
        "SCHED_FIFO priority of the loop, 2 to 98, the process's other threads one lower; "
        '0: normal scheduling',
        span=(0, GREATEST_PRIORITY),
    ),
    'realtime.cpu_affinity': Declaration(
        [-1], 'cores on which the loop may run; [-1]: all', span=(-1, MOST_CORES - 1)
    ),
    'realtime.lock_memory': Declaration(False, "lock the process's memory against paging"),
    'mode': Declaration('gravity', f'control law: {words(Mode)}', while_active=True),
    'gains.kp': Declaration(
        [0.0],
        f'proportional gains, {EACH}: 1/s^2 in computed_torque, else N m/rad or N/m',
        while_active=True,
    ),
    'gains.kd': Declaration(
        [0.0],
        f'derivative gains, {EACH}: 1/s in computed_torque, else N m s/rad or N s/m',
        while_active=True,
    ),
    'compensate_coriolis': Declaration(
        False, 'include Coriolis and centrifugal efforts in mode gravity', while_active=True
    ),
    'gravity': Declaration(
        [0.0, 0.0, -9.81], 'gravitational acceleration in the root link frame, m/s^2'
    ),
    'hardware_compensates': Declaration(
        [''],
        f'what the robot adds to every command: {NOTHING}, or a list of '
        f"{words(HardwareCompensation)}; ['']: not set, the node does not activate",
    ),
    'friction.model': Declaration(
        'none', f'source of the friction parameters: {words(FrictionModel)}', while_active=True
    ),
    'friction.viscous': Declaration(
        [0.0], f'viscous friction, {EACH}, N m s/rad or N s/m', while_active=True
    ),
    'friction.coulomb': Declaration(
        [0.0], f'Coulomb friction, {EACH}, N m or N', while_active=True
    ),
    'friction.viscous_negative': Declaration(
        [-1.0], 'viscous friction in negative direction; [-1.0]: as in positive', while_active=True
    ),
    'friction.coulomb_negative': Declaration(
        [-1.0], 'Coulomb friction in negative direction; [-1.0]: as in positive', while_active=True
    ),
    'friction.load': Declaration(
        [0.0],
        f'Coulomb friction per N m or N of joint load, {EACH}',
        while_active=True,
    ),
    'friction.smoothing_velocity': Declaration(
        [0.05],
        f'speed below which Coulomb friction fades, {EACH}, rad/s or m/s',
        while_active=True,
    ),
    'friction.velocity': Declaration(
        'measured',
        f'velocity for the friction model: {words(VelocitySource)}',
        while_active=True,
    ),
    'armature': Declaration(
        [0.0], f'rotor inertia at the joint, {EACH}, kg m^2 or kg'
    ),
    'rotor_inertia': Declaration(
        [0.0], 'rotor inertia before the gear; gear_ratio^2 times it is added to armature'
    ),
    'gear_ratio': Declaration([1.0], 'rotor turns per joint turn'),
    'payload.link': Declaration([''], 'links that carry a payload', while_active=True),
    'payload.mass': Declaration([0.0], 'mass of each payload, kg', while_active=True),
    'payload.com': Declaration(
        [0.0, 0.0, 0.0],
        'centre of mass of each payload in its link frame, three values each, m',
        while_active=True,
    ),
    'payload.inertia': Declaration(
        [0.0] * 6,
        'inertia of each payload about its centre of mass, in link axes, xx xy xz yy yz zz each, '
        'kg m^2; zeros: point masses',
        while_active=True,
    ),
    'payload.blend_duration': Declaration(
        1.0, 'transition time of a payload change, s', while_active=True
    ),
    'effort_limits': Declaration(
        [0.0], f'maximum effort, {EACH}, N m or N; 0: the URDF limit'
    ),
    'effort_rate_limit': Declaration(
        [0.0],
        f'maximum change of effort, {EACH}, N m/s or N/s; 0: full effort in 0.1 s',
    ),
    'ramp_duration': Declaration(
        1.0, 'ramp at start, at a mode change, and down to zero, s'
    ),
    'hold_duration': Declaration(1.0, 'time for which gravity is held after a fault, s'),
    'joint_states_timeout': Declaration(
        0.0, 'age of joint states that ends the control, s; 0: twenty periods'
    ),
    'uncommanded_timeout': Declaration(
        0.0,
        'age of joint states of uncommanded joints that ends the control, s; '
        '0: joint_states_timeout',
    ),
    'velocity_limit_factor': Declaration(
        2.0,
        'reject positions that need a speed above this multiple of the URDF velocity limit, '
        '1 or more; 0: accept all',
    ),
    'reference_timeout': Declaration(
        0.2, 'age of a streamed set-point at which its position is held, s'
    ),
    'stale_action': Declaration(
        'ramp_down', f'action when the control ends: {words(StaleAction)}'
    ),
    'start_from_measured_effort': Declaration(
        True, 'start the ramp from the measured effort if available; false: from zero'
    ),
    'differentiate_velocity': Declaration(
        False, 'differentiate positions if joint states have no velocities'
    ),
    'start_tolerance': Declaration(
        0.1, 'maximum distance from the robot to the start of a motion, rad or m'
    ),
    'allow_partial_joints_goal': Declaration(
        False, 'accept trajectories without all joints; missing joints hold'
    ),
    'wrench_inputs.names': Declaration(
        [''],
        'names of force-torque sensors; each has parameters wrench_inputs.<name>.*',
        read_only=True,
    ),
    'allow_nonzero_velocity_at_trajectory_end': Declaration(
        False, 'accept trajectories whose last point has a velocity'
    ),
    'interpolate_from_desired_state': Declaration(
        False,
        'start of the segment to a first point after time 0: false: measured state; '
        'true: desired state',
    ),
    'use_trajectory_effort': Declaration(
        False, 'add the efforts of trajectory points to the command'
    ),
    'reference_source': Declaration(
        'joint_trajectory', f'source of the reference motion: {words(ReferenceSource)}'
    ),
    'controller_state_topic': Declaration(
        'joint_trajectory_controller/controller_state',
        'control_msgs/JointTrajectoryControllerState, for reference_source controller_state',
    ),
    'speed_scaling_topic': Declaration(
        '', 'std_msgs/Float64 that scales the speed of motions; empty: none'
    ),
    'speed_scaling_scale': Declaration(
        1.0, 'factor from the values of speed_scaling_topic to 0 to 1; 0.01 for percent',
        span=(1e-3, 1e3),
    ),
}

_BASE_SENSOR = {
    'link': "link in whose frame the IMU measures; empty: each message's frame_id",
    'use': f'{words(BaseUse)}: direction of gravity only, or also rotation and acceleration',
    'use_orientation': 'take the direction of gravity from the orientation, if a message has one',
    'stale': f'gravity while the IMU is silent: {words(StaleBase)}',
    'max_acceleration': 'reject messages above it, m/s^2',
    'max_angular_velocity': 'reject messages above it, rad/s',
    'tilt_cutoff': 'low-pass filter of the accelerometer for the direction of gravity, Hz',
    'motion_cutoff': 'low-pass filter of the base motion, Hz',
    'timeout': 'age of a message at which the IMU counts as silent, s',
    'fade': 'time to fade the base motion out or in, s',
}
BASE_SENSOR_FIELDS = tuple(_BASE_SENSOR)

PARAMETERS: Mapping[str, Declaration] = {
    **{
        name: replace(entry, span=RANGES.get(name, entry.span))
        for name, entry in _PARAMETERS.items()
    },
    'base_sensor.topic': Declaration('', 'sensor_msgs/Imu on the base; empty: none'),
    **_from_settings('base_sensor', BaseSensorSettings(), _BASE_SENSOR, BASE_SENSOR_RANGES),
}

_SENSOR_DESCRIPTIONS = {
    'topic': 'geometry_msgs/WrenchStamped of the sensor',
    'link': "link in whose frame the readings are; empty: each reading's frame_id",
    'measures': f'sign of the readings: {words(Measures)}',
    'placement': f'{words(SensorPlacement)}: external wrench on the link only, or the whole load '
    'behind the sensor',
    'max_force': 'reject readings above it; also the limit after filtering, N',
    'max_torque': 'reject readings above it; also the limit after filtering, N m',
    'cutoff': 'low-pass filter, Hz',
    'deadband_force': 'subtracted from the magnitude of the force, N',
    'deadband_torque': 'subtracted from the magnitude of the torque, N m',
    'gain': 'scale of the measured wrench in the command',
    'timeout': 'age of a reading at which its term begins to fade, s',
    'fade': 'time to fade a term out or in, and to apply a new tare, s',
    'tare_duration': 'averaging time of a tare, s',
}


def sensor_declarations(name: str) -> dict[str, Declaration]:
    """
    Return the parameters of a force-torque sensor.

    :param name: the sensor's name
    """
    defaults = WrenchInputSettings(name, '')
    return _from_settings(f'wrench_inputs.{name}', defaults, _SENSOR_DESCRIPTIONS, WRENCH_RANGES)


def all_declarations(sensors: Iterable[str]) -> dict[str, Declaration]:
    """
    Return every parameter of the node.

    :param sensors: the value of ``wrench_inputs.names``
    """
    table = dict(PARAMETERS)
    for name in sensor_names(sensors):
        table.update(sensor_declarations(name))
    return table


def sensor_parameter(name: str, field: str) -> str:
    """Return the full name of a sensor's parameter."""
    return f'wrench_inputs.{name}.{field}'


def sensor_names(names: Iterable[str]) -> list[str]:
    """Return the sensors that are named; [''] stands for none."""
    return [name for name in names if name]
