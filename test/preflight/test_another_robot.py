# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A URDF of another robot, or with wrong masses, is called that, and no fault is claimed of it."""

from copy import copy
from functools import cache
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.preflight import Checkup, check
from rnea_ros.preflight.faults import FAULTS
from rnea_ros.preflight.findings import Cause, ModelVerdict
from rnea_ros.preflight.fit import Hypothesis
from rnea_ros.recordings import Kind, Recording, read_joint_states, recording_from
from support.models.robots import SHIPPED, load, vendor_robots
from support.recorded.real_arms import recording
from support.recorded.synthetic_recordings import ARM, UR, Robot, record

OF_A_FACTOR = {Cause.ANOTHER_ROBOT, Cause.WRONG_SCALE, Cause.CURRENT}
"""What an arm of the same shape may be called: a factor of all efforts names it as well."""


@cache
def of_a_real_arm(name: str) -> Recording:
    """Return a recording whose joints stand from the base to the tip."""
    pytest.importorskip('rosbags', reason='rosbags is not installed')
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


def with_masses(factors: np.random.Generator) -> str:
    """Return the URDF of the Panda with links that weigh 20 to 85 % less."""
    root = ElementTree.parse(SHIPPED[1]).getroot()
    for inertial in root.iter('inertial'):
        factor = factors.uniform(0.15, 0.8)
        for element in ('mass', 'inertia'):
            values = inertial.find(element)
            assert values is not None
            for key, value in values.attrib.items():
                values.set(key, repr(factor * float(value)))
    return ElementTree.tostring(root, encoding='unicode')


@pytest.mark.parametrize('urdf', vendor_robots('ur3_robot', 'ur10_robot', 'xarm7', 'kinova', 'z1'))
def test_a_real_panda_has_none_of_the_faults_of_another_arms_urdf(urdf: str) -> None:
    assert causes(judged(load(urdf), of_a_real_arm('panda'))) == {Cause.ANOTHER_ROBOT}


@pytest.mark.parametrize('urdf', [SHIPPED[1], *vendor_robots('xarm7', 'kinova', 'z1', 'so100')])
def test_a_real_ur10_has_none_of_the_faults_of_another_arms_urdf(urdf: str) -> None:
    assert causes(judged(load(urdf), of_a_real_arm('ur10'))) == {Cause.ANOTHER_ROBOT}


@pytest.mark.parametrize('urdf', [SHIPPED[2], *vendor_robots('ur3_robot', 'ur5_robot')])
def test_a_real_ur10_and_a_smaller_one_of_its_make_differ_by_no_gravity(urdf: str) -> None:
    checkup = judged(load(urdf), of_a_real_arm('ur10'))
    assert causes(checkup) <= OF_A_FACTOR
    assert 'another robot' in checkup.report()
    assert 'the other way' not in checkup.report()


@pytest.mark.parametrize('kind', Kind)
@pytest.mark.parametrize(('robot', 'model'), [(ARM, UR), (UR, ARM)])
def test_a_synthetic_arm_has_no_fault(robot: RobotModel, model: RobotModel, kind: Kind) -> None:
    assert causes(judged(model, record(Robot(robot), kind, 0), kind)) == {Cause.ANOTHER_ROBOT}


@pytest.mark.parametrize('kind', Kind)
@pytest.mark.parametrize('seed', [2, 3])
def test_a_model_too_light_is_not_accepted_and_no_sign_is_wrong(kind: Kind, seed: int) -> None:
    random = np.random.default_rng(seed)
    light = load(with_masses(random))
    robot = Robot(ARM, noise=float(random.choice((0.02, 0.1, 0.4))))
    checkup = check(light, record(robot, kind, seed), kind=kind)
    assert checkup.verdict is ModelVerdict.REJECTED
    assert causes(checkup) <= OF_A_FACTOR
    assert 'masses' in checkup.report()


@pytest.mark.parametrize('kind', Kind)
@pytest.mark.parametrize('inverted', [(), (1,)])
def test_inverted_efforts_are_named_beside_a_fault(kind: Kind, inverted: tuple[int, ...]) -> None:
    light = load(with_masses(np.random.default_rng(2)))
    factor = np.ones(7)
    factor[list(inverted)] = -1.0
    checkup = check(light, record(Robot(ARM, factor=factor), kind, 2), kind=kind)
    named = re.findall(r"opposite to the model's: (.*?) -", checkup.report())
    assert named == [f'fer_joint{joint + 1}' for joint in inverted]


def test_each_inverted_sign_has_an_interval_around_minus_1() -> None:
    urdf = vendor_robots('xarm7')[0].values[0]
    for model in (UR, load(urdf)) if urdf else (UR,):
        report = judged(model, record(Robot(ARM), Kind.MOTION, 5), Kind.MOTION).report()
        for line in re.findall(r'.*(?:the other way|sign is inverted).*', report):
            value, width = map(float, re.search(r'(-?[\d.]+) \+- ([\d.]+)', line).groups())  # type: ignore[union-attr]
            assert value + width < 0.0
            assert abs(value + 1.0) <= width + 0.2


def test_an_axis_that_is_turned_without_evidence_is_not_claimed() -> None:
    light = load(with_masses(np.random.default_rng(1)))
    checked = check(light, record(Robot(ARM, noise=0.02), Kind.MOTION, 1)).assessment
    for flipped in ({4}, {5}, {4, 5}, {4, 6}):
        assessment = copy(checked)  # with what a rule caches there
        hypothesis = Hypothesis(flipped=frozenset(flipped), all_scaled=True)
        assessment.best = assessment.selection.solution(hypothesis)
        found = [finding for rule in FAULTS for finding in rule(assessment)]
        assert Cause.INVERTED_AXIS not in {finding.cause for finding in found}, flipped
