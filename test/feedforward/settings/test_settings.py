# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Settings: rejections by name, defaults, units of effort, blended payloads, greatest damping."""

from collections.abc import Sequence
import math
import re
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.errors import InputError
from rnea_ros.feedforward import check_efforts
from rnea_ros.feedforward.laws import Feedforward
from rnea_ros.feedforward.loaded_model import LoadedModel, PayloadBlend
from rnea_ros.feedforward.settings import (
    PARAMETERS,
    ContactSettings,
    EffortUnits,
    ExternalEffortSettings,
    ResolvedSettings,
    Settings,
    SoftLimitSettings,
    SpringSettings,
    resolve,
)
from rnea_ros.robot import Payload
from support.cases import each
from support.control.control_rig import (
    PANDA_POSE,
    Array,
    Rig,
    mixed_arm,
    panda_arm,
    swing,
    two_joint_arm,
)
from support.models.robots import ROOT, joint, link, load, robot

JOINTS, TIP = panda_arm().joint_names, 'fer_link8'
N = len(JOINTS)
NAN = math.nan


def resolved(**changes: Any) -> ResolvedSettings:
    return resolve(Settings(**({'joints': JOINTS} | changes)), panda_arm())


def test_joint_states_timeout_is_20_periods_at_least_0_1_s() -> None:
    for rate, timeout in ((1000.0, 0.1), (100.0, 0.2)):
        assert resolved(rate=rate).joint_states_timeout == pytest.approx(timeout)
        assert resolved(rate=rate, joint_states_timeout=0.5).joint_states_timeout == 0.5


def test_effort_limits_are_those_of_the_urdf_by_default_joint_by_joint() -> None:
    limits = [87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0]
    assert resolved().effort_limits == tuple(limits)
    some = (0.0, 50.0, 0.0, 0.0, 0.0, 5.0, 0.0)
    assert list(resolved(effort_limits=some).effort_limits) == [
        own or from_urdf for own, from_urdf in zip(some, limits, strict=True)
    ]


def test_the_full_effort_takes_a_tenth_of_a_second_by_default() -> None:
    # The effort limit that counts is the one in force.
    assert resolved(effort_limits=(10.0,)).effort_rate_limit == pytest.approx([100.0] * N)
    some = (5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 7.0)
    assert resolved(effort_rate_limit=some).effort_rate_limit == pytest.approx(
        [5.0, 870.0, 870.0, 870.0, 120.0, 120.0, 7.0]
    )


@each('parameter, reason, changes', [
    *((name, f'{value} is not between {least:g} and {most}', {name: value})
      for name, least, most in (
          ('rate', 1.0, 10_000), ('ramp_duration', 0.0, 3600), ('hold_duration', 0.0, 3600),
          ('joint_states_timeout', 0.0, 3600), ('uncommanded_timeout', 0.0, 3600),
          ('reference_timeout', 0.0001, 3600),
      )
      for value in (0.99 * least or -1e-9, most + 0.1, NAN)),
    *((name, '0.0019 is not between 0.002 and 3600', {name: 0.0019})  # two milliseconds a tick
      for name in ('joint_states_timeout', 'uncommanded_timeout', 'reference_timeout')),
    ('velocity_limit_factor', '0.999 is below 1 and not 0', {'velocity_limit_factor': 0.999}),
    ('gains.kd', 'value 7 of 7, nan is not between 0 and ', {'kd': (1.0,) * (N - 1) + (NAN,)}),
    ('gains.kp', '[1.0, 1.0] has 2 values, not 1 or one for each of 7 joints', {'kp': (1.0,) * 2}),
    ('joints', 'no joint to command', {'joints': ()}),
    ('joints', f'joint {JOINTS[2]!r} is listed 2 times', {'joints': (*JOINTS, JOINTS[2])}),
    ('joints', "joint 'elbow' is not a moving, independent joint", {'joints': ('elbow',)}),
    ('hardware_gravity', '[0.0, 1.0] is neither three numbers', {'hardware_gravity': (0.0, 1.0)}),
    ('external_effort.link', "'hand' is not a link",
     {'external_effort': ExternalEffortSettings(link='hand')}),
    ('external_effort.link', '', {'external_effort': ExternalEffortSettings(link='fer_link0')}),
    ('external_effort.gain', '', {'external_effort': ExternalEffortSettings(gain=(0.0,))}),
    ('contact.threshold', '', {'contact': ContactSettings(threshold=(-1.0,))}),
    *((f'payload.{name}', reason, {'payloads': payloads}) for name, reason, payloads in (
        ('mass', '1e+308 is not between 0 and 10000', (Payload(TIP, 1e308),)),
        ('com', 'value 2 of 3, 1000000000.0 is not', (Payload(TIP, 1.0, (0.0, 1e9, 0.0)),)),
        ('inertia', 'value 1 of 6, ', (Payload(TIP, 1.0, (0, 0, 0), (9e6, 0, 0, 9e6, 0, 9e6)),)),
        ('link', '17 are more than 16', (Payload(TIP, 1.0),) * 17),
        ('link', "'hand' is not a link", (Payload('hand', 1.0),)),
    )),
    ('gains.kp', '10000000.0 is not', {'kp': (1e7,)}),
    *(('gravity_factor', f'value 7 of 7, {value} is not between 0 and 2',
       {'gravity_factor': (1.0,) * (N - 1) + (value,)}) for value in (-0.01, 2.01, NAN)),
    ('spring.stiffness', '-1.0 is not between 0 and', {'spring': SpringSettings((-1.0,))}),
    ('spring.rest_position', 'nan is not', {'spring': SpringSettings((1.0,), (NAN,))}),
    ('effort_limits', '1000000000.0 is not', {'effort_limits': (1e9,)}),
    ('effort_rate_limit', '[1e-06] lets a stop take ', {'effort_rate_limit': (1e-6,)}),
])
def test_what_cannot_be_used_is_rejected_by_parameter_and_value(
    parameter: str, reason: str, changes: dict[str, Any]
) -> None:
    with pytest.raises(InputError) as caught:
        resolved(**changes)
    assert caught.value.argument == parameter
    assert caught.value.reason.startswith(reason)


def test_commanded_joints_need_an_effort_limit_above_zero() -> None:
    model = load(robot(
        link('base'), link('rim', 1.0), link('tip', 1.0), link('end', 1.0),
        joint('wheel', 'continuous', 'base', 'rim'), joint('hinge', 'revolute', 'base', 'tip'),
        joint('slack', 'revolute', 'base', 'end').replace('effort="100"', 'effort="0"'),
    ))
    for name, words in (('wheel', 'the URDF has limit'), ('slack', 'the URDF has limit 0')):
        with pytest.raises(InputError, match=f'^effort_limits: joint {name!r}: {words}'):
            resolve(Settings(joints=('hinge', name)), model)
        settings = resolve(Settings(joints=('hinge', name), effort_limits=(0.0, 2.0)), model)
        assert settings.effort_limits == (100.0, 2.0)
    turning = Settings(('hinge', 'wheel'), effort_limits=(2.0,), spring=SpringSettings((1.0,)))
    with pytest.raises(InputError, match=r"stiffness: joint 'wheel' is continuous: .*; set 0"):
        resolve(turning, model)
    assert resolve(Settings(joints=('hinge',)), model).effort_limits == (100.0,)


def tried(model: RobotModel, **settings: Any) -> None:
    check_efforts(model, resolve(Settings(joints=model.joint_names, **settings), model))


@each('arm', [panda_arm, two_joint_arm, mixed_arm])
def test_the_ends_of_every_range_together_make_finite_efforts(arm: Any) -> None:
    ends: Any = {name: declared.span for name, declared in PARAMETERS.items()}
    far, inertia = (ends['payload.com'][1],) * 3, (1e6, 0.0, 0.0, 1e6, 0.0, 1e6)
    payload = Payload(arm().link_names[-1], ends['payload.mass'][1], far, inertia)
    tried(
        arm().with_gravity((ends['gravity'][0],) * 3), kp=(ends['gains.kp'][1],),
        kd=(ends['gains.kd'][1],), payloads=(payload,) * 16,
    )


def test_a_description_whose_efforts_overflow_is_rejected_by_joint() -> None:
    model = load(robot(
        link('base'), link('tip', 1e305, com=(10.0, 0.0, 0.0)),
        joint('hinge', 'revolute', 'base', 'tip', axis=(0, 1, 0)),
    ))
    with pytest.raises(InputError, match=r"^robot_description: .* not finite, .*'hinge'"):
        tried(model)


EACH = (0.5, -2.0, 3.0, 1e-3, 40.0, -7.0, 1.0)
"""N m per ampere of each joint, two of them with an inverted sign."""


@each('joints, units, command_scale, effort_scale', [
    (JOINTS, {}, [1.0] * 7, [1.0] * 7),
    (JOINTS[:2], {'command_scale': (0.25,), 'effort_scale': (4.0,)}, [0.25] * 2, [4.0] * 7),
    (
        (JOINTS[4], JOINTS[1]), {'command_scale': (0.1, -0.2), 'effort_scale': (10.0, -5.0)},
        [0.1, -0.2], [1.0, -5.0, 1.0, 1.0, 10.0, 1.0, 1.0],
    ),
])
def test_one_scale_is_for_all_joints_and_several_are_for_the_commanded_ones(
    joints: tuple[str, ...], units: dict[str, Any], command_scale: list[float],
    effort_scale: list[float],
) -> None:
    settings = resolve(Settings(joints=joints, units=EffortUnits(**units)), panda_arm())
    assert list(settings.units.command_scale) == command_scale
    assert settings.effort_scale.tolist() == effort_scale


@each('name', ['command_scale', 'effort_scale'])
@each('values, reason', [
    ((1.0,) * 6 + (-0.0,), 'has a 0; 1.0 is for efforts in N m or N'),
    ((1.0,) * 6 + (math.inf,), 'value 7 of 7, inf is not between -1e+06 and 1e+06'),
])
def test_a_bad_scale_is_rejected(name: str, values: tuple[float, ...], reason: str) -> None:
    with pytest.raises(InputError, match=f'^{name}: .*{re.escape(reason)}'):
        resolve(Settings(joints=JOINTS, units=EffortUnits(**{name: values})), panda_arm())


def test_no_command_within_the_limits_can_become_infinite() -> None:
    description = panda_arm().description
    assert description is not None
    strong = re.sub(r'effort="[^"]+"', 'effort="1e305"', description.text)
    settings = Settings(joints=JOINTS, units=EffortUnits(command_scale=(1e6,)))
    with pytest.raises(InputError, match=r"^effort_limits: joint 'fer_joint1': .* 1e\+305"):
        resolve(settings, RobotModel.from_urdf(strong))


def moved(unit: Any, **settings: Any) -> Any:
    """Return the commands of a start from measured efforts, and of a motion, in N m."""
    rig = Rig(panda_arm(), q=PANDA_POSE, mode=Feedforward, ramp_duration=0.1, **settings)
    rig.effort = (rig.gravity + 3.0) / unit
    rig.activate()
    rig.controller.follow(swing(JOINTS, rig.q, rig.q + 0.2, 0.1), None)
    rig.run(0.1)
    return np.array(rig.commands)


def test_between_measurement_and_command_efforts_are_newton_metres() -> None:
    units = EffortUnits(command_scale=tuple(1.0 / np.array(EACH)), effort_scale=EACH)
    np.testing.assert_allclose(moved(EACH, units=units), moved(1.0), rtol=1e-12, atol=1e-12)


BOX = Payload('lower', 3.0, (0.1, 0.0, 0.2), (0.1, 0.01, 0.0, 0.1, 0.0, 0.1))
CABLE, TOOL = Payload('upper', 0.5, (0.0, 0.1, 0.0)), Payload('lower', 1.0)


def parameters(payloads: Sequence[Payload]) -> Array:
    """Return mass, h and J of the bodies with payloads, shape (bodies, 13)."""
    robot = LoadedModel(two_joint_arm())
    robot.set_payloads(payloads)
    return parameters_of(robot)


def parameters_of(robot: LoadedModel) -> Array:
    bodies = robot.bodies
    return np.column_stack([bodies['mass'], bodies['h'], bodies['J'].reshape(len(bodies), 9)])


def test_payloads_are_blended_linearly_from_where_they_are() -> None:
    robot = LoadedModel(two_joint_arm())
    blend, carried = PayloadBlend([robot.loaded_bodies], [BOX]), parameters([BOX])
    np.testing.assert_array_equal(parameters_of(robot), carried)
    for payloads, duration, ticks in (
        ([CABLE, TOOL], 0.1, 3), ([BOX, BOX], 0.055, 4), ([], 2.0, 20), ([TOOL], 0.0, 1)
    ):
        blend.change(blend.prepare(payloads), duration)
        before = carried
        for tick in range(1, ticks + 1):
            blend.advance(0.01)
            left = max(1.0 - tick * 0.01 / max(duration, 1e-9), 0.0)
            carried = left * before + (1.0 - left) * parameters(payloads)
            np.testing.assert_allclose(parameters_of(robot), carried, atol=1e-12)


def test_a_payload_comes_and_goes_linearly_in_the_command() -> None:
    rig = Rig(panda_arm(), q=PANDA_POSE, ramp_duration=0.01, payload_blend_duration=0.1)
    rig.activate()
    rig.run(0.03)
    weight = rig.model.with_payload('fer_link8', 3.0).gravity_torques(rig.q) - rig.gravity
    ticks = np.arange(1, 51) / 100.0
    for payloads, shares in (((Payload('fer_link8', 3.0),), ticks), ((), 0.5 * (1.0 - ticks))):
        rig.change(payloads=payloads)
        expected = rig.gravity + np.outer(shares, weight)
        np.testing.assert_allclose(rig.run(0.05), expected, rtol=1e-9, atol=1e-12)


def settings(model: RobotModel, rate: float = 500.0, **given: Any) -> ResolvedSettings:
    return resolve(Settings(joints=model.joint_names, rate=rate, **given), model)


def greatest(error: InputError) -> float:
    found = re.search(r'at most (.+?)\. Lower', str(error))
    assert found is not None
    return float(found[1])


def test_it_is_refused_by_joint_with_the_greatest_value_and_the_way_out() -> None:
    with pytest.raises(InputError, match=r"damping: joint 'fer_joint7': 5 .* 500 Hz") as caught:
        settings(panda_arm(), damping=(5.0,))
    assert all(word in str(caught.value) for word in ('Lower it', 'rate', 'armature'))
    largest = greatest(caught.value)
    settings(panda_arm(), damping=(largest,))
    with pytest.raises(InputError):
        settings(panda_arm(), damping=(1.02 * largest,))
    settings(panda_arm(), rate=1000.0, damping=(1.9 * largest,))
    settings(panda_arm(), damping=(30.0,), armature=(0.2,))


@each('name', ['panda_arm', 'panda', 'ur5e'])
def test_what_is_accepted_brings_every_pose_to_rest(name: str) -> None:
    model = load(ROOT / f'urdf/{name}.urdf')
    with pytest.raises(InputError) as caught:
        settings(model, damping=(100.0,))
    one, D = np.eye(model.nv), 0.8 * greatest(caught.value) * np.eye(model.nv)
    rng = np.random.default_rng(1)
    for _ in range(50):
        change = 0.002 * np.linalg.solve(model.mass_matrix(rng.uniform(-1.5, 1.5, model.nv)), D)
        # One period of delay: qd[k + 1] = qd[k] - change qd[k - 1].
        step = np.block([[one, -change], [one, 0.0 * one]])
        assert np.abs(np.linalg.eigvals(step)).max() < 1.0


def test_too_much_in_a_zone_is_refused_if_stated_and_lowered_if_not() -> None:
    zones = settings(panda_arm(), soft_limits=SoftLimitSettings((0.3,), (200.0,))).zones
    assert zones.damping.min() < 10.0
    for stiffness, damping, reason in ((200.0, 30.0, 'fer_joint7'), (2000.0, -1.0, 'stiffness')):
        given = SoftLimitSettings((0.3,), (stiffness,), (damping,))
        with pytest.raises(InputError, match=rf'soft_limits\.damping: joint .*{reason}'):
            settings(panda_arm(), soft_limits=given)


def test_a_spring_of_the_urdf_that_is_too_stiff_is_lowered() -> None:
    ends = '<limit lower="-1" upper="1" effort="9" velocity="3"/><safety_controller '
    ends += 'k_velocity="80" k_position="100" soft_lower_limit="-0.8" soft_upper_limit="0.8"/>'
    turning = joint('j', 'continuous', 'base', 'tip', axis=(0, 1, 0), more=ends)
    urdf = robot(link('base'), link('tip', 0.5), turning.replace('continuous', 'revolute'))
    model = load(urdf)
    zones = settings(model).zones
    inertia = model.mass_matrix(np.zeros(1))[0, 0]
    assert zones.damping[0] == pytest.approx(0.995 * inertia / 0.002)
    assert zones.stiffness[0] == pytest.approx(zones.damping[0] / 0.008)
    assert settings(model, armature=(1.0,)).zones.stiffness[0] == 8000.0


def test_the_values_of_the_pages_are_accepted() -> None:
    zones = SoftLimitSettings((0.6,), (200.0, 200.0, 200.0, 200.0, 25.0, 25.0, 25.0))
    settings(panda_arm(), damping=(2.0,) * 4 + (0.5,) * 3, soft_limits=zones)
    for name in ('panda_arm', 'ur5e'):
        settings(load(ROOT / f'urdf/{name}.urdf'), damping=(0.1,))
