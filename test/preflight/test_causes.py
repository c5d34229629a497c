# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Every cause is found where it is, alone, and none where nothing is wrong.

Here on a recording of each kind; docs/development/preflight.md has the rates of 50, seeds
100 to 149.
"""

import numpy as np
import pytest

from rnea_ros.preflight import Checkup, check
from rnea_ros.preflight.findings import Cause, ModelVerdict
from rnea_ros.recordings import Kind
from support.recorded.synthetic_recordings import ARM, CASES, HAND, Robot, record

SEEDS = {Kind.STILL: 0, Kind.MOTION: 1}
NOISES = (0.02, 0.1, 0.4)
CASES_BY_KIND = [
    (name, kind)
    for name in CASES
    for kind in Kind
    # At rest friction has no direction, so that it is unknown.
    if (name, kind) != ('before_the_gear', Kind.STILL)
]


def judged(name: str, kind: Kind, seed: int) -> Checkup:
    random = np.random.default_rng(1000 + seed)
    robot, model = CASES[name].make(random)
    robot = robot.with_(noise=float(random.choice(NOISES)))
    return check(model, record(robot, kind, seed), kind=kind)


def must_be_fixed(checkup: Checkup) -> frozenset[str]:
    return frozenset(f.cause.name for f in checkup.findings if f.must_be_fixed)


def text_of(checkup: Checkup, cause: Cause) -> str:
    return next(finding.text for finding in checkup.findings if finding.cause is cause)


@pytest.mark.parametrize(('name', 'kind'), CASES_BY_KIND)
def test_each_cause_is_found_alone(name: str, kind: Kind) -> None:
    checkup = judged(name, kind, SEEDS[kind])
    expected = CASES[name].causes
    assert must_be_fixed(checkup) == expected
    assert checkup.verdict is (ModelVerdict.REJECTED if expected else ModelVerdict.ACCEPTED)


@pytest.mark.parametrize('kind', Kind)
@pytest.mark.parametrize('joint', [1, 2, 3, 5])
def test_the_joint_with_the_inverted_effort_is_named(kind: Kind, joint: int) -> None:
    factor = np.ones(7)
    factor[joint] = -1.0
    checkup = check(ARM, record(Robot(ARM, factor=factor), kind, 7))
    (finding,) = [f for f in checkup.findings if f.must_be_fixed]
    assert finding.cause is Cause.INVERTED_EFFORT
    assert finding.joints == (joint,)
    assert f'fer_joint{joint + 1}' in finding.text


@pytest.mark.parametrize('kind', Kind)
def test_a_missing_tool_is_weighed_and_placed(kind: Kind) -> None:
    robot = Robot(ARM, mass=1.2, com=(0.02, -0.03, 0.15), noise=0.05)
    checkup = check(ARM, record(robot, kind, 3))
    best = checkup.assessment.best
    mass = best.parameter('load fer_link7', 0)
    assert not mass.excludes(1.2)
    assert mass.half_width < 0.2
    place = [best.fit.values['load fer_link7', k] / mass.value for k in (1, 2, 3)]
    np.testing.assert_allclose(place, robot.com, atol=0.03)
    assert 'fer_link7' in text_of(checkup, Cause.MISSING_TOOL)


def test_a_significant_load_that_is_too_small_raises_no_alarm() -> None:
    checkup = check(ARM, record(Robot(ARM, mass=0.1, noise=0.02, coulomb=0.0), Kind.MOTION, 3))
    assert checkup.assessment.hypothesis.loaded
    assert checkup.verdict is ModelVerdict.ACCEPTED


@pytest.mark.parametrize('kind', Kind)
def test_a_tool_too_many_is_called_by_its_link(kind: Kind) -> None:
    checkup = check(HAND, record(Robot(ARM), kind, 3))
    text = text_of(checkup, Cause.SURPLUS_TOOL)
    assert 'fer_hand with everything fixed to it, 0.71 kg' in text


@pytest.mark.parametrize('kind', Kind)
@pytest.mark.parametrize('degrees', [15.0, 60.0, 90.0, 150.0])
def test_the_angle_of_gravity_is_measured(kind: Kind, degrees: float) -> None:
    angle = np.radians(degrees)
    gravity = 9.81 * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    checkup = check(ARM, record(Robot(ARM.with_gravity(gravity)), kind, 3))
    _, size, found = checkup.assessment.gravity_found()
    assert found.value == pytest.approx(angle, abs=0.05)
    assert size.value == pytest.approx(1.0, abs=0.05)
    assert must_be_fixed(checkup) == {'GRAVITY_DIRECTION'}


def test_poses_at_rest_leave_inverted_efforts_and_gravity_ambiguous() -> None:
    hanging = Robot(ARM.with_gravity((0.0, 0.0, 9.81)))
    at_rest = check(ARM, record(hanging, Kind.STILL, 5))
    assert 'upside down' in text_of(at_rest, Cause.INVERTED_EFFORT)
    moving = check(ARM, record(hanging, Kind.MOTION, 5))
    assert must_be_fixed(moving) == {'GRAVITY_DIRECTION'}


@pytest.mark.parametrize('kind', Kind)
def test_two_causes_at_once_are_both_found(kind: Kind) -> None:
    factor = np.ones(7)
    factor[2] = -1.0
    robot = Robot(ARM, factor=factor, mass=1.5, noise=0.05)
    assert must_be_fixed(check(ARM, record(robot, kind, 11))) == {
        'INVERTED_EFFORT', 'MISSING_TOOL',
    }


@pytest.mark.parametrize('kind', Kind)
def test_an_offset_beyond_a_sensors_is_found(kind: Kind) -> None:
    recording = record(Robot(ARM), kind, 2)
    offset = np.array([0.0, 0.0, 0.0, 12.0, 0.0, 0.0, 0.0])
    shifted = type(recording)(
        recording.names, recording.time, recording.position, recording.velocity,
        recording.effort + offset,
    )
    checkup = check(ARM, shifted)
    assert must_be_fixed(checkup) == {'OFFSET'}
    assert 'fer_joint4' in text_of(checkup, Cause.OFFSET)


def test_unexplained_scatter_is_not_accepted() -> None:
    recording = record(Robot(ARM, noise=40.0), Kind.STILL, 2)
    assert check(ARM, recording).verdict is not ModelVerdict.ACCEPTED


def test_a_joint_without_gravity_is_not_judged() -> None:
    checkup = check(ARM, record(Robot(ARM), Kind.STILL, 1))
    (finding,) = [f for f in checkup.findings if f.cause is Cause.UNJUDGED]
    assert 0 in finding.joints  # its axis is vertical
    assert not finding.must_be_fixed
    assert checkup.verdict is ModelVerdict.ACCEPTED


def test_friction_does_not_pass_for_a_wrong_scale() -> None:
    checkup = check(ARM, record(Robot(ARM, coulomb=0.3), Kind.MOTION, 1))
    assert must_be_fixed(checkup) == {'CURRENT'}
    for joint in checkup.assessment.loaded:
        assert not checkup.assessment.joints[joint].scale.excludes(1.0, 0.1)


@pytest.mark.parametrize('kind', Kind)
def test_an_effort_in_another_unit_hides_no_other_joint(kind: Kind) -> None:
    factor = np.ones(7)
    factor[2] = 1000.0
    alone, with_it = (
        check(ARM, record(Robot(ARM, factor=each), kind, 7)) for each in (np.ones(7), factor)
    )
    assert must_be_fixed(with_it) == {'WRONG_SCALE'}
    judged_alone, judged_with_it = (
        [joint.is_judged for joint in checkup.assessment.joints] for checkup in (alone, with_it)
    )
    assert judged_with_it[:2] + judged_with_it[3:] == judged_alone[:2] + judged_alone[3:]


def test_a_factor_of_a_joint_is_found_beside_gravity_that_is_compensated() -> None:
    factor = np.ones(7)
    factor[1] = 10.0
    robot = Robot(ARM, compensated=True, factor=factor, noise=0.02)
    found = check(ARM, record(robot, Kind.MOTION, 4), kind=Kind.MOTION).findings
    joints = {finding.cause: finding.joints for finding in found if finding.must_be_fixed}
    assert joints[Cause.WRONG_SCALE] == (1,)
    assert Cause.COMPENSATED in joints
