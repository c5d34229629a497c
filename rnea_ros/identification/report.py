# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The report as text and picture: verdict, errors, changes in the URDF, friction, advice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import math
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..command_line import text_table
from ..drawing import legend_above, new_figure, save, two_columns_over_time
from .comparison import Comparison
from .figures import NAMES, BodyChange, JointReport, ReportFigures
from .payload import PayloadFit
from .result import Identification

PAUSE = 1.0  # drawn time between two runs, s
JOINT_HEADER = ('joint', 'measured', 'URDF', 'URDF + friction', 'identified', 'moving')
BODY_HEADER = ('body', '', 'URDF', 'identified', '+-', 'from the data')
FRICTION_HEADER = (
    'joint', 'viscous', 'Coulomb', 'per load', 'smoothing velocity', 'rotor inertia', 'offset'
)  # fmt: skip

NOTICEABLE = 0.01  # least change of a quantity that is shown, as a share of its greatest component
WORSE = 1.05  # least ratio of errors of a joint that is named as worse
NEGLIGIBLE = 5e-5  # friction or rotor inertia that is shown as 0


def text(figures: ReportFigures) -> str:
    """Return the report of a result."""
    parts = (_verdict, _errors, _runs, _changes, _friction, _undetermined)
    sections = [part(figures) for part in parts]
    sections += [
        _list('better in the next recording', figures.advice),
        _list('notes', figures.notes),
        _list('flaws of the recordings', figures.flaws),
    ]
    return '\n\n'.join(section for section in sections if section)


def _verdict(figures: ReportFigures) -> str:
    urdf, with_friction, identified = figures.moving_percent.values()
    judged = '; '.join(figures.judged_on)
    model, than = f'the identified model of {figures.robot} is', 'to the measured efforts than'
    first = f'better: {model} {urdf / identified:.1f} times closer {than} the URDF'
    if not figures.better:
        first = f'not better: {model} no closer {than} the URDF'
        if identified < urdf and figures.much_worse:
            first = f'not better: much worse than the URDF at {", ".join(figures.much_worse)}'
        elif with_friction < identified:
            first += ' with fitted friction; keep its bodies (links: none) and use that friction'
    worse = [text for joint in figures.joints if (text := _worse(joint))]
    return '\n'.join([
        first,
        *[f'worse than the URDF: {"; ".join(worse)}'] * bool(worse),
        f'mean error of the moving joints: URDF {urdf:.1f} %, URDF with friction '
        f'{with_friction:.1f} %, identified {identified:.1f} % of the measured effort; in all '
        'samples ' + ', '.join(f'{percent:.1f} %' for percent in figures.mean_percent.values()),
        f'judged on data that were not fitted: {judged}'
        + ('; each by a fit of the others' if figures.in_turn else ''),
        f'fitted: {"; ".join(figures.fitted)}',
    ])


def _worse(joint: JointReport) -> str:
    """Return by how much a joint's error exceeds that of the URDF, in motion or in all samples."""
    for name, samples in (('moving_percent', 'in motion'), ('percent', 'in all samples')):
        before, after = getattr(joint.urdf, name), getattr(joint.identified, name)
        if after > WORSE * before:
            return f'{joint.name}, {before:.1f} % to {after:.1f} % {samples}'
    return ''


def _errors(figures: ReportFigures) -> str:
    return _table(
        'RMS error of the effort, N m or N, and in per cent of the measured effort; moving: '
        'identified, only while the joint moves', [JOINT_HEADER, *map(_error_row, figures.joints)]
    )


def _error_row(joint: JointReport) -> tuple[str, ...]:
    if not joint.has_effort:
        return (joint.name, 'no effort', '', '', '', '')
    models = (joint.urdf, joint.urdf_with_friction, joint.identified)
    of = joint.identified
    moving = f'{of.moving_rms:.2f} ({of.moving_percent:.1f} %)' if of.moving_rms >= 0.0 else '-'
    errors = (f'{model.rms:.2f} ({model.percent:.1f} %)' for model in models)
    return (joint.name, f'{joint.measured:.2f}', *errors, moving)


def _runs(figures: ReportFigures) -> str:
    """Return the spread over several held-out runs."""
    if len(figures.run_percent) < 2:
        return ''
    rows: list[tuple[str, ...]] = [('recording', *JOINT_HEADER[2:5])]
    rows += [
        (name, *(f'{percent:.1f} %' for percent in errors.values()))
        for name, errors in figures.run_percent.items()
    ]
    return _table('mean error of the joints while they move, by recording', rows)


def _changes(figures: ReportFigures) -> str:
    rows = [BODY_HEADER, *(row for body in figures.bodies for row in _body_rows(body))]
    if len(rows) == 1:
        return ''
    return _table(
        'what changes in the URDF; a body is a link with all links fixed to it; +- one standard '
        'deviation', rows, left=(0, 1, 5)
    )


def _body_rows(body: BodyChange) -> Iterator[tuple[str, ...]]:
    quantities = (
        ('mass, kg', body.mass, 1.0, (0,)),
        ('centre of mass x y z, mm', body.centre, 1000.0, (0, 1, 2)),
        ('inertia xx yy zz, g m^2', body.inertia, 1000.0, (0, 3, 5)),
    )
    first = body.links[0]
    for label, quantity, factor, shown in quantities:
        greatest = max(map(abs, quantity.urdf))
        pairs = zip(quantity.urdf, quantity.identified, strict=True)
        if not any(abs(after - before) > NOTICEABLE * greatest for before, after in pairs):
            continue
        parts = [
            tuple(_with_decimals(factor * value[k], factor * quantity.deviation[k]) for k in shown)
            for value in (quantity.urdf, quantity.identified, quantity.deviation)
        ]
        known, of = quantity.from_data
        share = 'yes' if known == of else f'{known} of {of}' if known else 'no'
        yield (first, label, *map(' '.join, parts), share)
        first = ''


def _friction(figures: ReportFigures) -> str:
    rows = [
        (
            joint.name, *map(_estimate, (joint.viscous, joint.coulomb, joint.load)),
            f'{joint.smoothing_velocity:.3f}', *map(_estimate, (joint.armature, joint.offset))
        )
        for joint in figures.joints if joint.has_effort
    ]
    return _table(
        'friction: viscous N m s/rad, Coulomb N m, per N m of load; smoothing velocity rad/s; '
        'rotor inertia kg m^2; offset of the effort N m; for sliding joints N and m',
        [FRICTION_HEADER, *rows]
    )


def _estimate(estimate: tuple[float, float]) -> str:
    value, deviation = estimate
    if max(abs(value), deviation) < NEGLIGIBLE:
        return '0'
    return f'{_with_decimals(value, deviation)} +- {_with_decimals(deviation, deviation)}'


def _with_decimals(value: float, deviation: float) -> str:
    """
    Return a number with as many decimals as its deviation needs for two digits, 1 to 4.

    An unknown number is a dash.
    """
    if math.isnan(value):
        return '-'
    known = math.isfinite(deviation) and deviation > 0.0
    usual = 2 if math.isnan(deviation) else 4
    decimals = 1 - math.floor(math.log10(deviation)) if known else usual
    decimals = min(max(decimals, 1), 4)
    return f'{round(value, decimals) + 0.0:.{decimals}f}'


def _undetermined(figures: ReportFigures) -> str:
    titles = {
        'undetermined': 'not determined by these data; the value of the URDF stays, or moves with '
        'those that are determined',
        'invisible': 'without effect on any effort; no recording determines them',
    }
    lines = []
    for field, title in titles.items():
        names = {body.links[0]: getattr(body, field) for body in figures.bodies}
        lines.append(_list(title, [
            f'{link}: {"all" if len(each) == len(NAMES) else ", ".join(each)}'
            for link, each in names.items() if each
        ]))
    lines.append(
        f'{len(figures.combinations)} combinations of parameters are determined (--report lists '
        f'them), condition {figures.condition:.0f} (good below 100)'
    )
    return '\n'.join(filter(None, lines))


def _table(title: str, rows: Sequence[tuple[str, ...]], left: tuple[int, ...] = (0,)) -> str:
    return f'{title}\n{text_table(rows, left=left)}'


def _list(title: str, sentences: Sequence[str]) -> str:
    return '\n'.join([f'{title}:', *(f'- {each}' for each in sentences)]) if sentences else ''

def payload_text(fit: PayloadFit, joints: Sequence[str]) -> str:
    """Return the report of a payload; joints are the model's names."""
    payload = fit.payload
    rows: list[tuple[str, ...]] = [('joint', 'without payload', 'with payload')]
    for name, *errors in zip(joints, fit.rms_without, fit.rms_with, strict=True):
        if np.isfinite(errors).all():
            rows.append((name, *(f'{error:.2f}' for error in errors)))
    return '\n'.join([
        f'payload on {payload.link}: {payload.mass:.2f} +- {fit.mass_deviation:.2f} kg',
        f'centre of mass x y z in the frame of {payload.link}, mm: '
        f'{_each(payload.com, 1000.0)} +- {_each(fit.com_deviation, 1000.0)}',
        'inertia: poses at rest do not show it; 0' if fit.at_rest else
        f'inertia xx xy xz yy yz zz about it, g m^2: '
        f'{_each(payload.inertia, 1000.0)} +- {_each(fit.inertia_deviation, 1000.0)}',
        '',
        _table('RMS error of the effort in the fitted run, N m or N', rows),
    ])


def _each(values: ArrayLike, factor: float) -> str:
    return ' '.join(f'{factor * value:.1f}' for value in np.asarray(values).tolist())


def picture(path: Path, result: Identification) -> None:
    """Draw efforts and residuals over time as PNG; one row for each joint with an effort."""
    comparison, names = result.comparison, result.prior.joint_names
    rows = np.flatnonzero(np.isfinite(comparison.effort_rms))
    figure = new_figure(11.1, 1.2 + 1.55 * len(rows))
    axes = two_columns_over_time(figure, len(rows))
    judged = ', '.join(dict.fromkeys(run.name for run in comparison.held_out))
    figure.suptitle(f'{result.prior.name}: efforts of {judged}, not fitted; rows differ in scale')
    time, measured, urdf, identified = _over_time(comparison)
    for (efforts, residuals), joint in zip(axes, rows, strict=True):
        efforts.plot(time, measured[:, joint], color='0.6', linewidth=2.2, label='measured')
        efforts.plot(time, urdf[:, joint], color='C0', linewidth=1.0, label='URDF')
        efforts.plot(time, identified[:, joint], color='C3', linewidth=1.0, label='identified')
        efforts.set_ylabel(f'{names[joint]}\nN m or N', fontsize='small')
        residuals.axhline(0.0, color='0.6', linewidth=1.0)
        for model, colour in ((urdf, 'C0'), (identified, 'C3')):
            residuals.plot(time, measured[:, joint] - model[:, joint], color=colour, linewidth=0.9)
        before, after = (
            f'{errors.rms[joint]:.2f} ({comparison.percent(errors)[joint]:.0f} %)'
            for errors in (comparison.urdf, comparison.identified)
        )
        title = f'RMS: URDF {before}, identified {after}'
        residuals.set_title(title, loc='right', fontsize='small')
    legend_above(axes[0][0])
    axes[0][1].set_title('measured minus model', loc='left', fontsize='small')
    save(figure, path)


def _over_time(comparison: Comparison) -> tuple[Array, Array, Array, Array]:
    """Return time, measured, URDF's and identified efforts, with NaN where data are missing."""
    parts = []
    start = 0.0
    for number, run in enumerate(comparison.held_out):
        models = (comparison.urdf, comparison.identified)
        columns = [run.effort, *(errors.predicted[number] for errors in models)]
        time = run.time + (start - run.time[0] if number else 0.0)
        # Lines end behind each segment.
        ends = np.append(np.flatnonzero(np.diff(run.segment)) + 1, len(time))
        parts.append([np.insert(each, ends, np.nan, axis=0) for each in (time, *columns)])
        start = float(time[-1]) + PAUSE
    time, measured, urdf, identified = (np.concatenate(each) for each in zip(*parts, strict=True))
    return time, measured, urdf, identified
