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


EACH = 'one for all or one a joint'

_PARAMETERS: Mapping[str, Declaration] = {
    'robot_description': Declaration(
        '', 'URDF text; empty: taken from the topic robot_description'
    ),
    'strict_inertia': Declaration(
        False, 'refuse a URDF whose inertias no rigid body can have, instead of a warning'
    ),
    'command_topic': Declaration(
        'effort_controller/commands', 'topic of the effort controller', read_only=True
    ),
    'joints': Declaration(
        [''],
        "the commanded joints in the controller's order; ['']: the parameter 'joints' of the "
        'controller, without which nothing is commanded',
    ),
    'autostart': Declaration(
        True, 'configure and activate as soon as all that is needed is there', read_only=True
    ),
    'rate': Declaration(500.0, 'commands a second, Hz'),
    'trigger': Declaration(
        'timer', f'what sets a tick off, the time or what was measured: {words(Trigger)}'
    ),
    'realtime.priority': Declaration(
        0,
        "of the loop's thread under SCHED_FIFO, 2 to 98, the process's other threads one below; "
        '0: the usual scheduler',
        span=(0, GREATEST_PRIORITY),
    ),
    'realtime.cpu_affinity': Declaration(
        [-1], "the cores that the loop's thread may run on; [-1]: all", span=(-1, MOST_CORES - 1)
    ),
    'realtime.lock_memory': Declaration(False, "keep the process's memory from being paged out"),
    'mode': Declaration('gravity', words(Mode), while_active=True),
    'gains.kp': Declaration(
        [0.0],
        'proportional gains, one for all or one a joint: 1/s^2 in computed_torque, else N m/rad',
        while_active=True,
    ),
    'gains.kd': Declaration(
        [0.0],
        'derivative gains, one for all or one a joint: 1/s in computed_torque, else N m s/rad',
        while_active=True,
    ),
    'compensate_coriolis': Declaration(
        False, 'include Coriolis and centrifugal efforts in mode gravity', while_active=True
    ),
    'gravity': Declaration(
        [0.0, 0.0, -9.81], "acceleration of free fall in the root link's frame, m/s^2"
    ),
    'hardware_compensates': Declaration(
        [''],
        f"what the robot's own controller adds to every command: {NOTHING}, or some of "
        f"{words(HardwareCompensation)}; ['']: not stated, and nothing is activated",
    ),
    'friction.model': Declaration(
        'none', f'where friction is known from: {words(FrictionModel)}', while_active=True
    ),
    'friction.viscous': Declaration([0.0], f'{EACH}, N m s/rad or N s/m', while_active=True),
    'friction.coulomb': Declaration([0.0], f'{EACH}, N m or N', while_active=True),
    'friction.viscous_negative': Declaration(
        [-1.0], 'in the negative direction; [-1.0]: as in the positive', while_active=True
    ),
    'friction.coulomb_negative': Declaration(
        [-1.0], 'in the negative direction; [-1.0]: as in the positive', while_active=True
    ),
    'friction.load': Declaration(
        [0.0],
        'Coulomb friction for each N m or N that the joint carries, one for all or one a joint',
        while_active=True,
    ),
    'friction.smoothing_velocity': Declaration(
        [0.05],
        'below about this speed Coulomb friction fades, one for all or one a joint, rad/s or m/s',
        while_active=True,
    ),
    'friction.velocity': Declaration(
        'measured',
        f'which velocity friction is computed from: {words(VelocitySource)}',
        while_active=True,
    ),
    'armature': Declaration(
        [0.0], 'inertia that rotors add to the joints, one for all or one a joint, kg m^2 or kg'
    ),
    'rotor_inertia': Declaration(
        [0.0],
        'of the rotors themselves, before the gear; times gear_ratio^2 it is added to armature',
    ),
    'gear_ratio': Declaration([1.0], 'turns of the rotor for one turn of the joint'),
    'payload.link': Declaration(
        [''], 'links that carry something beyond their description', while_active=True
    ),
    'payload.mass': Declaration([0.0], 'of each payload, kg', while_active=True),
    'payload.com': Declaration(
        [0.0, 0.0, 0.0],
        "centre of mass of each payload in its link's frame, three numbers each, m",
        while_active=True,
    ),
    'payload.inertia': Declaration(
        [0.0] * 6,
        "of each payload about its centre of mass in its link's axes, xx xy xz yy yz zz each, "
        'kg m^2; zeros: point masses',
        while_active=True,
    ),
    'payload.blend_duration': Declaration(
        1.0, 'in which a changed payload takes effect, s', while_active=True
    ),
    'effort_limits': Declaration(
        [0.0], 'greatest effort, one for all or one a joint, N m or N; 0: that of the URDF'
    ),
    'effort_rate_limit': Declaration(
        [0.0],
        'greatest change of effort, one for all or one a joint, N m/s or N/s; '
        '0: the full effort in 0.1 s',
    ),
    'ramp_duration': Declaration(
        1.0, 'of the ramp at start, at a change of mode, and down to zero, s'
    ),
    'hold_duration': Declaration(1.0, 'how long gravity is held after a fault, s'),
    'joint_states_timeout': Declaration(
        0.0, 'age of joint states that ends the control, s; 0: twenty periods'
    ),
    'uncommanded_timeout': Declaration(
        0.0,
        'the same for joints that the controller does not command, s; 0: joint_states_timeout',
    ),
    'velocity_limit_factor': Declaration(
        2.0,
        "positions that need a speed of so many of the URDF's velocity limits are refused, "
        '1 or more; 0: none is',
    ),
    'reference_timeout': Declaration(
        0.2, 'age of a streamed set-point at which its position is held, s'
    ),
    'stale_action': Declaration('ramp_down', words(StaleAction)),
    'start_from_measured_effort': Declaration(
        True, 'start the ramp from the measured effort where there is one, else from zero'
    ),
    'differentiate_velocity': Declaration(
        False, 'derive velocities from positions where joint states have none'
    ),
    'start_tolerance': Declaration(
        0.1, 'how far from the robot a motion may start at once, rad or m'
    ),
    'allow_partial_joints_goal': Declaration(
        False, 'accept trajectories that leave out joints, which then hold'
    ),
    'wrench_inputs.names': Declaration(
        [''],
        'force-torque sensors; each has parameters wrench_inputs.<name>.topic and others',
        read_only=True,
    ),
    'allow_nonzero_velocity_at_trajectory_end': Declaration(
        False, 'accept trajectories whose last point has a velocity'
    ),
    'interpolate_from_desired_state': Declaration(
        False,
        'begin the way to a first point after time 0 in the desired state; '
        'false: in the measured state',
    ),
    'use_trajectory_effort': Declaration(
        False, "add the efforts of a trajectory's points to the output"
    ),
    'reference_source': Declaration(
        'joint_trajectory', f'where the wanted motion comes from: {words(ReferenceSource)}'
    ),
    'controller_state_topic': Declaration(
        'joint_trajectory_controller/controller_state',
        'control_msgs/JointTrajectoryControllerState of a trajectory controller, for '
        'reference_source controller_state',
    ),
    'speed_scaling_topic': Declaration(
        '', 'std_msgs/Float64 by which motions are slowed down, from 0 to full speed; empty: none'
    ),
    'speed_scaling_scale': Declaration(
        1.0, 'factor that turns its values into 0 to 1; 0.01 for percent', span=(1e-3, 1e3)
    ),
}

_BASE_SENSOR = {
    'link': 'in whose frame the IMU measures; empty: that of the frame_id of each message',
    'use': words(BaseUse),
    'use_orientation': "take gravity's direction from the orientation, where a message has one",
    'stale': f'which gravity counts while the IMU is silent: {words(StaleBase)}',
    'max_acceleration': 'a message with a greater one is refused, m/s^2',
    'max_angular_velocity': 'a message with a greater one is refused, rad/s',
    'tilt_cutoff': "of the low-pass that finds gravity's direction in the accelerometer, Hz",
    'motion_cutoff': "of the low-pass that the base's motion passes, Hz",
    'timeout': 'age of a message at which the IMU counts as silent, s',
    'fade': "how long the base's motion takes to fade out, and to fade in again, s",
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
    'link': 'in whose frame the readings are; empty: that of the frame_id of each reading',
    'measures': words(Measures),
    'placement': words(SensorPlacement),
    'max_force': 'a reading of a greater force is refused, and none greater is passed on, N',
    'max_torque': 'a reading of a greater torque is refused, and none greater is passed on, N m',
    'cutoff': 'of the low-pass filter, Hz',
    'deadband_force': 'taken off the length of every force, N',
    'deadband_torque': 'taken off the length of every torque, N m',
    'gain': 'the share of the wrench that is passed on',
    'timeout': 'age of a reading at which its term begins to fade, s',
    'fade': 'how long a term takes to fade out, to fade in, and to take on a new tare, s',
    'tare_duration': 'how long a tare averages, s',
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
