# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Springs and counterbalances at joints: where they may be, and how sure they are.

The effort of a spring follows the position, as gravity does. Without a spring in the fit, masses
take a part of it, and the residual alone does not show it. So the search asks by how much the fit
itself would improve with a spring, by one Newton step of all unknowns; then it fits the spring,
and judges it on the data that were not fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import UnknownNameError
from ..robot import RobotModel
from .comparison import ArmModel, Comparison
from .equations import Equations, terms
from .fit import Fitted
from .jackknife import Uncertainty, inverse, uncertainty
from .run import IdentificationError

PROMISING = 0.3  # least share of a joint's squared residual that a spring explains, to fit it
HELPFUL = 1.0 / 3.0  # least share of the error on data not fitted that it takes off, to suggest it
CERTAIN = 2.0  # least stiffness of a spring, in standard deviations


@dataclass(frozen=True)
class Judged:
    """A fit, and its errors on the data that were not fitted."""

    equations: Equations
    fitted: Fitted
    models: tuple[ArmModel, ArmModel]  # the URDF with friction, and the identified arm
    comparison: Comparison


def joints_with_spring(model: RobotModel, names: Collection[str]) -> NDArray[np.bool_]:
    """Return which joints are named, shape (n,)."""
    for name in names:
        if name not in model.joint_names:
            raise UnknownNameError('joint', name, model.joint_names)
    named = np.isin(model.joint_names, list(names))
    for joint in np.flatnonzero(named & model.continuous):
        raise IdentificationError(
            f'{model.joint_names[joint]} is continuous: its positions repeat, those of a spring '
            'do not; leave it out (springs; identify: --spring)'
        )
    return named


def suggested_springs(
    without: Judged, judged: Callable[[NDArray[np.bool_]], Judged]
) -> Iterator[str]:
    """Yield a note on each further spring that takes off a third of the error, the best first."""
    before, springs = without, without.fitted.springs
    names = without.equations.model.joint_names
    while True:
        gain = gains(before.equations, before.fitted)
        joint = int(np.argmax(gain))
        if gain[joint] < PROMISING:
            return
        springs = springs.copy()
        springs[joint] = True
        after = judged(springs)
        error, rest = (
            float(each.comparison.identified.moving_rms[joint]) for each in (before, after)
        )
        place, uncertain = joint - 2 * len(names), uncertainty(after.equations, after.fitted)
        stiffness = after.fitted.x[place]
        certain = stiffness > CERTAIN * uncertain.deviations[place]
        if not (certain and rest < (1.0 - HELPFUL) * error):
            return
        yield (
            f'{names[joint]}: a spring of {stiffness:.3g} N m/rad or N/m takes '
            f'{100.0 * (1.0 - rest / error):.0f} % off the error of the data that '
            f'were not fitted, {error:.2f} to {rest:.2f} N m or N: if the arm has one, identify '
            f'it (springs; identify: --spring {names[joint]})'
        )
        before = after


def gains(equations: Equations, fitted: Fitted) -> Array:
    """Return the share of each joint's squared residual that a spring explains, shape (n,)."""
    x, n, model = fitted.x, len(fitted.sigma), equations.model
    columns = terms(equations.q, equations.qd, equations.qdd, fitted.load, fitted.smoothing)
    R = equations.reduced(columns, np.nan_to_num(fitted.residual), fitted.weights)
    M, c = R[:, :-1].T @ R[:, :-1], R[:, :-1].T @ R[:, -1]
    free = np.flatnonzero(fitted.problem.free)
    H = (M + fitted.problem.prior_derivatives(x)[1])[np.ix_(free, free)]
    total = (fitted.weights * np.nan_to_num(fitted.residual) ** 2).sum(axis=0)
    offsets = fitted.problem.free[-n:]
    inverse_H, found = inverse(H), np.zeros(n)
    for joint in np.flatnonzero(offsets & ~fitted.springs & ~model.continuous):
        K = len(x) - 2 * n + joint
        rest = M[K, K] - M[K, free] @ inverse_H @ M[free, K]
        if c[K] > 0.0 and rest > 1e-6 * M[K, K]:
            found[joint] = c[K] ** 2 / rest / total[joint]
    return found


def check_springs(asked: NDArray[np.bool_], arm: ArmModel, deviations: Array) -> None:
    """Raise an error if a spring that was asked for is not visible."""
    for joint in np.flatnonzero(asked):
        stiffness, deviation = arm.spring.stiffness[joint], deviations[joint]
        if not stiffness > CERTAIN * deviation:
            raise IdentificationError(
                f'no spring is visible at {arm.model.joint_names[joint]}: its stiffness is '
                f'{stiffness:.3g} +- {deviation:.2g} N m/rad or N/m; leave it out (springs; '
                'identify: --spring), or move the joint further'
            )


def rest_deviations(fitted: Fitted, uncertain: Uncertainty) -> Array:
    """Return the standard deviations of the rest positions q_0 = -o / K, shape (n,)."""
    n = len(fitted.sigma)
    stiffness, offset = fitted.x[-2 * n :].reshape(2, n)
    found = np.zeros(n)
    for joint in np.flatnonzero(fitted.springs):
        both = len(fitted.x) - np.array([2 * n - joint, n - joint])
        slope = np.array([offset[joint] / stiffness[joint], -1.0]) / stiffness[joint]
        found[joint] = np.sqrt(slope @ uncertain.covariance[np.ix_(both, both)] @ slope)
    return found
