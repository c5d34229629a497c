# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Every recording that cannot be used is rejected in one sentence that names the fault."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TypeAlias

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from rnea_ros import RobotModel, identification
from rnea_ros.errors import RneaError
from rnea_ros.recordings import Recording
from support.models.robots import ROOT, joint, link, load, robot
from support.recorded.simulated_arms import RATE, arm_unlike, record

Change: TypeAlias = Callable[[Recording], Recording]
REJECTED, NOTES = 'rejected: ', 'notes: '


@cache
def model() -> RobotModel:
    return load(ROOT / 'urdf/ur5e.urdf')


@cache
def good() -> Recording:
    return record(arm_unlike(model(), seed=7), 7, duration=12.0)


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
        return f'{REJECTED}{error}'
    return NOTES + '; '.join(fit.notes)


def scaled(factor: float, *joints: int) -> Change:
    """Return a change of the efforts of some joints, all by default."""
    factors = np.ones(6)
    factors[list(joints) or slice(None)] = factor
    return lambda recording: recording.with_scaled_effort(factors)


def moving(*joints: int) -> Change:
    """Return a change that holds all joints but some where they start."""
    moves = np.isin(np.arange(6), joints)
    return lambda recording: replace(
        recording, position=np.where(moves, recording.position, recording.position[0]),
        velocity=np.where(moves, recording.velocity, 0.0),
    )


def resting_after_4_seconds(recording: Recording) -> Recording:
    stop = np.minimum(np.arange(3500), 1000)
    velocity = np.where((stop < 1000)[:, np.newaxis], recording.velocity[stop], 0.0)
    return Recording(
        recording.names, np.arange(3500) / RATE, recording.position[stop], velocity,
        recording.effort[stop],
    )


def with_a_short_silence(recording: Recording) -> Recording:
    return recording.part(np.delete(np.arange(len(recording.time)), slice(1000, 1006)))


def late(recording: Recording) -> Recording:
    effort = CubicSpline(recording.time, recording.effort)(recording.time - 0.02)
    return replace(recording, effort=effort)


def repeated(recording: Recording) -> Recording:
    once = recording.position[:1250]
    q = np.concatenate([once, once[::-1], once, once[::-1]])
    qd = np.gradient(q, 1.0 / RATE, axis=0)
    effort = arm_unlike(model(), seed=7).efforts(q, qd, np.gradient(qd, 1.0 / RATE, axis=0))
    return Recording(recording.names, np.arange(len(q)) / RATE, q, qd, effort)


def with_an_inverted_axis(recording: Recording) -> Recording:
    sign = np.array([1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    return replace(
        recording, position=sign * recording.position, velocity=sign * recording.velocity,
        effort=sign * recording.effort,
    )


def without_a_weight(recording: Recording) -> Recording:
    effort = recording.effort.copy()
    gravity = arm_unlike(model(), seed=7).model.gravity_torques_batch(recording.position)
    effort[:, 1] -= gravity[:, 1]
    return replace(recording, effort=effort)


def with_nan_and_a_clock_jump(recording: Recording) -> Recording:
    effort, time = recording.effort.copy(), recording.time.copy()
    effort[100:110, 3] = np.nan
    time[2000:] += 3.0
    return replace(recording, effort=effort, time=time)


def saturated(recording: Recording) -> Recording:
    effort = recording.effort.copy()
    limit = 0.6 * np.abs(effort[:, 1]).max()
    effort[:, 1] = np.clip(effort[:, 1], -limit, limit)
    return replace(recording, effort=effort)


def coarse(recording: Recording) -> Recording:
    step = 0.05 * np.abs(recording.effort).max(axis=0)
    return replace(recording, effort=step * np.round(recording.effort / step))


@pytest.mark.parametrize(('change', 'start', 'texts'), [
    (moving(), REJECTED, ['no joint moves']),
    (moving(2), REJECTED, ['only elbow_joint moves']),
    (lambda recording: recording.part(slice(0, 1000)), REJECTED, ['5 s are needed']),
    (lambda recording: recording.part(slice(0, 100)), REJECTED, []),
    (resting_after_4_seconds, REJECTED, ['5 s are needed']),
    (lambda recording: recording.part(slice(None, None, 25)), REJECTED,
     ['a low-pass filter of 10 Hz needs at least 22 Hz']),
    (lambda recording: recording.part(np.flatnonzero(recording.time % 2.5 < 1.2)), '',
     ['gaps in the joint states cost']),
    (repeated, '', ['repeat the fitted motion']),
    (with_nan_and_a_clock_jump, NOTES, ['10 samples with non-finite', 'gaps: 1']),
    (scaled(0.0), REJECTED, ['no joint has an effort that changes']),
    (scaled(0.0, 2), NOTES, ['left out: elbow_joint']),
    (scaled(-1.0), REJECTED, ['the efforts of all joints are -1.', 'the sign is inverted']),
    (scaled(0.05, 1), f'{REJECTED}shoulder_lift_joint: the effort is ',
     ['correct it by effort_scale']),
    (scaled(1000.0), REJECTED, ['another unit']),
    (with_an_inverted_axis, REJECTED, [
        'elbow_joint: position and effort have the opposite sign',
        'invert the axis in the URDF',
    ]),
    (without_a_weight, f'{REJECTED}the effort of shoulder_lift_joint without friction is ',
     ['leave the effort out: without_effort']),
    (lambda recording: recording.of_joints(
        [name for name in recording.names if name != 'elbow_joint']
    ), REJECTED, ["'elbow_joint' is not recorded, but it moves"]),
    (saturated, '', ['shoulder_lift_joint is cut off at']),
])  # fmt: skip
def test_what_is_wrong_is_named(change: Change, start: str, texts: list[str]) -> None:
    text = answer(change(good()))
    assert text.startswith(start), text
    for part_of_it in texts:
        assert part_of_it in text


@pytest.mark.parametrize('change', [replace, with_a_short_silence, coarse])
def test_a_good_recording_has_no_notes(change: Change) -> None:
    assert answer(change(good())) == NOTES


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


def test_late_efforts_are_noted_and_corrected() -> None:
    as_recorded, corrected = (
        identification.identify(
            model(), identification.run_from(late(good()), model(), effort_delay=delay)
        )
        for delay in (0.0, 0.02)
    )
    errors = as_recorded.comparison.identified.moving_rms
    assert (corrected.comparison.identified.moving_rms < 0.8 * errors).all()
    assert 'ms later than the motion' in '; '.join(as_recorded.notes)
    assert 'later than' not in '; '.join(corrected.notes)


def test_the_effort_of_a_joint_can_be_left_out() -> None:
    run = identification.run_from(
        scaled(-3.0, 1)(good()), model(), without_effort=['shoulder_lift_joint']
    )
    fit = identification.identify(model(), run)
    assert np.isnan(fit.comparison.effort_rms[1])
    assert fit.comparison.is_better
    with pytest.raises(RneaError, match='tool0'):
        identification.run_from(good(), model(), without_effort=['tool0'])


def test_what_rests_or_was_fitted_cannot_judge_a_motion() -> None:
    run = identification.run_from(good(), model())
    still = replace(run, name='still', q=run.q + 0.1, qd=np.zeros_like(run.qd))
    with pytest.raises(RneaError, match='still does not move'):
        identification.identify(model(), run, validate=still)
    with pytest.raises(RneaError, match='cannot judge the model'):
        identification.identify(model(), run, validate=identification.run_from(good(), model()))


@pytest.mark.parametrize('masses', [0.5, 1.5])
def test_an_inverted_effort_is_named_beside_wrong_masses_or_accepted(masses: float) -> None:
    urdf = model().with_inertial_parameters(masses * model().inertial_parameters)
    text = answer(scaled(-1.0, 2)(good()), of=urdf)
    assert text.startswith('rejected: elbow_joint: the effort is -')
    assert 'the sign is inverted' in text
    assert 'correct it by effort_scale, -1 for these' in text
    run = identification.run_from(scaled(-1.0, 2)(good()), urdf)
    accepted = identification.identify(urdf, run, accept_faults=True)
    assert 'the sign is inverted' in '; '.join(accepted.notes)


def test_an_inverted_effort_of_a_light_joint_is_a_note_if_the_fit_is_good() -> None:
    recording = record(arm_unlike(model(), seed=0), 0, duration=15.0)
    text = answer(scaled(-1.0, 3)(recording))
    assert text.startswith('notes: wrist_1_joint: the effort is -1.')
    assert 'the sign is inverted' in text


def test_wrong_gravity() -> None:
    text = answer(good(), of=model().with_gravity((9.81, 0.0, 0.0)))
    assert 'rejected: gravity is turned by' in text
    assert 'correct it by gravity' in text
    found = [float(each) for each in text.partition('(')[2].partition(')')[0].split(',')]
    np.testing.assert_allclose(found, (0.0, 0.0, -9.81), atol=1.0)


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
    panda = load(ROOT / 'urdf/panda_arm.urdf')
    flying = RobotModel.from_urdf(ROOT / 'urdf/ur5e.urdf', floating_base=True)
    assert 'no recorded joint' in answer(good(), of=panda)
    assert 'several coordinates' in answer(good(), of=flying)
    assert 'identify them one by one' in answer(good(), good().of_joints(good().names[:5]))
    arm = arm_unlike(model(), seed=7)
    loaded = record(arm.with_payload('wrist_3_link', 2.0, (0, 0, 0.1), np.zeros(6)), 8, 15.0)
    assert 'the load changed: in bag 1 wrist_3_link carries about' in answer(good(), loaded)
