# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Pictures of what a run measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
import numpy as np

from rnea_ros.drawing import add_grid, legend_above, new_figure, save

from .compare import Result
from .contenders import BATCH, WORKSPACE, Computation
from .growth import NO_RECURSION, RECURSION, Growth
from .robots import Robot

SHOWN = {
    Computation.INVERSE_DYNAMICS: WORKSPACE,
    Computation.MASS_MATRIX: WORKSPACE,
    Computation.FORWARD_DYNAMICS: WORKSPACE,
    Computation.INVERSE_DERIVATIVES: WORKSPACE,
    Computation.BATCH: BATCH,
}
"""Contender by quantity; the table has the others."""


def draw_comparison(path: Path, results: Sequence[Result], robots: Sequence[Robot]) -> None:
    """
    Draw how many times faster than Pinocchio this library is, for five quantities and each robot.

    :param path: PNG file to write
    :param results: of the races
    :param robots: in the order of the bars
    """
    figure = new_figure(10.0, 3.6)
    axes = figure.subplots()
    width = 0.8 / len(robots)
    for k, robot in enumerate(robots):
        found = {(r.quantity, r.contender): r.ratio for r in results if r.joints == robot.joints}
        ratios = [found.get(wanted, np.nan) for wanted in SHOWN.items()]
        where = np.arange(len(SHOWN)) + (k - (len(robots) - 1) / 2) * width
        bars = axes.bar(where, ratios, width, label=f'{robot.name}, {robot.joints} joints')
        axes.bar_label(bars, fmt='%.1f', fontsize='x-small')
    axes.axhline(1.0, color='k', linewidth=1.0)
    axes.set(xticks=range(len(SHOWN)), ylabel='times as fast as Pinocchio')
    axes.set_xticklabels([quantity.value.replace(' of ', '\nof ') for quantity in SHOWN])
    add_grid(axes)
    legend_above(axes)
    save(figure, path)


def draw_growth(path: Path, growth: Mapping[str, Growth]) -> None:
    """
    Draw the cost of inverse dynamics by the number of bodies of a chain.

    :param path: PNG file to write
    :param growth: by formulation
    """
    figure = new_figure(12.0, 5.0)
    linear, logarithmic = figure.subplots(1, 2)
    colours = {name: f'C{number}' for number, name in enumerate(growth)}
    _lines(linear, {name: growth[name] for name in (RECURSION, NO_RECURSION)}, 1e3, colours)
    linear.set(ylabel='ms a call', title='with and without recursion, both in numpy')
    _lines(logarithmic, growth, 1e6, colours)
    logarithmic.set(xscale='log', yscale='log', ylabel='\N{MICRO SIGN}s a call')
    logarithmic.set(title='all, both axes logarithmic')
    for axes in (linear, logarithmic):
        axes.set(xlabel='bodies in a chain')
        axes.grid(alpha=0.3, which='both')
    linear.legend(loc='upper right')
    logarithmic.legend(loc='upper left')
    save(figure, path)


def _lines(
    axes: Axes, growth: Mapping[str, Growth], scale: float, colours: Mapping[str, str]
) -> None:
    for name, measured in growth.items():
        axes.plot(
            measured.bodies, scale * measured.seconds, 'o-', markersize=4, color=colours[name],
            label=f'{name}: n^{measured.exponent:.2f}',
        )
