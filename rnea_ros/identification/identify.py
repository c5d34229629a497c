# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""All steps from runs and a URDF to an identified model."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import InputError
from ..feedforward.law import JointFriction
from ..robot import RobotModel
from .base_parameters import BaseParameters, base_parameters, combinations
from .comparison import compare
from .equations import Equations, triangular
from .friction_terms import TERMS
from .jackknife import Uncertainty, uncertainty
from .loading import check_model
from .plausibility import check_fit, check_runs, check_same_load
from .result import Identification, JointDeviations, ParameterOrigin, total_efforts
from .rounds import Fitted, fit_in_rounds
from .run import IdentificationError, Run

FITTED_SHARE = 0.7
"""Share of the time of each run that is fitted; the rest is for validation."""

PRIOR_WEIGHT = 1e-3
"""Default weight of the URDF, per sample; 1e-4 to 0.1 give similar results."""

PRIOR_WEIGHTS = (1e-9, 1e3)
"""
Range of the weight.

At less the bodies degenerate by rounding, and at more nothing is fitted.
"""


def identify(
    model: RobotModel,
    runs: Run | Sequence[Run],
    *,
    validate: Run | Sequence[Run] | None = None,
    prior_weight: float = PRIOR_WEIGHT,
    links: Collection[str] | None = None,
    keep_friction: JointFriction | None = None,
) -> Identification:
    """
    Return the model that fits the runs; undetermined parameters stay near those of the URDF.

    :param model: the model of the URDF
    :param runs: clean runs of the same robot with the same load
    :param validate: runs that are not fitted; None for the last 30 % of each run
    :param prior_weight: weight of the URDF, per sample
    :param links: names of the bodies to identify; None for all
    :param keep_friction: known friction of the joints; None to identify it
    :raises IdentificationError: the runs do not suffice
    :raises InputError: the weight is out of its range
    """
    check_model(model)
    fitted_runs = [runs] if isinstance(runs, Run) else list(runs)
    least, greatest = PRIOR_WEIGHTS
    if not least <= prior_weight <= greatest:
        raise InputError(
            'prior_weight', f'{prior_weight:g} is not between {least:g} and {greatest:g}'
        )
    if validate is None:
        parts = [run.split(FITTED_SHARE) for run in fitted_runs]
        fitted_runs, held_out = [first for first, _ in parts], [last for _, last in parts]
    else:
        held_out = [validate] if isinstance(validate, Run) else list(validate)
    free_bodies = _free_bodies(model, links)
    check_runs(model, fitted_runs)
    equations = Equations(model, fitted_runs)
    fitted = fit_in_rounds(equations, model, prior_weight, free_bodies, keep_friction)
    if len(fitted_runs) > 1:
        check_same_load(equations, fitted, fitted_runs)
    notes = check_fit(equations, model, fitted)
    only_friction = fit_in_rounds(
        equations, model, prior_weight, np.zeros_like(free_bodies), keep_friction
    )
    uncertain = uncertainty(fitted)
    size = 10 * len(model.body_names)
    phi = fitted.x[:size]
    identified = model.with_inertial_parameters(phi)
    friction, armature, offset = friction_and_rotors(fitted, model.nv, keep_friction)
    urdf_friction, urdf_armature, _ = friction_and_rotors(only_friction, model.nv, keep_friction)
    inertia, viscous, coulomb, load, zero = uncertain.deviations[size:].reshape(TERMS, -1)
    return Identification(
        prior=model,
        model=identified,
        parameters=phi,
        covariance=uncertain.covariance[:size, :size],
        origin=tuple(map(
            ParameterOrigin.of,
            uncertain.removed_variance[:size].tolist(), uncertain.has_effect[:size].tolist(),
        )),
        friction=friction,
        armature=armature,
        offset=offset,
        joint_deviations=JointDeviations(viscous, coulomb, load, inertia, zero),
        base=_base(equations, fitted, uncertain),
        comparison=compare(
            held_out,
            model.inverse_dynamics_batch,
            partial(total_efforts, model, urdf_friction, urdf_armature),
            partial(total_efforts, identified, friction, armature),
        ),
        fitted=tuple(fitted_runs),
        notes=(*(note for run in fitted_runs for note in run.notes), *notes),
        friction_is_given=keep_friction is not None,
    )


def friction_and_rotors(
    fitted: Fitted, n: int, keep_friction: JointFriction | None
) -> tuple[JointFriction, Array, Array]:
    """
    Return friction with the offset in it, rotor inertia, and offset.

    The node has no parameter for an offset of the effort. It becomes Coulomb friction that differs
    by direction: C + o and C - o, at least 0.

    :param fitted: result of the last round
    :param n: number of joints
    :param keep_friction: known friction; None if it was identified
    """
    armature, viscous, coulomb, load, offset = fitted.x[-TERMS * n :].reshape(TERMS, n)
    if keep_friction is not None:
        return keep_friction, armature, offset
    both = np.maximum(np.array([coulomb + offset, coulomb - offset]), 0.0)
    friction = JointFriction(np.array([viscous, viscous]), both, load, fitted.smoothing)
    return friction, armature, offset


def _free_bodies(model: RobotModel, links: Collection[str] | None) -> NDArray[np.bool_]:
    if links is None:
        return np.ones(len(model.body_names), dtype=bool)
    if unknown := [name for name in links if name not in model.body_names]:
        raise IdentificationError(
            f'{unknown[0]!r} is no moving link; the moving links are '
            f'{", ".join(model.body_names)}'
        )
    return np.array([name in links for name in model.body_names])


def _base(equations: Equations, fitted: Fitted, uncertain: Uncertainty) -> BaseParameters:
    model = equations.model
    moving = np.flatnonzero(np.ptp(equations.q, axis=0) > 0.0)
    measured = np.flatnonzero(equations.used.any(axis=0))
    inertias = slice(0, 10 * len(model.body_names) + model.nv)
    return base_parameters(
        combinations(model, equations.q[0], moving, measured),
        model,
        triangular(np.concatenate(list(fitted.factors)))[:, inertias],
        fitted.x[inertias],
        uncertain.covariance[inertias, inertias],
    )
