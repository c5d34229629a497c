# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The rules that read what hypotheses leave: friction, offsets, scatter, and what is not known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .assessment import SENSOR_TOLERANCE, Assessment
from .findings import Cause, Finding, number
from .joint_figures import MODEL_TOLERANCE

TORQUE_SENSOR_FRICTION = 0.1
"""
Behind a torque sensor less of a loaded joint's effort is friction.

There are bearings and seals only: one or two per cent of a Panda's loaded joints. Before the gear
it is the gear's friction, a fifth of the load and more.
"""

GIVE_FRICTION = (
    'give friction to the model by friction.*, or set hardware_compensates: [friction] where the '
    'robot makes up for it by itself'
)


def _current(assessment: Assessment) -> Iterator[Finding]:
    """Judge whether the effort was measured before the gear."""
    loaded = assessment.loaded
    if assessment.at_rest or not loaded:
        return
    shares = {joint: assessment.friction_share(joint) for joint in loaded}
    if all(share.lower > TORQUE_SENSOR_FRICTION for share in shares.values()):
        parts = ', '.join(
            f'{100.0 * share.value:.0f} % of the weight that {assessment.joints[joint].name} holds'
            for joint, share in shares.items()
        )
        yield Finding(
            Cause.CURRENT,
            f'friction is {parts}: too much for a torque sensor, so the effort is taken from '
            "motor currents and has the gears' friction in it",
            tuple(shares),
            remedy=GIVE_FRICTION,
        )


def _friction(assessment: Assessment) -> Iterator[Finding]:
    """Name the joints where friction hides the model."""
    hidden = {
        place: f'{joint.name} ({joint.friction:.2f} of friction, {joint.load:.2f} of the model)'
        for place, joint in enumerate(assessment.joints)
        if joint.coulomb is not None and joint.friction > joint.load + joint.scatter
    }
    if hidden:
        text = f'there is more of it than of what the model explains: {_list(hidden)}'
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
    """Name loaded joints where no cause explains what is measured."""
    for place in assessment.loaded:
        joint, scatter = assessment.joints[place], assessment.best.fit.scatter[place]
        if scatter > _allowance(assessment, place):
            text = f'{joint.name}: {scatter:.2f} N m or N of scatter that no known cause explains'
            yield Finding(Cause.UNEXPLAINED, text, (place,))


def _allowance(assessment: Assessment, joint: int) -> float:
    """Return what a model, a sensor and friction may leave in a joint's effort, N m or N."""
    load = assessment.reported_load
    parts = MODEL_TOLERANCE * load[joint] + SENSOR_TOLERANCE * load.max()
    return float(parts) + assessment.joints[joint].friction


def _unjudged(assessment: Assessment) -> Iterator[Finding]:
    """Name the joints that cannot be judged."""
    weak = {
        place: f'{joint.name} ({joint.drive:.2f})'
        for place, joint in enumerate(assessment.joints)
        if not joint.is_judged
    }
    if weak:
        text = f"beside friction and scatter the model's effort varies little: {_list(weak)}"
        yield Finding(Cause.UNJUDGED, text, tuple(weak), must_be_fixed=False)


def _list(words: Mapping[int, str]) -> str:
    return ', '.join(words.values())


REMAINDERS = (_current, _offsets, _unexplained, _friction, _unjudged)
"""In the order of the report; each is independent of the others."""
