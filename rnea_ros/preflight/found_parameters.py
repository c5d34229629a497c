# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the node that follow from the findings: friction, payload, compensation."""

from __future__ import annotations

from ..parameters import Value
from .checkup import Checkup
from .findings import Cause
from .selection import Estimate

SPOILS_FRICTION = frozenset({
    Cause.NO_EFFORT, Cause.ANOTHER_ROBOT, Cause.INVERTED_AXIS, Cause.INVERTED_EFFORT,
    Cause.GRAVITY_DIRECTION, Cause.WRONG_SCALE, Cause.UNEXPLAINED,
})
"""Causes that make the friction of their joints uncertain, or have it in another unit."""


def found_parameters(checkup: Checkup) -> dict[str, Value]:
    """Return the node's parameters that were found without doubt; empty if none were."""
    all_joints = len(checkup.assessment.joints)
    values: dict[str, Value] = {}
    if any(f.cause is Cause.COMPENSATED and len(f.joints) == all_joints for f in checkup.findings):
        values['hardware_compensates'] = ['gravity']
    values |= {**_friction(checkup), **_payload(checkup)}
    return {'joints': list(checkup.joints), **values} if values else {}


def _friction(checkup: Checkup) -> dict[str, Value]:
    """Return friction that is above zero beyond doubt; zero for other joints."""
    assessment = checkup.assessment
    if assessment.at_rest:
        return {}
    spoilt = {
        joint for finding in checkup.findings if finding.cause in SPOILS_FRICTION
        for joint in finding.joints
    }
    found: dict[str, Value] = {}
    for kind in ('viscous', 'coulomb'):
        by_name = {
            joint.name: _certain(assessment.best.parameter(kind, place))
            for place, joint in enumerate(assessment.joints)
            if place not in spoilt
        }
        if any(by_name.values()):
            found[f'friction.{kind}'] = [by_name.get(name, 0.0) for name in checkup.joints]
    return {'friction.model': 'parameters', **found} if found else {}


def _certain(estimate: Estimate) -> float:
    return estimate.value if estimate.is_known and estimate.lower > 0.0 else 0.0


def _payload(checkup: Checkup) -> dict[str, Value]:
    """Return the tools that are missing in the model, as point masses."""
    if not any(finding.cause is Cause.MISSING_TOOL for finding in checkup.findings):
        return {}
    assessment = checkup.assessment
    loads = {
        tip.link: [assessment.best.fit.values[f'load {tip.link}', k] for k in range(4)]
        for tip in assessment.prediction.tips
        if tip.link in assessment.hypothesis.loaded
        and assessment.affected(assessment.load_change(tip))
        and _certain(assessment.best.parameter(f'load {tip.link}', 0))
    }
    if not loads:
        return {}
    return {
        'payload.link': [*loads],
        'payload.mass': [load[0] for load in loads.values()],
        'payload.com': [part / load[0] for load in loads.values() for part in load[1:]],
    }
