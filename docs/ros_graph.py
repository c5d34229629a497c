# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Draw docs/pictures/ros_graph.png: the nodes around ``feedforward`` and their topics.

``python docs/ros_graph.py`` writes the file.
"""

from __future__ import annotations

from pathlib import Path
import sys
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

FILE = Path(__file__).parent / 'pictures' / 'ros_graph.png'
WIDTH, HEIGHT = 2.5, 0.8
OURS, OTHERS = '#d9e8f6', '#f0f0ec'

NODES = {
    'feedforward': (5.0, 3.0, OURS, 'feedforward\ngravity, RNEA, limits'),
    'effort_watchdog': (5.0, 0.7, OURS, 'effort_watchdog\n(optional)'),
    'planner': (0.0, 4.4, OTHERS, 'your planner\nor node'),
    'broadcaster': (0.0, 3.0, OTHERS, 'joint_state_broadcaster\nrobot_state_publisher'),
    'sensors': (0.0, 1.6, OTHERS, 'force-torque sensors,\nIMU on the base'),
    'controller': (10.4, 3.0, OTHERS, 'effort controller\n(ros2_control)'),
    'people': (10.4, 4.4, OTHERS, 'PlotJuggler, rosbag2,\nrqt'),
}
"""Left, bottom, colour, text; in cells of the drawing."""

TOPICS = (
    ('planner', 'feedforward', '~/joint_trajectory', 0.16),
    ('broadcaster', 'feedforward', 'joint_states, robot_description', 0.08),
    ('sensors', 'feedforward', 'wrench_inputs.<name>.topic', -0.3),
    ('feedforward', 'controller', 'effort_controller/commands', 0.08),
    ('feedforward', 'people', '~/effort, ~/terms/*, /diagnostics', 0.16),
    ('effort_watchdog', 'controller', 'zeros after silence', -0.3),
    ('feedforward', 'effort_watchdog', 'commands', 0.0),
)
"""From, to, topic, shift of the text."""


def draw(axes: Any) -> None:
    """Draw the graph."""
    for left, bottom, colour, text in NODES.values():
        axes.add_patch(FancyBboxPatch(
            (left, bottom), WIDTH, HEIGHT, boxstyle='round,pad=0.08', facecolor=colour,
            edgecolor='#3c4043', linewidth=1.2,
        ))
        axes.text(left + WIDTH / 2, bottom + HEIGHT / 2, text, ha='center', va='center')
    for source, target, topic, shift in TOPICS:
        (x0, y0, *_), (x1, y1, *_) = NODES[source], NODES[target]
        if x0 == x1:
            a, b = (x0 + WIDTH / 2, y0 - 0.1), (x1 + WIDTH / 2, y1 + HEIGHT + 0.1)
        else:
            a, b = (x0 + WIDTH + 0.1, y0 + HEIGHT / 2), (x1 - 0.1, y1 + HEIGHT / 2)
        axes.add_patch(FancyArrowPatch(a, b, arrowstyle='-|>', mutation_scale=13, color='#3c4043'))
        middle = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2 + shift)
        axes.text(*middle, topic, ha='center', va='bottom', fontsize=8.5, color='#1f4e79',
                  bbox={'facecolor': 'white', 'edgecolor': 'none', 'pad': 0.8})
    axes.set(xlim=(-0.3, 13.2), ylim=(0.4, 5.5))
    axes.set_aspect('equal')
    axes.set_axis_off()


def main() -> int:
    """Write the file; return the exit code."""
    figure = Figure(figsize=(11.0, 4.4), dpi=100)
    draw(figure.add_axes((0.0, 0.0, 1.0, 1.0)))
    figure.savefig(FILE)
    return 0


if __name__ == '__main__':
    sys.exit(main())
