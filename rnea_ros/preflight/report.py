# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The report as text: verdict, joints, table, findings and remarks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from ..arrays import Array
from ..command_line import text_table
from ..drawing import add_grid, legend_above, new_figure, save
from .assessment import Assessment, JointFigures
from .faults import BY_HYPOTHESIS, Cause, Finding, ModelVerdict
from .selection import CONFIDENCE

VERDICTS = {
    ModelVerdict.ACCEPTED: 'accepted: the model fits the measured efforts',
    ModelVerdict.REJECTED: 'not accepted: fix the findings marked with *',
    ModelVerdict.UNDECIDED: 'undecided: the data do not suffice to judge the loaded joints',
}

HEADER = (
    'joint', 'model', 'error', 'sign', 'scale', 'offset', 'viscous', 'Coulomb', 'scatter', ''
)


def report(assessment: Assessment, findings: list[Finding], verdict: ModelVerdict) -> str:
    """Return the whole report."""
    samples, model = assessment.samples, assessment.prediction.model
    source = 'poses at rest' if assessment.at_rest else 'samples of a motion'
    friction = '' if assessment.at_rest else ' + viscous * velocity + Coulomb * sign(velocity)'
    rows = [
        (*_cells(joint), short_findings(place, findings))
        for place, joint in enumerate(assessment.joints)
    ]
    parts = [
        VERDICTS[verdict],
        by_joint(assessment, findings),
        '',
        f'data: {len(samples.time)} {source}; '
        f'model: {model.name}, {len(model.joint_names)} joints',
        f'table: RMS in N m or N; +- {100.0 * CONFIDENCE:.0f} % confidence',
        f'fit of each joint alone: measured = scale * model{friction} + offset',
        '',
        text_table([HEADER, *rows], left=(0, len(HEADER) - 1)),
        '',
    ]
    remedies = set()
    for finding in findings:
        mark = '*' if finding.must_be_fixed else '-'
        parts.append(f'{mark} {finding.cause.text}: {finding.text}')
        if finding.remedy and finding.remedy not in remedies:
            parts.append(f'    {finding.remedy}')
            remedies.add(finding.remedy)
    names = [joint.name for joint in assessment.joints]
    if any(finding.cause in BY_HYPOTHESIS for finding in findings):
        rivals = assessment.rivals
        parts += [f'- other possible cause: {rival.describe(names)}' for rival in rivals]
    parts += [f'- {note}' for note in samples.notes]
    return '\n'.join(parts)


def by_joint(assessment: Assessment, findings: Sequence[Finding]) -> str:
    """Return the joints that fit, that do not fit, and that were not judged, as one line."""
    groups: dict[str, list[int]] = {'fit': [], 'do not fit': [], 'not judged': []}
    for place, joint in enumerate(assessment.joints):
        wrong = any(finding.must_be_fixed for finding in concerning(place, findings))
        fits = 'do not fit' if wrong else 'fit' if joint.is_judged else 'not judged'
        groups[fits].append(place)
    names = [joint.name for joint in assessment.joints]
    return '; '.join(
        f'{_in_words(places, names)} {group}' for group, places in groups.items() if places
    )


def _in_words(places: list[int], names: Sequence[str]) -> str:
    """Return the names at places; of a run of more than two, the first and the last."""
    parts: list[str] = []
    for _, run in groupby(enumerate(places), lambda pair: pair[1] - pair[0]):
        found = [names[place] for _, place in run]
        parts += [f'{found[0]} to {found[-1]}'] if len(found) > 2 else found
    return ' and '.join(filter(None, (', '.join(parts[:-1]), parts[-1])))


def short_findings(joint: int, findings: Iterable[Finding]) -> str:
    """Return the findings of a joint in a few words."""
    return ', '.join(dict.fromkeys(finding.cause.short for finding in concerning(joint, findings)))


def concerning(joint: int, findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings of a joint; faults of several joints only if it was judged."""
    own = [finding for finding in findings if joint in finding.joints]
    if all(finding.cause is not Cause.UNJUDGED for finding in own):
        return own
    return [finding for finding in own if len(finding.joints) == 1 or not finding.must_be_fixed]


def _cells(joint: JointFigures) -> tuple[str, ...]:
    # A share of an effort near zero has no meaning.
    has_share = joint.error < 10.0 * joint.measured
    share = f'{100.0 * joint.error / joint.measured:.0f} %' if has_share else '-'
    sign = ('+' if joint.scale.value > 0.0 else '-') if joint.scale.excludes(0.0) else '?'
    estimates = (joint.scale, joint.offset, joint.viscous, joint.coulomb)
    return (
        joint.name, f'{joint.load:.2f}', f'{joint.error:.2f} ({share})', sign,
        *(str(each) if each and each.is_known else '-' for each in estimates),
        f'{joint.scatter:.2f}',
    )


def picture(path: Path, assessment: Assessment, findings: Sequence[Finding]) -> None:
    """Draw efforts over time, and measured over modelled effort, as PNG; one row per joint."""
    prediction, samples = assessment.prediction, assessment.samples
    n = len(assessment.joints)
    figure = new_figure(11.0, 1.0 + 1.7 * n)
    axes = figure.subplots(n, 2, squeeze=False, gridspec_kw={'width_ratios': (2.6, 1.0)})
    figure.suptitle(
        f'{prediction.model.name}: efforts, {samples.kind.value}; rows differ in scale'
    )
    style = {'marker': 'o', 'linestyle': 'none'} if assessment.at_rest else {'linewidth': 1.2}
    time = np.arange(len(samples.time)) + 1.0 if assessment.at_rest else samples.time
    friction = assessment.separate.fit.friction
    for place, joint in enumerate(assessment.joints):
        measured, model = prediction.effort[:, place], prediction.rigid[:, place]
        over_time, over_model = axes[place]
        over_time.plot(time, measured, color='0.65', label='measured', **style)
        over_time.plot(time, model, color='C0', label='model', **style)
        if not assessment.at_rest:
            fitted = model + friction[:, place] + joint.offset.value
            over_time.plot(
                time, fitted, color='C3', linewidth=0.9, label='model, friction, offset'
            )
        found = short_findings(place, findings)
        over_time.set_title(found, loc='right', fontsize='small', color='C3')
        over_time.set_ylabel(f'{joint.name}\nN m or N', fontsize='small')
        over_model.plot(model, measured - friction[:, place], '.', color='0.5', markersize=3)
        _lines(over_model, model, joint.scale.value, joint.offset.value)
        over_model.set_ylabel('measured', fontsize='small')
    legend_above(axes[0, 0])
    axes[0, 1].legend(loc='best', fontsize='x-small')
    axes[0, 1].set_title('measured without friction, over model', fontsize='small')
    axes[-1, 0].set_xlabel('pose' if assessment.at_rest else 'time, s')
    axes[-1, 1].set_xlabel('model, N m or N')
    for axis in axes.flat:
        add_grid(axis)
    save(figure, path)


def _lines(axis: object, model: Array, scale: float, offset: float) -> None:
    """Draw the line of a correct model and the fitted line."""
    ends = np.array([model.min(), model.max()])
    axis.plot(ends, ends, color='C0', linewidth=1.0, label='correct model')  # type: ignore[attr-defined]
    axis.plot(  # type: ignore[attr-defined]
        ends, scale * ends + offset, color='C3', linewidth=1.0, linestyle='--', label='fitted'
    )
