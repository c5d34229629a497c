# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The picture of what a run measured of the control loop."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.patches import Patch
import numpy as np

from .contenders import Condition
from .figures import RATE
from .turn import Turn

matplotlib.use('Agg')

import matplotlib.pyplot as plt

MIN_ERROR = 1e-5
"""Period errors below this are drawn as this, s."""


def draw(path: Path, results: Sequence[Turn]) -> None:
    """
    Draw CPU shares by rate, and the distribution of period errors on an idle and a busy machine.

    :param path: PNG file to write
    :param results: of the contenders
    """
    names = list(dict.fromkeys(result.contender.name for result in results))
    colours = {name: f'C{number}' for number, name in enumerate(names)}
    figure, axes = plt.subplots(1, 3, figsize=(15.0, 5.0), layout='constrained')
    shares, idle, stress = axes
    _shares(shares, results, colours)
    _errors(idle, results, colours, Condition.IDLE)
    _errors(stress, results, colours, Condition.STRESS)
    stress.sharex(idle)
    stress.sharey(idle)
    figure.legend(
        [Patch(color=colours[name]) for name in names],
        names, loc='outside lower center', ncol=4, frameon=False,
    )
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _shares(axes: Axes, results: Sequence[Turn], colours: dict[str, str]) -> None:
    rates = sorted({result.rate for result in results})
    shown = [
        result for result in results
        if result.condition is Condition.IDLE and result.cpu is not None
    ]
    names = list(dict.fromkeys(result.contender.name for result in shown))
    width = 0.8 / max(len(names), 1)
    for number, name in enumerate(names):
        results_by_name = [result for result in shown if result.contender.name == name]
        where = [rates.index(result.rate) + width * number - 0.4 for result in results_by_name]
        heights = [100.0 * (result.cpu or 0.0) for result in results_by_name]
        axes.bar(where, heights, width, align='edge', label=name, color=colours[name])
    axes.set_xticks(range(len(rates)), [f'{rate:g} Hz' for rate in rates])
    axes.set(ylabel='% of one core, idle', title='CPU time')
    axes.grid(axis='y', alpha=0.3)


def _errors(
    axes: Axes, results: Sequence[Turn], colours: dict[str, str], condition: Condition
) -> None:
    for result in results:
        if result.rate != RATE or result.lateness is None or result.condition is not condition:
            continue
        errors = np.sort(result.lateness.errors)
        later = 1.0 - np.arange(errors.size) / errors.size
        axes.plot(
            np.maximum(errors, MIN_ERROR) * 1e6, later, color=colours[result.contender.name]
        )
    axes.axvline(0.5e6 / RATE, color='k', linewidth=0.8)
    axes.set(xscale='log', yscale='log', xlabel='period error, \N{MICRO SIGN}s')
    axes.set(ylabel='share of ticks that are later', title=f'{RATE:g} Hz, {condition.value}')
    axes.grid(alpha=0.3, which='both')
