# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The figures of the report, and the parameters that preflight writes for the node."""

from copy import copy
from dataclasses import replace
import re
from typing import Any

import numpy as np
import pytest

from rnea_ros import RneaError
from rnea_ros.feedforward.settings import ResolvedSettings, complete_values, resolve, settings_from
from rnea_ros.preflight import check, found_parameters
from rnea_ros.preflight.assessment import Assessment
from rnea_ros.preflight.checkup import find_causes
from rnea_ros.preflight.faults import Cause, Finding
from rnea_ros.preflight.fit import Hypothesis
from rnea_ros.recordings import Kind, Recording
from support.models.robots import ROOT, description, joint, link, load, robot
from support.recorded.synthetic_recordings import ARM, Array, Robot, record

ELBOW = 3


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
    return resolve(settings_from(complete), ARM)


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


def test_a_model_that_cannot_be_compared_is_rejected_by_name() -> None:
    recorded = record(Robot(ARM), Kind.STILL, 1)
    bare = load(re.sub('(?s)<inertial>.*?</inertial>', '', description(ARM).text))
    with pytest.raises(RneaError, match='no moving link has a mass: give the links'):
        check(bare, recorded)
    cart = load(robot(link('base'), link('cart', 1.0), joint('drive', 'planar', 'base', 'cart')))
    names = ('drive', *recorded.names[1:])
    with pytest.raises(RneaError, match="joint 'drive' of the model has more than one axis"):
        check(cart, replace(recorded, names=names))


def test_the_document_says_what_to_do_about_every_cause() -> None:
    document = (ROOT / 'docs/preflight.md').read_text(encoding='utf-8')
    rows = ' '.join(re.findall(r'^\| (.+?) \|', document, re.MULTILINE))
    for cause in Cause:
        assert cause.text.removesuffix(' in the model') in rows


@pytest.mark.parametrize('kind', Kind)
def test_a_missing_tool_is_weighed_placed_and_becomes_a_payload(kind: Kind) -> None:
    robot = Robot(ARM, mass=1.2, com=(0.02, -0.03, 0.15), noise=0.05)
    checkup = check(ARM, record(robot, kind, 3), kind=kind)
    mass = checkup.assessment.best.parameter('load fer_link7', 0)
    assert not mass.excludes(1.2)
    assert mass.half_width < 0.2
    settings = resolved(dict(found_parameters(checkup)))
    (payload,) = settings.payloads
    assert payload.link == 'fer_link7'
    assert payload.mass == pytest.approx(1.2, abs=0.1)
    np.testing.assert_allclose(np.asarray(payload.com), np.array(robot.com), atol=0.03)
    (finding,) = [each for each in checkup.findings if each.must_be_fixed]
    assert finding.cause is Cause.MISSING_TOOL
    assert f'a tool of about {payload.mass:.2f} +- ' in finding.text
    assert bool(settings.joint_friction.coulomb[0][1] > 0.1) is (kind is Kind.MOTION)


def test_friction_is_taken_by_the_node_but_not_of_efforts_in_another_unit() -> None:
    robot = Robot(ARM, noise=0.02)
    friction = resolved(found(robot)).joint_friction
    expected = dry_friction(robot, Kind.MOTION, 3)
    np.testing.assert_allclose(friction.coulomb[0], expected, rtol=0.3, atol=0.05)
    np.testing.assert_array_equal(friction.coulomb[0], friction.coulomb[1])
    assert found(Robot(ARM, factor=0.1, noise=0.002)) == {}
    inverted = Robot(ARM, factor=1.0 - 2.0 * np.eye(7)[3], noise=0.02)
    coulomb = found(inverted)['friction.coulomb']
    assert coulomb[3] == 0.0
    assert coulomb[1] > 0.1


FACTORS = np.array([1.0, 1.3, 1.04, 0.85, 0.7, 1.4, 1.0])


@pytest.mark.parametrize('kind', Kind)
def test_factors_of_gravity_are_found_with_the_errors_they_leave(kind: Kind) -> None:
    recorded = record(Robot(ARM, noise=0.02), kind, 3)
    gravity = ARM.gravity_torques_batch(recorded.position)
    recorded = replace(recorded, effort=recorded.effort + (FACTORS - 1.0) * gravity)
    checkup = check(ARM, recorded, kind=kind)
    report, light = checkup.report(), 'too little gravity'
    assert [each.problem for each in checkup.gravity_factors] == [
        light, '', 'may be 1', '', '', '', light
    ]
    for each, factor in zip(checkup.gravity_factors, FACTORS, strict=True):
        if not each.problem:
            assert not each.factor.excludes(factor, 0.02), each
            assert each.after < 0.5 * each.before
            assert f'{each.name}  {each.factor} ' in report
    (line,) = re.findall(r'^    gravity_factor: \[(.*)\]$', report, re.MULTILINE)
    stated = [float(number) for number in line.split(',')]
    np.testing.assert_allclose(stated, np.where(FACTORS == 1.04, 1.0, FACTORS), atol=0.06)
    # A file has no factor of efforts that may be in another unit.
    spoilt = {place for each in checkup.findings if each.must_be_fixed for place in each.joints}
    kept = [1.0 if place in spoilt else number for place, number in enumerate(stated)]
    written = found_parameters(checkup).get('gravity_factor', 7 * [1.0])
    assert written == kept
    assert resolved({'gravity_factor': written, 'joints': [*checkup.joints]}).gravity_factor


@pytest.mark.parametrize(('kind', 'mass', 'shift', 'helps'), [
    (Kind.STILL, 2.0, 0.0, True), (Kind.MOTION, 1.8, 0.0, True), (Kind.STILL, 1.0, 0.15, False),
])
def test_a_wrong_mass_is_the_least_squares_factor_and_a_wrong_place_is_none(
    kind: Kind, mass: float, shift: float, helps: bool
) -> None:
    bodies = ARM.inertial_parameters.reshape(-1, 10).copy()
    bodies[ELBOW] *= mass
    bodies[ELBOW, 1] += shift * bodies[ELBOW, 0]
    robot = Robot(ARM.with_inertial_parameters(bodies.ravel(), strict_inertia=False), noise=0.0)
    checkup = check(ARM, record(robot, kind, 3), kind=kind)
    q = checkup.assessment.samples.position
    model, true = (each.gravity_torques_batch(q)[:, ELBOW] for each in (ARM, robot.model))
    found, factor = checkup.gravity_factors[ELBOW], float(model @ true / (model @ model))
    rest = np.sqrt(np.mean((true - factor * model) ** 2))
    assert found.factor.value == pytest.approx(factor, abs=0.02)
    assert found.after == pytest.approx(rest, abs=0.1)
    assert (found.problem == '') is helps
    others = record(robot, Kind.STILL, 9).position
    model, true = (each.gravity_torques_batch(others)[:, ELBOW] for each in (ARM, robot.model))
    left = np.linalg.norm(found.factor.value * model - true) / np.linalg.norm(model - true)
    assert bool(left < 0.3) is helps
    report = checkup.report()
    assert ('    gravity_factor: [' in report) is helps
    assert helps or ' % of the error remain: identify' in report


def fault_of_turned_gravity(recording: Recording, kind: Kind) -> Finding:
    """Return what is found where turned gravity is believed, right or wrong."""
    checked = check(ARM, recording, kind=kind).assessment
    believing = copy(Assessment(checked.prediction))  # with what a rule caches there
    believing.best = believing.selection.solution(Hypothesis(gravity_turned=True))
    (finding,) = [finding for finding in find_causes(believing) if finding.must_be_fixed]
    return finding


def test_what_compensation_leaves_has_no_direction() -> None:
    held = record(Robot(ARM, compensated=True), Kind.STILL, 0)
    sideways = ARM.with_gravity((0.15 * 9.81, 0.0, 0.0)).gravity_torques_batch(held.position)
    left = replace(held, effort=held.effort + sideways)
    assert fault_of_turned_gravity(left, Kind.STILL).cause is Cause.COMPENSATED


@pytest.mark.parametrize(
    ('kind', 'cause'),
    [(Kind.MOTION, Cause.GRAVITY_DIRECTION), (Kind.STILL, Cause.INVERTED_EFFORT)],
)
def test_gravity_upwards_shows_only_beside_inertial_efforts(kind: Kind, cause: Cause) -> None:
    hanging = Robot(ARM.with_gravity((0.0, 0.0, 9.81)))
    finding = fault_of_turned_gravity(record(hanging, kind, 5), kind)
    assert finding.cause is cause
    assert ('upside down' in finding.text) is (kind is Kind.STILL)
