# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Picture of the measured and modelled efforts of every joint."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..arrays import Array
from ..drawing import add_grid, legend_above, new_figure, save
from .assessment import Assessment
from .findings import Finding
from .report import short_findings


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
    for number, joint in enumerate(assessment.joints):
        measured, model = prediction.effort[:, number], prediction.rigid[:, number]
        over_time, over_model = axes[number]
        over_time.plot(time, measured, color='0.65', label='measured', **style)
        over_time.plot(time, model, color='C0', label='model', **style)
        if not assessment.at_rest:
            fitted = model + friction[:, number] + joint.offset.value
            over_time.plot(
                time, fitted, color='C3', linewidth=0.9, label='model, friction, offset'
            )
        found = short_findings(number, findings)
        over_time.set_title(found, loc='right', fontsize='small', color='C3')
        over_time.set_ylabel(f'{joint.name}\nN m or N', fontsize='small')
        over_model.plot(model, measured - friction[:, number], '.', color='0.5', markersize=3)
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
