# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Every recording that cannot be used is rejected in one sentence that names the fault."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from rnea_ros import RobotModel, identification
from rnea_ros.errors import RneaError
from rnea_ros.recordings import Recording
from support.models.robots import ROOT, joint, link, load, robot
from support.recorded.simulated_arms import arm_unlike, record


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
        good(),
        position=np.tile(good().position[0], (len(good().time), 1)),
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
        good(),
        position=sign * good().position,
        velocity=sign * good().velocity,
        effort=sign * good().effort,
    )
    text = answer(inverted)
    assert 'wrist_1_joint: position and effort have the opposite sign' in text
    assert text.endswith('invert the axis in the URDF')


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


def test_another_unit_of_all_joints() -> None:
    assert 'another unit' in answer(good().with_scaled_effort(1000.0))


def test_another_robot() -> None:
    other = load(ROOT / 'urdf/panda_arm.urdf')
    assert 'no recorded joint' in answer(good(), of=other)


def test_wrong_gravity() -> None:
    text = answer(good(), of=model().with_gravity((9.81, 0.0, 0.0)))
    assert 'rejected: gravity is turned by' in text
    assert 'correct it by gravity' in text
    found = [float(part) for part in text.partition('(')[2].partition(')')[0].split(',')]
    np.testing.assert_allclose(found, (0.0, 0.0, -9.81), atol=1.0)


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


def test_another_load_in_the_second_bag() -> None:
    arm = arm_unlike(model(), seed=7)
    loaded = record(arm.with_payload('wrist_3_link', 2.0, (0, 0, 0.1), np.zeros(6)), 8, 15.0)
    assert 'the load changed: in bag 1 wrist_3_link carries about' in answer(good(), loaded)


def test_a_floating_base() -> None:
    flying = RobotModel.from_urdf(ROOT / 'urdf/ur5e.urdf', floating_base=True)
    assert 'several coordinates' in answer(good(), of=flying)
