# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Search for the one error that explains efforts which a fit leaves unexplained.

Each possible error is corrected in turn; a short fit shows what remains.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ..equations import Equations
from ..friction_terms import START, terms
from ..rounds import fit_in_rounds, weighted_rms
from ..run import IdentificationError

LOADED_SHARE = 0.1
"""Least effort of a loaded joint, as a share of the greatest effort of a joint."""

SUSPICIOUS_UNLOADED = 0.6
"""Unexplained share of the effort of a joint with little load that is an error."""

GAIN = 1.0
"""Least decrease of the logarithms of the unexplained shares, summed, by the cause of an error."""

MIN_SHARE = 0.01
"""Unexplained share below which fits are equally good."""

MAX_FACTOR = 5.0
"""Greatest factor between the identified and the URDF's effort; beyond, it is another unit."""

SAMPLES = 400
"""Samples that are enough for the search of a cause."""

TRIAL_WEIGHT = 1e-3
"""Weight of the URDF in the search, per sample; its masses may be wrong as well."""


def check_common_unit(equations: Equations) -> None:
    """Raise an error if all loaded joints have efforts of a similar large factor."""
    rigid = equations.rigid(equations.model)
    size = weighted_rms(rigid, equations.used.astype(np.float64))
    loaded = np.flatnonzero((size > 0.0) & (size >= LOADED_SHARE * size.max()))
    factors = np.array([_factor(equations, joint, rigid[:, joint]) for joint in loaded.tolist()])
    if factors.size and 0.0 < factors.max() < 2.0 * factors.min():
        factor = float(np.median(factors))
        if not 1.0 / MAX_FACTOR <= factor <= MAX_FACTOR:
            raise IdentificationError(
                f"the efforts of all joints are about {factor:.3g} times the URDF's: another unit "
                'or a current; correct them by effort_scale'
            )


def _factor(equations: Equations, joint: int, rigid: Array) -> float:
    """Return a joint's effort as a factor of rigid-body efforts, with friction beside it."""
    own = terms(equations.qd, equations.qdd, equations.effort, START)[:, joint, [1, 2, 4]]
    rows = equations.used[:, joint]
    A = np.column_stack([rigid, own])[rows]
    return float(np.linalg.lstsq(A, equations.effort[rows, joint], rcond=None)[0][0])


def search_cause(equations: Equations, suspicious: NDArray[np.bool_]) -> None:
    """Raise an error if one error of the recording or of the URDF explains the efforts."""
    few = equations.thinned(SAMPLES)
    before = _score(_unexplained(few))
    best, text = np.inf, ''
    for causes in (_inverted_efforts, _other_units, _inverted_axes, _other_gravity):
        for changed, words in causes(few, suspicious):
            unexplained = _unexplained(changed)
            if (score := _score(unexplained)) < best:
                best, text, rest = score, words, unexplained
        if best < before - GAIN and (rest < SUSPICIOUS_UNLOADED).all():
            break
    if best < before - GAIN:
        raise IdentificationError(text)


def _inverted_efforts(
    equations: Equations, suspicious: NDArray[np.bool_]
) -> Iterator[tuple[Equations, str]]:
    """Yield the equations with efforts inverted, of suspicious joints and of all."""
    names, joints = equations.model.joint_names, np.flatnonzero(suspicious)
    everything = np.arange(len(names))
    for group in (everything, joints, *(np.array([joint]) for joint in joints)):
        sign = np.ones(len(names))
        sign[group] = -1.0
        which = 'all joints' if len(group) == len(names) else ', '.join(names[k] for k in group)
        text = f'the effort of {which} is inverted; correct it by effort_scale, -1 for these'
        yield equations.with_factors(effort=sign), text


def _other_units(
    equations: Equations, suspicious: NDArray[np.bool_]
) -> Iterator[tuple[Equations, str]]:
    """Yield the equations with the effort of a joint in the unit that the others imply."""
    model = equations.model
    bodies = np.ones(len(model.body_names), dtype=bool)
    for joint, name in enumerate(model.joint_names):
        if not equations.used[:, joint].any():
            continue
        others = equations.without(joint)
        fitted = fit_in_rounds(others, model, TRIAL_WEIGHT, bodies, rounds=1)
        phi = fitted.x[: model.inertial_parameters.size]
        rigid = equations.rigid(model.with_inertial_parameters(phi))[:, joint]
        factor = _factor(equations, joint, rigid)
        if 1.0 / MAX_FACTOR <= abs(factor) <= MAX_FACTOR or factor == 0.0:
            continue
        scale = np.ones(model.nv)
        scale[joint] = 1.0 / factor
        yield (
            equations.with_factors(effort=scale),
            f'the effort of {name} is about {factor:.3g} times what those of the other joints '
            'imply: another unit or gear ratio; correct it by effort_scale',
        )


def _inverted_axes(
    equations: Equations, suspicious: NDArray[np.bool_]
) -> Iterator[tuple[Equations, str]]:
    """Yield the equations with the axis of each joint inverted."""
    for joint, name in enumerate(equations.model.joint_names):
        sign = np.ones(len(suspicious))
        sign[joint] = -1.0
        text = f'position and effort of {name} are opposite to its axis in the URDF; invert it'
        yield equations.with_factors(effort=sign, motion=sign), text


def _other_gravity(
    equations: Equations, suspicious: NDArray[np.bool_]
) -> Iterator[tuple[Equations, str]]:
    """Yield the equations with gravity to the corners, edges and faces of a cube."""
    size = float(np.linalg.norm(equations.model.gravity))
    for corner in product((-1.0, 0.0, 1.0), repeat=3):
        gravity = size * np.array(corner) / max(float(np.linalg.norm(corner)), 1.0)
        if any(corner) and not np.allclose(gravity, equations.model.gravity):
            where = ', '.join(f'{value + 0.0:.1f}' for value in gravity)
            yield (
                equations.with_gravity(gravity),
                f"gravity is not that of the model: it is about ({where}) m/s^2 in the root "
                "link's frame; correct it by gravity",
            )


def _unexplained(equations: Equations) -> Array:
    """Return the unexplained share of each joint's effort, by a short fit, shape (n,)."""
    used = equations.used.astype(np.float64)
    size = weighted_rms(equations.effort, used)
    bodies = np.ones(len(equations.model.body_names), dtype=bool)
    fitted = fit_in_rounds(equations, equations.model, TRIAL_WEIGHT, bodies, rounds=2)
    shares: Array = weighted_rms(fitted.residual, used) / np.where(size > 0.0, size, 1.0)
    return shares


def _score(unexplained: Array) -> float:
    """Return the sum of logarithms: a joint that nothing explains hides no improvement."""
    return float(np.log(np.maximum(unexplained, MIN_SHARE)).sum())
