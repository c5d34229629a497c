# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
What a motion must keep: ranges of positions, of their rates, efforts, link origins; distances.

All of them are quantities with a lower and an upper bound, in one array. A motion is measured by
its excess: 0 on a bound, -1 in the middle of a range, positive outside.

Between two samples a quantity leaves their chord by at most h^2 / 8 times its largest second
derivative, and h^2 times this derivative is the second difference of the samples. This is added to
the excess, so a motion without excess keeps its bounds at all times, not at samples only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
import math
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, finite_vector
from ...collision import CollisionModel, Wall
from ...errors import InputError
from ...robot import RobotModel
from .motion import RestToRestMotion, way

POSITION_SHARE = 0.9  # share of the position range that a motion uses, about its middle

LOAD_SHARE = 0.8  # share of the velocity and effort limits; friction takes some effort too
ON_THE_LIMIT = 1e-3  # accepted distance beyond a position limit of a joint that holds, rad or m
MAX_LIMIT = 1e9  # greatest limit, SI units; a URDF has larger ones for joints without a limit

BETWEEN = 1.0 / 8.0  # share of the second difference by which a value leaves the chord
STEP = 1e-6  # step of finite differences, rad or m
ROUNDING = 1e-6  # excess by rounding, as a share of a range
CLEARANCE = 0.01  # least distance between links, m
ROOM = 0.1  # excess of distances is by this, m; as half a range

AT_START = 'at the start pose', 'choose another start pose (--start)'  # pose and remedy


class ExcitationError(InputError):
    """No exciting motion is possible: the argument and the reason name what to change."""


@dataclass(frozen=True, eq=False)
class JointLimits:
    """Limits of n joints; infinite for no limit."""

    lower: Array  #: lower position limits, shape (n,), rad or m
    upper: Array  #: upper position limits, shape (n,), rad or m
    velocity: Array  #: shape (n,), rad/s or m/s
    effort: Array  #: shape (n,), N m or N
    acceleration: Array  #: of URDF 1.2, shape (n,), rad/s^2 or m/s^2

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
        for name in model.joints_of_several_axes:
            if name == 'floating_base':
                raise ExcitationError(
                    'floating base', 'only robots on a fixed base can be excited'
                )
            raise ExcitationError(
                f'joint {name}', 'has more than one axis; only joints with one can be excited'
            )
        free = model.continuous | (model.position_upper - model.position_lower > MAX_LIMIT)
        limits = cls(
            np.where(free, -np.inf, model.position_lower),
            np.where(free, np.inf, model.position_upper),
            _replaced(model, 'velocity', model.velocity_limits, velocity),
            _replaced(model, 'effort', model.effort_limits, effort),
            _replaced(model, 'acceleration', model.acceleration_limits, {}),
        )
        for joint in {} if model.description is None else model.description.joints.values():
            if joint.mimic and joint.mimic.multiplier != 0.0 and joint.limits.velocity > 0.0:
                leader = model.velocity_indices(joint.mimic.joint)
                bound = joint.limits.velocity / abs(joint.mimic.multiplier)
                limits.velocity[leader] = np.minimum(limits.velocity[leader], bound)
        return limits

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
            name, text = model.joint_names[index], ''
            lower, upper = self.lower[index], self.upper[index]
            if not lower < upper:
                text = f'its position range, {lower:g} to {upper:g}, has no width; leave the '
                text += 'joint still (--joints names those that move)'
            elif not np.isfinite(self.velocity[index]):
                text = f'has no velocity limit; set one (--velocity-limits {name}=...)'
            if text:
                raise ExcitationError(f'joint {name}', text)


@dataclass(frozen=True, eq=False)
class Region:
    """A box, or half a space, for links."""

    lower: Array  #: least x, y and z in the root link's frame, shape (3,), m; -inf for no bound
    upper: Array  #: greatest x, y and z, shape (3,), m; inf for no bound
    links: tuple[str, ...] = ()  #: names of the links; empty for all links whose origins move

    @classmethod
    def above(cls, floor: float, links: Sequence[str] = ()) -> Region:
        """Return the space above a height, m, in the root link's frame."""
        return cls(np.array([-np.inf, -np.inf, floor]), np.full(3, np.inf), tuple(links))

    @classmethod
    def box(cls, x: ArrayLike, y: ArrayLike, z: ArrayLike, links: Sequence[str] = ()) -> Region:
        """Return a box of the least and greatest x, y and z in the root link's frame, m."""
        sides = [finite_vector(*side, 2) for side in (('x', x), ('y', y), ('z', z))]
        for name, (least, greatest) in zip('xyz', sides, strict=True):
            if not least < greatest:
                text = f'{name} from {least:g} m to {greatest:g} m has no width'
                raise ExcitationError('box', text)
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


@dataclass(frozen=True, eq=False)
class Constraints:
    """
    Bounds of the motions of a robot.

    The m quantities are position, velocity, effort, acceleration and gravity torque of each of n
    joints, then x, y and z of each link's origin, then the distance of each pair of links.
    """

    model: RobotModel
    links: tuple[str, ...]  # links whose origins have bounds
    lower: Array  # shape (m,); -inf for no bound
    upper: Array  # shape (m,); inf for no bound
    collisions: CollisionModel | None = None  # distances between links; None for none

    @classmethod
    def of(
        cls, model: RobotModel, limits: JointLimits, region: Region | None,
        collisions: CollisionModel | None = None
    ) -> Constraints:
        """Return the constraints of a robot; links may touch the walls of a collision model."""
        links = () if region is None else region.links
        sizes = limits.velocity, limits.effort, limits.acceleration, limits.effort
        lower = [limits.lower, *(-size for size in sizes)]
        upper = [limits.upper, *sizes]
        if region is not None:
            lower.append(np.tile(region.lower, len(links)))
            upper.append(np.tile(region.upper, len(links)))
        if collisions is not None:
            walls = np.array([other in collisions.walls for _, other in collisions.pairs])
            lower.append(np.where(walls, 0.0, CLEARANCE))
            upper.append(lower[-1] + 2.0 * ROOM)
        return cls(model, links, np.concatenate(lower), np.concatenate(upper), collisions)

    @property
    def scale(self) -> Array:
        """The excess is a distance divided by this: half the range, or 1, shape (m,)."""
        half = (self.upper - self.lower) / 2.0
        return np.where(np.isfinite(half) & (half > 0.0), half, 1.0)

    def quantities(self, q: Array, qd: Array, qdd: Array, effort: Array) -> Array:
        """Return the quantities of N samples, shape (N, m)."""
        distances = [] if self.collisions is None else [self.collisions.distances(q)]
        return np.hstack((q, qd, effort, qdd, self._pose_quantities(q), *distances))

    def of_motion(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the quantities of N samples of a motion, shape (N, m)."""
        return self.quantities(q, qd, qdd, self.model.inverse_dynamics_batch(q, qd, qdd))

    def outside(self, quantities: Array) -> Array:
        """Return the excess of samples, shape (N, m)."""
        outside = np.maximum(self.lower - quantities, quantities - self.upper)
        return np.asarray(outside / self.scale)

    def between(self, quantities: Array) -> Array:
        """Return how much larger the excess may be between evenly spaced samples, shape (m,)."""
        second = np.abs(np.diff(quantities, 2, axis=0)).max(axis=0, initial=0.0)
        return np.asarray(BETWEEN * second / self.scale)

    def excess(self, quantities: Array) -> Array:
        """Return the excess of evenly spaced samples and of the time between, shape (N, m)."""
        return self.outside(quantities) + self.between(quantities)

    def greatest_excess(self, q: Array, qd: Array, qdd: Array) -> float:
        """Return the largest excess of all bounds; above 0 if a motion exceeds one at any time."""
        return float(self.excess(self.of_motion(q, qd, qdd)).max())

    def slopes(self, q: Array, weight: Array) -> Array:
        """Return the derivatives by q of a weighted sum of torques, origins and distances."""
        slopes, n = np.zeros_like(q), self.model.nv
        weight = weight[:, 4 * n :]
        if self.collisions is not None:
            pairs = len(self.collisions.pairs)
            slopes += self.collisions.slopes(q, weight[:, -pairs:])
            weight = weight[:, :-pairs]
        rows = np.flatnonzero(weight.any(axis=1))
        if not rows.size:
            return slopes
        moved = np.vstack((np.zeros((1, n)), STEP * np.eye(n)))[:, np.newaxis] + q[rows]
        here, *beside = self._pose_quantities(moved.reshape(-1, n)).reshape(n + 1, len(rows), -1)
        slopes[rows] += np.einsum('jrm,rm->rj', np.array(beside) - here, weight[rows]) / STEP
        return slopes

    def check_rest(self, start: Array) -> None:
        """Raise the error of the first bound that a start pose, shape (n,), does not keep."""
        n = len(start)
        rest = np.zeros((1, n))
        quantities = self.of_motion(start[np.newaxis], rest, rest)
        excess = self.excess(quantities)[0]
        excess[2 * n : 3 * n] = -np.inf  # of efforts: gravity says more
        outside = np.flatnonzero(excess > -ROUNDING)
        if outside.size:
            raise self._outside(int(outside[0]), quantities[0], *AT_START)

    def no_room(self, q: Array, qd: Array, qdd: Array) -> ExcitationError:
        """Return the error of a motion that exceeds a bound although it is very small."""
        quantities = self.of_motion(q, qd, qdd)
        row, index = np.unravel_index(self.excess(quantities).argmax(), quantities.shape)
        when = 'in the smallest motion from the start pose'
        return self._outside(int(index), quantities[row], when, AT_START[1])

    def check_motion(self, motion: RestToRestMotion, when: str, remedy: str) -> None:
        """Raise the error of the first bound that a motion leaves, with the way out."""
        times, states = motion.sampled()
        quantities = self.of_motion(*states)
        excess = self.excess(quantities)
        outside = np.flatnonzero(excess.max(axis=0) > ROUNDING)
        if outside.size:
            first = int(outside[0])
            row = int(excess[:, first].argmax())
            raise self._outside(
                first, quantities[row], f'{when}, after {times[row]:.2f} s', remedy
            )

    def _pose_quantities(self, q: Array) -> Array:
        """Return gravity torques and link origins of N samples, shape (N, n + 3 links)."""
        gravity = self.model.gravity_torques_batch(q, threads=1)
        if not self.links:
            return gravity
        origins = self.model.link_positions_batch(q, self.links)
        return np.hstack((gravity, origins.reshape(len(q), 3 * len(self.links))))

    def _outside(self, index: int, quantities: Array, when: str, remedy: str) -> ExcitationError:
        """Return the error of a quantity outside its bounds."""
        n, value = self.model.nv, quantities[index]
        inside = self.lower[index] < value < self.upper[index]
        where = 'too near to the end of' if inside else 'not within'
        bounds = f'{self.lower[index]:.4g} to {self.upper[index]:.4g}'
        if index >= (end := 5 * n + 3 * len(self.links)):
            assert self.collisions is not None
            one, other = self.collisions.pairs[index - end]
            element, state = f'link {one}', 'collides with' if value < 0.0 else 'is too near to'
            text = f'{state} {other} {when}, at {1000.0 * value:.3g} mm; {remedy}, a larger '
            text += 'region, other links (--keep-inside), or name pairs that may touch (--srdf)'
        elif index >= 5 * n:
            link, axis = divmod(index - 5 * n, 3)
            element = f'link {self.links[link]}'
            text = f'its origin is at {"xyz"[axis]} = {value:.4g} m {when}, {where} {bounds} m; '
            text += f'{remedy}, a larger region, or other links (--keep-inside)'
        else:
            element = f'joint {self.model.joint_names[index % n]}'
            what, share, of, option = (
                ('is at', POSITION_SHARE, 'range', ''),
                ('the velocity is', LOAD_SHARE, 'limit', '--velocity-limits'),
                ('the effort is', LOAD_SHARE, 'limit', '--effort-limits'),
                ('the acceleration is', LOAD_SHARE, 'limit', 'in the URDF'),
                ('gravity needs', LOAD_SHARE, 'limit', '--effort-limits'),
            )[index // n]
            text = f'{what} {value:.4g} {when}, {where} {bounds} ({100 * share:.0f} % of its {of})'
            text += f'; {remedy}' + (f', or set the limit ({option})' if option else '')
        return ExcitationError(element, text)


@dataclass(frozen=True, eq=False)
class FeasibleMotion:
    """A motion within the bounds of a robot."""

    motion: RestToRestMotion  #: the motion, from the start and back to it
    limits: JointLimits  #: limits of the joints, without margins
    constraints: Constraints  #: bounds with margins

    def way_from(self, position: ArrayLike) -> RestToRestMotion:
        """Return a motion from rest at other positions, shape (n,), to the start, or an error."""
        limits, constraints, n = self.limits, self.constraints, self.constraints.model.nv
        measured = finite_vector('position', position, n)
        velocity = constraints.upper[n : 2 * n]
        found = way(self.motion.joint_names, measured, self.motion.positions[0], velocity)
        lower, upper = constraints.lower.copy(), constraints.upper.copy()
        lower[:n], upper[:n] = limits.lower, limits.upper
        replace(constraints, lower=lower, upper=upper).check_motion(
            found, 'on the way to the start pose',
            'move the robot nearer to the start pose by other means',
        )
        return found
