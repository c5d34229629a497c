# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""All steps from runs and a URDF to an identified model."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import InputError
from ..feedforward.laws import JointFriction, SharedFriction
from ..feedforward.loaded_model import JointSpring
from ..robot import RobotModel
from .base_parameters import BaseParameters, base_parameters, combinations
from .comparison import ArmModel, check_held_out, compare, repetition_notes
from .couplings import Coupling, JudgedFit, checked, suggestions
from .equations import TERMS, Couplings, Equations
from .fit import Fitted, fit_in_rounds
from .jackknife import Uncertainty, uncertainty
from .plausibility import (
    check_fit,
    check_runs,
    check_same_load,
    delay_notes,
    effort_delay,
    mass_bounds,
    mass_notes,
    scaled_prior,
)
from .result import Identification, JointDeviations, ParameterOrigin
from .run import IdentificationError, Run, check_model, groups_of_poses

FITTED_SHARE = 0.7  # share of the time of each run that is fitted; the rest is for validation
SHORT_TIME, BLOCKS = 7.0, 4
"""Motion, s, below which each of so many blocks is judged in turn: 30 % of it are too few."""

MIN_RUNS = 3  # least number of runs, each of which is judged by a fit of the others

PRIOR_WEIGHT = 1e-3  # default weight of the URDF, per sample; 1e-4 to 0.1 give similar results
PRIOR_WEIGHTS = (1e-9, 1e3)  # below, the bodies degenerate by rounding; above, nothing is fitted


def identify(
    model: RobotModel, runs: Run | Sequence[Run], *, validate: Run | Sequence[Run] | None = None,
    prior_weight: float = PRIOR_WEIGHT, links: Collection[str] | None = None,
    keep_friction: JointFriction | None = None, accept_faults: bool = False,
    total_mass: float | None = None, springs: Collection[str] = (),
    shared_friction: Sequence[Any] = (), keep_spring: JointSpring | None = None,
) -> Identification:
    """
    Return the model that fits the runs; undetermined parameters stay near those of the URDF.

    Poses at rest determine gravity only.

    :param model: the model of the URDF
    :param runs: clean runs of the same robot with the same load
    :param validate: runs that are not fitted; None for each of three or more runs, or group of
        poses, or block of a short run, in turn, with the others fitted; else for the last 30 % of
        each run
    :param prior_weight: weight of the URDF, per sample
    :param links: names of the bodies to identify; None for all
    :param keep_friction: known friction of the joints; None to identify it
    :param accept_faults: inverted signs, other units and the like become notes, not errors
    :param total_mass: mass of the whole robot, kg; None for that of the URDF within a factor
    :param springs: names of joints whose spring is identified; the notes say where one may be
    :param shared_friction: names of two joints that share friction, as of a motor that turns at
        qd_a + r qd_b, and r, 1 by default
    :param keep_spring: known springs of the other joints
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
    at_rest = not any(run.qd.any() for run in fitted_runs)
    short = sum(run.motion_time for run in fitted_runs) < SHORT_TIME
    if validate is None and (at_rest or short):
        check_runs(model, fitted_runs, accept_faults)
    if at_rest and validate is None:
        fitted_runs = groups_of_poses(fitted_runs)
    elif short and validate is None:
        fitted_runs = [part for run in fitted_runs for part in run.blocks(BLOCKS)]
    in_turn = validate is None and len(fitted_runs) >= MIN_RUNS
    if validate is not None:
        held_out = [validate] if isinstance(validate, Run) else list(validate)
        check_held_out(fitted_runs, held_out)
    elif in_turn:
        held_out = fitted_runs
    else:
        parts = [run.split(FITTED_SHARE) for run in fitted_runs]
        fitted_runs, held_out = [first for first, _ in parts], [last for _, last in parts]
    prior, mass_flaws = scaled_prior(model, fitted_runs, total_mass)
    asked = [Coupling.spring(model, name) for name in springs]
    asked += [Coupling.shared(model, shared_friction)] if shared_friction else []
    couplings = Couplings.of(model.nv, keep_spring)
    for coupling in asked:
        couplings = coupling.added_to(couplings)
    fit = partial(
        _fit, prior, prior_weight=prior_weight, free_bodies=_free_bodies(model, links),
        keep_friction=keep_friction, bounds=mass_bounds(prior, total_mass)
    )  # fmt: skip

    def judged(couplings: Couplings) -> JudgedFit:
        equations, fitted, models = fit(fitted_runs, couplings)
        each = [models] * len(held_out)
        if in_turn:
            others = ([run for run in held_out if run is not each] for each in held_out)
            each = [fit(runs, couplings)[2] for runs in others]
        comparison = compare(held_out, model.inverse_dynamics_batch, each)
        return JudgedFit(equations, fitted, models, comparison)

    notes = (*mass_flaws, *check_runs(model, fitted_runs, accept_faults))
    result = judged(couplings)
    equations, fitted, models = result.equations, result.fitted, result.models
    if len(fitted_runs) > 1 and not short:
        check_same_load(equations, fitted, fitted_runs)
    notes += check_fit(equations, prior, fitted, models[1].spring, accept_faults)
    notes += tuple(mass_notes(prior, fitted.x[: model.inertial_parameters.size], total_mass))
    if not at_rest:
        notes += tuple(delay_notes(effort_delay(equations, fitted, fitted_runs)))
    if not in_turn:
        notes += tuple(repetition_notes(fitted_runs, held_out))
    uncertain = uncertainty(equations, fitted)
    size = 10 * len(model.body_names)
    inertia, viscous, coulomb, load, _, _, stiffness, zero = (
        uncertain.deviations[size:].reshape(TERMS, -1)
    )
    identified = models[1]
    notes += tuple(checked(asked, model.joint_names, fitted, uncertain.covariance))
    if links is None:  # errors of links that are not fitted look like springs
        notes += tuple(suggestions(result, judged))
    origin = map(ParameterOrigin.of, uncertain.removed_variance, uncertain.has_effect)
    return Identification(
        prior=model,
        model=identified.model,
        parameters=fitted.x[:size],
        covariance=uncertain.covariance[:size, :size],
        origin=tuple(origin)[:size],
        friction=identified.friction,
        armature=identified.armature,
        spring=identified.spring,
        joint_deviations=JointDeviations(
            viscous, coulomb, load, inertia, np.where(fitted.springs, 0.0, zero), stiffness
        ),
        base=_base(equations, fitted, uncertain),
        comparison=result.comparison,
        fitted=tuple(fitted_runs),
        notes=(*(note for run in fitted_runs for note in run.notes), *notes),
    )


def _fit(
    model: RobotModel, runs: Sequence[Run], couplings: Couplings, *, prior_weight: float,
    free_bodies: NDArray[np.bool_], keep_friction: JointFriction | None,
    bounds: tuple[Array, Array]
) -> tuple[Equations, Fitted, tuple[ArmModel, ArmModel]]:
    """Return the equations and the fit of runs, and the URDF with friction and the fitted arm."""
    equations, models = Equations(model, runs, couplings), []
    for free in (np.zeros_like(free_bodies), free_bodies):
        fitted = fit_in_rounds(equations, model, prior_weight, free, keep_friction, bounds)
        phi = fitted.x[: model.inertial_parameters.size]
        bodies = model.with_inertial_parameters(phi) if free.any() else model
        models.append(ArmModel(bodies, *joint_parameters(fitted, couplings, keep_friction)))
    return equations, fitted, (models[0], models[1])


def joint_parameters(
    fitted: Fitted, couplings: Couplings, keep_friction: JointFriction | None
) -> tuple[JointFriction, Array, JointSpring]:
    """
    Return friction with the offset, rotor inertia, and springs.

    Known friction gets the offset added, but the constant effort of a joint with a spring is that
    of its spring: it sets the rest position.

    Moving joints do not tell an offset from Coulomb friction that differs by direction, C + o and
    C - o, which predicts slow joints better. As friction never drives, it needs ``|o| <= C``.
    """
    n, known = len(fitted.sigma), couplings.known
    armature, viscous, coulomb, load, B_s, C_s, stiffness, offset = (
        fitted.x[-TERMS * n :].reshape(TERMS, n)
    )
    rest = -offset / np.where(fitted.springs, stiffness, 1.0)
    spring = JointSpring(
        known.stiffness + stiffness, np.where(fitted.springs, rest, known.rest_position)
    )
    offset = np.where(fitted.springs, 0.0, offset)
    if keep_friction is not None:
        return replace(keep_friction, offset=keep_friction.offset + offset), armature, spring
    by_direction = np.where(np.abs(offset) <= coulomb, offset, 0.0)
    both = np.array([coulomb + by_direction, coulomb - by_direction])
    shared = None
    if couplings.shared is not None:
        a, b, ratio = couplings.shared
        of_b = (B_s[b], C_s[b], fitted.smoothing[b])
        shared = SharedFriction((a, b), ratio, *map(float, of_b))
    friction = JointFriction(
        np.array([viscous, viscous]), both, load, fitted.smoothing, offset - by_direction, shared
    )
    return friction, armature, spring


def _free_bodies(model: RobotModel, links: Collection[str] | None) -> NDArray[np.bool_]:
    if links is None:
        return np.ones(len(model.body_names), dtype=bool)
    if unknown := [name for name in links if name not in model.body_names]:
        raise IdentificationError(
            f'{unknown[0]!r} is not a moving link; the moving links are '
            f'{", ".join(model.body_names)}'
        )
    return np.array([name in links for name in model.body_names])


def _base(equations: Equations, fitted: Fitted, uncertain: Uncertainty) -> BaseParameters:
    model = equations.model
    moving = np.flatnonzero(np.ptp(equations.q, axis=0) > 0.0)
    measured = np.flatnonzero(equations.used.any(axis=0))
    matrix = combinations(model, equations.q[0], moving, measured, float(equations.qd.any()))
    inertias = slice(0, matrix.shape[1])
    return base_parameters(
        matrix, model, fitted.factor[:, inertias], fitted.x[inertias],
        uncertain.covariance[inertias, inertias]
    )
