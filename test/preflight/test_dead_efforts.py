# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Efforts that never change are named as that, and spoil no other joint."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rnea_ros.preflight import Checkup, check
from rnea_ros.preflight.findings import Cause, Finding, ModelVerdict
from rnea_ros.recordings import Kind, Recording
from support.recorded.synthetic_recordings import ARM, Robot, record

ELBOW, WRIST = 3, 6


def with_constant(recorded: Recording, joint: int | slice, value: float) -> Recording:
    effort = recorded.effort.copy()
    effort[:, joint] = value
    return replace(recorded, effort=effort)


def found(checkup: Checkup, cause: Cause) -> Finding:
    (finding,) = [finding for finding in checkup.findings if finding.cause is cause]
    return finding


@pytest.mark.parametrize('kind', Kind)
@pytest.mark.parametrize('value', [0.0, -3.5])
def test_a_loaded_joint_with_a_constant_effort_is_dead(kind: Kind, value: float) -> None:
    recorded = with_constant(record(Robot(ARM), kind, 1), ELBOW, value)
    checkup = check(ARM, recorded, kind=kind)
    assert checkup.verdict is ModelVerdict.REJECTED
    (finding,) = [finding for finding in checkup.findings if finding.must_be_fixed]
    assert finding.cause is Cause.NO_EFFORT
    assert f'fer_joint4: the effort is {value:g} throughout' in finding.text
    assert 'fer_joint4' not in [joint.name for joint in checkup.assessment.joints]
    assert 'do not fit' not in checkup.report().splitlines()[1]


def test_a_joint_that_carries_nothing_may_be_dead() -> None:
    checkup = check(ARM, with_constant(record(Robot(ARM), Kind.MOTION, 1), WRIST, 0.0))
    assert checkup.verdict is ModelVerdict.ACCEPTED
    assert 'fer_joint7: the effort is 0 throughout' in found(checkup, Cause.NO_EFFORT).text


@pytest.mark.parametrize(('value', 'word'), [(0.0, 'exactly 0'), (2.0, 'constant')])
def test_of_a_driver_that_reports_nothing_all_joints_are_named_at_once(
    value: float, word: str
) -> None:
    recorded = with_constant(record(Robot(ARM), Kind.MOTION, 1), slice(None), value)
    checkup = check(ARM, recorded)
    assert [finding.cause for finding in checkup.findings] == [Cause.NO_EFFORT]
    assert word in found(checkup, Cause.NO_EFFORT).text
    assert checkup.verdict is ModelVerdict.REJECTED


def test_a_joint_without_an_effort_still_has_a_position() -> None:
    recorded = with_constant(record(Robot(ARM), Kind.MOTION, 1), ELBOW, float('nan'))
    checkup = check(ARM, recorded)
    assert checkup.verdict is ModelVerdict.ACCEPTED
    assert 'no effort recorded, not compared: fer_joint4' in checkup.report()
