# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Every recording that cannot be used is rejected in one sentence that names the fault."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from rnea_ros import RobotModel, identification
from rnea_ros.errors import RneaError
from rnea_ros.recordings import Recording
from support.models.robots import ROOT, joint, link, load, robot
from support.recorded.simulated_arms import RATE, arm_unlike, record


@cache
def model() -> RobotModel:
    return load(ROOT / 'urdf/ur5e.urdf')


@cache
def good() -> Recording:
    return record(arm_unlike(model(), seed=7), 7, duration=15.0)


def answer(*recordings: Recording, of: RobotModel | None = None) -> str:
    """Return the error, or the notes of a result."""
    known = of or model()
    try:
        runs = [
            identification.run_from(recording, known, name=f'bag {number}')
            for number, recording in enumerate(recordings)
        ]
        fit = identification.identify(known, runs)
    except RneaError as error:
        return f'rejected: {error}'
    return 'notes: ' + '; '.join(fit.notes)


def with_effort(joint: int, change: float) -> Recording:
    factor = np.ones(6)
    factor[joint] = change
    return good().with_scaled_effort(factor)


def test_a_good_recording_has_no_notes() -> None:
    assert answer(good()) == 'notes: '


def test_standing_still() -> None:
    still = replace(
        good(), position=np.tile(good().position[0], (len(good().time), 1)),
        velocity=np.zeros_like(good().velocity),
    )
    assert 'no joint moves' in answer(still)


def test_one_joint_only() -> None:
    position = np.tile(good().position[0], (len(good().time), 1))
    velocity = np.zeros_like(position)
    position[:, 2], velocity[:, 2] = good().position[:, 2], good().velocity[:, 2]
    assert 'only elbow_joint moves' in answer(
        replace(good(), position=position, velocity=velocity)
    )


def test_too_short() -> None:
    assert '5 s are needed' in answer(good().part(slice(0, 1000)))
    assert 'rejected' in answer(good().part(slice(0, 100)))


def test_rest_at_the_end_is_not_what_the_model_is_judged_on() -> None:
    run = identification.run_from(good(), model())
    rest = np.zeros((len(run.time), 6))
    resting = replace(
        run, time=np.concatenate((run.time, run.time + run.time[-1])), q=np.vstack((run.q, rest)),
        qd=np.vstack((run.qd, rest)), qdd=np.vstack((run.qdd, rest)),
        effort=np.vstack((run.effort, rest)), segment=np.zeros(2 * len(rest), dtype=int),
    )
    last, of_motion = resting.split(0.7)[1], run.split(0.7)[1]
    np.testing.assert_array_equal(last.qd[: len(of_motion.qd)], of_motion.qd)


def test_what_gaps_cost_is_said() -> None:
    with_gaps = good().part(np.flatnonzero(good().time % 2.5 < 1.2))
    assert 'gaps in the joint states cost' in answer(with_gaps)


def test_standstill_is_no_motion() -> None:
    stop = 1000
    rest = {
        name: np.concatenate([values[:stop], np.repeat(values[stop : stop + 1], 2500, axis=0)])
        for name, values in (('position', good().position), ('effort', good().effort))
    }
    time = np.arange(stop + 2500) / RATE
    velocity = np.concatenate([good().velocity[:stop], np.zeros((2500, 6))])
    text = answer(Recording(good().names, time, rest['position'], velocity, rest['effort']))
    assert '5 s are needed' in text


def test_a_short_silence_is_no_gap() -> None:
    keep = np.ones(len(good().time), dtype=bool)
    keep[1000:1006] = False
    assert answer(good().part(keep)) == 'notes: '


def test_late_efforts_are_noted_and_corrected() -> None:
    late = replace(good(), effort=CubicSpline(good().time, good().effort)(good().time - 0.02))
    assert 'ms later than the motion' in answer(late)
    errors = [
        identification.identify(
            model(), identification.run_from(late, model(), effort_delay=delay)
        ).comparison.identified.moving_rms
        for delay in (0.0, 0.02)
    ]
    assert (errors[1] < 0.8 * errors[0]).all()


def test_the_effort_of_a_joint_can_be_left_out() -> None:
    run = identification.run_from(
        with_effort(1, -3.0), model(), without_effort=['shoulder_lift_joint']
    )
    fit = identification.identify(model(), run)
    assert np.isnan(fit.comparison.effort_rms[1])
    assert fit.comparison.is_better
    with pytest.raises(RneaError, match='tool0'):
        identification.run_from(good(), model(), without_effort=['tool0'])


def test_what_rests_cannot_judge_a_motion() -> None:
    run = identification.run_from(good(), model())
    still = replace(run, name='still', q=run.q + 0.1, qd=np.zeros_like(run.qd))
    with pytest.raises(RneaError, match='still does not move'):
        identification.identify(model(), run, validate=still)


def test_what_was_fitted_cannot_judge() -> None:
    run = identification.run_from(good(), model())
    with pytest.raises(RneaError, match='cannot judge the model'):
        identification.identify(model(), run, validate=identification.run_from(good(), model()))


def test_a_repeated_motion_is_said_to_judge_little() -> None:
    once = good().position[:1250]
    q = np.concatenate([once, once[::-1], once, once[::-1]])
    qd = np.gradient(q, 1.0 / RATE, axis=0)
    effort = arm_unlike(model(), seed=7).efforts(q, qd, np.gradient(qd, 1.0 / RATE, axis=0))
    time = np.arange(len(q)) / RATE
    assert 'repeat the fitted motion' in answer(Recording(good().names, time, q, qd, effort))


def test_a_fault_can_be_accepted() -> None:
    run = identification.run_from(with_effort(2, -1.0), model())
    notes = identification.identify(model(), run, accept_faults=True).notes
    assert any('the sign is inverted' in note for note in notes)


def test_too_slow_a_rate() -> None:
    assert 'a low-pass filter of 10 Hz needs at least 22 Hz' in answer(
        good().part(slice(None, None, 25))
    )


def test_efforts_of_zero() -> None:
    assert 'no joint has an effort that changes' in answer(good().with_scaled_effort(0.0))


def test_one_effort_of_zero_is_left_out_with_a_note() -> None:
    text = answer(with_effort(2, 0.0))
    assert text.startswith('notes')
    assert 'left out: elbow_joint' in text


@pytest.mark.parametrize('masses', [0.5, 1.0, 1.5])
def test_an_inverted_effort_is_named_in_spite_of_wrong_masses(masses: float) -> None:
    urdf = model().with_inertial_parameters(masses * model().inertial_parameters)
    text = answer(with_effort(2, -1.0), of=urdf)
    assert text.startswith('rejected: elbow_joint: the effort is -')
    assert 'the sign is inverted' in text
    assert 'correct it by effort_scale, -1 for these' in text


def test_inverted_efforts_of_all_joints() -> None:
    text = answer(good().with_scaled_effort(-1.0))
    assert 'the efforts of all joints are -1.' in text
    assert 'the sign is inverted' in text


def test_an_inverted_axis() -> None:
    sign = np.array([1.0, 1.0, 1.0, -1.0, 1.0, 1.0])
    inverted = replace(
        good(), position=sign * good().position, velocity=sign * good().velocity,
        effort=sign * good().effort,
    )
    text = answer(inverted)
    assert 'wrist_1_joint: position and effort have the opposite sign' in text
    assert 'invert the axis in the URDF' in text


def test_an_inverted_effort_of_a_light_joint_is_a_note_if_the_fit_is_good() -> None:
    recording = record(arm_unlike(model(), seed=0), 0, duration=15.0)
    inverted = recording.with_scaled_effort([1.0, 1.0, 1.0, -1.0, 1.0, 1.0])
    text = answer(inverted)
    assert text.startswith('notes: wrist_1_joint: the effort is -1.')
    assert 'the sign is inverted' in text


@pytest.mark.parametrize('factor', [0.05, 1000.0])
def test_another_unit_of_one_joint(factor: float) -> None:
    text = answer(with_effort(1, factor))
    assert text.startswith('rejected: shoulder_lift_joint: the effort is ')
    assert 'correct it by effort_scale' in text or 'is not measured: check its driver' in text


@pytest.mark.parametrize('factor', [10.0, 1000.0])
def test_another_unit_of_all_joints(factor: float) -> None:
    assert 'another unit' in answer(good().with_scaled_effort(factor))


def test_another_robot() -> None:
    other = load(ROOT / 'urdf/panda_arm.urdf')
    assert 'no recorded joint' in answer(good(), of=other)


def test_wrong_gravity() -> None:
    text = answer(good(), of=model().with_gravity((9.81, 0.0, 0.0)))
    assert 'rejected: gravity is turned by' in text
    assert 'correct it by gravity' in text
    found = [float(part) for part in text.partition('(')[2].partition(')')[0].split(',')]
    np.testing.assert_allclose(found, (0.0, 0.0, -9.81), atol=1.0)


def test_an_effort_without_the_weight_is_not_another_gravity() -> None:
    effort = good().effort.copy()
    arm = arm_unlike(model(), seed=7)
    effort[:, 1] -= arm.model.gravity_torques_batch(good().position)[:, 1]
    text = answer(replace(good(), effort=effort))
    assert text.startswith('rejected: the effort of shoulder_lift_joint without friction is ')
    assert 'leave the effort out: without_effort' in text


def test_a_missing_joint() -> None:
    names = [name for name in good().names if name != 'elbow_joint']
    assert "'elbow_joint' is not recorded, but it moves" in answer(good().of_joints(names))


def test_a_missing_joint_that_another_one_follows() -> None:
    arm = load(robot(
        link('base'), *(link(name, 1.0, (0.1, 0.0, 0.0)) for name in ('crank', 'upper', 'fore')),
        joint('motor', 'revolute', 'base', 'crank', axis=(0, 1, 0)),
        joint('shoulder', 'revolute', 'base', 'upper', axis=(0, 1, 0),
              more='<mimic joint="motor"/>'),
        joint('elbow', 'revolute', 'upper', 'fore', axis=(0, 1, 0)),
    ))
    recorded = record(arm_unlike(arm, seed=7), 7, duration=15.0).of_joints(['elbow'])
    assert "'motor' is not recorded, but it moves 'elbow'" in answer(recorded, of=arm)


def test_two_bags_with_different_joints() -> None:
    assert 'identify them one by one' in answer(good(), good().of_joints(good().names[:5]))


def test_nan_and_clock_jumps_are_left_out_with_a_note() -> None:
    effort, time = good().effort.copy(), good().time.copy()
    effort[100:110, 3] = np.nan
    time[2000:] += 3.0
    text = answer(replace(good(), effort=effort, time=time))
    assert text.startswith('notes')
    assert '10 samples with non-finite' in text
    assert 'gaps: 1' in text


def test_saturated_efforts() -> None:
    limit = 0.6 * np.abs(good().effort[:, 1]).max()
    effort = good().effort.copy()
    effort[:, 1] = np.clip(effort[:, 1], -limit, limit)
    assert 'shoulder_lift_joint is cut off at' in answer(replace(good(), effort=effort))


def test_coarse_efforts_are_not_saturated() -> None:
    step = 0.05 * np.abs(good().effort).max(axis=0)
    assert answer(replace(good(), effort=step * np.round(good().effort / step)))[:5] == 'notes'


def test_another_load_in_the_second_bag() -> None:
    arm = arm_unlike(model(), seed=7)
    loaded = record(arm.with_payload('wrist_3_link', 2.0, (0, 0, 0.1), np.zeros(6)), 8, 15.0)
    assert 'the load changed: in bag 1 wrist_3_link carries about' in answer(good(), loaded)


def test_a_floating_base() -> None:
    flying = RobotModel.from_urdf(ROOT / 'urdf/ur5e.urdf', floating_base=True)
    assert 'several coordinates' in answer(good(), of=flying)
