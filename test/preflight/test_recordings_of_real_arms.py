# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The verdicts on recordings of real arms, and how near the model comes to them."""

from functools import cache

import numpy as np
import pytest

from rnea_ros.preflight import Checkup, check
from rnea_ros.preflight.findings import Cause, ModelVerdict
from rnea_ros.recordings import Recording, clean, read_joint_states, recording_from
from support.models.robots import ROOT, load, vendor_robots
from support.recorded.real_arms import recording

pytest.importorskip('rosbags', reason='rosbags is not installed')

UR10 = vendor_robots('ur10_robot')


@cache
def panda() -> Recording:
    return recording_from(read_joint_states(recording('panda_exciting_trajectory.db3')))


@cache
def ur10() -> Recording:
    return recording_from(read_joint_states(recording('ur10_exciting_trajectory.db3')))


@cache
def panda_checkup(urdf: str) -> Checkup:
    return check(load(ROOT / 'urdf' / urdf), panda())


def found(checkup: Checkup) -> dict[Cause, str]:
    return {finding.cause: finding.text for finding in checkup.findings}


def must_be_fixed(checkup: Checkup) -> set[Cause]:
    return {finding.cause for finding in checkup.findings if finding.must_be_fixed}


def test_the_pandas_repeats_and_its_ringing_start_are_left_out() -> None:
    notes = ' '.join(clean(panda()).notes)
    assert '14 samples that repeat' in notes
    assert '7 samples with ringing efforts at the start' in notes
    assert 'contradict' not in notes  # once the repeats are out


def test_the_panda_without_hand_is_accepted() -> None:
    checkup = panda_checkup('panda_arm.urdf')
    assert checkup.verdict is ModelVerdict.ACCEPTED
    assert must_be_fixed(checkup) == set()
    assert [checkup.assessment.joints[k].name for k in checkup.assessment.loaded] == [
        'fer_joint2', 'fer_joint3', 'fer_joint4',
    ]


def test_the_hand_that_the_real_panda_does_not_have_is_named() -> None:
    checkup = panda_checkup('panda.urdf')
    assert checkup.verdict is ModelVerdict.REJECTED
    assert must_be_fixed(checkup) == {Cause.SURPLUS_TOOL}
    assert 'fer_hand with everything fixed to it, 0.71 kg' in found(checkup)[Cause.SURPLUS_TOOL]


@pytest.mark.oracle
def test_the_panda_is_explained_as_well_as_by_pinocchio() -> None:
    # RMS of the difference over RMS of the effort, %, measured with Pinocchio's inverse dynamics
    # on the same recording: the README of the recordings. Another low-pass filter accounts for
    # what joint 1 differs in, which accelerates more than it carries.
    full = np.array([69.0, 2.0, 2.9, 3.1, 52.0, 30.0, 100.0])
    with_friction = np.array([44.0, 1.8, 2.3, 3.0, 16.0, 13.0, 17.0])
    assessment = panda_checkup('panda_arm.urdf').assessment
    measured = assessment.prediction.effort
    rigid = assessment.prediction.rigid
    separate = assessment.separate.fit
    size = np.sqrt(np.mean(measured**2, axis=0))
    ours = 100.0 * np.sqrt(np.mean((measured - rigid) ** 2, axis=0)) / size
    ours_with_friction = 100.0 * np.sqrt(np.mean(separate.residual**2, axis=0)) / size
    print('full:', ours.round(1), 'with friction:', ours_with_friction.round(1))
    np.testing.assert_allclose(ours, full, atol=1.0, rtol=0.2)
    np.testing.assert_allclose(ours_with_friction, with_friction, atol=1.0, rtol=0.3)


@pytest.mark.parametrize('urdf', UR10)
def test_of_the_ur10_friction_dominates_and_the_effort_is_from_currents(urdf: str) -> None:
    checkup = check(load(urdf), ur10())
    assert checkup.verdict is ModelVerdict.REJECTED
    assert must_be_fixed(checkup) == {Cause.CURRENT}
    friction = found(checkup)[Cause.FRICTION]
    for joint in ('shoulder_pan_joint', 'wrist_1_joint', 'wrist_2_joint', 'wrist_3_joint'):
        assert joint in friction
    assert 'elbow_joint' not in friction


@pytest.mark.oracle
@pytest.mark.parametrize('urdf', UR10)
def test_the_ur10_is_explained_as_well_as_by_pinocchio(urdf: str) -> None:
    # As above; its last joint has no figure there.
    with_friction = np.array([15.0, 13.0, 12.0, 27.0, 32.0, 34.0])
    assessment = check(load(urdf), ur10()).assessment
    measured = assessment.prediction.effort
    residual = assessment.separate.fit.residual
    ours = 100.0 * np.sqrt(np.mean(residual**2, axis=0) / np.mean(measured**2, axis=0))
    print('with friction:', ours.round(1))
    assert (ours < with_friction * 1.3).all()


@pytest.mark.parametrize(
    ('factor', 'cause'), [(-1.0, Cause.INVERTED_EFFORT), (0.02, Cause.WRONG_SCALE)]
)
def test_a_spoiled_recording_of_the_panda_is_seen_through(factor: float, cause: Cause) -> None:
    arm = load(ROOT / 'urdf/panda_arm.urdf')
    for scale in (np.array(factor), np.array([1.0, 1.0, 1.0, factor, 1.0, 1.0, 1.0])):
        checkup = check(arm, panda().with_scaled_effort(scale))
        assert must_be_fixed(checkup) == {cause}


def test_a_real_panda_on_a_wall_does_not_fit_the_model_on_a_table() -> None:
    tilted = load(ROOT / 'urdf/panda_arm.urdf', gravity=(9.81, 0.0, 0.0))
    checkup = check(tilted, panda())
    assert must_be_fixed(checkup) == {Cause.GRAVITY_DIRECTION}
    gravity, _, angle = checkup.assessment.gravity_found()
    assert angle.value == pytest.approx(np.pi / 2, abs=0.05)
    np.testing.assert_allclose(gravity, (0.0, 0.0, -9.81), atol=0.5)
