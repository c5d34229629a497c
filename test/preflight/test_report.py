# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The figures of the report, and the parameters that preflight writes for the node."""

import re
from typing import Any

import numpy as np
import pytest

from rnea_ros.feedforward.settings import ResolvedSettings, resolve
from rnea_ros.node.parameters import complete_values, listed_joints, settings_from
from rnea_ros.preflight import check, found_parameters
from rnea_ros.preflight.findings import Cause
from rnea_ros.preflight.report import join_names, runs
from rnea_ros.recordings import Kind
from support.models.robots import ROOT
from support.recorded.synthetic_recordings import ARM, Array, Robot, record


def dry_friction(robot: Robot, kind: Kind, seed: int) -> Array:
    position = record(robot, kind, seed).position
    rest = np.zeros_like(position)
    load = np.sqrt(np.mean(robot.rigid(position, rest, rest) ** 2, axis=0))
    friction: Array = 0.1 + np.asarray(robot.coulomb) * load
    return friction


def found(robot: Robot) -> dict[str, Any]:
    return dict(found_parameters(check(ARM, record(robot, Kind.MOTION, 3), kind=Kind.MOTION)))


def resolved(values: dict[str, Any]) -> ResolvedSettings:
    """Return what the node makes of the values."""
    complete = complete_values(values)
    return resolve(settings_from(complete, listed_joints(complete)), ARM)


def test_the_table_has_the_figures_of_each_joint() -> None:
    robot = Robot(ARM, factor=1.0 - 2.0 * np.eye(7)[2], noise=0.02)
    recorded = record(robot, Kind.MOTION, 1)
    report = check(ARM, recorded, kind=Kind.MOTION).report()
    assert 'fer_joint3 do not fit' in report.splitlines()[1]
    interval = r' +(-?[\d.]+) \+- [\d.]+'
    rows = re.findall(rf'^fer_joint\d .* ([+-]) {4 * interval}', report, re.MULTILINE)
    assert [row[0] for row in rows] == [*'++-++++']
    scale, offset, viscous, coulomb = np.array([row[1:] for row in rows], dtype=float).T
    sign = np.where(np.arange(7) == 2, -1.0, 1.0)
    np.testing.assert_allclose(scale[1:6], sign[1:6], atol=0.05)
    np.testing.assert_allclose(offset, 0.0, atol=0.1)
    np.testing.assert_allclose(viscous, 0.1 * sign, atol=0.1)
    np.testing.assert_allclose(coulomb, sign * dry_friction(robot, Kind.MOTION, 1), atol=0.1)


def test_the_document_says_what_to_do_about_every_cause() -> None:
    document = (ROOT / 'docs/preflight.md').read_text(encoding='utf-8')
    rows = ' '.join(re.findall(r'^\| (.+?) \|', document, re.MULTILINE))
    for cause in Cause:
        assert cause.text.removesuffix(' in the model') in rows


def test_joints_in_a_row_are_named_by_the_first_and_the_last() -> None:
    names = 'abcdefgh'
    text = join_names([names[place] for place in run] for run in runs([0, 1, 2, 4, 6, 7]))
    assert text == 'a to c, e, g and h'


@pytest.mark.parametrize('kind', Kind)
def test_a_missing_tool_is_weighed_placed_and_becomes_a_payload(kind: Kind) -> None:
    robot = Robot(ARM, mass=1.2, com=(0.02, -0.03, 0.15), noise=0.05)
    checkup = check(ARM, record(robot, kind, 3), kind=kind)
    mass = checkup.assessment.best.parameter('load fer_link7', 0)
    assert not mass.excludes(1.2)
    assert mass.half_width < 0.2
    settings = resolved(dict(found_parameters(checkup)))
    (payload,) = settings.parameters.payloads
    assert payload.link == 'fer_link7'
    assert payload.mass == pytest.approx(1.2, abs=0.1)
    np.testing.assert_allclose(np.asarray(payload.com), np.array(robot.com), atol=0.03)
    (finding,) = [each for each in checkup.findings if each.must_be_fixed]
    assert finding.cause is Cause.MISSING_TOOL
    assert f'a tool of about {payload.mass:.2f} +- ' in finding.text
    assert bool(settings.friction.coulomb[0][1] > 0.1) is (kind is Kind.MOTION)


def test_friction_is_taken_by_the_node_but_not_of_efforts_in_another_unit() -> None:
    robot = Robot(ARM, noise=0.02)
    friction = resolved(found(robot)).friction
    expected = dry_friction(robot, Kind.MOTION, 3)
    np.testing.assert_allclose(friction.coulomb[0], expected, rtol=0.3, atol=0.05)
    np.testing.assert_array_equal(friction.coulomb[0], friction.coulomb[1])
    assert found(Robot(ARM, factor=0.1, noise=0.002)) == {}
    inverted = Robot(ARM, factor=1.0 - 2.0 * np.eye(7)[3], noise=0.02)
    coulomb = found(inverted)['friction.coulomb']
    assert coulomb[3] == 0.0
    assert coulomb[1] > 0.1
