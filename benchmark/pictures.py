# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Pictures of what a run measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
import numpy as np

from .compare import Result
from .contenders import BATCH_ON_ALL_CORES, PINOCCHIO
from .growth import NO_RECURSION, RECURSION, Growth
from .robots import Robot

matplotlib.use('Agg')

import matplotlib.pyplot as plt

MIN_SHOWN = 0.1
"""Times faster than Pinocchio; what is slower is left to the table."""


def draw_comparison(path: Path, results: Sequence[Result], robots: Sequence[Robot]) -> None:
    """
    Draw how many times faster than Pinocchio each contender is, for every quantity and robot.

    :param path: PNG file to write
    :param results: of the races
    :param robots: in the order of the bars
    """
    shown = [
        r for r in results
        if r.contender not in (PINOCCHIO, BATCH_ON_ALL_CORES) and r.ratio > MIN_SHOWN
    ]
    figure, axes = plt.subplots(figsize=(10.0, 9.0), layout='constrained')
    labels = list(dict.fromkeys((r.quantity, r.contender) for r in shown))
    height = 0.8 / len(robots)
    for k, robot in enumerate(robots):
        bars = [
            (labels.index((r.quantity, r.contender)), r.ratio)
            for r in shown if r.joints == robot.joints
        ]
        labelled, ratios = np.array(bars).T
        where = labelled + (k - (len(robots) - 1) / 2) * height
        # On a logarithmic axis a bar has to start somewhere: at equality.
        axes.barh(
            where, ratios - 1.0, height, left=1.0, label=f'{robot.name}, {robot.joints} joints'
        )
    axes.axvline(1.0, color='k')
    axes.set_xscale('log')
    ticks = [0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0]
    axes.set_xticks(ticks, [f'{tick:g}' for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_yticks(range(len(labels)), [f'{q.value}\n{name}' for q, name in labels])
    axes.invert_yaxis()
    axes.set(xlabel='times faster than Pinocchio, called from Python, one core')
    axes.grid(axis='x', alpha=0.3)
    axes.legend(loc='upper right')
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_growth(path: Path, growth: Mapping[str, Growth]) -> None:
    """
    Draw the cost of inverse dynamics by the number of bodies of a chain.

    :param path: PNG file to write
    :param growth: by formulation
    """
    figure, (linear, logarithmic) = plt.subplots(1, 2, figsize=(12.0, 5.0), layout='constrained')
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
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _lines(
    axes: Axes, growth: Mapping[str, Growth], scale: float, colours: Mapping[str, str]
) -> None:
    for name, measured in growth.items():
        axes.plot(
            measured.bodies, scale * measured.seconds, 'o-', markersize=4, color=colours[name],
            label=f'{name}: n^{measured.exponent:.2f}',
        )
