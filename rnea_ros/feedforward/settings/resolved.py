# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the control for one robot: checked together, defaults filled in; its law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
import difflib
from itertools import permutations, product

import numpy as np

from ...arrays import Array, Indices
from ...dynamics.kernels import BASE
from ...dynamics.tree import WORLD, Placement
from ...errors import InputError, brief
from ...parameters import in_range, per_joint, with_value_per_joint
from ...robot import Payload, RobotModel
from ..laws import LAWS, ControlLaw, FrictionModel, JointFriction, SharedFriction
from ..loaded_model import HardwareCompensation, JointSpring, LoadedModel
from .sensors import BaseSensorSettings, SensorPlacement, WrenchInputSettings
from .settings import (
    AS_GRAVITY,
    AS_POSITIVE,
    MAX_DURATION,
    FrictionSettings,
    PayloadSettings,
    Settings,
    SpringSettings,
)
from .soft_limits import SoftLimitZones, bound_damping, finite_range, resolve_soft_limits

DEFAULT_TIMEOUT_PERIODS = 20  # default timeout of joint states, in periods of the control
MIN_DEFAULT_TIMEOUT = 0.1  # its minimum, s: a busy computer stalls for so long
RATE_LIMIT_TIME = 0.1  # from zero to full effort at the default rate limit, s
DEFAULT_THRESHOLD_SHARE = 0.015  # default of contact.threshold, as a share of the effort limit
MAX_EFFORT = 1e12  # maximum effort limit, N m or N; a larger one in the URDF counts as none
MAX_STOP_TIME = 3.0 * MAX_DURATION  # longest permitted duration of a stop, s
MAX_PAYLOADS = 16  # more on one robot are a mistake
MAX_ACCELERATION = 1000.0  # greatest reference acceleration, rad/s^2 or m/s^2
DEFAULT_MAX_VELOCITY = 10.0  # of joints without a velocity limit, rad/s or m/s


@dataclass(frozen=True, eq=False, kw_only=True)
class ResolvedSettings(Settings):
    """
    Settings for one robot with n joints and m commanded joints, defaults filled in.

    Parameters per joint have m values. Two are equal if their parameters are.

    :param joint_indices: indices of the commanded joints in the model, shape (m,)
    :param rotor_inertia: of all joints of the model, shape (n,), kg m^2 or kg
    :param gravity_scale: ``gravity_factor`` of all joints of the model, shape (n,)
    :param effort_scale: N m or N per unit of measured efforts, shape (n,)
    :param joint_friction: friction of all joints of the model, as the control compensates it
    :param motor_friction: the same, also if the hardware compensates it
    :param joint_spring: springs of all joints of the model
    :param zones: zones before the position limits
    """

    joint_indices: Indices
    rotor_inertia: Array
    gravity_scale: Array
    effort_scale: Array
    joint_friction: JointFriction
    motor_friction: JointFriction
    joint_spring: JointSpring
    zones: SoftLimitZones

    def __post_init__(self) -> None:
        """Trust :func:`resolve`; limits of a URDF may exceed the range of the parameter."""

    @property
    def greatest_swing(self) -> float:
        """Longest time from one effort limit to the other at the rate limit, s."""
        swings = zip(self.effort_limits, self.effort_rate_limit, strict=True)
        return max(2.0 * limit / rate for limit, rate in swings)

    @property
    def greatest_stop_time(self) -> float:
        """Longest duration of a stop: to gravity at the rate limit, hold, ramp to zero, s."""
        return 2.0 * self.greatest_swing + self.hold_duration + self.ramp_duration


def resolve(settings: Settings, model: RobotModel) -> ResolvedSettings:
    """
    Check parameters against each other and against a robot, and fill in defaults.

    :raises InputError: the first parameter that cannot be used
    """
    joints, stated = settings.joints, settings
    _check_joints(joints, model)
    joint_indices = np.array([model.joint_names.index(name) for name in joints], dtype=np.intp)
    _check_together(settings)
    settings = with_value_per_joint(settings, joints)
    _check_payloads(settings.payloads, model)
    effort_limits = _filled(settings.effort_limits, model.effort_limits[joint_indices])
    for name, limit in zip(joints, effort_limits, strict=True):
        if not 0.0 < limit <= MAX_EFFORT:
            raise InputError(
                'effort_limits', f'joint {name!r}: the URDF has limit {limit}, set one above 0'
            )
    rotor_inertia = np.zeros(model.nv)
    rotor_inertia[joint_indices] = settings.armature
    gravity_scale = np.ones(model.nv)
    gravity_scale[joint_indices] = settings.gravity_factor
    check_wrench_inputs(settings.wrench_inputs, model)
    if settings.base_sensor is not None:
        check_base_sensor(settings.base_sensor, model)
    _check_moved_link(settings.external_effort.link, joint_indices, model)
    zones = resolve_soft_limits(settings.soft_limits, joints, model, settings.period)
    bound_damping(settings, zones, rotor_inertia, model)
    motor_friction = _friction(settings.friction, joints, joint_indices, model)
    compensated = HardwareCompensation.FRICTION in settings.hardware_compensates
    scales = stated.units.effort_scale  # several: 1 for the joints that are not commanded
    effort_scale = np.full(model.nv, scales[0] if len(scales) == 1 else 1.0)
    effort_scale[joint_indices] = scales
    efforts = np.array(effort_limits)
    threshold = _filled(settings.contact.threshold, DEFAULT_THRESHOLD_SHARE * efforts)
    resolved = ResolvedSettings(**vars(settings) | {
        'effort_limits': effort_limits,
        'effort_rate_limit': _filled(settings.effort_rate_limit, efforts / RATE_LIMIT_TIME),
        'joint_states_timeout': settings.joint_states_timeout or default_timeout(settings.period),
        'contact': replace(settings.contact, threshold=threshold),
        'law_parameters': {
            mode: with_value_per_joint(settings.of_law(law), joints, f'{mode}.')
            for mode, law in LAWS.items()
        },
        'joint_indices': joint_indices, 'rotor_inertia': rotor_inertia,
        'gravity_scale': gravity_scale, 'effort_scale': effort_scale, 'zones': zones,
        'motor_friction': motor_friction,
        'joint_spring': _spring(settings.spring, joint_indices, model),
        'joint_friction': JointFriction.none(model.nv) if compensated else motor_friction,
    })
    if not resolved.greatest_stop_time <= MAX_STOP_TIME:
        raise InputError(
            'effort_rate_limit',
            f'{brief(stated.effort_rate_limit)} lets a stop take '
            f'{resolved.greatest_stop_time:.3g} s, more than {MAX_STOP_TIME:g} s',
        )
    return resolved


def load_robot(model: RobotModel, settings: ResolvedSettings) -> LoadedModel:
    """Return a robot with the payloads, factors of gravity and springs of the settings."""
    of_hardware = settings.hardware_gravity
    robot = LoadedModel(
        model, settings.hardware_compensates, None if of_hardware == AS_GRAVITY else of_hardware
    )
    robot.set_payloads(settings.payloads)
    robot.set_corrections(settings.gravity_scale, settings.joint_spring)
    return robot


def make_law(
    settings: ResolvedSettings, robot: LoadedModel, mode: type[ControlLaw] | None = None
) -> ControlLaw:
    """Return the law of a mode (None: that of the settings) for all joints of the model."""
    kp, kd = np.zeros((2, robot.model.nv))
    kp[settings.joint_indices], kd[settings.joint_indices] = settings.kp, settings.kd
    mode = mode or settings.mode
    return mode(
        robot, kp, kd, compensate_coriolis=settings.compensate_coriolis,
        friction=settings.joint_friction, friction_velocity=settings.friction.velocity,
        armature=settings.rotor_inertia, parameters=settings.of_law(mode),
        joints=settings.joint_indices,
    )


def check_efforts(model: RobotModel, settings: ResolvedSettings) -> None:
    """Raise an InputError if an effort of any mode, at the ends of joint ranges, is not finite."""
    robot = load_robot(model, settings)
    laws = [make_law(settings, robot, mode) for mode in LAWS.values()]
    lower, upper = finite_range(model)
    limits = model.velocity_limits
    fastest = np.where((limits > 0.0) & np.isfinite(limits), limits, DEFAULT_MAX_VELOCITY)
    test_acceleration = np.full(model.nv, MAX_ACCELERATION)
    one, other = (lower, fastest), (upper, -fastest)
    with np.errstate(all='ignore'):
        for law, ((q, qd), (q_d, qd_d)) in product(laws, ((one, other), (other, one))):
            effort = law.effort(q, qd, (q_d, qd_d, test_acceleration))
            # The sum of huge efforts may overflow, too.
            if not np.isfinite(effort.sum()):
                joint = model.joint_names[int(np.abs(np.nan_to_num(effort)).argmax())]
                raise InputError(
                    'robot_description',
                    f'with these parameters the efforts in mode {law.name} are not finite, '
                    f'largest at joint {joint!r}; look for a mass or a length that is too large',
                )


def default_timeout(period: float) -> float:
    """Return the default timeout of joint states, s, for their or the control's period, s."""
    return max(DEFAULT_TIMEOUT_PERIODS * period, MIN_DEFAULT_TIMEOUT)


def acceleration_limits(model: RobotModel, settings: ResolvedSettings) -> Array:
    """
    Return the greatest accelerations of motions of the commanded joints, shape (m,).

    Twice that of full effort with a joint's largest inertia in 100 poses. A folded arm may have
    more, but no planner uses it. A larger effort limit in the URDF counts.
    """
    joints = settings.joint_indices
    poses = np.random.default_rng(0).uniform(-np.pi, np.pi, (100, model.nv))
    poses = np.clip(poses, model.position_lower, model.position_upper)
    inertia = np.max([model.mass_matrix(q).diagonal() for q in poses], axis=0)
    inertia += settings.rotor_inertia
    urdf_limits = np.nan_to_num(model.effort_limits[joints], posinf=0.0)
    effort = np.maximum(urdf_limits, settings.effort_limits)
    limits: Array = effort / np.maximum(0.5 * inertia[joints], effort / MAX_ACCELERATION)
    return limits


def _filled(stated: Sequence[float], defaults: Array) -> tuple[float, ...]:
    """Return the values above 0, and defaults in place of the others."""
    return tuple(np.where(np.array(stated) > 0.0, stated, defaults).tolist())


def _check_joints(joints: Sequence[str], model: RobotModel) -> None:
    if not joints:
        raise InputError('joints', 'no joint to command')
    for name in model.joints_of_several_axes:
        raise InputError(
            'joints', f'joint {name!r} of robot {model.name!r} has more than one axis'
        )
    for name in joints:
        if joints.count(name) > 1:
            raise InputError('joints', f'joint {name!r} is listed {joints.count(name)} times')
        if name not in model.joint_names:
            raise InputError(
                'joints',
                f'joint {brief(name)} is not a moving, independent joint of robot {model.name!r}; '
                f'known are {", ".join(model.joint_names)}',
            )


def _check_together(settings: Settings) -> None:
    """Check the parameters whose range depends on another parameter, or has a gap."""
    for name in ('joint_states_timeout', 'uncommanded_timeout', 'reference_timeout'):
        if getattr(settings, name) != 0.0:
            in_range(name, getattr(settings, name), settings.period, MAX_DURATION)
    if 0.0 < settings.velocity_limit_factor < 1.0:
        raise InputError(
            'velocity_limit_factor', f'{settings.velocity_limit_factor} is below 1 and not 0'
        )
    if len(settings.hardware_gravity) != 3 and settings.hardware_gravity != AS_GRAVITY:
        raise InputError(
            'hardware_gravity',
            f'{brief(settings.hardware_gravity)} is neither three numbers nor [0.0]',
        )


def _check_payloads(payloads: Sequence[Payload], model: RobotModel) -> None:
    if len(payloads) > MAX_PAYLOADS:
        raise InputError('payload.link', f'{len(payloads)} are more than {MAX_PAYLOADS}')
    for payload in payloads:
        if payload.link not in model.link_names:
            known = ', '.join(model.link_names)
            raise InputError(
                'payload.link', f'{brief(payload.link)} is not a link; known are {known}'
            )
        # Its constructor checks the ranges.
        com, inertia = (tuple(np.ravel(part).tolist()) for part in (payload.com, payload.inertia))
        PayloadSettings((payload.link,), (payload.mass,), com, inertia)


def check_wrench_inputs(inputs: Sequence[WrenchInputSettings], model: RobotModel) -> None:
    """Raise an InputError for the first parameter that does not fit other sensors or the robot."""
    for number, sensor in enumerate(inputs):
        before = inputs[:number]
        if not sensor.name or sensor.name in [other.name for other in before]:
            raise InputError('wrench_inputs', f'name {sensor.name!r} is empty or taken')
        if not sensor.topic or sensor.topic in [other.topic for other in before]:
            raise InputError(sensor.full_name('topic'), f'{brief(sensor.topic)} is empty or taken')
        for part in ('force', 'torque'):
            deadband, most = getattr(sensor, f'deadband_{part}'), getattr(sensor, f'max_{part}')
            in_range(sensor.full_name(f'deadband_{part}'), deadband, 0.0, most)
        if sensor.tare_duration < sensor.timeout:
            raise InputError(
                sensor.full_name('tare_duration'),
                f'{sensor.tare_duration} is less than the timeout, {sensor.timeout}: '
                'there may be no reading in it',
            )
        if sensor.link:
            _check_link(sensor, model)
    for carrier, other in permutations(inputs, 2):
        if _carries(carrier, other, model):
            raise InputError(
                carrier.full_name('link'),
                f'{carrier.link!r} carries {other.link!r}, whose wrench sensor {other.name!r} '
                'measures already: it would count twice',
            )


def _check_link(sensor: WrenchInputSettings, model: RobotModel) -> None:
    link, problem = sensor.link, ''
    if link not in model.link_names:
        nearest = difflib.get_close_matches(link[:200], model.link_names, n=3, cutoff=0.0)
        problem = f'robot {model.name!r} has no link {brief(link)}; nearest are '
        problem += ', '.join(nearest)
    elif model.tree.frames[link].body == BASE:
        problem = f'no joint moves link {link!r}: a wrench on it needs no joint effort'
    if problem:
        raise InputError(sensor.full_name('link'), problem)


def _carries(
    carrier: WrenchInputSettings, other: WrenchInputSettings, model: RobotModel
) -> bool:
    """Return whether an inline sensor stands between the base and another sensor's link."""
    if carrier.placement is not SensorPlacement.INLINE or not carrier.link:
        return False
    parents, link = {each.name: each.parent for each in model.tree.links}, other.link
    while link and link != carrier.link and parents[link] != link:
        link = parents[link]
    return link == carrier.link


def check_base_sensor(settings: BaseSensorSettings, model: RobotModel) -> None:
    """Raise an InputError for a link that is not fixed to the robot's root link."""
    link, mounts = settings.link, links_on_base(model)
    if link and link not in mounts:
        problem = f'robot {model.name!r} has no link {brief(link)}'
        if link in model.link_names:
            problem = f'link {link!r} of robot {model.name!r} moves with its joints'
        allowed = ', '.join(mounts) or 'none, because the base floats'
        raise InputError(
            'base_sensor.link', f'{problem}; links that are fixed to the root link are {allowed}'
        )


def links_on_base(model: RobotModel) -> Mapping[str, Placement]:
    """Return the placements of the links that no joint moves, in the root link's frame."""
    return {
        name: frame.placement
        for name, frame in model.tree.frames.items()
        if frame.body == BASE and name != WORLD
    }


def _check_moved_link(link: str, joint_indices: Indices, model: RobotModel) -> None:
    """Raise an InputError for a link that is unknown, or that no commanded joint moves."""
    if not link:
        return
    if link not in model.link_names:
        raise InputError(
            'external_effort.link',
            f'{brief(link)} is not a link of robot {model.name!r}; known are '
            f'{", ".join(model.link_names)}',
        )
    if not model.jacobian(model.neutral_position, link)[:, joint_indices].any():
        raise InputError('external_effort.link', f'no commanded joint moves link {link!r}')


def _friction(
    settings: FrictionSettings, joints: Sequence[str], joint_indices: Indices, model: RobotModel
) -> JointFriction:
    """Return the friction of all joints of a model; uncommanded joints have none."""
    friction, j = JointFriction.none(model.nv), joint_indices
    friction.smoothing_velocity[j] = settings.smoothing_velocity
    for name, coefficients in (('viscous', friction.viscous), ('coulomb', friction.coulomb)):
        backwards = positive = getattr(settings, name)
        negative = getattr(settings, f'{name}_negative')
        if negative != AS_POSITIVE:
            backwards = per_joint(f'friction.{name}_negative', negative, joints)
        if min(backwards) < 0.0:
            raise InputError(
                f'friction.{name}_negative', f'{brief(negative)} has a negative value; only '
                '[-1.0] alone stands for the values of the positive direction',
            )
        if settings.model is FrictionModel.PARAMETERS:
            coefficients[:, j] = positive, backwards
    if settings.model is FrictionModel.PARAMETERS:
        friction.load[j], friction.offset[j] = settings.load, settings.offset
        if pair := [name for name in settings.shared_joints if name]:
            if len(pair) != 2 or pair[0] == pair[1] or not {*pair} <= {*joints}:
                raise InputError(
                    'friction.shared_joints', f'{brief(pair)} are not two of the joints '
                    f'{", ".join(joints)}'
                )
            a, b = map(model.joint_names.index, pair)
            return replace(friction, shared=SharedFriction(
                (a, b), settings.shared_ratio, settings.shared_viscous, settings.shared_coulomb,
                float(friction.smoothing_velocity[b]),
            ))
    elif settings.model is FrictionModel.URDF:
        friction.viscous[:, j], friction.coulomb[:, j] = model.damping[j], model.friction[j]
    return friction


def _spring(settings: SpringSettings, joint_indices: Indices, model: RobotModel) -> JointSpring:
    """Return the springs of all joints of a model; uncommanded joints have none."""
    spring, j = JointSpring.none(model.nv), joint_indices
    spring.stiffness[j], spring.rest_position[j] = settings.stiffness, settings.rest_position
    for turning in np.flatnonzero((spring.stiffness > 0.0) & model.continuous):
        raise InputError(
            'spring.stiffness', f'joint {model.joint_names[turning]!r} is continuous: its '
            'positions repeat, those of a spring do not; set 0'
        )
    return spring
