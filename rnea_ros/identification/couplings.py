# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Springs at joints, and friction that two joints share: where they may be, and how sure they are.

Without such a term in the fit, masses and friction take a part of it, and the residual alone does
not show it. So the search asks by how much the fit itself would improve, by one Newton step of all
unknowns; then it fits the term, and judges it on the data that were not fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array, Indices
from ..errors import InputError, UnknownNameError
from ..robot import RobotModel
from .comparison import ArmModel, Comparison
from .equations import OFFSET, SHARED, SPRING, TERMS, Couplings, Equations
from .fit import Fitted
from .jackknife import inverse, uncertainty
from .run import IdentificationError

SAMPLES = 1000  # samples that are enough for the search
PROMISING = 0.3  # least share of the joints' squared residual that a term explains, to fit it
HELPFUL = 1.0 / 3.0  # least share of the error on data not fitted that it takes off, to suggest it
DISTINCT = 1e-6  # least part of a column that the others do not explain
CERTAIN = 2.0  # least value of a term, in standard deviations
WRIST = 3  # number of joints at the tip that may share motors


@dataclass(frozen=True)
class Judged:
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
    def named(cls, model: RobotModel, names: Sequence[str], ratio: float = 1.0) -> Coupling:
        """Return the coupling of joints by name."""
        for name in names:
            if name not in model.joint_names:
                raise UnknownNameError('joint', name, model.joint_names)
        joints = tuple(map(model.joint_names.index, names))
        if len(joints) == 1 and model.continuous[joints[0]]:
            raise InputError(
                'springs', f'joint {names[0]!r} is continuous: its positions repeat, those of a '
                'spring do not; leave it out'
            )
        if len(joints) == 2 and (joints[0] == joints[1] or not 0.01 <= abs(ratio) <= 100.0):
            raise InputError(
                'shared_friction', f'{names[0]!r}, {names[1]!r}, {ratio:g}: give two joints, and '
                'a ratio of their speeds of a size from 0.01 to 100'
            )
        return cls(joints, ratio)

    def added_to(self, couplings: Couplings) -> Couplings:
        """Return couplings with this one to fit."""
        if len(self.joints) == 2:
            a, b = self.joints
            return replace(couplings, shared=(a, b, self.ratio))
        springs = couplings.springs.copy()
        springs[self.joints[0]] = True
        known = couplings.known
        known = replace(known, stiffness=np.where(springs, 0.0, known.stiffness))
        return replace(couplings, springs=springs, known=known)

    def unknowns(self, fitted: Fitted) -> Indices:
        """Return the numbers of its two unknowns: B_s and C_s, or K and o."""
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
        """Return whether its stiffness, or one of its frictions, is not 0 by chance."""
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
        return (
            f'{a}, {b}: shared friction, at {a} {self.ratio:+.3g} {b}: viscous {first:.3g} +- '
            f'{one:.2g}, Coulomb {second:.3g} +- {two:.2g}'
        )

    def option(self, names: Sequence[str]) -> str:
        """Return the option of ``identify``."""
        joints = ' '.join(names[joint] for joint in self.joints)
        if len(self.joints) == 1:
            return f'--spring {joints}'
        return f'--shared-friction {joints}' + f' {self.ratio:g}' * (self.ratio != 1.0)


def checked(
    couplings: Sequence[Coupling], names: Sequence[str], fitted: Fitted, covariance: Array
) -> list[str]:
    """Return the estimates in words; raise an error for a coupling that is not visible."""
    notes = []
    for each in couplings:
        found = each.estimates(fitted, covariance)
        notes.append(f'{each.words(names, *found)}; in the parameter file, as a URDF has none')
        if not each.is_certain(*found):
            raise IdentificationError(
                f'not visible: {each.words(names, *found)}; leave it out (identify: '
                f'{each.option(names)}), or move further'
            )
    return notes


def suggestions(without: Judged, judged: Callable[[Couplings], Judged]) -> Iterator[str]:
    """Yield a note on each further coupling that takes off a third of the error, best first."""
    before, names = without, without.equations.model.joint_names
    while True:
        promising = [
            (share, number, each) for number, each in enumerate(_candidates(before.equations))
            if (share := gain(before, each)) > PROMISING
        ]
        if not promising:
            return
        coupling = max(promising)[2]
        after = judged(coupling.added_to(before.equations.couplings))
        joints = list(coupling.joints)
        error, rest = (
            float(np.linalg.norm(each.comparison.identified.moving_rms[joints]))
            for each in (before, after)
        )
        covariance = uncertainty(after.equations, after.fitted).covariance
        found = coupling.estimates(after.fitted, covariance)
        if not (coupling.is_certain(*found) and rest < (1.0 - HELPFUL) * error):
            return
        yield (
            f'{coupling.words(names, *found)}, takes {100.0 * (1.0 - rest / error):.0f} % off the '
            f'error of the data that were not fitted, {error:.2g} to {rest:.2g} N m or N; if the '
            f'arm has it: {coupling.option(names)}'
        )
        before = after


def _candidates(equations: Equations) -> Iterator[Coupling]:
    """Yield what may be fitted beside the couplings of the equations."""
    couplings, moves = equations.couplings, equations.moves & equations.used.any(axis=0)
    taken = couplings.springs | (couplings.known.stiffness > 0.0)
    for joint in np.flatnonzero(moves & ~taken & ~equations.model.continuous):
        yield Coupling((int(joint),))
    n = len(moves)
    for a in range(max(n - WRIST, 0), n - 1) if couplings.shared is None else ():
        if moves[a] and moves[a + 1]:
            yield from (Coupling((a, a + 1), ratio) for ratio in (1.0, -1.0))


def gain(before: Judged, coupling: Coupling) -> float:
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
    # The old unknowns alone leave c - M u; with the new ones S u_new = b.
    to_new = M[np.ix_(new, free)] @ inverse((M + H)[np.ix_(free, free)])
    S, b = M[np.ix_(new, new)] - to_new @ M[np.ix_(free, new)], c[new] - to_new @ (c - g)[free]
    if (np.diag(S) < DISTINCT * np.diag(M)[new]).any():
        return 0.0
    change = inverse(S) @ b
    total = float((weights * residual**2)[:, list(coupling.joints)].sum())
    return float(b @ change) / total if change.max() > 0.0 < total else 0.0
