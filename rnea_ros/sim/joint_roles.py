# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Roles of a robot's joints: commanded, mimic or held."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..errors import InputError, UnknownNameError
from ..urdf import Joint, RobotDescription
from .start_position import nearest_to_zero, start_position


@dataclass(frozen=True)
class JointRoles:
    """
    The moving joints of a robot by role.

    :param commanded: joints with a motor, in the order of the commands
    :param mimics: joints that follow a commanded joint
    :param held: all other joints, at a constant position
    """

    commanded: tuple[Joint, ...]
    mimics: tuple[Joint, ...]
    held: tuple[Joint, ...]

    @classmethod
    def assign(cls, description: RobotDescription, joints: Sequence[str] | None) -> JointRoles:
        """
        Return the roles of a robot's joints.

        :param description: description of the robot
        :param joints: names of the commanded joints, in order; None for all independent ones
        :raises UnknownNameError: a name is not that of a moving, independent joint
        :raises InputError: a joint is named twice, has several axes, or there is none
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
        """
        Return the position of every moving joint by name, rad or m.

        Held joints are at zero, or at the limit nearest to it.

        :param commanded: positions of the commanded joints, rad or m; None for those of
            :func:`.start_position`
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
