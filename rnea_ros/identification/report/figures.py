# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The figures of a report as plain data: of each joint, of each body, of each run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
import math
from typing import Any

import numpy as np

from ...arrays import Array
from ..result import Identification
from ..run import Run
from .advice import advice
from .bodies import BodyChange, bodies


@dataclass(frozen=True)
class EffortErrors:
    """
    RMS error of a model on the held-out runs.

    :param rms: N m or N
    :param percent: of the measured effort
    :param moving_rms: over the samples at which the joint moves, N m or N
    :param moving_percent: of the effort measured in these
    """

    rms: float
    percent: float
    moving_rms: float
    moving_percent: float


@dataclass(frozen=True)
class JointReport:
    """
    ReportFigures of a joint.

    :param measured: RMS of the measured effort, N m or N; NaN without effort
    :param urdf: errors of the URDF
    :param urdf_with_friction: errors of the URDF with fitted friction
    :param identified: errors of the identified model
    :param viscous: friction, N m s/rad or N s/m, and its standard deviation
    :param coulomb: friction, N m or N, and its standard deviation
    :param load: Coulomb friction per N m or N of load, and its standard deviation
    :param smoothing_velocity: rad/s or m/s
    :param armature: rotor inertia, kg m^2 or kg, and its standard deviation
    :param offset: N m or N, and its standard deviation
    """

    name: str
    measured: float
    urdf: EffortErrors
    urdf_with_friction: EffortErrors
    identified: EffortErrors
    viscous: tuple[float, float]
    coulomb: tuple[float, float]
    load: tuple[float, float]
    smoothing_velocity: float
    armature: tuple[float, float]
    offset: tuple[float, float]

    @property
    def has_effort(self) -> bool:
        """Whether the joint's effort was recorded."""
        return math.isfinite(self.measured)


@dataclass(frozen=True)
class Combination:
    """
    A combination of parameters that the motion determines, a base parameter.

    :param words: such as ``my(link2) + 0.4 m(link3)``
    :param urdf: its value in the URDF
    :param identified: its identified value
    :param deviation: standard deviation
    """

    words: str
    urdf: float
    identified: float
    deviation: float


@dataclass(frozen=True)
class ReportFigures:
    """
    All figures of a report.

    :param better: whether the identified model is better on the held-out runs
    :param mean_percent: mean error of the joints with effort, by model
    :param moving_percent: the same, while they move
    :param judged_on: name and time of the held-out runs
    :param in_turn: whether each of these was judged by a fit of the others
    :param run_percent: mean error of the joints in motion for each held-out run, by model
    :param fitted: names of the fitted runs
    :param combinations: combinations of parameters that the motion determines
    :param condition: condition number of their regressor
    :param advice: what to change in the next recording
    :param notes: what to know of the written files
    :param flaws: flaws of the recordings
    """

    robot: str
    better: bool
    mean_percent: dict[str, float]
    moving_percent: dict[str, float]
    judged_on: tuple[str, ...]
    in_turn: bool
    run_percent: dict[str, dict[str, float]]
    fitted: tuple[str, ...]
    joints: tuple[JointReport, ...]
    bodies: tuple[BodyChange, ...]
    combinations: tuple[Combination, ...]
    condition: float
    advice: tuple[str, ...]
    notes: tuple[str, ...]
    flaws: tuple[str, ...]

    def as_json(self) -> Any:
        """Return dictionaries, lists, and None for numbers that are not finite."""
        return _finite(asdict(self))


def figures(result: Identification) -> ReportFigures:
    """Return the figures of a result."""
    comparison = result.comparison
    joints = tuple(
        _joint(result, number, name) for number, name in enumerate(result.prior.joint_names)
    )
    judged = [joint for joint in joints if joint.has_effort]
    models = ('urdf', 'urdf_with_friction', 'identified')
    runs = [*result.fitted, *comparison.held_out]
    flaws = {f'{run.name}: {flaw}': flaw for run in runs for flaw in run.notes}
    fit_notes = [note for note in result.notes if note not in flaws.values()]
    base = result.base
    values = (base.prior.tolist(), base.values.tolist(), base.deviations.tolist())
    return ReportFigures(
        robot=result.prior.name,
        better=comparison.is_better,
        mean_percent={
            model: float(np.mean([getattr(joint, model).percent for joint in judged]))
            for model in models
        },
        moving_percent={
            model: float(np.nanmean([getattr(joint, model).moving_percent for joint in judged]))
            for model in models
        },
        judged_on=tuple(map(_extent, comparison.held_out)),
        in_turn=comparison.held_out[0] is result.fitted[0],
        run_percent={
            run.name: dict(zip(models, errors.tolist(), strict=True))
            for run, errors in comparison.of_runs()
        },
        fitted=tuple(map(_extent, result.fitted)),
        joints=joints,
        bodies=bodies(result),
        combinations=tuple(map(Combination, base.combinations, *values)),
        condition=base.condition,
        advice=tuple(advice(result)),
        notes=(*fit_notes, *result.urdf()[1]),
        flaws=tuple(flaws),
    )


def _extent(run: Run) -> str:
    return f'{run.name}, {run.time[0]:.1f} to {run.time[-1]:.1f} s'


def _joint(result: Identification, number: int, name: str) -> JointReport:
    comparison, friction = result.comparison, result.friction
    measured = float(comparison.effort_rms[number])

    def errors(model: str) -> EffortErrors:
        errors_of_model = getattr(comparison, model)
        return EffortErrors(
            float(errors_of_model.rms[number]), float(comparison.percent(errors_of_model)[number]),
            float(errors_of_model.moving_rms[number]),
            float(comparison.moving_percent(errors_of_model)[number]),
        )

    def estimate(values: Array, kind: str) -> tuple[float, float]:
        return float(values[number]), float(getattr(result.joint_deviations, kind)[number])

    return JointReport(
        name,
        measured,
        errors('urdf'),
        errors('urdf_with_friction'),
        errors('identified'),
        estimate(friction.viscous.mean(axis=0), 'viscous'),
        estimate(friction.coulomb.mean(axis=0), 'coulomb'),
        estimate(friction.load, 'load'),
        float(friction.smoothing_velocity[number]),
        estimate(result.armature, 'armature'),
        estimate(friction.offset + (friction.coulomb[0] - friction.coulomb[1]) / 2.0, 'offset'),
    )


def _finite(value: Any) -> Any:
    """Return a value with None for NaN and infinity, which JSON lacks."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
