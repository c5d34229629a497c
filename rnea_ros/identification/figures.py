# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The figures of a report as plain data: of each joint, of each body, of each run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
import math
from typing import Any

import numpy as np

from ..arrays import Array
from ..dynamics.kernels import PARAMETERS
from .payload import PayloadFit
from .pseudo_inertia import about_centre, deviations_about_centre
from .result import Identification, ParameterOrigin
from .run import Run

NAMES = ('mass', *PARAMETERS[1:])  # the ten standard parameters of a body, in their order
MASS, CENTRE, INERTIA = slice(0, 1), slice(1, 4), slice(4, 10)  # their places

SAMPLES = 40  # samples of the recording in which one joint moves otherwise
MUCH = 4.0  # variance of predicted efforts, over that in the recorded motion, above which it helps

RANGE_SHARE, SPEED_SHARE = 0.9, 0.5
"""Shares of a joint's range and velocity limit that an exciting motion may use."""

ENOUGH = 0.7  # share of a possible motion that needs no more
MAX_ACCELERATION = 10.0  # greatest acceleration that is advised, rad/s^2 or m/s^2
MOST = 3  # most motions that are advised
GOLDEN_ANGLE = 2.4  # phase between samples of a sine that covers a range evenly, rad

MAX_CONDITION = 100.0
"""Condition of the base parameters above which a motion excites some of them poorly."""


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
class QuantityChange:
    """One quantity of a body."""

    urdf: tuple[float, ...]  # value or values in the URDF
    identified: tuple[float, ...]  # identified value or values
    deviation: tuple[float, ...]  # their standard deviations; NaN if the data do not determine it
    from_data: tuple[int, int]  # parameters behind it that the data determine, of how many


@dataclass(frozen=True)
class BodyChange:
    """A link behind a moving joint, with the links fixed to it."""

    links: tuple[str, ...]  # names of the links, that behind the joint first
    mass: QuantityChange  # kg
    centre: QuantityChange  # centre of mass in the frame of the first link, m
    inertia: QuantityChange  # xx, xy, xz, yy, yz, zz about the centre, first link's axes, kg m^2
    undetermined: tuple[str, ...]  # standard parameters that the data leave as in the URDF
    invisible: tuple[str, ...]  # standard parameters that have no effect on any effort


@dataclass(frozen=True)
class ReportFigures:
    """All figures of a report."""

    robot: str
    better: bool  # whether the identified model is better on the held-out runs
    much_worse: tuple[str, ...]  # joints that are much worse than with the URDF
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
    joints, links = result.prior.joint_names, result.prior.body_names
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
        much_worse=tuple(
            name for name, worse in zip(joints, comparison.much_worse, strict=True) if worse
        ),
        mean_percent={k: float(np.nanmean(comparison.percent(of))) for k, of in models.items()},
        moving_percent={k: comparison.mean_moving_percent(of) for k, of in models.items()},
        judged_on=tuple(map(_extent, comparison.held_out)),
        in_turn=comparison.held_out[0] is result.fitted[0],
        run_percent={
            run.name: dict(zip(models, errors.tolist(), strict=True))
            for run, errors in comparison.of_runs()
        },
        fitted=tuple(map(_extent, result.fitted)),
        joints=tuple(_joint(result, number, name) for number, name in enumerate(joints)),
        bodies=tuple(_body(result, number, name) for number, name in enumerate(links)),
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
        name, measured, errors('urdf'), errors('urdf_with_friction'), errors('identified'),
        estimate(friction.viscous.mean(axis=0), 'viscous'),
        estimate(friction.coulomb.mean(axis=0), 'coulomb'),
        estimate(friction.load, 'load'),
        float(friction.smoothing_velocity[number]),
        estimate(result.armature, 'armature'),
        estimate(friction.offset + (friction.coulomb[0] - friction.coulomb[1]) / 2.0, 'offset'),
    )


def _body(result: Identification, number: int, name: str) -> BodyChange:
    part = slice(len(NAMES) * number, len(NAMES) * (number + 1))
    frames, origin = result.prior.tree.frames, result.origin[part]
    fixed = [link for link, frame in frames.items() if frame.body == frames[name].body]
    after = result.parameters[part]
    values = (
        about_centre(result.prior.inertial_parameters[part]), about_centre(after),
        deviations_about_centre(after, result.covariance[part, part])
    )

    def quantity(group: slice) -> QuantityChange:
        known = origin[group].count(ParameterOrigin.DATA), len(origin[group])
        urdf, identified, deviation = (tuple(each[group].tolist()) for each in values)
        # A centre of mass is a quotient: without the mass, it is not determined.
        divisor = origin[:1] if group == CENTRE else ()
        deviation = tuple(
            each if {of, *divisor} == {ParameterOrigin.DATA} else math.nan
            for each, of in zip(deviation, origin[group], strict=True)
        )
        return QuantityChange(urdf, identified, deviation, known)

    def named(what: ParameterOrigin) -> tuple[str, ...]:
        return tuple(name for name, each in zip(NAMES, origin, strict=True) if each is what)

    return BodyChange(
        (name, *(link for link in fixed if link != name)), quantity(MASS),
        quantity(CENTRE), quantity(INERTIA), named(ParameterOrigin.PRIOR),
        named(ParameterOrigin.NOTHING)
    )


def _finite(value: Any) -> Any:
    """Return a value with None for NaN and infinity, which JSON lacks."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def payload_json(fit: PayloadFit, joints: Sequence[str]) -> Any:
    """Return the figures of a payload for JSON; joints are the model's names."""
    payload = fit.payload
    errors = zip(fit.rms_without.tolist(), fit.rms_with.tolist(), strict=True)
    return _finite({
        'link': payload.link,
        'mass': [float(payload.mass), fit.mass_deviation],
        'com': [np.asarray(payload.com).tolist(), fit.com_deviation.tolist()],
        'inertia': [np.asarray(payload.inertia).tolist(), fit.inertia_deviation.tolist()],
        'joints': {
            name: dict(zip(('without_payload', 'with_payload'), rms, strict=True))
            for name, rms in zip(joints, errors, strict=True)
        },
    })


def advice(result: Identification) -> Iterator[str]:
    """Yield changes for the next recording: a joint over its range, or as fast as it may."""
    model, fitted = result.prior, result.fitted
    q, qd, qdd = (
        np.concatenate([getattr(run, name) for run in fitted]) for name in ('q', 'qd', 'qdd')
    )
    recorded = np.array([q, qd, qdd])[:, :: 1 + len(q) // SAMPLES]
    wave = np.sin(GOLDEN_ANGLE * np.arange(recorded.shape[1]))
    joints = {name for run in fitted for name in run.joints}
    helps: list[tuple[float, str]] = []

    def consider(joint: int, which: int, values: Array, text: str) -> None:
        changed = recorded.copy()
        changed[which, :, joint] = values
        helps.append((_uncertainty(result, changed), text))

    for k, name in enumerate(model.joint_names):
        if name not in joints:
            continue
        lower, upper = model.position_lower[k], model.position_upper[k]
        if model.continuous[k] or not upper - lower < 2.0 * np.pi:
            lower, upper = q[:, k].mean() + np.array([-np.pi, np.pi])
        reach, travel = RANGE_SHARE * (upper - lower), float(np.ptp(q[:, k]))
        if travel < ENOUGH * reach:
            consider(
                k, 0, (lower + upper + reach * wave) / 2.0,
                f'{name}: move over {reach:.2g} rad or m (recorded: {travel:.2g})'
            )
        speed, peak = SPEED_SHARE * model.velocity_limits[k], float(np.abs(qdd[:, k]).max())
        possible = min(2.0 * speed**2 / reach, MAX_ACCELERATION)
        if qd.any() and peak < ENOUGH * possible:
            consider(
                k, 2, possible * wave,
                f'{name}: accelerate up to {possible:.2g} rad/s^2 or m/s^2 (recorded: {peak:.2g})'
            )
        if qd.any() and qd[:, k].min() * qd[:, k].max() >= 0.0:
            yield f'{name}: move in both directions'
    now = _uncertainty(result, recorded)
    yield from [text for much, text in sorted(helps, reverse=True)[:MOST] if much > MUCH * now]
    if result.base.condition > MAX_CONDITION:
        yield (
            f'the condition is {result.base.condition:.0f}: a motion by `excite` tells the '
            'parameters apart better'
        )


def _uncertainty(result: Identification, motion: Array) -> float:
    """Return the mean variance of the model's efforts in a motion, over that of its errors."""
    Y = result.prior.regressor_batch(*motion)
    variance = np.einsum('...i,ij,...j->...', Y, result.covariance, Y).mean(axis=0)
    return float(np.nanmean(variance / result.comparison.identified.rms**2))
