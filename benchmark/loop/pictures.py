# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The picture of what a run measured of the control loop."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes

from rnea_ros.drawing import add_grid, new_figure, save

from .contenders import Condition
from .figures import RATE
from .turn import Turn

SHOWN = {
    'this node': 'C0',
    'this node, SCHED_FIFO': 'C2',
    'plain rclpy node': 'C1',
    'cyclictest': '0.5',
}
"""Colour by contender; the tables have the others."""

SHARES = ('one in 2', 'one in 100', 'one in 1000', 'worst')
"""Shares of the ticks that have at least the drawn error."""


def draw(path: Path, results: Sequence[Turn]) -> None:
    """
    Draw CPU shares by rate, and period errors on an idle and a busy machine.

    :param path: PNG file to write
    :param results: of the contenders
    """
    figure = new_figure(11.0, 3.8)
    shares, idle, stress = figure.subplots(1, 3)
    stress.sharey(idle)
    _shares(shares, results)
    for axes, condition in ((idle, Condition.IDLE), (stress, Condition.STRESS)):
        _errors(axes, [result for result in results if result.condition is condition])
        axes.set_title(f'{RATE:g} Hz, {condition.value}', fontsize='medium')
    handles, labels = idle.get_legend_handles_labels()
    figure.legend(handles, labels, loc='outside lower center', ncol=4, frameon=False)
    save(figure, path)


def _shares(axes: Axes, results: Sequence[Turn]) -> None:
    rates = sorted({result.rate for result in results})
    width = 0.8 / len(SHOWN)
    for number, (name, colour) in enumerate(SHOWN.items()):
        bars = [
            (rates.index(result.rate) + width * number - 0.3, 100.0 * result.cpu)
            for result in results
            if result.contender.name == name and result.condition is Condition.IDLE
            and result.cpu is not None
        ]
        if bars:
            where, heights = zip(*bars, strict=True)
            axes.bar(where, heights, width, color=colour)
    axes.set_xticks(range(len(rates)))
    axes.set_xticklabels([f'{rate:g} Hz' for rate in rates])
    axes.set_ylabel('% of one core, idle')
    axes.set_title('CPU time', fontsize='medium')
    add_grid(axes)


def _errors(axes: Axes, results: Sequence[Turn]) -> None:
    turns = {result.contender.name: result for result in results if result.rate == RATE}
    for name, colour in SHOWN.items():
        lateness = turns[name].lateness if name in turns else None
        if lateness is not None:
            errors = [1e6 * error for error in (*lateness.percentiles, lateness.greatest)]
            axes.plot(SHARES, errors, 'o-', markersize=4, color=colour, label=name)
    axes.axhline(0.5e6 / RATE, color='k', linewidth=0.8)
    axes.set(yscale='log', xlabel='share of ticks with at least this error')
    axes.set_ylabel('period error, \N{MICRO SIGN}s')
    add_grid(axes)
