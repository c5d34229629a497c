# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Where one cause ends and the next begins: sizes, signs, friction, weak joints, dead efforts."""

from dataclasses import replace

import numpy as np
import pytest

from rnea_ros.preflight import Checkup, Prediction, check
from rnea_ros.preflight.assessment import Assessment
from rnea_ros.preflight.checkup import find_causes
from rnea_ros.preflight.findings import Cause, Finding, ModelVerdict
from rnea_ros.preflight.fit import Hypothesis, huber_weights
from rnea_ros.recordings import Kind, Recording
from support.recorded.synthetic_recordings import ARM, Array, Robot, only, record

TURNED = Hypothesis(gravity_turned=True)
SHOULDER, ELBOW, WRIST = 1, 3, 6


def of_joint(joint: int, value: float, others: float) -> Array:
    """Return a value for each joint of the arm."""
    values = np.full(7, others)
    values[joint] = value
    return values


def with_friction(joint: int, share: float) -> Robot:
    """Return a robot with one joint that loses a share of what it carries."""
    return Robot(ARM).with_(coulomb=of_joint(joint, share, 0.02))


def must_be_fixed(checkup: Checkup) -> set[Cause]:
    return {finding.cause for finding in checkup.findings if finding.must_be_fixed}


def of(checkup: Checkup, cause: Cause) -> Finding:
    (finding,) = [finding for finding in checkup.findings if finding.cause is cause]
    return finding


def judged_by(hypothesis: Hypothesis, recording: Recording, kind: Kind) -> list[Finding]:
    """Return what must be fixed where a hypothesis is the one that is believed."""
    samples = check(ARM, recording, kind=kind).assessment.samples
    names = {name: name for name in ARM.joint_names}
    assessment = Assessment(Prediction(ARM, names, samples))
    assessment.best = assessment.selection.solution(hypothesis)
    return [finding for finding in find_causes(assessment) if finding.must_be_fixed]


def test_what_compensation_leaves_has_no_direction() -> None:
    held = record(Robot(ARM, compensated=True), Kind.STILL, 0)
    sideways = ARM.with_gravity((0.15 * 9.81, 0.0, 0.0)).gravity_torques_batch(held.position)
    left = replace(held, effort=held.effort + sideways)
    (finding,) = judged_by(TURNED, left, Kind.STILL)
    assert finding.cause is Cause.COMPENSATED
    assert '[gravity]' in finding.remedy


def test_upward_gravity_is_a_finding_only_with_inertial_efforts() -> None:
    hanging = Robot(ARM.with_gravity((0.0, 0.0, 9.81)))
    (moving,) = judged_by(TURNED, record(hanging, Kind.MOTION, 5), Kind.MOTION)
    assert moving.cause is Cause.GRAVITY_DIRECTION
    (at_rest,) = judged_by(TURNED, record(hanging, Kind.STILL, 5), Kind.STILL)
    assert at_rest.cause is Cause.INVERTED_EFFORT
    assert 'upside down' in at_rest.text


def test_another_size_of_gravity_beside_right_inertia_has_no_cause() -> None:
    heavy = Robot(ARM.with_gravity((0.0, 0.0, -1.6 * 9.81)))
    checkup = check(ARM, record(heavy, Kind.MOTION, 2))
    assert must_be_fixed(checkup) == {Cause.UNEXPLAINED}
    assert 'gravity is 1.60' in of(checkup, Cause.UNEXPLAINED).text


def test_remainders_of_compensation_are_not_taken_for_a_unit() -> None:
    # A share that the robot's own model does not compensate: significant, though not seen.
    held = record(Robot(ARM, compensated=True, noise=2.0), Kind.STILL, 1)
    full = record(Robot(ARM, noise=0.0), Kind.STILL, 1)
    checkup = check(ARM, replace(held, effort=0.97 * held.effort + 0.03 * full.effort))
    assert checkup.assessment.best.parameter('all', 0, add=1.0).excludes(0.0)
    assert must_be_fixed(checkup) == {Cause.COMPENSATED}


@pytest.mark.parametrize('kind', Kind)
@pytest.mark.parametrize(('factor', 'fits'), [(-1.0, True), (-0.3, False), (-2.5, False)])
def test_an_inverted_scaled_effort_is_named_as_both(kind: Kind, factor: float, fits: bool) -> None:
    recording = record(Robot(ARM, factor=of_joint(ELBOW, factor, 1.0)), kind, 3)
    checkup = check(ARM, recording, kind=kind)
    assert must_be_fixed(checkup) == {Cause.INVERTED_EFFORT}
    assert ('gear ratio' not in of(checkup, Cause.INVERTED_EFFORT).text) is fits


@pytest.mark.parametrize('kind', Kind)
def test_little_load_without_effort_is_reported_as_a_note(kind: Kind) -> None:
    recording = record(Robot(ARM, compensated=only(5), noise=0.02), kind, 0)
    checkup = check(ARM, recording, kind=kind)
    finding = of(checkup, Cause.COMPENSATED)
    assert finding.joints == (5,)
    assert not finding.must_be_fixed
    assert checkup.verdict is ModelVerdict.ACCEPTED


def test_a_misplaced_tool_of_the_right_mass_is_found_by_its_moment() -> None:
    model = ARM.with_payload('fer_link7', 2.0, (0.0, 0.0, 0.1))
    robot = Robot(ARM, mass=2.0, com=(0.15, 0.0, 0.1), noise=0.02)
    checkup = check(model, record(robot, Kind.STILL, 3))
    assert must_be_fixed(checkup) == {Cause.MISSING_TOOL}
    assert 'its mass is not determined' in of(checkup, Cause.MISSING_TOOL).text


@pytest.mark.parametrize(('share', 'found'), [(0.05, False), (0.2, True)])
def test_large_friction_is_at_the_motor_and_small_at_the_joint(share: float, found: bool) -> None:
    checkup = check(ARM, record(Robot(ARM, coulomb=share), Kind.MOTION, 1))
    assert must_be_fixed(checkup) == ({Cause.CURRENT} if found else set())


def test_one_joint_with_much_friction_is_not_measured_in_amperes() -> None:
    checkup = check(ARM, record(with_friction(SHOULDER, 0.3), Kind.MOTION, 1))
    assert must_be_fixed(checkup) == set()


def test_friction_dominates_where_it_is_more_than_the_load() -> None:
    checkup = check(ARM, record(with_friction(SHOULDER, 0.7), Kind.MOTION, 1))
    assert SHOULDER not in of(checkup, Cause.FRICTION).joints
    checkup = check(ARM, record(with_friction(SHOULDER, 1.5), Kind.MOTION, 1))
    assert SHOULDER in of(checkup, Cause.FRICTION).joints


@pytest.mark.parametrize(('offset', 'found'), [(5.5, False), (12.0, True)])
def test_an_offset_that_friction_may_explain_is_not_reported(offset: float, found: bool) -> None:
    recording = record(Robot(ARM, coulomb=0.3), Kind.MOTION, 1)
    shifted = replace(recording, effort=recording.effort + of_joint(ELBOW, offset, 0.0))
    assert (Cause.OFFSET in must_be_fixed(check(ARM, shifted))) is found


def test_one_loaded_joint_that_cannot_be_judged_leaves_it_open() -> None:
    checkup = check(ARM, record(with_friction(ELBOW, 0.9), Kind.MOTION, 1))
    assert must_be_fixed(checkup) == set()
    judged = [checkup.assessment.joints[joint].is_judged for joint in checkup.assessment.loaded]
    assert any(judged)
    assert not all(judged)
    assert checkup.verdict is ModelVerdict.UNDECIDED


@pytest.mark.parametrize('kind', Kind)
def test_gravity_that_the_model_lacks_is_found(kind: Kind) -> None:
    checkup = check(ARM.with_gravity((0.0, 0.0, 0.0)), record(Robot(ARM), kind, 1))
    assert must_be_fixed(checkup) == {Cause.GRAVITY_DIRECTION}
    assert 'root link, not zero' in of(checkup, Cause.GRAVITY_DIRECTION).text


def test_without_gravity_poses_at_rest_are_undecided() -> None:
    weightless = ARM.with_gravity((0.0, 0.0, 0.0))
    checkup = check(weightless, record(Robot(weightless), Kind.STILL, 1))
    assert checkup.verdict is ModelVerdict.UNDECIDED


def test_hubers_weights_fall_with_the_inverse_of_a_large_residual() -> None:
    residual = np.array([[0.0, 1.0, -1.9], [4.0, -8.0, np.nan]])
    weights = huber_weights(residual, np.array([1.0, 2.0, 1.0]), 2.0)
    np.testing.assert_allclose(weights, [[1.0, 1.0, 1.0], [0.5, 0.5, 1.0]])


def with_constant(recorded: Recording, joint: int | slice, value: float) -> Recording:
    effort = recorded.effort.copy()
    effort[:, joint] = value
    return replace(recorded, effort=effort)


@pytest.mark.parametrize('kind', Kind)
@pytest.mark.parametrize('value', [0.0, -3.5])
def test_a_loaded_joint_with_a_constant_effort_is_dead(kind: Kind, value: float) -> None:
    recorded = with_constant(record(Robot(ARM), kind, 1), ELBOW, value)
    checkup = check(ARM, recorded, kind=kind)
    assert checkup.verdict is ModelVerdict.REJECTED
    (finding,) = [finding for finding in checkup.findings if finding.must_be_fixed]
    assert finding.cause is Cause.NO_EFFORT
    assert f'fer_joint4: the effort is {value:g} throughout' in finding.text
    assert 'fer_joint4' not in [joint.name for joint in checkup.assessment.joints]
    assert 'do not fit' not in checkup.report().splitlines()[1]


def test_a_joint_that_carries_nothing_may_be_dead() -> None:
    checkup = check(ARM, with_constant(record(Robot(ARM), Kind.MOTION, 1), WRIST, 0.0))
    assert checkup.verdict is ModelVerdict.ACCEPTED
    assert 'fer_joint7: the effort is 0 throughout' in of(checkup, Cause.NO_EFFORT).text


@pytest.mark.parametrize(('value', 'word'), [(0.0, 'exactly 0'), (2.0, 'constant')])
def test_all_joints_of_a_driver_that_reports_nothing_are_named(value: float, word: str) -> None:
    recorded = with_constant(record(Robot(ARM), Kind.MOTION, 1), slice(None), value)
    checkup = check(ARM, recorded)
    assert [finding.cause for finding in checkup.findings] == [Cause.NO_EFFORT]
    assert word in of(checkup, Cause.NO_EFFORT).text
    assert checkup.verdict is ModelVerdict.REJECTED


def test_a_joint_without_an_effort_still_has_a_position() -> None:
    recorded = with_constant(record(Robot(ARM), Kind.MOTION, 1), ELBOW, float('nan'))
    checkup = check(ARM, recorded)
    assert checkup.verdict is ModelVerdict.ACCEPTED
    assert 'no effort recorded, not compared: fer_joint4' in checkup.report()
