# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Which of a robot's joints are commanded, which follow them, and which are held."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..errors import InputError, UnknownNameError
from ..urdf import Joint, RobotDescription
from .start_position import nearest_to_zero, start_position


@dataclass(frozen=True)
class JointRoles:
    """
    The moving joints of a robot, by what moves them.

    :param commanded: each has a motor, in the order of the commands
    :param mimics: each follows a commanded joint
    :param held: neither commanded nor following a joint that is
    """

    commanded: tuple[Joint, ...]
    mimics: tuple[Joint, ...]
    held: tuple[Joint, ...]

    @classmethod
    def assign(cls, description: RobotDescription, joints: Sequence[str] | None) -> JointRoles:
        """
        Return the roles of a robot's joints.

        :param joints: the joints that are commanded, in order; None for all that are independent
        :raises UnknownNameError: not the name of a moving, independent joint
        :raises InputError: a joint named twice, or one that has more than one axis
        """
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
            raise InputError('joints', f'there is none to command: {description.name!r} has none')
        return cls(
            tuple(independent[name] for name in names),
            tuple(joint for joint in moving if joint.mimic and joint.mimic.joint in names),
            tuple(joint for joint in moving if leader(joint) not in names),
        )

    @property
    def free(self) -> tuple[Joint, ...]:
        """The joints that are not held, commanded ones first."""
        return self.commanded + self.mimics

    def positions(self, commanded: Iterable[float] | None) -> dict[str, float]:
        """
        Return where every moving joint is, rad or m, by name.

        :param commanded: positions of the commanded joints; None for where they start by
            :func:`.start_position`. Held joints are at zero, or at the limit nearest to it
        """
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
