# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Rules: friction, offsets, scatter, and joints that cannot be judged."""

from __future__ import annotations

from collections.abc import Iterator

from .assessment import MODEL_TOLERANCE, SENSOR_TOLERANCE, Assessment
from .findings import IDENTIFY, Cause, Finding, number

GIVE_FRICTION = (
    'set friction.* (--write), or hardware_compensates: [friction] if the robot itself '
    'compensates friction'
)


def _current(assessment: Assessment) -> Iterator[Finding]:
    """Judge whether the efforts come from motor currents."""
    if shares := assessment.gear_friction:
        parts = ', '.join(
            f'{100.0 * share:.0f} % of the load of {assessment.joints[joint].name}'
            for joint, share in shares.items()
        )
        yield Finding(
            Cause.CURRENT,
            f'friction is {parts}: too much for torque sensors. The efforts come from motor '
            'currents and contain the friction of the gears',
            tuple(shares),
            remedy=GIVE_FRICTION,
        )


def _friction(assessment: Assessment) -> Iterator[Finding]:
    """Name the joints whose friction exceeds the model's effort."""
    hidden = {
        place: f'{joint.name} ({joint.friction:.2f}, model {joint.load:.2f})'
        for place, joint in enumerate(assessment.joints)
        if joint.coulomb is not None and joint.friction > joint.load + joint.scatter
    }
    if hidden:
        text = f'friction exceeds the effort of the model, N m or N: {", ".join(hidden.values())}'
        yield Finding(
            Cause.FRICTION, text, tuple(hidden), must_be_fixed=False, remedy=GIVE_FRICTION
        )


def _offsets(assessment: Assessment) -> Iterator[Finding]:
    """Judge the offsets."""
    for place, joint in enumerate(assessment.joints):
        offset = assessment.best.parameter('offset', place)
        if offset.is_known and offset.excludes(0.0, _allowance(assessment, place)):
            text = f'{joint.name}: the effort has an offset of {number(offset)} N m or N'
            yield Finding(Cause.OFFSET, text, (place,))


def _unexplained(assessment: Assessment) -> Iterator[Finding]:
    """Name the loaded joints whose effort no cause explains."""
    for place in assessment.loaded:
        joint, scatter = assessment.joints[place], assessment.best.fit.scatter[place]
        if scatter > _allowance(assessment, place):
            text = f'{joint.name}: no known cause explains the scatter of {scatter:.2f} N m or N'
            yield Finding(Cause.UNEXPLAINED, text, (place,), remedy=IDENTIFY)


def _allowance(assessment: Assessment, joint: int) -> float:
    """Return the accepted error of model, sensor and friction in a joint's effort, N m or N."""
    load = assessment.reported_load
    parts = MODEL_TOLERANCE * load[joint] + SENSOR_TOLERANCE * load.max()
    return float(parts) + assessment.joints[joint].friction


def _unjudged(assessment: Assessment) -> Iterator[Finding]:
    """Name the joints that cannot be judged."""
    weak = {
        place: f'{joint.name} ({joint.variation:.2f})'
        for place, joint in enumerate(assessment.joints)
        if not joint.is_judged
    }
    if weak:
        text = (
            "the model's effort varies too little against friction and scatter, N m or N: "
            f'{", ".join(weak.values())}'
        )
        yield Finding(Cause.UNJUDGED, text, tuple(weak), must_be_fixed=False)


REMAINDERS = (_current, _offsets, _unexplained, _friction, _unjudged)
"""Rules in the order of the report; each is independent of the others."""
