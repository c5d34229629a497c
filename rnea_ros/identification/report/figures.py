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
    """RMS error of a model on the held-out runs."""

    rms: float  # N m or N
    percent: float  # of the measured effort
    moving_rms: float  # over the samples at which the joint moves, N m or N
    moving_percent: float  # of the effort measured in these


@dataclass(frozen=True)
class JointReport:
    """Figures of a joint."""

    name: str
    measured: float  # RMS of the measured effort, N m or N; NaN without effort
    urdf: EffortErrors  # errors of the URDF
    urdf_with_friction: EffortErrors  # errors of the URDF with fitted friction
    identified: EffortErrors  # errors of the identified model
    viscous: tuple[float, float]  # friction, N m s/rad or N s/m, and its standard deviation
    coulomb: tuple[float, float]  # friction, N m or N, and its standard deviation
    load: tuple[float, float]  # Coulomb friction per N m or N of load, and its standard deviation
    smoothing_velocity: float  # rad/s or m/s
    armature: tuple[float, float]  # rotor inertia, kg m^2 or kg, and its standard deviation
    offset: tuple[float, float]  # N m or N, and its standard deviation

    @property
    def has_effort(self) -> bool:
        """Whether the joint's effort was recorded."""
        return math.isfinite(self.measured)


@dataclass(frozen=True)
class Combination:
    """A combination of parameters that the motion determines, a base parameter."""

    words: str  # such as ``my(link2) + 0.4 m(link3)``
    urdf: float  # its value in the URDF
    identified: float  # its identified value
    deviation: float  # standard deviation


@dataclass(frozen=True)
class ReportFigures:
    """All figures of a report."""

    robot: str
    better: bool  # whether the identified model is better on the held-out runs
    mean_percent: dict[str, float]  # mean error of the joints with effort, by model
    moving_percent: dict[str, float]  # the same, while they move
    judged_on: tuple[str, ...]  # name and time of the held-out runs
    in_turn: bool  # whether each of these was judged by a fit of the others
    # Mean error of the moving joints for each run, by model.
    run_percent: dict[str, dict[str, float]]
    fitted: tuple[str, ...]  # names of the fitted runs
    joints: tuple[JointReport, ...]
    bodies: tuple[BodyChange, ...]
    combinations: tuple[Combination, ...]  # combinations of parameters that the motion determines
    condition: float  # condition number of their regressor
    advice: tuple[str, ...]  # what to change in the next recording
    notes: tuple[str, ...]  # what to know of the written files
    flaws: tuple[str, ...]  # flaws of the recordings

    def as_json(self) -> Any:
        """Return dictionaries, lists, and None for numbers that are not finite."""
        return _finite(asdict(self))


def figures(result: Identification) -> ReportFigures:
    """Return the figures of a result."""
    comparison = result.comparison
    joints = tuple(
        _joint(result, number, name) for number, name in enumerate(result.prior.joint_names)
    )
    names = ('urdf', 'urdf_with_friction', 'identified')
    models = {name: getattr(comparison, name) for name in names}
    runs = [*result.fitted, *comparison.held_out]
    flaws = {f'{run.name}: {flaw}': flaw for run in runs for flaw in run.notes}
    fit_notes = [note for note in result.notes if note not in flaws.values()]
    base = result.base
    values = (base.prior.tolist(), base.values.tolist(), base.deviations.tolist())
    return ReportFigures(
        robot=result.prior.name,
        better=comparison.is_better,
        mean_percent={k: float(np.nanmean(comparison.percent(of))) for k, of in models.items()},
        moving_percent={k: comparison.mean_moving_percent(of) for k, of in models.items()},
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
        of = getattr(comparison, model)
        columns = (of.rms, comparison.percent(of), of.moving_rms, comparison.moving_percent(of))
        return EffortErrors(*(float(column[number]) for column in columns))

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
