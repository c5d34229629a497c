# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The rules that read what the best hypothesis says is wrong."""

from __future__ import annotations

from collections.abc import Iterator
import math

from .assessment import Assessment
from .columns import Tip
from .findings import Cause, Finding, number, vector
from .joint_figures import MODEL_TOLERANCE
from .selection import ABSENT, Estimate

GRAVITY_TOLERANCE = math.radians(5.0)
"""Bases are levelled to a degree; five tip 9 % of a weight sideways, and no joint feels less."""

FACTOR_OF_SEVERAL = (
    'another unit, current instead of torque, wrong masses, or the URDF of another robot'
)
FACTOR_OF_ONE = 'gear ratio, unit, or current instead of torque'
EVERY_EFFORT = 'the efforts of all joints'
LEAVE_GRAVITY = (
    'set hardware_compensates: [gravity], unless commands do hold the weight and only what is '
    'reported lacks it'
)
UPSIDE_DOWN = ', or the robot hangs upside down, which still poses cannot tell apart'


def whole_robot(assessment: Assessment) -> Iterator[Finding]:
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
        if abs(factor.value) + factor.half_width < ABSENT:
            yield Finding(
                Cause.COMPENSATED,
                f"gravity is {number(factor)} times the model's in all efforts, inertia is not "
                'reduced',
                everyone,
                remedy=LEAVE_GRAVITY,
            )
        elif factor.is_inverted(MODEL_TOLERANCE):
            text = f"gravity is {number(factor)} times the model's: it points the other way"
            yield Finding(Cause.GRAVITY_DIRECTION, text, everyone)
        elif factor.excludes(1.0, MODEL_TOLERANCE):
            text = f"gravity is {number(factor)} times the model's, inertia is not"
            yield Finding(Cause.UNEXPLAINED, text, everyone)


def gravity(assessment: Assessment) -> Iterator[Finding]:
    """Judge the direction of gravity, and its size."""
    if not assessment.hypothesis.gravity_turned:
        return
    affected = assessment.affected(assessment.gravity_change())
    if not affected:
        return
    found, size, angle = assessment.gravity_found()
    everyone = tuple(range(len(assessment.joints)))
    if size.upper < ABSENT:
        text = 'no gravity is in the efforts'
        yield Finding(Cause.COMPENSATED, text, everyone, remedy=LEAVE_GRAVITY)
    elif assessment.at_rest and angle.excludes(0.0, math.pi - GRAVITY_TOLERANCE):
        negative = Estimate(-size.value, size.half_width)
        yield from _judge_factor(
            negative, MODEL_TOLERANCE, everyone, EVERY_EFFORT, others=UPSIDE_DOWN
        )
    elif angle.excludes(0.0, GRAVITY_TOLERANCE) and size.excludes(1.0, MODEL_TOLERANCE):
        text = f"gravity is another vector, {number(size)} times as long as the model's"
        yield Finding(Cause.UNEXPLAINED, text, everyone)
    elif angle.excludes(0.0, GRAVITY_TOLERANCE):
        degrees = Estimate(math.degrees(angle.value), math.degrees(angle.half_width))
        yield Finding(
            Cause.GRAVITY_DIRECTION,
            f'gravity is turned by {number(degrees)} degrees: ({vector(found)}) m/s^2 in the '
            'frame of the root link',
            affected,
        )
    else:
        yield from _judge_factor(size, MODEL_TOLERANCE, everyone, EVERY_EFFORT)


def tools(assessment: Assessment) -> Iterator[Finding]:
    """Judge the loads that were found."""
    for tip in assessment.prediction.tips:
        if tip.link not in assessment.hypothesis.loaded:
            continue
        affected = assessment.affected(assessment.load_change(tip))
        if not affected:
            continue
        mass = assessment.best.parameter(f'load {tip.link}', 0)
        if not mass.is_known or not mass.excludes(0.0):
            values = assessment.best.fit.values
            moment = [values[f'load {tip.link}', k] for k in (1, 2, 3)]
            yield Finding(
                Cause.MISSING_TOOL,
                f'{tip.link} carries another load than the model has; its mass cannot be told, '
                f'its first moment differs by ({vector(moment)}) kg m in the frame of the link',
                affected,
            )
        elif mass.value > 0.0:
            yield Finding(Cause.MISSING_TOOL, _missing_tool(assessment, tip, mass), affected)
        else:
            yield Finding(Cause.SURPLUS_TOOL, _surplus_tool(tip, mass), affected)


def _missing_tool(assessment: Assessment, tip: Tip, mass: Estimate) -> str:
    values = assessment.best.fit.values
    place = [values[f'load {tip.link}', k] / mass.value for k in (1, 2, 3)]
    return (
        f'a tool of about {number(mass)} kg at ({vector(place)}) m in the frame of {tip.link} '
        'is missing in the model'
    )


def _surplus_tool(tip: Tip, mass: Estimate) -> str:
    measured = Estimate(-mass.value, mass.half_width)
    # Links of equal mass carry the same tool: the one nearest to the tip is the tool itself.
    near = [
        (abs(measured.value - weight), place, link)
        for place, (link, weight) in enumerate(tip.behind.items())
        if not measured.excludes(weight, MODEL_TOLERANCE * weight) and weight > 0.0
    ]
    if not near:
        return f'the model has {number(measured)} kg too much on {tip.link}'
    link = min(near)[-1]
    return (
        f'the model carries a tool, {link} with what is fixed to it, of {tip.behind[link]:.2f} kg '
        f'that the robot does not have (measured {number(measured)} kg)'
    )


def _axes(assessment: Assessment) -> Iterator[Finding]:
    """Judge the axes that seem to point the other way; a sign is wrong as soon as it is seen."""
    for joint in sorted(assessment.hypothesis.flipped):
        if assessment.stands_out(
            assessment.flip_change(joint)
        ) and assessment.axis_factor(joint).is_inverted(MODEL_TOLERANCE):
            text = (
                f'{assessment.joints[joint].name}: position and effort count the other way round '
                'than the axis of the model'
            )
            yield Finding(Cause.INVERTED_AXIS, text, (joint,))


def _single_factors(assessment: Assessment) -> Iterator[Finding]:
    """Judge the factors of single joints."""
    scaled = assessment.hypothesis.scaled
    single = len(scaled) == 1 and not assessment.hypothesis.all_scaled
    for joint in sorted(scaled):
        figures = assessment.joints[joint]
        factor, what = assessment.factor(joint), f'{figures.name}: the effort'
        yield from _judge_factor(
            factor,
            figures.tolerance,
            (joint,),
            what,
            seen=assessment.is_seen(joint),
            loaded=joint in assessment.loaded,
            single=single,
        )


def _judge_factor(
    factor: Estimate,
    tolerance: float,
    joints: tuple[int, ...],
    what: str,
    *,
    seen: bool = True,
    loaded: bool = True,
    single: bool = False,
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
    :param single: whether no other joint has a factor
    :param others: what else an inverted sign may mean
    """
    if not factor.is_known or not factor.excludes(1.0, tolerance):
        return
    verb = f'{what} {"are" if len(joints) > 1 else "is"} {number(factor)} times the model\'s'
    absent = not factor.excludes(0.0) or (loaded and not seen)
    reasons = FACTOR_OF_ONE if single else FACTOR_OF_SEVERAL
    if absent and abs(factor.value) + factor.half_width < ABSENT:
        if len(joints) > 1:
            yield Finding(Cause.COMPENSATED, verb, joints, remedy=LEAVE_GRAVITY)
        else:
            text = f'{verb}, or is not measured; hardware_compensates is for all joints at once'
            yield Finding(Cause.COMPENSATED, text, joints, must_be_fixed=loaded)
    elif factor.is_inverted(tolerance):
        yield Finding(Cause.INVERTED_EFFORT, f'{verb}: the sign is inverted{others}', joints)
    elif factor.lower > 0.0:
        yield Finding(Cause.WRONG_SCALE, f'{verb}: {reasons}', joints)
    elif factor.value > 0.0 or factor.half_width > MODEL_TOLERANCE * -factor.value:
        yield Finding(Cause.UNEXPLAINED, f'{verb}: too uncertain to name a cause', joints)
    else:
        text = f'{verb}: the sign is inverted, and its size does not fit: {reasons}{others}'
        yield Finding(Cause.INVERTED_EFFORT, text, joints)


FAULTS = (whole_robot, gravity, tools, _axes, _single_factors)
"""In the order of the report; each is independent of the others."""
