# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The judgement: a table of rules, each of which looks at the figures for one kind of cause.

A cause is found where an interval clears a tolerance: significant, and large enough to matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
import math
from typing import TypeAlias

from .assessment import MODEL_TOLERANCE, SENSOR_TOLERANCE, Assessment
from .columns import Tip
from .findings import Cause, Finding, Verdict, number, vector
from .selection import Estimate

GRAVITY_TOLERANCE = math.radians(5.0)
"""Bases are levelled to a degree; five tip 9 % of a weight sideways, and no joint feels less."""

TORQUE_SENSOR_FRICTION = 0.1
"""
Behind a torque sensor less of a loaded joint's effort is friction.

There are bearings and seals only: one or two per cent of a Panda's loaded joints. Before the gear
it is the gear's friction, a fifth of the load and more.
"""


NONE = 0.3
"""A factor below it may be what a model's errors leave where gravity is compensated."""


Rule: TypeAlias = Callable[[Assessment], Iterator[Finding]]


def find_causes(assessment: Assessment) -> list[Finding]:
    """Return everything that the rules find, in the order of :data:`RULES`."""
    if not assessment.prediction.effort.any():
        return list(_no_effort(assessment))
    return [finding for rule in RULES for finding in rule(assessment)]


def verdict(assessment: Assessment, findings: list[Finding]) -> Verdict:
    """
    Return whether the model may be used.

    It is accepted when nothing must be fixed and every loaded joint could be judged.
    """
    if any(finding.must_be_fixed for finding in findings):
        return Verdict.REJECTED
    judged = [assessment.joints[joint].is_judged for joint in assessment.loaded]
    return Verdict.ACCEPTED if judged and all(judged) else Verdict.UNDECIDED


EVERY_EFFORT = 'the efforts of all joints'
UPSIDE_DOWN = ', or the robot hangs upside down, which still poses cannot tell apart'


def _no_effort(assessment: Assessment) -> Iterator[Finding]:
    yield Finding(
        Cause.NO_EFFORT,
        'every effort is exactly 0: the driver or simulation reports none',
        tuple(range(len(assessment.joints))),
    )


def _whole_robot(assessment: Assessment) -> Iterator[Finding]:
    """Judge factors that all joints have in common."""
    best, everyone = assessment.best, tuple(range(len(assessment.joints)))
    if assessment.hypothesis.all_scaled:
        factor = best.parameter('all', 0, add=1.0)
        others = UPSIDE_DOWN if assessment.at_rest else ''
        seen = any(assessment.is_seen(joint) for joint in assessment.loaded)
        yield from _judge_factor(
            factor, MODEL_TOLERANCE, everyone, EVERY_EFFORT, seen=seen, others=others
        )
    if assessment.hypothesis.gravity_scaled:
        factor = best.parameter('gravity', 0, add=1.0)
        if abs(factor.value) + factor.half_width < NONE:
            yield Finding(
                Cause.COMPENSATED,
                f"gravity is {number(factor)} times the model's in all efforts, inertia is not "
                'reduced: the hardware compensates gravity',
                everyone,
            )
        elif factor.value < 0.0 and factor.excludes(1.0, MODEL_TOLERANCE):
            text = f"gravity is {number(factor)} times the model's: it points the other way"
            yield Finding(Cause.GRAVITY_DIRECTION, text)
        elif factor.excludes(1.0, MODEL_TOLERANCE):
            text = f"gravity is {number(factor)} times the model's, inertia is not"
            yield Finding(Cause.UNEXPLAINED, text, everyone)


def _gravity(assessment: Assessment) -> Iterator[Finding]:
    """Judge the direction of gravity, and its size."""
    if not assessment.hypothesis.gravity_turned:
        return
    if not assessment.matters(assessment.gravity_change()):
        return
    found, size, angle = assessment.gravity_found()
    everyone = tuple(range(len(assessment.joints)))
    if size.upper < NONE:
        text = 'no gravity is in the efforts: the hardware compensates it'
        yield Finding(Cause.COMPENSATED, text, everyone)
    elif assessment.at_rest and angle.excludes(0.0, math.pi - GRAVITY_TOLERANCE):
        negative = Estimate(-size.value, size.half_width)
        yield from _judge_factor(
            negative, MODEL_TOLERANCE, everyone, EVERY_EFFORT, others=UPSIDE_DOWN
        )
    elif angle.excludes(0.0, GRAVITY_TOLERANCE):
        degrees = Estimate(math.degrees(angle.value), math.degrees(angle.half_width))
        yield Finding(
            Cause.GRAVITY_DIRECTION,
            f'gravity is turned by {number(degrees)} degrees: ({vector(found)}) m/s^2 in the '
            'frame of the root link',
        )
    else:
        yield from _judge_factor(size, MODEL_TOLERANCE, everyone, EVERY_EFFORT)


def _tools(assessment: Assessment) -> Iterator[Finding]:
    """Judge the loads that were found."""
    for tip in assessment.prediction.tips:
        if tip.link not in assessment.hypothesis.loaded:
            continue
        if not assessment.matters(assessment.load_change(tip)):
            continue
        mass = assessment.best.parameter(f'load {tip.link}', 0)
        if not mass.is_known or not mass.excludes(0.0):
            values = assessment.best.fit.values
            moment = [values[f'load {tip.link}', k] for k in (1, 2, 3)]
            yield Finding(
                Cause.MISSING_TOOL,
                f'{tip.link} carries another load than the model has; its mass cannot be told, '
                f'its first moment differs by ({vector(moment)}) kg m in the frame of the link',
            )
        elif mass.value > 0.0:
            yield _missing_tool(assessment, tip, mass)
        else:
            yield _surplus_tool(tip, mass)


def _missing_tool(assessment: Assessment, tip: Tip, mass: Estimate) -> Finding:
    values = assessment.best.fit.values
    place = [values[f'load {tip.link}', k] / mass.value for k in (1, 2, 3)]
    return Finding(
        Cause.MISSING_TOOL,
        f'a tool of about {number(mass)} kg at ({vector(place)}) m in the frame of {tip.link} '
        'is missing in the model',
    )


def _surplus_tool(tip: Tip, mass: Estimate) -> Finding:
    measured = Estimate(-mass.value, mass.half_width)
    # Links of equal mass carry the same tool: the one nearest to the tip is the tool itself.
    near = [
        (abs(measured.value - weight), place, link)
        for place, (link, weight) in enumerate(tip.behind.items())
        if not measured.excludes(weight, MODEL_TOLERANCE * weight) and weight > 0.0
    ]
    if not near:
        text = f'the model has {number(measured)} kg too much on {tip.link}'
        return Finding(Cause.SURPLUS_TOOL, text)
    link = min(near)[-1]
    return Finding(
        Cause.SURPLUS_TOOL,
        f'the model carries a tool, {link} with what is fixed to it, of {tip.behind[link]:.2f} kg '
        f'that the robot does not have (measured {number(measured)} kg)',
    )


def _axes(assessment: Assessment) -> Iterator[Finding]:
    """Judge the axes that seem to point the other way; a sign is wrong as soon as it is seen."""
    for joint in sorted(assessment.hypothesis.flipped):
        if assessment.stands_out(assessment.flip_change(joint)):
            text = (
                f'{assessment.joints[joint].name}: position and effort count the other way round '
                'than the axis of the model'
            )
            yield Finding(Cause.INVERTED_AXIS, text, (joint,))


def _single_factors(assessment: Assessment) -> Iterator[Finding]:
    """Judge the factors of single joints."""
    for joint in sorted(assessment.hypothesis.scaled):
        figures = assessment.joints[joint]
        factor, what = assessment.factor(joint), f'{figures.name}: the effort'
        yield from _judge_factor(
            factor,
            figures.tolerance,
            (joint,),
            what,
            seen=assessment.is_seen(joint),
            loaded=joint in assessment.loaded,
        )


def _judge_factor(
    factor: Estimate,
    tolerance: float,
    joints: tuple[int, ...],
    what: str,
    *,
    seen: bool = True,
    loaded: bool = True,
    others: str = '',
) -> Iterator[Finding]:
    """
    Yield what a factor means, unless it is near enough to 1.

    :param factor: measured over modelled effort
    :param tolerance: how near to 1 is right
    :param joints: whom it concerns
    :param what: has the factor, in words
    :param seen: whether the model, times the factor, stands out of the scatter
    :param loaded: whether the joints carry enough for an effort of nothing to be no accident
    :param others: what else an inverted sign may mean
    """
    if not factor.is_known or not factor.excludes(1.0, tolerance):
        return
    verb = f'{what} {"are" if len(joints) > 1 else "is"} {number(factor)} times the model\'s'
    absent = not factor.excludes(0.0) or (loaded and not seen)
    if absent and abs(factor.value) + factor.half_width < NONE:
        text = f'{verb}: the hardware compensates gravity, or does not measure it'
        yield Finding(Cause.COMPENSATED, text, joints, must_be_fixed=loaded)
    elif factor.upper < 0.0:
        near = abs(factor.value + 1.0) <= tolerance + factor.half_width
        more = '' if near else ', and its size does not fit: gear ratio, unit or current'
        text = f'{verb}: the sign is inverted{more}{others}'
        yield Finding(Cause.INVERTED_EFFORT, text, joints)
    else:
        text = f'{verb}: gear ratio, unit, or current instead of torque'
        yield Finding(Cause.WRONG_SCALE, text, joints)


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
            "motor currents and has the gears' friction in it, which the model must be given",
            tuple(shares),
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
        yield Finding(Cause.FRICTION, text, tuple(hidden), must_be_fixed=False)


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


RULES: tuple[Rule, ...] = (
    _whole_robot,
    _gravity,
    _tools,
    _axes,
    _single_factors,
    _current,
    _offsets,
    _unexplained,
    _friction,
    _unjudged,
)
"""What is looked for, in the order of the report; each rule is independent of the others."""
