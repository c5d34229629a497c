# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Rules: faults in the best hypothesis; the URDF of another robot if none explains the efforts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
import math

import numpy as np

from .assessment import MODEL_TOLERANCE, SENSOR_TOLERANCE, Assessment, JointFigures
from .fit import Tip
from .selection import ABSENT, Estimate

IDENTIFY = 'if robot and URDF belong together, identify masses and friction: docs/identify.md'
"""Remedy for a model that is wrong in many places."""

# Bases are levelled to 1 degree; at 5 degrees 9 % of the weight acts sideways.
GRAVITY_TOLERANCE = math.radians(5.0)
MIN_GRAVITY = 0.1  # of a model with gravity, m/s^2

UNEXPLAINED_SHARE = 0.2
"""
Greatest unexplained share of a joint's effort without friction.

URDFs of the right robot leave up to 10 %, also with efforts from motor currents. URDFs of robots
of another shape leave 26 to 100 %.
"""

UNEXPLAINED_CURRENT = 0.45  # of efforts with friction of gears, which depends on load and heat
MAX_KINDS = 2  # of faults in one robot; with more, a URDF of another robot is more likely

MAY_BE = 'this URDF may be of another robot, or its masses are wrong'
REMEDY = f'check the robot type of the URDF and the order of the joints (--joints); {IDENTIFY}'

FACTOR_OF_SEVERAL = (
    'another unit, current instead of torque, wrong masses, or the URDF of another robot'
)
FACTOR_OF_ONE = 'wrong gear ratio or unit, or current instead of torque'
EVERY_EFFORT = 'the efforts of all joints'
EVERY_WEIGHT = 'the gravity efforts of all joints'
LEAVE_GRAVITY = (
    'set hardware_compensates: [gravity], except if the commands carry the weight and only the '
    'reported efforts lack it'
)
SET_GRAVITY = (
    'set gravity to this vector; if the robot itself compensates gravity for another one, as for '
    'an upright arm, set hardware_gravity to that'
)
INVERT_AXIS = 'invert the axis in the URDF, or the columns of a table (--table sign=1,-1,...)'
UPSIDE_DOWN = ', or the robot hangs upside down (poses at rest look the same)'

GIVE_FRICTION = (
    'set friction.* (--write), or hardware_compensates: [friction] if the robot itself '
    'compensates friction'
)


class Cause(Enum):
    """A possible fault, or the reason why a joint cannot be judged; the second text is short."""

    NO_EFFORT = 'no effort reported', 'no effort'
    ANOTHER_ROBOT = 'URDF of another robot', 'another robot'
    INVERTED_AXIS = 'inverted axis', 'axis inverted'
    INVERTED_EFFORT = 'inverted effort', 'effort inverted'
    GRAVITY_DIRECTION = 'wrong gravity direction', 'gravity direction'
    WRONG_SCALE = 'gear ratio, unit or current', 'ratio, unit or current'
    MISSING_TOOL = 'tool missing in the model', 'tool missing'
    SURPLUS_TOOL = 'extra tool in the model', 'extra tool'
    COMPENSATED = 'hardware compensates gravity', 'gravity compensated'
    CURRENT = 'current-based effort', 'current-based'
    OFFSET = 'offset', 'offset'
    UNEXPLAINED = 'unexplained', 'unexplained'
    FRICTION = 'friction dominates', 'friction dominates'
    UNJUDGED = 'too little gravity to judge', 'not judged'

    def __init__(self, text: str, short: str) -> None:
        self.text, self.short = text, short


BY_HYPOTHESIS = frozenset({
    Cause.INVERTED_AXIS, Cause.INVERTED_EFFORT, Cause.GRAVITY_DIRECTION, Cause.WRONG_SCALE,
    Cause.MISSING_TOOL, Cause.SURPLUS_TOOL, Cause.COMPENSATED,
})
"""Causes that depend on the best hypothesis; another hypothesis may fit as well."""


class ModelVerdict(IntEnum):
    """The verdict; its number is the exit code of the command."""

    ACCEPTED = 0
    REJECTED = 1
    UNDECIDED = 2


@dataclass(frozen=True)
class Finding:
    """A cause that was found."""

    cause: Cause
    text: str  # one sentence with the figures
    joints: tuple[int, ...] = ()  # numbers of the joints concerned; empty for the whole robot
    must_be_fixed: bool = True  # the model cannot be used before a repair
    remedy: str = ''  # advice for the user, as a parameter of the node to set
    factor: Estimate | None = None  # measured over modelled effort, if the cause is a factor


def vector(values: Iterable[float]) -> str:
    """Return the components of a vector with three decimals."""
    return ', '.join(f'{value:.3f}' for value in values)


def whole_robot(assessment: Assessment) -> Iterator[Finding]:
    """Judge the factor of all efforts, and of gravity in all efforts."""
    best, all_joints = assessment.best, tuple(range(len(assessment.joints)))
    hypothesis = assessment.hypothesis
    if hypothesis.all_scaled and hypothesis.gravity_scaled:
        weight = best.estimate(
            lambda fit: (1.0 + fit.values['all', 0]) * (1.0 + fit.values['gravity', 0]),
            best.fit.errors['gravity', 0],
        )
        if weight.excludes(0.0, ABSENT):  # then it is what the efforts of slow motions show
            yield from _judge_factor(weight, MODEL_TOLERANCE, all_joints, EVERY_WEIGHT)
            motion = best.parameter('all', 0, add=1.0)
            if motion.excludes(1.0, MODEL_TOLERANCE):
                text = f"the efforts of motion are {motion} times the model's: rotor "
                text += 'inertia (armature) that the model lacks, or wrong inertias'
                yield Finding(Cause.UNEXPLAINED, text, must_be_fixed=False)
            return
    if hypothesis.all_scaled:
        factor = best.parameter('all', 0, add=1.0)
        alternative = UPSIDE_DOWN if assessment.at_rest else ''
        visible = any(assessment.is_visible(joint) for joint in assessment.loaded)
        yield from _judge_factor(
            factor, MODEL_TOLERANCE, all_joints, EVERY_EFFORT, visible=visible,
            alternative=alternative
        )
    if hypothesis.gravity_scaled:
        factor = best.parameter('gravity', 0, add=1.0)
        if abs(factor.value) + factor.half_width < ABSENT:
            text = f"gravity is {factor} times the model's in all efforts; "
            text += 'the efforts of motion fit'
            yield Finding(Cause.COMPENSATED, text, all_joints, True, LEAVE_GRAVITY, factor)
        elif factor.is_inverted(MODEL_TOLERANCE):
            text = f"gravity is {factor} times the model's: its direction is inverted"
            yield Finding(Cause.GRAVITY_DIRECTION, text, all_joints, factor=factor)
        elif factor.excludes(1.0, MODEL_TOLERANCE):
            text = f"gravity is {factor} times the model's; the efforts of motion fit"
            yield Finding(Cause.UNEXPLAINED, text, all_joints, factor=factor)


def gravity(assessment: Assessment) -> Iterator[Finding]:
    """Judge the direction and size of gravity."""
    if not assessment.hypothesis.gravity_turned:
        return
    affected = assessment.affected(assessment.gravity_change())
    if not affected:
        return
    found, size, angle = assessment.gravity_found()
    all_joints = tuple(range(len(assessment.joints)))
    if size.upper < ABSENT:
        text = 'the efforts contain no gravity'
        yield Finding(Cause.COMPENSATED, text, all_joints, remedy=LEAVE_GRAVITY)
    elif np.linalg.norm(assessment.prediction.model.gravity) < MIN_GRAVITY:
        text = f'gravity is ({vector(found)}) m/s^2 in the frame of the root link, not zero'
        yield Finding(Cause.GRAVITY_DIRECTION, text, affected)
    elif assessment.at_rest and angle.excludes(0.0, math.pi - GRAVITY_TOLERANCE):
        negative = Estimate(-size.value, size.half_width)
        yield from _judge_factor(
            negative, MODEL_TOLERANCE, all_joints, EVERY_EFFORT, alternative=UPSIDE_DOWN
        )
    elif angle.excludes(0.0, GRAVITY_TOLERANCE) and (
        size.excludes(1.0, MODEL_TOLERANCE) or size.half_width > 1.0
    ):
        text = f"gravity differs in direction and size: {size} times the model's"
        yield Finding(Cause.UNEXPLAINED, text, all_joints)
    elif angle.excludes(0.0, GRAVITY_TOLERANCE):
        degrees = Estimate(math.degrees(angle.value), math.degrees(angle.half_width))
        text = f'gravity is turned by {degrees} degrees: ({vector(found)}) m/s^2 in the '
        text += 'frame of the root link'
        yield Finding(Cause.GRAVITY_DIRECTION, text, affected, remedy=SET_GRAVITY)
    else:
        yield from _judge_factor(size, MODEL_TOLERANCE, all_joints, EVERY_EFFORT)


def tools(assessment: Assessment) -> Iterator[Finding]:
    """Judge the loads on the tips."""
    for tip in assessment.prediction.tips:
        if tip.link not in assessment.hypothesis.loaded:
            continue
        affected = assessment.affected(assessment.load_change(tip))
        if not affected:
            continue
        mass, values = assessment.best.parameter(f'load {tip.link}', 0), assessment.best.fit.values
        moment = np.array([values[f'load {tip.link}', k] for k in (1, 2, 3)])
        cause = Cause.MISSING_TOOL
        if not mass.is_known or not mass.excludes(0.0):
            text = f"the load on {tip.link} differs from the model's: its first moment by "
            text += f'({vector(moment)}) kg m in the frame of the link; its mass is not determined'
        elif mass.value > 0.0:
            text = f'a tool of about {mass} kg at ({vector(moment / mass.value)}) m in the frame '
            text += f'of {tip.link} is missing in the model'
        else:
            cause, text = Cause.SURPLUS_TOOL, _surplus_tool(tip, mass)
        yield Finding(cause, text, affected)


def _surplus_tool(tip: Tip, mass: Estimate) -> str:
    measured = Estimate(-mass.value, mass.half_width)
    # Of links with equal mass the one nearest to the tip is the tool, the others carry it.
    candidates = [
        (abs(measured.value - weight), place, link)
        for place, (link, weight) in enumerate(tip.behind.items())
        if not measured.excludes(weight, MODEL_TOLERANCE * weight) and weight > 0.0
    ]
    if not candidates:
        return f'the model has {measured} kg too much on {tip.link}'
    link = min(candidates)[-1]
    return (
        f'the model has a tool that the robot lacks: {link} with everything fixed to it, '
        f'{tip.behind[link]:.2f} kg (measured {measured} kg)'
    )


def _axes(assessment: Assessment) -> Iterator[Finding]:
    """Judge the axes that may be inverted; every visible inversion must be fixed."""
    for joint in sorted(assessment.hypothesis.flipped):
        change, name = assessment.flip_change(joint), assessment.joints[joint].name
        inverted = assessment.axis_factor(joint).is_inverted(MODEL_TOLERANCE)
        if inverted and assessment.stands_out(change * assessment.factors):
            text = f"{name}: position and effort have the opposite sign of the model's axis"
            yield Finding(Cause.INVERTED_AXIS, text, (joint,), remedy=INVERT_AXIS)


def _single_factors(assessment: Assessment) -> Iterator[Finding]:
    """Judge the factors of single joints."""
    scaled = assessment.hypothesis.scaled
    single = len(scaled) == 1 and not assessment.hypothesis.all_scaled
    least = SENSOR_TOLERANCE * max(figures.load for figures in assessment.joints)
    for joint in sorted(scaled):
        figures = assessment.joints[joint]
        factor, what = assessment.factor(joint), f'{figures.name}: the effort'
        yield from _judge_factor(
            factor, figures.tolerance, (joint,), what, visible=assessment.is_visible(joint),
            loaded=joint in assessment.loaded, single=single, carries=figures.load > least
        )


def _judge_factor(
    factor: Estimate, tolerance: float, joints: tuple[int, ...], what: str, *,
    visible: bool = True, loaded: bool = True, single: bool = False, carries: bool = True,
    alternative: str = '',
) -> Iterator[Finding]:
    """
    Yield the finding for a factor, measured over modelled effort, that differs from 1.

    ``what`` is the subject of the sentence. A model is visible if it exceeds the scatter, joints
    are loaded if they carry the arm's weight (then a zero effort is a fault), and single if no
    other joint has a factor. A joint carries an effort that exceeds the sensors' error.
    ``alternative`` may explain an inverted sign.
    """
    if not factor.is_known or not factor.excludes(1.0, tolerance):
        return
    verb = f'{what} {"are" if len(joints) > 1 else "is"} {factor} times the model\'s'
    absent = not factor.excludes(0.0) or (loaded and not visible)
    reasons = FACTOR_OF_ONE if single else FACTOR_OF_SEVERAL
    cause, remedy, is_fault = Cause.INVERTED_EFFORT, '', loaded or visible
    if absent and abs(factor.value) + factor.half_width < ABSENT:
        cause, is_fault = Cause.COMPENSATED, loaded
        if len(joints) > 1:
            text, remedy = verb, LEAVE_GRAVITY
        else:
            text = f'{verb}, or is not measured: check its driver'
    elif factor.is_inverted(tolerance):
        text = f'{verb}: the sign is inverted{alternative}'
    elif not (is_fault and carries):
        cause, is_fault = Cause.UNEXPLAINED, False
        text = f'{verb}: the joint carries too little to name a cause'
    elif factor.lower > 0.0:
        cause, text = Cause.WRONG_SCALE, f'{verb}: {reasons}'
    elif factor.value > 0.0 or factor.half_width > MODEL_TOLERANCE * -factor.value:
        cause, text = Cause.UNEXPLAINED, f'{verb}: too uncertain to name a cause'
    else:
        text = f'{verb}: the sign is inverted and the size is wrong: {reasons}{alternative}'
    yield Finding(cause, text, joints, is_fault, remedy, factor)


FAULTS = (whole_robot, gravity, tools, _axes, _single_factors)
"""Rules in the order of the report; each is independent of the others."""


def find_faults(assessment: Assessment) -> list[Finding]:
    """Return the faults in the best hypothesis, in the order of the report."""
    return [finding for rule in FAULTS for finding in rule(assessment)]


def another_robot(assessment: Assessment, faults: Sequence[Finding]) -> Finding | None:
    """Return the finding that the URDF may be of another robot, or None; from these faults."""
    joints = assessment.joints
    all_joints = tuple(range(len(joints)))
    figures = [joints[joint] for joint in assessment.loaded]

    def finding(text: str, which: tuple[int, ...]) -> Finding:
        inverted = [joint for joint in figures if joint.scale.upper < -ABSENT]
        signs = _scales(inverted)
        first = f"check these signs first, opposite to the model's: {signs}; " if signs else ''
        return Finding(Cause.ANOTHER_ROBOT, f'{first}{text}; {MAY_BE}', which, remedy=REMEDY)

    shares = {joint: assessment.unexplained(joint) for joint in assessment.loaded}
    limit = UNEXPLAINED_CURRENT if assessment.gear_friction else UNEXPLAINED_SHARE
    unexplained = {joint: share for joint, share in shares.items() if share > limit}
    if unexplained and 2 * len(unexplained) >= len(shares):
        parts = ', '.join(
            f'{100.0 * min(share, 1.0):.0f} % of {joints[joint].name}'
            for joint, share in unexplained.items()
        )
        return finding(f'no known cause explains the efforts (unexplained: {parts})', all_joints)
    found = {fault.cause for fault in faults if fault.must_be_fixed}
    kinds = found & BY_HYPOTHESIS
    factors = sum(fault.must_be_fixed for fault in whole_robot(assessment))
    together = factors + len(list(gravity(assessment))) + len(list(tools(assessment)))
    if len(kinds) > MAX_KINDS or (factors and together > 1):
        share = UNEXPLAINED_CURRENT
        if all(each.scatter < share * each.scale.lower * each.variation for each in figures):
            text = f'each effort has a factor of its own ({_scales(figures)}): {FACTOR_OF_SEVERAL}'
            return Finding(Cause.WRONG_SCALE, text, all_joints)
        causes = assessment.hypothesis.describe([joint.name for joint in joints])
        return finding(f'only several causes together explain the efforts ({causes})', all_joints)
    wrong = tuple(
        joint for joint in assessment.loaded
        if joints[joint].scale.excludes(1.0, joints[joint].tolerance)
    )
    if wrong and not found:
        scales = _scales([joints[joint] for joint in wrong])
        return finding(f'no single cause explains the scales of the joints ({scales})', wrong)
    return None


def _scales(joints: Iterable[JointFigures]) -> str:
    return ', '.join(f'{joint.name} {joint.scale}' for joint in joints)


def find_remainders(assessment: Assessment) -> Iterator[Finding]:
    """Yield what the hypothesis leaves: friction, offsets, scatter, joints that are not judged."""
    if shares := assessment.gear_friction:
        parts = ', '.join(
            f'{100.0 * share:.0f} % of the load of {assessment.joints[joint].name}'
            for joint, share in shares.items()
        )
        text = f'friction is {parts}: too much for torque sensors. The efforts come from motor '
        text += 'currents and contain the friction of the gears'
        yield Finding(Cause.CURRENT, text, tuple(shares), remedy=GIVE_FRICTION)
    joints, load = assessment.joints, assessment.reported_load
    # The accepted error of model, sensor and friction in a joint's effort
    allowance = MODEL_TOLERANCE * load + SENSOR_TOLERANCE * load.max()
    allowance += [joint.friction for joint in joints]
    for place, joint in enumerate(joints):
        offset = assessment.best.parameter('offset', place)
        if offset.is_known and offset.excludes(0.0, float(allowance[place])):
            text = f'{joint.name}: the effort has an offset of {offset} N m or N'
            yield Finding(Cause.OFFSET, text, (place,))
    for place in assessment.loaded:
        scatter = assessment.best.fit.scatter[place]
        if scatter > allowance[place]:
            text = f'no known cause explains the scatter of {scatter:.2f} N m or N'
            text = f'{joints[place].name}: {text}'
            yield Finding(Cause.UNEXPLAINED, text, (place,), remedy=IDENTIFY)
    if hidden := {
        place: f'{joint.name} ({joint.friction:.2f}, model {joint.load:.2f})'
        for place, joint in enumerate(joints)
        if joint.coulomb is not None and joint.friction > joint.load + joint.scatter
    }:
        text = f'friction exceeds the effort of the model, N m or N: {", ".join(hidden.values())}'
        yield Finding(Cause.FRICTION, text, tuple(hidden), False, GIVE_FRICTION)
    if weak := {
        place: f'{joint.name} ({joint.variation:.2f})'
        for place, joint in enumerate(joints)
        if not joint.is_judged
    }:
        text = "the model's effort varies too little against friction and scatter, N m or N: "
        yield Finding(Cause.UNJUDGED, text + ', '.join(weak.values()), tuple(weak), False)
