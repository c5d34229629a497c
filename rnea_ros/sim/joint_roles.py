# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Roles of a robot's joints (commanded, mimic or held) and their start positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
import math

from ..errors import InputError, UnknownNameError
from ..urdf import Joint, RobotDescription

USUAL: Mapping[str, float] = {
    'fer_joint1': 0.0,
    'fer_joint2': -math.pi / 4,
    'fer_joint3': 0.0,
    'fer_joint4': -3 * math.pi / 4,
    'fer_joint5': 0.0,
    'fer_joint6': math.pi / 2,
    'fer_joint7': math.pi / 4,
    'shoulder_pan_joint': 0.0,
    'shoulder_lift_joint': -math.pi / 2,
    'elbow_joint': math.pi / 2,
    'wrist_1_joint': -math.pi / 2,
    'wrist_2_joint': -math.pi / 2,
    'wrist_3_joint': 0.0,
}
"""Usual start positions of the joints of the shipped robots, rad."""


@dataclass(frozen=True)
class JointRoles:
    """The moving joints of a robot by role."""

    commanded: tuple[Joint, ...]  # with a motor, in the order of the commands
    mimics: tuple[Joint, ...]  # follow a commanded joint
    held: tuple[Joint, ...]  # all others, at a constant position

    @classmethod
    def assign(cls, description: RobotDescription, joints: Sequence[str] | None) -> JointRoles:
        """Return the roles of a robot's joints; None commands all independent ones."""
        moving = [joint for joint in description.joints.values() if joint.moves]
        for joint in moving:
            if not joint.one_axis:
                raise InputError('joints', f'{joint.name!r} is {joint.type}: not simulated')
        independent = {joint.name: joint for joint in moving if joint.mimic is None}
        names = tuple(independent if joints is None else joints)
        for name in names:
            if name not in independent:
                raise UnknownNameError('joint', name, independent)
        if len(set(names)) < len(names):
            raise InputError('joints', f'{names} names a joint twice')
        if not names:
            raise InputError('joints', f'{description.name!r} has no joint to command')
        return cls(
            tuple(independent[name] for name in names),
            tuple(joint for joint in moving if joint.mimic and joint.mimic.joint in names),
            tuple(joint for joint in moving if leader(joint) not in names),
        )

    @property
    def free(self) -> tuple[Joint, ...]:
        """Commanded joints and mimics, in this order."""
        return self.commanded + self.mimics

    def positions(self, commanded: Iterable[float] | None) -> dict[str, float]:
        """Return positions by name, rad or m; None: start positions; held joints stay near 0."""
        at = {joint.name: nearest_to_zero(joint) for joint in self.held}
        at.update((joint.name, start_position(joint)) for joint in self.commanded)
        if commanded is not None:
            at.update(zip((joint.name for joint in self.commanded), commanded, strict=True))
        for joint in (*self.mimics, *self.held):
            if joint.mimic is not None:
                offset = joint.mimic.offset
                at[joint.name] = joint.mimic.multiplier * at[joint.mimic.joint] + offset
        return at


def leader(joint: Joint) -> str:
    """Return the name of the independent joint that determines a joint's position."""
    return joint.name if joint.mimic is None else joint.mimic.joint


def start_position(joint: Joint) -> float:
    """Return a joint's usual position if the limits allow it, else their middle, else zero."""
    limits = joint.limits
    usual = USUAL.get(joint.name)
    if usual is not None and is_within(joint, usual):
        return usual
    middle = 0.5 * (limits.lower + limits.upper)
    return middle if math.isfinite(middle) else nearest_to_zero(joint)


def nearest_to_zero(joint: Joint) -> float:
    """Return zero or the limit nearest to it, rad or m: the position of a held joint."""
    return min(max(0.0, joint.limits.lower), joint.limits.upper)


def is_within(joint: Joint, position: float) -> bool:
    """Return whether a position is within a joint's limits."""
    # Some URDFs write equal limits for no limits.
    lower, upper = joint.limits.lower, joint.limits.upper
    return lower >= upper or lower <= position <= upper
