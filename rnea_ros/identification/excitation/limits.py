# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Limits of joints with margins, and the region for links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
import math
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, finite_vector
from ...collision import Wall
from ...errors import InputError
from ...robot import RobotModel

POSITION_SHARE = 0.9  # share of the position range that a motion uses, about its middle

LOAD_SHARE = 0.8
"""Share of the velocity and effort limits that a motion uses. Friction takes some effort too."""

ON_THE_LIMIT = 1e-3  # accepted distance beyond a position limit of a joint that holds, rad or m
MAX_LIMIT = 1e9  # greatest limit, SI units; a URDF has larger ones for joints without a limit


class ExcitationError(InputError):
    """No exciting motion is possible: the argument and the reason name what to change."""


@dataclass(frozen=True, eq=False)
class JointLimits:
    """
    Limits of n joints; infinite for no limit.

    :param lower: lower position limits, shape (n,), rad or m
    :param upper: upper position limits, shape (n,), rad or m
    :param velocity: shape (n,), rad/s or m/s
    :param effort: shape (n,), N m or N
    :param acceleration: of URDF 1.2, shape (n,), rad/s^2 or m/s^2
    """

    lower: Array
    upper: Array
    velocity: Array
    effort: Array
    acceleration: Array

    @classmethod
    def of(
        cls, model: RobotModel, velocity: Mapping[str | None, float] = MappingProxyType({}),
        effort: Mapping[str | None, float] = MappingProxyType({}),
    ) -> JointLimits:
        """
        Return the limits of a robot. Joints that mimic a joint limit its velocity.

        :param model: model of the robot; its limits of 0 are unknown ones
        :param velocity: velocity limits instead of the model's, by joint name; ``None`` stands
            for all joints that are not named
        :param effort: the same for effort limits
        :raises UnknownNameError: an unknown joint
        :raises ExcitationError: a floating base, a joint with more than one axis, a limit of 0 or
            less
        """
        _check_joints(model)
        free = model.continuous | (model.position_upper - model.position_lower > MAX_LIMIT)
        limits = cls(
            np.where(free, -np.inf, model.position_lower),
            np.where(free, np.inf, model.position_upper),
            _replaced(model, 'velocity', model.velocity_limits, velocity),
            _replaced(model, 'effort', model.effort_limits, effort),
            _replaced(model, 'acceleration', model.acceleration_limits, {}),
        )
        return limits._with_mimic_joints(model)

    @property
    def middle(self) -> Array:
        """The middle of each position range; 0 without a range, shape (n,)."""
        bounded = np.isfinite(self.lower) & np.isfinite(self.upper)
        return np.where(bounded, self.lower / 2.0, 0.0) + np.where(bounded, self.upper / 2.0, 0.0)

    def with_margins(self, start: Array, excited: Sequence[int]) -> JointLimits:
        """
        Return the limits for a motion from a start, shape (n,), of the joints ``excited``.

        A joint without position limits stays within pi of the start, rad or m. The joints that
        hold have no margin of position.
        """
        # Joints that hold may stand on a limit.
        lower, upper = self.lower - ON_THE_LIMIT, self.upper + ON_THE_LIMIT
        half = POSITION_SHARE * (self.upper - self.lower)[excited] / 2.0
        lower[excited] = np.where(np.isfinite(half), self.middle[excited] - half, -np.inf)
        upper[excited] = np.where(np.isfinite(half), self.middle[excited] + half, np.inf)
        return JointLimits(
            np.where(np.isfinite(lower), lower, start - math.pi),
            np.where(np.isfinite(upper), upper, start + math.pi),
            LOAD_SHARE * self.velocity,
            LOAD_SHARE * self.effort,
            LOAD_SHARE * self.acceleration,
        )

    def check(self, model: RobotModel, excited: Sequence[int]) -> None:
        """Raise an error for an excited joint without a range, or without a velocity limit."""
        for index in excited:
            name = model.joint_names[index]
            lower, upper = self.lower[index], self.upper[index]
            if not lower < upper:
                raise ExcitationError(
                    f'joint {name}',
                    f'its position range, {lower:g} to {upper:g}, has no width; leave the joint '
                    'still (--joints names those that move)',
                )
            if not np.isfinite(self.velocity[index]):
                raise ExcitationError(
                    f'joint {name}',
                    f'has no velocity limit; set one (--velocity-limits {name}=...)',
                )

    def _with_mimic_joints(self, model: RobotModel) -> JointLimits:
        joints = {} if model.description is None else model.description.joints
        velocity = self.velocity.copy()
        for joint in joints.values():
            if joint.mimic is None or joint.mimic.multiplier == 0.0:
                continue
            if joint.limits.velocity > 0.0:
                leader = model.velocity_indices(joint.mimic.joint)
                bound = joint.limits.velocity / abs(joint.mimic.multiplier)
                velocity[leader] = np.minimum(velocity[leader], bound)
        return replace(self, velocity=velocity)


@dataclass(frozen=True, eq=False)
class Region:
    """
    A box, or half a space, for links.

    :param lower: least x, y and z in the root link's frame, shape (3,), m; -inf for no bound
    :param upper: greatest x, y and z, shape (3,), m; inf for no bound
    :param links: names of the links; empty for all links whose origins move
    """

    lower: Array
    upper: Array
    links: tuple[str, ...] = ()

    @classmethod
    def above(cls, floor: float, links: Sequence[str] = ()) -> Region:
        """Return the space above a height, m, in the root link's frame."""
        return cls(np.array([-np.inf, -np.inf, floor]), np.full(3, np.inf), tuple(links))

    @classmethod
    def box(cls, x: ArrayLike, y: ArrayLike, z: ArrayLike, links: Sequence[str] = ()) -> Region:
        """
        Return a box of the least and greatest x, y and z in the root link's frame, m.

        :raises ExcitationError: a side of zero length
        """
        sides = [finite_vector(*side, 2) for side in (('x', x), ('y', y), ('z', z))]
        for name, (least, greatest) in zip('xyz', sides, strict=True):
            if not least < greatest:
                raise ExcitationError(
                    'box', f'{name} from {least:g} m to {greatest:g} m has no width'
                )
        lower, upper = np.array(sides).T
        return cls(lower, upper, tuple(links))

    @property
    def walls(self) -> list[Wall]:
        """The sides of the region, for the shapes of links."""
        walls = []
        for bound, sign in ((self.lower, 1.0), (self.upper, -1.0)):
            for axis in np.flatnonzero(np.isfinite(bound)):
                x, y, z = np.eye(3)[axis].tolist()
                at = float(bound[axis])
                side = f'{"the least" if sign > 0.0 else "the greatest"} {"xyz"[axis]}'
                walls.append(Wall(
                    f'{side} ({at:g} m)', (at * x, at * y, at * z), (sign * x, sign * y, sign * z)
                ))
        return walls


def chosen(model: RobotModel, names: Sequence[str] | None) -> list[int]:
    """Return the sorted indices of joints, of all for None; raise an error for no joint."""
    names = model.joint_names if names is None else names
    indices = sorted({model.position_indices(name).start for name in names})
    if not indices:
        raise ExcitationError('joints', 'there is no joint to excite')
    return indices


def _replaced(
    model: RobotModel, what: str, values: Array, given: Mapping[str | None, float]
) -> Array:
    """Return limits, with 0 and very large ones as infinite and with given ones instead."""
    limits: Array = np.where((values > 0.0) & (values <= MAX_LIMIT), values, np.inf)
    for name in sorted(given, key=lambda name: name is not None):
        if not given[name] > 0.0:
            raise ExcitationError(f'{what} limit', f'{given[name]:g} is not above 0')
        limits[slice(None) if name is None else model.position_indices(name)] = given[name]
    return limits


def _check_joints(model: RobotModel) -> None:
    for name in model.joints_of_several_axes:
        if name == 'floating_base':
            raise ExcitationError('floating base', 'only robots on a fixed base can be excited')
        raise ExcitationError(
            f'joint {name}', 'has more than one axis; only joints with one can be excited'
        )
