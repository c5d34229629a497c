# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Every recording that cannot be used is rejected in one sentence that names the fault."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
import re
from typing import TypeAlias

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from rnea_ros import RobotModel, identification
from rnea_ros.errors import RneaError
from rnea_ros.preflight import check
from rnea_ros.recordings import Recording
from support.models.robots import SHIPPED, joint, link, load, robot
from support.recorded.bags import recording
from support.recorded.simulated_arms import INERTIA, RATE, THREE_JOINTS, arm_unlike, record

Change: TypeAlias = Callable[[Recording], Recording]
REJECTED, NOTES = 'rejected: ', 'notes: '
MODEL, ARM = THREE_JOINTS, arm_unlike(THREE_JOINTS, seed=7)


@cache
def good() -> Recording:
    return record(ARM, 7, duration=12.0)


def answer(*recordings: Recording, of: RobotModel = MODEL) -> str:
    """Return the error, or the notes of a result."""
    try:
        runs = [
            identification.run_from(recording, of, name=f'bag {number}')
            for number, recording in enumerate(recordings)
        ]
        fit = identification.identify(of, runs)
    except RneaError as error:
        return f'{REJECTED}{error}'
    return NOTES + '; '.join(fit.notes)


def scaled(factor: float, *joints: int) -> Change:
    """Return a change of the efforts of some joints, all by default."""
    factors = np.ones(3)
    factors[list(joints) or slice(None)] = factor
    return lambda recording: recording.with_scaled_effort(factors)


def moving(*joints: int) -> Change:
    """Return a change that holds all joints but some where they start."""
    moves = np.isin(np.arange(3), joints)
    return lambda good: replace(
        good, position=np.where(moves, good.position, good.position[0]),
        velocity=np.where(moves, good.velocity, 0.0),
    )


def partly_without_effort(recording: Recording) -> Recording:
    effort = recording.effort.copy()
    effort[100:110] = np.nan
    return replace(recording, effort=effort)


def late(recording: Recording) -> Recording:
    effort = CubicSpline(recording.time, recording.effort)(recording.time - 0.02)
    return replace(recording, effort=effort)


def repeated(recording: Recording) -> Recording:
    once = recording.position[:1250]
    q = np.concatenate([once, once[::-1], once, once[::-1]])
    qd = np.gradient(q, 1.0 / RATE, axis=0)
    effort = ARM.efforts(q, qd, np.gradient(qd, 1.0 / RATE, axis=0))
    return Recording(recording.names, np.arange(len(q)) / RATE, q, qd, effort)


def with_an_inverted_axis(good: Recording) -> Recording:
    sign = np.array([1.0, 1.0, -1.0])
    return replace(
        good, position=sign * good.position, velocity=sign * good.velocity,
        effort=sign * good.effort,
    )


def in_degrees(good: Recording) -> Recording:
    return replace(good, position=np.degrees(good.position))


def saturated(recording: Recording) -> Recording:
    limit = 0.6 * np.abs(recording.effort[:, 1]).max()
    return replace(recording, effort=np.clip(recording.effort, -limit, limit))


def coarse(recording: Recording) -> Recording:
    step = 0.05 * np.abs(recording.effort).max(axis=0)
    return replace(recording, effort=step * np.round(recording.effort / step))


@pytest.mark.parametrize(('change', 'start', 'text'), [
    (moving(), REJECTED, 'no joint moves'),
    (lambda good: good.part(slice(0, 700)), f'{REJECTED}bag 0: 1.8 s of motion to fit',
     '(accept_faults; identify: --force)'),
    (lambda good: good.part(slice(0, 100)), REJECTED, ''),
    (lambda good: good.part(slice(None, None, 25)), REJECTED,
     'a low-pass filter of 10 Hz needs at least 22 Hz'),
    (lambda good: good.part(np.flatnonzero(good.time % 2.5 < 1.2)), REJECTED,
     'gaps in the joint states cost'),
    (repeated, '', 'repeat the fitted motion'),
    (partly_without_effort, NOTES, '10 samples with non-finite'),
    (scaled(0.0), REJECTED, 'no joint has an effort that changes'),
    (scaled(0.0, 2), NOTES, 'left out: elbow'),
    (scaled(-1.0), f'{REJECTED}the efforts of all joints are -', 'the sign is inverted'),
    (scaled(0.05, 1), f'{REJECTED}lift: the effort is ',
     'correct it by effort_scale, or leave its effort out (identify: --without-effort)'),
    (in_degrees, f'{REJECTED}bag 0: pan moves from -',
     'limits are -3 to 3: the positions are in degrees, not radians, or of the motors (of a'),
    (scaled(1000.0), REJECTED, 'another unit'),
    (with_an_inverted_axis, f'{REJECTED}elbow: position and effort have the opposite sign',
     'invert the axis in the URDF, or the columns of a table (--table sign=1,-1,...)'),
    (lambda good: good.of_joints(['pan', 'elbow']), REJECTED,
     "'lift' is not recorded, but it moves"),
    (saturated, REJECTED, 'lift is cut off at'),
])  # fmt: skip
def test_what_is_wrong_is_named(change: Change, start: str, text: str) -> None:
    said = answer(change(good()))
    assert said.startswith(start)
    assert text in said


def test_a_good_recording_with_coarse_efforts_and_a_short_silence_has_no_notes() -> None:
    whole = coarse(good())
    silent = whole.part(np.delete(np.arange(len(whole.time)), slice(1000, 1006)))
    assert answer(silent) == NOTES


def test_rest_at_the_end_is_not_what_the_model_is_judged_on() -> None:
    run = identification.run_from(good(), MODEL)
    rest = np.zeros((len(run.time), 3))
    resting = replace(
        run, time=np.concatenate((run.time, run.time + run.time[-1])), q=np.vstack((run.q, rest)),
        qd=np.vstack((run.qd, rest)), qdd=np.vstack((run.qdd, rest)),
        effort=np.vstack((run.effort, rest)), segment=np.zeros(2 * len(rest), dtype=int),
    )
    last, of_motion = resting.split(0.7)[1], run.split(0.7)[1]
    np.testing.assert_array_equal(last.qd[: len(of_motion.qd)], of_motion.qd)


def test_late_efforts_are_noted_and_corrected() -> None:
    as_recorded, corrected = (
        identification.identify(
            MODEL, identification.run_from(late(good()), MODEL, effort_delay=delay)
        )
        for delay in (0.0, 0.02)
    )
    errors = as_recorded.comparison.identified.moving_rms
    assert (corrected.comparison.identified.moving_rms < 0.8 * errors).all()
    assert re.search('about (1[5-9]|2[0-5]) ms later than the motion', as_recorded.notes[-1])
    assert 'later than' not in '; '.join(corrected.notes)


def test_the_effort_of_a_joint_can_be_left_out() -> None:
    wrong = scaled(-3.0, 1)(good())
    fit = identification.identify(
        MODEL, identification.run_from(wrong, MODEL, without_effort=['lift'])
    )
    assert np.isnan(fit.comparison.effort_rms[1])
    assert fit.comparison.is_better
    with pytest.raises(RneaError, match='tool0'):
        identification.run_from(good(), MODEL, without_effort=['tool0'])


def test_what_rests_or_was_fitted_cannot_judge_a_motion() -> None:
    run = identification.run_from(good(), MODEL)
    still = replace(run, name='still', q=run.q + 0.1, qd=np.zeros_like(run.qd))
    for other, words in ((still, 'still does not move'), (run, 'cannot judge the model')):
        with pytest.raises(RneaError, match=words):
            identification.identify(MODEL, run, validate=other)


def test_an_inverted_effort_is_named_beside_wrong_masses_or_accepted() -> None:
    urdf = MODEL.with_inertial_parameters(1.5 * MODEL.inertial_parameters)
    wrong = scaled(-1.0, 2)(good())
    text = answer(wrong, of=urdf)
    assert text.startswith('rejected: elbow: the effort is -')
    assert 'the sign is inverted; correct it by effort_scale, -1 for these' in text
    run = identification.run_from(wrong, urdf)
    accepted = identification.identify(urdf, run, accept_faults=True)
    assert 'the sign is inverted' in '; '.join(accepted.notes)


def test_an_effort_without_its_weight_can_be_left_out() -> None:
    gravity = ARM.model.gravity_torques_batch(good().position) * np.array([0.0, 1.0, 0.0])
    weightless = replace(good(), effort=good().effort - gravity)
    run = identification.run_from(weightless, MODEL)
    notes = '; '.join(identification.identify(MODEL, run, accept_faults=True).notes)
    assert 'the effort of lift without friction is ' in notes
    assert 'leave the effort out: without_effort' in notes


def test_an_inverted_effort_of_a_light_joint_is_a_note_if_the_fit_is_good() -> None:
    ur5e = load(SHIPPED[2])
    recorded = record(arm_unlike(ur5e, seed=0), 0, duration=15.0)
    factors = [1.0, 1.0, 1.0, -1.0, 1.0, 1.0]
    text = answer(recorded.with_scaled_effort(np.array(factors)), of=ur5e)
    assert text.startswith('notes: wrist_1_joint: the effort is -1.')
    assert 'the sign is inverted' in text


@pytest.mark.parametrize(('ripple', 'phase'), [(3.0, 0.0), (8.0, 2.8)])
def test_a_light_joint_that_fits_badly_is_a_note(ripple: float, phase: float) -> None:
    urdf = load(robot(
        link('base'), link('upper', 6.0, (0.2, 0.02, 0.02), INERTIA),
        link('fore', 3.0, (0.2, 0.01, 0.01), INERTIA),
        link('hand', 0.5, (0.05, 0.0, 0.004), (2e-4, 0.0, 0.0, 2e-4, 0.0, 1e-4)),
        joint('lift', 'revolute', 'base', 'upper', xyz=(0, 0, 0.2), axis=(0, 1, 0)),
        joint('elbow', 'revolute', 'upper', 'fore', xyz=(0.4, 0, 0), axis=(0, 1, 0)),
        joint('roll', 'revolute', 'fore', 'hand', xyz=(0.3, 0, 0), axis=(1, 0, 0)),
    ))
    good = record(replace(arm_unlike(urdf, seed=7), model=urdf), 7, duration=15.0)
    cogging = np.sin(good.position[:, 2] + phase) * np.cos(good.position[:, 1])
    recorded = replace(good, effort=good.effort + ripple * np.outer(cogging, (0.0, 0.0, 1.0)))
    text = answer(recorded, of=urdf)
    assert text.startswith(NOTES)
    assert 'roll: the effort is ' in text
    assert "times the model's: the joint carries too little to name a cause; roll: " in text
    checkup = check(urdf, recorded)
    assert checkup.verdict == 0
    assert 'unexplained: roll: the effort is ' in checkup.report()


def test_wrong_gravity() -> None:
    text = answer(good(), of=MODEL.with_gravity((9.81, 0.0, 0.0)))
    assert 'rejected: gravity is turned by' in text
    found = [float(each) for each in text.partition('(')[2].partition(')')[0].split(',')]
    np.testing.assert_allclose(found, (0.0, 0.0, -9.81), atol=2.0)


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


def test_other_robots_joints_and_loads_are_rejected() -> None:
    flying = RobotModel.from_urdf(SHIPPED[2], floating_base=True)
    assert 'no recorded joint' in answer(good(), of=load(SHIPPED[1]))
    assert 'several coordinates' in answer(good(), of=flying)
    assert 'identify them one by one' in answer(good(), good().of_joints(['pan', 'lift']))
    loaded = record(ARM.with_payload('fore', 2.0, (0, 0, 0.1), np.zeros(6)), 8, 15.0)
    assert 'the load changed: in bag 1 fore carries about ' in answer(good(), loaded)


def test_the_urdf_of_a_smaller_sibling_fits_and_is_doubted() -> None:
    pytest.importorskip('rosbags', reason='rosbags is not installed')
    ur5e, bag = load(SHIPPED[2]), recording('ur10_exciting_trajectory.db3')
    fit = identification.identify(ur5e, identification.load(bag, ur5e))
    assert len([note for note in fit.notes if 'URDF of another robot' in note]) == 2
