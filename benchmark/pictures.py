# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The pictures of both benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rnea_ros.drawing import add_grid, legend_above, new_figure, save

from .report import DOCS

if TYPE_CHECKING:
    from .__main__ import Result
    from .loop.turn import Turn

SPEEDS = {
    'inverse dynamics': 'rnea_ros, workspace',
    'mass matrix': 'rnea_ros, workspace',
    'forward dynamics': 'rnea_ros, workspace',
    'derivatives of the inverse dynamics': 'rnea_ros, workspace',
    'inverse dynamics of many samples': 'rnea_ros, one thread',
}
"""The drawn contender of each quantity; the table has the others."""

LOOPS = {
    'this node': 'C0',
    'this node, SCHED_FIFO': 'C2',
    'plain rclpy node': 'C1',
    'bare loop': '0.5',
}
"""Colour of each drawn contender; the tables have the others."""

SHARES = ('one in 2', 'one in 100', 'one in 1000', 'worst')
"""Shares of the ticks that have at least the drawn error."""


def draw_dynamics(results: Sequence[Result]) -> None:
    """Draw how many times faster than Pinocchio this library is, by quantity and robot."""
    figure = new_figure(10.0, 3.6)
    axes = figure.subplots()
    ratios = {
        (result.robot.title, result.quantity, result.contender): result.ratio
        for result in results
    }
    robots = list(dict.fromkeys(robot for robot, *_ in ratios))
    width = 0.8 / len(robots)
    for k, robot in enumerate(robots):
        heights = [ratios.get((robot, *speed), np.nan) for speed in SPEEDS.items()]
        where = np.arange(len(SPEEDS)) + (k - (len(robots) - 1) / 2) * width
        axes.bar_label(axes.bar(where, heights, width, label=robot), fmt='%.1f',
                       fontsize='x-small')
    axes.axhline(1.0, color='k', linewidth=1.0)
    axes.set(xticks=range(len(SPEEDS)), ylabel='times as fast as Pinocchio')
    axes.set_xticklabels([quantity.replace(' of ', '\nof ') for quantity in SPEEDS])
    add_grid(axes)
    legend_above(axes)
    save(figure, DOCS / 'performance.png')


def draw_loop(turns: Sequence[Turn], rate: float) -> None:
    """Draw CPU shares of the idle machine by rate, and period errors at one rate."""
    figure = new_figure(11.0, 3.8)
    shares, idle, stress = figure.subplots(1, 3)
    stress.sharey(idle)
    rates = sorted({turn.rate for turn in turns})
    width = 0.8 / len(LOOPS)
    for turn in turns:
        name = turn.contender.name
        if name not in LOOPS:
            continue
        if not turn.stress:
            where = rates.index(turn.rate) + width * list(LOOPS).index(name) - 0.3
            shares.bar(where, 100.0 * turn.cpu, width, color=LOOPS[name])
        if turn.rate == rate:
            errors = [1e6 * error for error in turn.lateness.percentiles]
            (stress if turn.stress else idle).plot(
                SHARES, errors, 'o-', markersize=4, color=LOOPS[name], label=name
            )
    shares.set_xticks(range(len(rates)))
    shares.set_xticklabels([f'{each:g} Hz' for each in rates])
    shares.set_ylabel('% of one core, idle')
    shares.set_title('CPU time', fontsize='medium')
    for axes, title in ((idle, 'idle'), (stress, 'under stress')):
        axes.axhline(0.5e6 / rate, color='k', linewidth=0.8)
        axes.set(yscale='log', xlabel='share of ticks with at least this error')
        axes.set_ylabel('period error, \N{MICRO SIGN}s')
        axes.set_title(f'{rate:g} Hz, {title}', fontsize='medium')
    for axes in (shares, idle, stress):
        add_grid(axes)
    figure.legend(*idle.get_legend_handles_labels(), loc='outside lower center', ncol=4,
                  frameon=False)
    save(figure, DOCS / 'control_loop.png')
