# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The report, and the parameters that preflight writes for the node."""

from functools import cache
import re
from typing import Any

import numpy as np
import pytest

from rnea_ros.feedforward.law import HardwareCompensation
from rnea_ros.feedforward.settings import ResolvedSettings, resolve
from rnea_ros.node.parameters import complete_values, listed_joints, settings_from
from rnea_ros.preflight import Checkup, check, found_parameters
from rnea_ros.preflight.findings import Cause
from rnea_ros.preflight.report import join_names, runs
from rnea_ros.recordings import Kind
from support.models.robots import ROOT
from support.recorded.synthetic_recordings import ARM, Robot, only, record

ROBOTS = {
    'right': Robot(ARM), 'held': Robot(ARM, compensated=True),
    'before_the_gear': Robot(ARM, coulomb=0.3),
    'held_in_one_joint': Robot(ARM, compensated=only(1)),
    'inverted_in_one_joint': Robot(ARM, factor=1.0 - 2.0 * only(2)),
}


@cache
def checked(robot: str, kind: Kind, seed: int = 1) -> Checkup:
    """Return the result for the model of the arm, and a recording of one of the robots."""
    return check(ARM, record(ROBOTS[robot], kind, seed), kind=kind)


@pytest.mark.parametrize('kind', Kind)
def test_a_robot_that_holds_itself_is_named_once_with_the_parameter(kind: Kind) -> None:
    checkup = checked('held', kind, 0)
    (finding,) = [f for f in checkup.findings if f.cause is Cause.COMPENSATED]
    assert finding.joints == tuple(range(7))
    text = checkup.report()
    assert text.count('hardware compensates gravity') == 1
    assert text.count('set hardware_compensates: [gravity]') == 1


@pytest.mark.parametrize('kind', Kind)
def test_one_joint_without_gravity_changes_no_parameter_of_all_joints(kind: Kind) -> None:
    text = checked('held_in_one_joint', kind).report()
    assert '* hardware compensates gravity: fer_joint2' in text
    assert 'set hardware_compensates: [gravity]' not in text


def test_friction_that_must_be_known_is_named_with_its_parameters_once() -> None:
    checkup = checked('before_the_gear', Kind.MOTION)
    assert {Cause.CURRENT, Cause.FRICTION} <= {finding.cause for finding in checkup.findings}
    text = checkup.report()
    assert text.count('friction.*') == 1
    assert text.count('hardware_compensates: [friction]') == 1


def test_a_correct_model_gets_no_advice_on_gravity() -> None:
    text = checked('right', Kind.MOTION).report()
    assert '[gravity]' not in text


@pytest.mark.parametrize('robot', ['held', 'before_the_gear'])
def test_what_is_to_be_set_is_what_the_parameter_takes(robot: str) -> None:
    text = checked(robot, Kind.MOTION).report()
    set_to = re.findall(r'hardware_compensates: \[(\w+)\]', text)
    assert set_to
    assert set(set_to) <= {word.value for word in HardwareCompensation}


def test_shares_of_tiny_efforts_and_signs_of_zero_are_not_printed() -> None:
    text = checked('held', Kind.STILL, 0).report()
    assert '-0.00' not in text
    assert all(int(share) < 1000 for share in re.findall(r'(\d+) %\)', text))


@pytest.mark.parametrize('kind', Kind)
def test_the_fit_is_written_as_it_was_made(kind: Kind) -> None:
    text = checked('right', kind).report()
    assert 'measured = scale * model' in text
    assert ('sign(velocity)' in text) is (kind is Kind.MOTION)


def test_the_document_says_what_to_do_about_every_cause() -> None:
    document = (ROOT / 'docs/preflight.md').read_text(encoding='utf-8')
    rows = ' '.join(re.findall(r'^\| (.+?) \|', document, re.MULTILINE))
    for cause in Cause:
        assert cause.text.removesuffix(' in the model') in rows


@pytest.mark.parametrize('kind', Kind)
def test_the_verdict_comes_first_and_then_what_is_known_of_each_joint(kind: Kind) -> None:
    first, second, *_ = checked('inverted_in_one_joint', kind).report().splitlines()
    assert first.startswith('not accepted')
    assert 'fer_joint3 do not fit' in second
    first, second, *_ = checked('right', kind).report().splitlines()
    assert first.startswith('accepted')
    assert re.search(r'fer_joint\d to fer_joint\d.* fit; .*fer_joint7 not judged', second)


def test_joints_in_a_row_are_named_by_the_first_and_the_last() -> None:
    names = 'abcdefgh'
    text = join_names([names[place] for place in run] for run in runs([0, 1, 2, 4, 6, 7]))
    assert text == 'a to c, e, g and h'


@pytest.mark.parametrize('robot', ['held', 'before_the_gear'])
def test_a_report_is_plain_text(robot: str) -> None:
    text = checked(robot, Kind.MOTION).report()
    assert not re.search(r'None|RobotModel|np\.|\(\)|\[\'', text)


def found(robot: Robot, kind: Kind = Kind.MOTION) -> dict[str, Any]:
    return dict(found_parameters(check(ARM, record(robot, kind, 3), kind=kind)))


def resolved(values: dict[str, Any]) -> ResolvedSettings:
    """Return what the node makes of the values."""
    complete = complete_values(values)
    return resolve(settings_from(complete, listed_joints(complete)), ARM)


def test_friction_is_found_and_taken_by_the_node() -> None:
    robot = Robot(ARM, noise=0.02)
    friction = resolved(found(robot)).friction
    recorded = record(robot, Kind.MOTION, 3)
    rest = np.zeros_like(recorded.position)
    load = np.sqrt(np.mean(robot.rigid(recorded.position, rest, rest) ** 2, axis=0))
    np.testing.assert_allclose(friction.coulomb[0], 0.1 + 0.02 * load, rtol=0.3, atol=0.05)
    np.testing.assert_array_equal(friction.coulomb[0], friction.coulomb[1])


def test_a_missing_tool_becomes_a_payload() -> None:
    robot = Robot(ARM, mass=1.2, com=(0.02, -0.03, 0.15), noise=0.05)
    for kind in Kind:
        (payload,) = resolved(found(robot, kind)).parameters.payloads
        assert payload.link == 'fer_link7'
        assert payload.mass == pytest.approx(1.2, abs=0.1)
        np.testing.assert_allclose(np.asarray(payload.com), np.array(robot.com), atol=0.03)


def test_efforts_without_gravity_are_stated() -> None:
    values = found(Robot(ARM, compensated=True), Kind.STILL)
    assert values['hardware_compensates'] == ['gravity']
    assert 'friction.model' not in values


def test_poses_at_rest_without_a_fault_give_no_parameter() -> None:
    assert found(Robot(ARM), Kind.STILL) == {}


def test_friction_of_efforts_in_another_unit_is_not_written() -> None:
    values = found(Robot(ARM, factor=np.array(0.1), noise=0.002))
    assert values == {}
    factor = np.ones(7)
    factor[3] = -1.0
    coulomb = found(Robot(ARM, factor=factor, noise=0.02))['friction.coulomb']
    assert coulomb[3] == 0.0
    assert coulomb[1] > 0.1
