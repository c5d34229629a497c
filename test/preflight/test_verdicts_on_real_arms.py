# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Verdicts on recordings of real arms, by their own URDF and by those of other robots."""

from dataclasses import replace
from functools import cache
import re

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.arrays import Array
from rnea_ros.preflight import Checkup, check, understood
from rnea_ros.preflight.faults import Cause, ModelVerdict
from rnea_ros.recordings import Kind, Recorded, Recording, read_joint_states, recording_from
from support.models.robots import SHIPPED, load, vendor_robots
from support.recorded.bags import recording
from support.recorded.synthetic_recordings import ARM, Robot, light_arm, record

pytest.importorskip('rosbags', reason='rosbags is not installed')

OF_A_FACTOR = {Cause.ANOTHER_ROBOT, Cause.WRONG_SCALE, Cause.CURRENT}
"""What an arm of the same shape may be called: a factor of all efforts names it as well."""


@cache
def real(name: str) -> Recording:
    """Return a recording whose joints stand from the base to the tip."""
    recorded = recording_from(read_joint_states(recording(f'{name}_exciting_trajectory.db3')))
    order = ('shoulder_pan', 'shoulder_lift', 'elbow', 'wrist_1', 'wrist_2', 'wrist_3')
    names = sorted(recorded.names) if name == 'panda' else [f'{joint}_joint' for joint in order]
    return recorded.of_joints(names)


def judged(model: RobotModel, recorded: Recording, kind: Kind | None = None) -> Checkup:
    """Return the judgement of a model whose joints are taken to be the recorded ones in order."""
    count = min(7, len(recorded.names), len(model.joint_names))
    joints = dict(zip(model.joint_names[:count], recorded.names, strict=False))
    return check(model, recorded.of_joints(list(joints.values())), joints, kind)


def causes(checkup: Checkup) -> set[Cause]:
    return {finding.cause for finding in checkup.findings if finding.must_be_fixed}


def text_of(checkup: Checkup, cause: Cause) -> str:
    return next(finding.text for finding in checkup.findings if finding.cause is cause)


def percent(difference: Array, checkup: Checkup) -> Array:
    effort = checkup.assessment.prediction.effort
    return np.asarray(100.0 * np.sqrt((difference**2).mean(axis=0) / (effort**2).mean(axis=0)))


@pytest.mark.oracle
def test_the_panda_is_accepted_and_explained_as_well_as_by_pinocchio() -> None:
    checkup = check(ARM, real('panda'))
    assert checkup.verdict is ModelVerdict.ACCEPTED
    assert [*checkup.assessment.loaded] == [1, 2, 3]
    # RMS of the difference over RMS of the effort, %, measured with Pinocchio's inverse dynamics
    # on the same recording: the README of the recordings. Another low-pass filter accounts for
    # what joint 1 differs in, which accelerates more than it carries.
    prediction = checkup.assessment.prediction
    ours = percent(prediction.effort - prediction.rigid, checkup)
    np.testing.assert_allclose(ours, [69.0, 2.0, 2.9, 3.1, 52.0, 30.0, 100.0], atol=1.0, rtol=0.2)
    ours = percent(checkup.assessment.separate.fit.residual, checkup)
    np.testing.assert_allclose(ours, [44.0, 1.8, 2.3, 3.0, 16.0, 13.0, 17.0], atol=1.0, rtol=0.3)


@pytest.mark.oracle
@pytest.mark.parametrize('urdf', vendor_robots('ur10_robot'))
def test_friction_dominates_the_efforts_of_the_ur10_from_currents(urdf: str) -> None:
    checkup = check(load(urdf), real('ur10'))
    assert causes(checkup) == {Cause.CURRENT}
    friction = text_of(checkup, Cause.FRICTION)
    for joint in ('shoulder_pan_joint', 'wrist_1_joint', 'wrist_2_joint', 'wrist_3_joint'):
        assert joint in friction
    assert 'elbow_joint' not in friction
    # As above; its last joint has no figure there.
    with_friction = np.array([15.0, 13.0, 12.0, 27.0, 32.0, 34.0])
    assert (percent(checkup.assessment.separate.fit.residual, checkup) < 1.3 * with_friction).all()


@pytest.mark.parametrize('urdf', vendor_robots('ur3_robot', 'kinova'))
def test_a_real_panda_has_no_fault_of_another_arms_urdf(urdf: str) -> None:
    assert causes(judged(load(urdf), real('panda'))) == {Cause.ANOTHER_ROBOT}


@pytest.mark.parametrize('urdf', [SHIPPED[2], *vendor_robots('ur3_robot')])
def test_a_real_ur10_and_a_smaller_one_of_its_make_differ_by_no_gravity(urdf: str) -> None:
    checkup = judged(load(urdf), real('ur10'))
    assert causes(checkup) <= OF_A_FACTOR
    assert 'another robot' in checkup.report()
    assert 'the other way' not in checkup.report()


@pytest.mark.parametrize('kind', Kind)
@pytest.mark.parametrize('inverted', [False, True])
def test_a_light_model_is_rejected_beside_inverted_efforts(kind: Kind, inverted: bool) -> None:
    factor = 1.0 - 2.0 * inverted * np.eye(7)[1]
    checkup = check(light_arm(2), record(Robot(ARM, factor=factor), kind, 2), kind=kind)
    named = re.findall(r"opposite to the model's: (.*?) -", checkup.report())
    assert checkup.verdict is ModelVerdict.REJECTED
    assert named == ['fer_joint2'] * inverted
    if not inverted:
        assert causes(checkup) <= OF_A_FACTOR
        assert 'masses' in checkup.report()


@pytest.mark.parametrize('urdf', [SHIPPED[1], *vendor_robots('ur10_robot')])
def test_a_dry_run_suggests_what_is_wrong_with_a_table_and_nothing_else(urdf: str) -> None:
    model = load(urdf)
    recorded = real('panda' if 'panda' in str(urdf) else 'ur10')
    q, qd, effort, names = recorded.position, recorded.velocity, recorded.effort, recorded.names
    joints = model.joint_names[: len(names)]

    def suggested(q: Array, qd: Array, effort: Array) -> list[str]:
        changed = replace(recorded, position=q, velocity=qd, effort=effort)
        pairs = dict(zip(joints, names, strict=True))
        text = understood(model, Recorded('', changed, {}), pairs)
        return re.findall(r'--table ([^\s)]+)', text)

    quarters = np.resize([0, 1, 0, -1, 0, 0, 0], len(names))
    zeros = ','.join(f'{0.5 * np.pi * each:.4g}' for each in quarters)
    backward = ','.join(reversed(joints))
    assert suggested(q, qd, effort) == []
    assert suggested(np.degrees(q), np.degrees(qd), effort) == ['degrees=true']
    assert suggested(q[:, ::-1], qd[:, ::-1], effort[:, ::-1]) == [f'joints={backward}']
    assert suggested(q - 0.5 * np.pi * quarters, qd, effort) == [f'offset={zeros}']
    scale, = suggested(q, qd, 1e3 * effort)
    factors = [float(each) for each in scale.removeprefix('effort_scale=').split(',')]
    np.testing.assert_allclose(factors, 1e-3, rtol=0.1)


@pytest.mark.parametrize('urdf', [SHIPPED[0], *vendor_robots('kinova')])
def test_a_dry_run_suggests_no_settings_for_another_robot(urdf: str) -> None:
    model, recorded = load(urdf), real('ur10')
    pairs = dict(zip(model.joint_names[:6], recorded.names, strict=True))
    assert '--table' not in understood(model, Recorded('', recorded, {}), pairs)
