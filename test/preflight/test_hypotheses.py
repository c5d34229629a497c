# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Rules for a hypothesis that is believed, right or wrong, and the weights of its samples."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from rnea_ros.preflight import check
from rnea_ros.preflight.assessment import Assessment
from rnea_ros.preflight.checkup import find_causes
from rnea_ros.preflight.faults import FAULTS
from rnea_ros.preflight.findings import Cause, Finding
from rnea_ros.preflight.fit import Hypothesis, huber_weights
from rnea_ros.recordings import Kind, Recording
from support.recorded.synthetic_recordings import ARM, Robot, light_arm, record

TURNED = Hypothesis(gravity_turned=True)


def believing(assessment: Assessment, hypothesis: Hypothesis) -> Assessment:
    other = copy(assessment)  # with what a rule caches there
    other.best = other.selection.solution(hypothesis)
    return other


def fault_of_turned_gravity(recording: Recording, kind: Kind) -> Finding:
    assessment = Assessment(check(ARM, recording, kind=kind).assessment.prediction)
    found = find_causes(believing(assessment, TURNED))
    (finding,) = [finding for finding in found if finding.must_be_fixed]
    return finding


def test_what_compensation_leaves_has_no_direction() -> None:
    held = record(Robot(ARM, compensated=True), Kind.STILL, 0)
    sideways = ARM.with_gravity((0.15 * 9.81, 0.0, 0.0)).gravity_torques_batch(held.position)
    left = replace(held, effort=held.effort + sideways)
    finding = fault_of_turned_gravity(left, Kind.STILL)
    assert finding.cause is Cause.COMPENSATED
    assert '[gravity]' in finding.remedy


@pytest.mark.parametrize(
    ('kind', 'cause'),
    [(Kind.MOTION, Cause.GRAVITY_DIRECTION), (Kind.STILL, Cause.INVERTED_EFFORT)],
)
def test_gravity_upwards_shows_only_beside_inertial_efforts(kind: Kind, cause: Cause) -> None:
    hanging = Robot(ARM.with_gravity((0.0, 0.0, 9.81)))
    finding = fault_of_turned_gravity(record(hanging, kind, 5), kind)
    assert finding.cause is cause
    assert ('upside down' in finding.text) is (kind is Kind.STILL)


def test_an_axis_that_is_turned_without_evidence_is_not_claimed() -> None:
    checked = check(light_arm(1), record(Robot(ARM, noise=0.02), Kind.MOTION, 1)).assessment
    for flipped in ({4}, {5}, {4, 6}):
        believed = believing(checked, Hypothesis(flipped=frozenset(flipped), all_scaled=True))
        found = [finding for rule in FAULTS for finding in rule(believed)]
        assert Cause.INVERTED_AXIS not in {finding.cause for finding in found}, flipped


def test_hubers_weights_fall_with_the_inverse_of_a_large_residual() -> None:
    residual = np.array([[0.0, 1.0, -1.9], [4.0, -8.0, np.nan]])
    weights = huber_weights(residual, np.array([1.0, 2.0, 1.0]), 2.0)
    np.testing.assert_allclose(weights, [[1.0, 1.0, 1.0], [0.5, 0.5, 1.0]])
