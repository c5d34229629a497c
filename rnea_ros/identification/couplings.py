# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Springs at joints, and friction that two joints share: their estimates, and a search for them.

If the fit lacks such a term, masses and friction absorb a part of it, so the residual alone does
not show it. The search estimates the improvement of the fit by one Newton step of all unknowns.
Then it fits the term, and judges it on the data that were not fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Array, Indices
from ..errors import InputError, UnknownNameError, brief
from ..robot import RobotModel
from .comparison import ArmModel, Comparison
from .equations import COULOMB, OFFSET, SHARED, SPRING, TERMS, Couplings, Equations
from .fit import Fitted
from .jackknife import inverse, uncertainty
from .run import IdentificationError

SAMPLES = 1000  # samples that are enough for the search
PROMISING = 0.3  # a term is fitted if it explains this share of its joints' squared residual
HELPFUL = 1.0 / 3.0  # it is suggested if the error on data not fitted falls by this share
DISTINCT = 1e-6  # least part of a column that the others do not explain
CERTAIN = 2.0  # least estimate of a term, in standard deviations
MIN_RATIO = 0.01  # least absolute value of r, and of 1 / r
WRIST = 3  # number of joints at the tip that may share motors


@dataclass(frozen=True)
class JudgedFit:
    """A fit, and its errors on the data that were not fitted."""

    equations: Equations
    fitted: Fitted
    models: tuple[ArmModel, ArmModel]  # the URDF with friction, and the identified arm
    comparison: Comparison


@dataclass(frozen=True)
class Coupling:
    """A spring at one joint, or the friction that two joints share, w = qd_a + r qd_b."""

    joints: tuple[int, ...]
    ratio: float = 1.0  # r

    @classmethod
    def spring(cls, model: RobotModel, name: str) -> Coupling:
        """Return the spring at a joint."""
        joint = _number(model, name)
        if model.continuous[joint]:
            raise InputError(
                'springs', f'joint {name!r} is continuous: a spring would wind up '
                'with each turn; leave it out'
            )
        return cls((joint,))

    @classmethod
    def shared(cls, model: RobotModel, given: Sequence[Any]) -> Coupling:
        """Return the friction that two joints share, by their names and r, 1 by default."""
        try:
            first, second, ratio = given if len(given) > 2 else (*given, 1.0)
            joints, r = (_number(model, first), _number(model, second)), float(ratio)
        except ValueError:
            joints, r = (0, 0), 0.0
        if joints[0] == joints[1] or not MIN_RATIO <= abs(r) <= 1.0 / MIN_RATIO:
            raise InputError(
                'shared_friction', f'{brief([*given])}; give two different joints, and a ratio '
                f'of +-{MIN_RATIO:g} to +-{1.0 / MIN_RATIO:g}'
            )
        return cls(joints, r)

    def added_to(self, couplings: Couplings) -> Couplings:
        """Return the couplings, with this one to be fitted."""
        if len(self.joints) == 2:
            a, b = self.joints
            return replace(couplings, shared=(a, b, self.ratio))
        springs = couplings.springs.copy()
        springs[self.joints[0]] = True
        known = couplings.known
        known = replace(known, stiffness=np.where(springs, 0.0, known.stiffness))
        return replace(couplings, springs=springs, known=known)

    def unknowns(self, fitted: Fitted) -> Indices:
        """Return the indices in x of its unknowns: B_s and C_s, or K and o."""
        terms = [SPRING, OFFSET] if len(self.joints) == 1 else np.arange(TERMS)[SHARED]
        n = len(fitted.sigma)
        return len(fitted.x) + n * (np.array(terms) - TERMS) + self.joints[-1]

    def estimates(self, fitted: Fitted, covariance: Array) -> tuple[Array, Array]:
        """Return B_s and C_s, or K and the rest position -o / K, with standard deviations."""
        which = self.unknowns(fitted)
        values, slopes = fitted.x[which], np.eye(2)
        if len(self.joints) == 1 and values[0] > 0.0:
            rest = -values[1] / values[0]
            values, slopes[1] = np.array([values[0], rest]), np.array([-rest, -1.0]) / values[0]
        variances = slopes @ covariance[np.ix_(which, which)] @ slopes.T
        return values, np.sqrt(np.diag(variances))

    def is_certain(self, values: Array, deviations: Array) -> bool:
        """Return whether K, or one of B_s and C_s, is clearly above 0."""
        certain = values > CERTAIN * deviations
        return bool(certain[: len(self.joints)].any())

    def words(self, names: Sequence[str], values: Array, deviations: Array) -> str:
        """Return the estimates in words."""
        (first, second), (one, two) = values, deviations
        if len(self.joints) == 1:
            return (
                f'{names[self.joints[0]]}: spring of {first:.3g} +- {one:.2g} N m/rad or N/m, at '
                f'rest at {second:.3g} +- {two:.2g} rad or m'
            )
        a, b = (names[joint] for joint in self.joints)
        r = '+-'[self.ratio < 0.0] + (f' {abs(self.ratio):g}' if abs(self.ratio) != 1.0 else '')
        return (
            f'{a}, {b}: shared friction, at the speed {a} {r} {b}: viscous {first:.3g} +- '
            f'{one:.2g}, Coulomb {second:.3g} +- {two:.2g}'
        )

    def option(self, names: Sequence[str]) -> str:
        """Return the option of ``identify``."""
        joints = ' '.join(names[joint] for joint in self.joints)
        if len(self.joints) == 1:
            return f'--spring {joints}'
        return f'--shared-friction {joints}' + f' {self.ratio:g}' * (self.ratio != 1.0)


def _number(model: RobotModel, name: str) -> int:
    if name not in model.joint_names:
        raise UnknownNameError('joint', name, model.joint_names)
    return model.joint_names.index(name)


def checked(
    couplings: Sequence[Coupling], names: Sequence[str], fitted: Fitted, covariance: Array
) -> list[str]:
    """Return the estimates in words; raise an error if a coupling is not certain."""
    notes = []
    for each in couplings:
        found = each.estimates(fitted, covariance)
        notes.append(f'{each.words(names, *found)}; in the parameter file, not in the URDF')
        if not each.is_certain(*found):
            raise IdentificationError(
                f'not visible: {each.words(names, *found)}; leave it out (identify: '
                f'no {each.option(names)}), or move further'
            )
    return notes


def suggestions(without: JudgedFit, judged: Callable[[Couplings], JudgedFit]) -> Iterator[str]:
    """Yield a note on each further coupling that takes off a third of the error, best first."""
    before, names = without, without.equations.model.joint_names
    while True:
        gains = [(gain(before, each), each) for each in _candidates(before)]
        for share, coupling in sorted(gains, key=lambda pair: -pair[0]):
            if share < PROMISING:
                return
            after = judged(coupling.added_to(before.equations.couplings))
            joints = list(coupling.joints)
            error, rest = (
                float(np.linalg.norm(each.comparison.identified.moving_rms[joints]))
                for each in (before, after)
            )
            covariance = uncertainty(after.equations, after.fitted).covariance
            found = coupling.estimates(after.fitted, covariance)
            if coupling.is_certain(*found) and rest < (1.0 - HELPFUL) * error:
                break
        else:
            return
        yield (
            f'{coupling.words(names, *found)}, takes {100.0 * (1.0 - rest / error):.0f} % off the '
            f'error of the data that were not fitted, {error:.2g} to {rest:.2g} N m or N; if the '
            f'arm has it: {coupling.option(names)}'
        )
        before = after


def _candidates(before: JudgedFit) -> Iterator[Coupling]:
    """Yield the couplings that may be added."""
    model, couplings = before.equations.model, before.equations.couplings
    free = before.fitted.problem.free[-TERMS * model.nv :].reshape(TERMS, model.nv)
    taken = couplings.springs | (couplings.known.stiffness > 0.0)
    for joint in np.flatnonzero(free[OFFSET] & ~taken & ~model.continuous):
        yield Coupling((int(joint),))
    for a in range(max(model.nv - WRIST, 0), model.nv - 1) if couplings.shared is None else ():
        if free[COULOMB, a : a + 2].all():
            yield from (Coupling((a, a + 1), ratio) for ratio in (1.0, -1.0))


def gain(before: JudgedFit, coupling: Coupling) -> float:
    """Return the share of the joints' squared residual that a coupling explains."""
    equations, fitted = before.equations, before.fitted
    few, step = equations.thinned(SAMPLES), 1 + len(equations) // SAMPLES
    few.couplings = coupling.added_to(equations.couplings)
    residual, weights = np.nan_to_num(fitted.residual[::step]), step * fitted.weights[::step]
    columns = few.terms(fitted.load[::step], fitted.smoothing)
    block = np.zeros(weights.shape, dtype=np.intp)
    M = few.squares(columns, residual, weights, block)[0]
    M, c = M[:-1, :-1], M[:-1, -1]
    g, H = fitted.problem.prior_derivatives(fitted.x)
    free = np.flatnonzero(fitted.problem.free)
    new = np.setdiff1d(coupling.unknowns(fitted), free)
    # Newton step S u_new = b, after elimination of the free unknowns (Schur complement).
    to_new = M[np.ix_(new, free)] @ inverse((M + H)[np.ix_(free, free)])
    S, b = M[np.ix_(new, new)] - to_new @ M[np.ix_(free, new)], c[new] - to_new @ (c - g)[free]
    if (np.diag(S) < DISTINCT * np.diag(M)[new]).any():
        return 0.0
    change = inverse(S) @ b
    total = float((weights * residual**2)[:, list(coupling.joints)].sum())
    return float(b @ change) / total if total > 0.0 and change.max() > 0.0 else 0.0
