# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Each fault of a robot, a driver or a model is named with its joints, and no other one is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
import re
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.feedforward.settings import complete_values, resolve, settings_from
from rnea_ros.preflight import check, check_units, found_parameters
from rnea_ros.preflight.faults import Cause, ModelVerdict
from rnea_ros.recordings import Kind, Recording, RecordingError
from support.recorded.simulated_arms import arm_unlike
from support.recorded.simulated_arms import record as record_arm
from support.recorded.synthetic_recordings import ARM, HAND, UR, Array, Robot, record

ALL, LOADED, EVERY = tuple(range(7)), (1, 2, 3), slice(None)
FIRST = {
    'NO_EFFORT', 'INVERTED_AXIS', 'INVERTED_EFFORT', 'GRAVITY_DIRECTION', 'MISSING_TOOL',
    'COMPENSATED',
}
SHOULDER, UPPER, ELBOW, FOREARM, WRIST = 1, 2, 3, 5, 6
FIRST_LINES = dict(zip(ModelVerdict, ('accepted', 'not accepted', 'undecided'), strict=True))
UP, WEIGHTLESS = (ARM.with_gravity((0.0, 0.0, z)) for z in (9.81, 0.0))


@dataclass(frozen=True)
class Case:
    """A robot, and the answer for a model of it."""

    robot: Robot
    causes: Mapping[str, tuple[int, ...] | None] = field(default_factory=dict)
    """What must be fixed, with all joints concerned; None: any."""
    says: tuple[str, ...] = ()  # exactly once in the report
    lacks: tuple[str, ...] = ()
    model: RobotModel = ARM
    notes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # not to be fixed
    verdict: ModelVerdict | None = None  # None: REJECTED if something must be fixed
    seed: int = 1
    change: Callable[[Recording], Recording] = replace


def of_joint(joint: int, value: float, others: float = 1.0) -> Array:
    """Return a value for each joint of the arm."""
    values = np.full(7, others)
    values[joint] = value
    return values


def shifted(joint: int, offset: float) -> Callable[[Recording], Recording]:
    offsets = of_joint(joint, offset, 0.0)
    return lambda recorded: replace(recorded, effort=recorded.effort + offsets)


def constant(joint: int | slice, value: float) -> Callable[[Recording], Recording]:
    def change(recorded: Recording) -> Recording:
        effort = recorded.effort.copy()
        effort[:, joint] = value
        return replace(recorded, effort=effort)

    return change


def partly_compensated(held: Recording) -> Recording:
    """Add a share that the robot's own model does not compensate: significant, but not seen."""
    full = record(Robot(ARM, noise=0.0), Kind.STILL, 1)
    return replace(held, effort=0.97 * held.effort + 0.03 * full.effort)


def arm(**options: Any) -> Robot:
    return Robot(ARM, **options)


def arm_at(gravity: float, **options: Any) -> Robot:
    return Robot(ARM.with_gravity((0.0, 0.0, -9.81 * gravity)), **options)


IN_BOTH: dict[str, Case] = {
    'right': Case(arm(), says=('fer_joint6 fit; ', 'fer_joint7 not judged'),
                  lacks=('[gravity]', 'gravity_factor')),
    'axis': Case(arm(flipped=(UPPER,)), {'INVERTED_AXIS': (UPPER,)}, (
        "fer_joint3: position and effort have the opposite sign of the model's axis",)),
    'effort of one': Case(arm(factor=of_joint(UPPER, -1.0)), {'INVERTED_EFFORT': (UPPER,)}, (
        'fer_joint3: the effort is -', 'sign is inverted'), ('gear ratio',), seed=7),
    'effort, -0.3': Case(arm(factor=of_joint(ELBOW, -0.3)), {'INVERTED_EFFORT': (ELBOW,)},
                         ('sign is inverted and the size is wrong: wrong gear ratio',), seed=3),
    'effort, 1.6': Case(arm(factor=of_joint(UPPER, 1.6)), {'WRONG_SCALE': (UPPER,)},
                        ('fer_joint3: the effort is 1.6', 'wrong gear ratio or unit, or current')),
    'efforts, 0.5': Case(arm(factor=0.5), {'WRONG_SCALE': ALL},
                         ('the efforts of all joints are 0.5', 'another unit, current')),
    'extra tool': Case(arm(), {'SURPLUS_TOOL': None}, (
        'fer_hand with everything fixed to it, 0.71 kg',), model=HAND, seed=3),
    'effort and tool': Case(arm(factor=of_joint(UPPER, -1.0), mass=1.5, noise=0.05),
                            {'INVERTED_EFFORT': (UPPER,), 'MISSING_TOOL': None}, seed=11),
    'compensated': Case(arm(compensated=True), {'COMPENSATED': ALL}, (
        'hardware compensates gravity', 'set hardware_compensates: [gravity]')),
    'one compensated': Case(
        arm(compensated=of_joint(SHOULDER, 1.0, 0.0)), {'COMPENSATED': (SHOULDER,)},
        ('* hardware compensates gravity: fer_joint2',), ('[gravity]',)),
    'light compensated': Case(arm(compensated=of_joint(FOREARM, 1.0, 0.0), noise=0.02), seed=0,
                              notes={'COMPENSATED': (FOREARM,)}),
    'offset': Case(arm(), {'OFFSET': (ELBOW,)}, seed=2, change=shifted(ELBOW, 12.0)),
    'model without gravity': Case(arm(), {'GRAVITY_DIRECTION': None}, ('root link, not zero',),
                                  model=WEIGHTLESS),
    'stuck': Case(arm(), {'NO_EFFORT': ()}, ('fer_joint4: the effort is -3.5 throughout',),
                  ('\nfer_joint4 ', 'do not fit'), change=constant(ELBOW, -3.5)),
}
AT_REST: dict[str, Case] = {
    'currents': Case(arm(factor=np.array([0.2, 0.05, 0.1, 0.3, 0.02, 0.15, 0.08])),
                     {'WRONG_SCALE': None}),
    'efforts': Case(arm(factor=-1.0), {'INVERTED_EFFORT': ALL}, (
        'the efforts of all joints are -1.00', 'upside down')),
    'weightless': Case(Robot(WEIGHTLESS), model=WEIGHTLESS, verdict=ModelVerdict.UNDECIDED),
    'remainders': Case(arm(compensated=True, noise=2.0), {'COMPENSATED': ALL},
                       change=partly_compensated),
    'scatter': Case(arm(noise=40.0), {'ANOTHER_ROBOT': ALL}, seed=2),
    'misplaced tool': Case(
        arm(mass=2.0, com=(0.15, 0.0, 0.1), noise=0.02), {'MISSING_TOOL': None},
        ('its mass is not determined',), model=ARM.with_payload('fer_link7', 2.0, (0, 0, 0.1)),
        seed=3),
}
IN_MOTION: dict[str, Case] = {
    'efforts': Case(arm(factor=-1.0), {'INVERTED_EFFORT': ALL}, (
        'the efforts of all joints are -1.00',), ('upside down',)),
    'upside down': Case(Robot(UP), {'GRAVITY_DIRECTION': ALL}, seed=5),
    'heavy': Case(arm_at(1.6), {'UNEXPLAINED': ALL},
                  ('gravity is 1.60',), seed=2),
    'light': Case(arm_at(0.8, factor=0.7), {'WRONG_SCALE': ALL}, (
        'the gravity efforts of all joints are 0.56', 'the efforts of motion are 0.70'), seed=2),
    'rotors': Case(arm_at(1 / 1.6, factor=1.6), {}, ('the efforts of motion are 1.61',), seed=2),
    'effort of compensated': Case(
        arm(compensated=True, factor=of_joint(SHOULDER, 10.0), noise=0.02),
        {'COMPENSATED': ALL, 'WRONG_SCALE': (SHOULDER,)}, seed=4),
    'friction, 0.2': Case(arm(coulomb=0.2), {'CURRENT': LOADED}, (
        'friction.*', 'hardware_compensates: [friction]'), notes={'FRICTION': (WRIST,)}),
    'friction of one, 1.5': Case(
        arm(coulomb=of_joint(SHOULDER, 1.5, 0.02)), notes={'FRICTION': (SHOULDER, WRIST)},
        verdict=ModelVerdict.UNDECIDED),
    'offset within friction': Case(arm(coulomb=0.3), {'CURRENT': LOADED},
                                   change=shifted(ELBOW, 5.5)),
    'offset beyond friction': Case(arm(coulomb=0.3), {'CURRENT': LOADED, 'OFFSET': (ELBOW,)},
                                   change=shifted(ELBOW, 12.0)),
    'dead without load': Case(arm(), change=constant(WRIST, 0.0), says=(
        '- no effort reported: fer_joint7: the effort is 0 throughout',)),
    'all stuck': Case(arm(), {'NO_EFFORT': ALL}, ('constant',), change=constant(EVERY, 2.0)),
    'without effort': Case(arm(), says=('no effort recorded, not compared: fer_joint4',),
                           change=constant(ELBOW, np.nan)),
}


@pytest.mark.parametrize(('case', 'kind'), [
    pytest.param(case, kind, id=f'{name}-{kind.value}')
    for kind, cases in ((Kind.STILL, IN_BOTH | AT_REST), (Kind.MOTION, IN_BOTH | IN_MOTION))
    for name, case in cases.items()
])
def test_what_is_wrong_is_named_alone(case: Case, kind: Kind) -> None:
    checkup = check(case.model, case.change(record(case.robot, kind, case.seed)), kind=kind)
    report = checkup.report()
    fixed = {each.cause.name: each.joints for each in checkup.findings if each.must_be_fixed}
    notes = {each.cause.name: each.joints for each in checkup.findings if not each.must_be_fixed}
    assert fixed.keys() == case.causes.keys(), report
    assert fixed == {cause: joints or fixed[cause] for cause, joints in case.causes.items()}
    assert {cause: notes.get(cause) for cause in case.notes} == case.notes
    rejected = ModelVerdict.REJECTED if case.causes else ModelVerdict.ACCEPTED
    assert checkup.verdict is (case.verdict or rejected)
    assert report.startswith(FIRST_LINES[checkup.verdict])
    for text in case.says:
        assert report.count(text) == 1, report
    assert not [text for text in case.lacks if text in report]
    assert ('sign(velocity)' in report) is (kind is Kind.MOTION)
    assert not re.search(r"None|RobotModel|np\.|\(\)|\['|-0\.00 |\d{4,} %", report)
    values = found_parameters(checkup)
    assert ('hardware_compensates' in values) is (fixed.get('COMPENSATED') == ALL)
    assert ('payload.link' in values) is ('MISSING_TOOL' in fixed and case.seed != 3)
    assert kind is Kind.MOTION or 'friction.model' not in values
    assert not (FIRST & fixed.keys() and checkup.gravity_factors)
    if values:
        complete = complete_values(values)
        resolve(settings_from(complete), case.model)


@pytest.mark.parametrize('kind', Kind)
def test_the_unit_of_positions_is_checked_first(kind: Kind) -> None:
    recorded = record(arm(), kind, 1)
    text = r'fer_joint1 moves from -\S+ to \S+, its limits are -2.897 to 2.897: .* in degrees, not'
    with pytest.raises(RecordingError, match=text):
        check(ARM, replace(recorded, position=np.degrees(recorded.position)))
    spikes = recorded.position + np.where(np.arange(len(recorded.time)) % 60, 0.0, 300.0)[:, None]
    check_units(ARM, {name: name for name in ARM.joint_names}, replace(recorded, position=spikes))
    zeros = replace(recorded, position=recorded.position + 40.0)
    check_units(ARM, {name: name for name in ARM.joint_names}, zeros)
    travel = np.ptp(recorded.position, axis=0).max()
    of_another_joint = replace(recorded, position=8.0 / travel * recorded.position)
    check_units(ARM, {name: name for name in ARM.joint_names}, of_another_joint)


@pytest.mark.parametrize(('urdf', 'seed', 'load', 'ampere', 'cause'), [
    (UR, 0, 0.3, 1.0, Cause.CURRENT), (ARM, 2, 0.3, 1.0, Cause.CURRENT),
    (ARM, 2, 0.02, 0.1, Cause.WRONG_SCALE),
])
def test_currents_of_the_right_robot_are_no_other_robot(
    urdf: RobotModel, seed: int, load: float, ampere: float, cause: Cause
) -> None:
    known, random = arm_unlike(urdf, seed), np.random.default_rng(seed)
    share = known.noise / 0.02 * random.uniform(0.5, 1.0, urdf.nv) * (0.5 if load > 0.1 else 0.1)
    geared = replace(known, coulomb=share, viscous=share, load=np.full(urdf.nv, load))
    gains = ampere * random.uniform(0.85, 1.15, urdf.nv) ** (1.0 if ampere == 1.0 else 4.0)
    recorded = record_arm(geared, seed, 20.0).with_scaled_effort(gains)
    causes = {each.cause for each in check(urdf, recorded).findings if each.must_be_fixed}
    assert cause in causes
    assert Cause.ANOTHER_ROBOT not in causes


@pytest.mark.parametrize('kind', Kind)
@pytest.mark.parametrize('degrees', [15.0, 150.0])
def test_the_angle_of_gravity_is_measured(kind: Kind, degrees: float) -> None:
    angle = np.radians(degrees)
    gravity = 9.81 * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    checkup = check(ARM, record(Robot(ARM.with_gravity(gravity)), kind, 3))
    vector, size, found = checkup.assessment.gravity_found()
    np.testing.assert_allclose(vector, gravity, atol=0.3)
    assert found.value == pytest.approx(angle, abs=0.05)
    assert size.value == pytest.approx(1.0, abs=0.05)
    (finding,) = [each for each in checkup.findings if each.must_be_fixed]
    assert finding.cause is Cause.GRAVITY_DIRECTION
    assert f'gravity is turned by {np.degrees(found.value):.2f} +- ' in finding.text
    assert 'set gravity to this vector' in finding.remedy
