# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Checks that an exciting motion is possible; each error names the element and the way out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, finite_vector
from ...robot import RobotModel
from .constraints import Constraints
from .limits import LOAD_SHARE, POSITION_SHARE, ExcitationError, JointLimits
from .motion import RestToRestMotion, way

ROUNDING = 1e-6
"""Excess by rounding, as a share of a range."""


@dataclass(frozen=True, eq=False)
class FeasibleMotion:
    """
    A motion within the bounds of a robot.

    :param motion: the motion, from the start and back to it
    :param limits: limits of the joints, without margins
    :param constraints: bounds with margins
    """

    motion: RestToRestMotion
    limits: JointLimits
    constraints: Constraints

    def way_from(self, position: ArrayLike) -> RestToRestMotion:
        """
        Return a motion from rest at other positions to the start.

        :param position: shape (n,), rad or m
        :raises ExcitationError: the way leaves position limits or the region, or needs more effort
            than there is
        """
        n = len(self.limits.lower)
        measured = finite_vector('position', position, n)
        motion, bounds = self.motion, self.constraints
        found = way(motion.joint_names, measured, motion.positions[0], bounds.upper[n : 2 * n])
        lower, upper = bounds.lower.copy(), bounds.upper.copy()
        lower[:n], upper[:n] = self.limits.lower, self.limits.upper
        _check_at_all_times(
            Constraints(bounds.model, bounds.links, lower, upper),
            found,
            'on the way to the start pose',
            'move the robot nearer to the start pose by other means',
        )
        return found


def check_limits(model: RobotModel, limits: JointLimits, excited: Sequence[int]) -> None:
    """
    Reject ranges of zero width and unknown velocity limits.

    :param model: the robot
    :param limits: limits without margins
    :param excited: indices of the joints that move
    :raises ExcitationError: the first joint that cannot move
    """
    for index in excited:
        name = model.joint_names[index]
        lower, upper = limits.lower[index], limits.upper[index]
        if not lower < upper:
            raise ExcitationError(
                f'joint {name}',
                f'its position range, {lower:g} to {upper:g}, has no width; leave the joint still '
                '(--joints names those that move)',
            )
        if not np.isfinite(limits.velocity[index]):
            raise ExcitationError(
                f'joint {name}', f'has no velocity limit; set one (--velocity-limits {name}=...)'
            )


def check_rest(constraints: Constraints, start: Array) -> None:
    """
    Reject a start pose on a bound, or outside.

    :param constraints: bounds with margins
    :param start: joint positions, shape (n,)
    :raises ExcitationError: the first bound that the pose does not keep
    """
    quantities, excess = _at_rest(constraints, start)
    outside = np.flatnonzero(excess > -ROUNDING)
    if outside.size:
        raise _outside(constraints, int(outside[0]), float(quantities[outside[0]]),
                       'at the start pose', 'choose another start pose (--start)')


def no_room(constraints: Constraints, start: Array) -> ExcitationError:
    """
    Return the error of a start pose that is too near to a bound to move.

    :param constraints: bounds with margins
    :param start: joint positions, shape (n,)
    """
    quantities, excess = _at_rest(constraints, start)
    nearest = int((excess * constraints.scale).argmax())
    return _outside(constraints, nearest, float(quantities[nearest]), 'at the start pose',
                    'choose another start pose (--start)', 'too near to the end of')


def _at_rest(constraints: Constraints, start: Array) -> tuple[Array, Array]:
    """Return quantities at rest and their excess; efforts are left out, as gravity says more."""
    n = len(start)
    rest = np.zeros((1, n))
    quantities = constraints.of_motion(start[np.newaxis], rest, rest)
    excess = constraints.excess(quantities)[0]
    excess[2 * n : 3 * n] = -np.inf
    return quantities[0], excess


def check_motion(constraints: Constraints, motion: RestToRestMotion) -> None:
    """
    Reject a motion that leaves a bound.

    :param constraints: bounds with margins
    :param motion: the motion
    :raises ExcitationError: the first bound that it does not keep
    """
    _check_at_all_times(constraints, motion, 'in the motion', 'compute another motion')


def _check_at_all_times(
    constraints: Constraints, motion: RestToRestMotion, when: str, remedy: str
) -> None:
    times, states = motion.sampled()
    quantities = constraints.of_motion(*states)
    outside = np.flatnonzero(constraints.peaks(quantities) > ROUNDING)
    if outside.size:
        worst = int(outside[0])
        row = int(constraints.excess(quantities)[:, worst].argmax())
        raise _outside(constraints, worst, float(quantities[row, worst]),
                       f'{when}, after {times[row]:.2f} s', remedy)


def _outside(
    constraints: Constraints,
    index: int,
    value: float,
    when: str,
    remedy: str,
    where: str = 'not within',
) -> ExcitationError:
    """Return the error of a quantity outside its bounds."""
    n = constraints.model.nv
    bounds = f'{constraints.lower[index]:.4g} to {constraints.upper[index]:.4g}'
    if index >= 4 * n:
        link, axis = divmod(index - 4 * n, 3)
        return ExcitationError(
            f'link {constraints.links[link]}',
            f'its origin is at {"xyz"[axis]} = {value:.4g} m {when}, {where} {bounds} m; '
            f'{remedy}, a larger region, or other links (--keep-inside)',
        )
    joint = f'joint {constraints.model.joint_names[index % n]}'
    if index < n:
        return ExcitationError(
            joint,
            f'is at {value:.4g} {when}, {where} {bounds} ({100 * POSITION_SHARE:.0f} % of its '
            f'range); {remedy}',
        )
    what = ('', 'the velocity is', 'the effort is', 'gravity needs')[index // n]
    return ExcitationError(
        joint,
        f'{what} {value:.4g} {when}, {where} {bounds} ({100 * LOAD_SHARE:.0f} % of its '
        f'limit); {remedy}, or set the limit (--effort-limits)',
    )
