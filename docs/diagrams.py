# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Draw the diagrams in docs/pictures: nodes and topics, states, control laws, RNEA.

``python docs/diagrams.py`` writes ros_graph.png, states.png, laws.png and rnea.png.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import cos, pi, sin
from pathlib import Path
import sys
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Arc, Circle, FancyArrowPatch, FancyBboxPatch

FOLDER = Path(__file__).parent / 'pictures'
OURS, OTHERS, DARK, BLUE, RED = '#d9e8f6', '#f0f0ec', '#3c4043', '#1f4e79', '#c0392b'
Point = tuple[float, float]


def box(
    axes: Any, left: float, bottom: float, width: float, height: float, text: str, *,
    colour: str = OTHERS, edge: str = DARK, top: bool = False,
) -> None:
    """Draw a box; ``top`` puts its text at the upper edge."""
    axes.add_patch(FancyBboxPatch(
        (left, bottom), width, height, boxstyle='round,pad=0.06', facecolor=colour,
        edgecolor=edge, linewidth=1.1,
    ))
    y, align = (bottom + height, 'top') if top else (bottom + height / 2, 'center')
    axes.text(left + width / 2, y, text, ha='center', va=align, fontsize=9.5, linespacing=1.35)


def arrow(
    axes: Any, points: Sequence[Point], text: str = '', *, at: Point | None = None,
    colour: str = DARK, align: str = 'center', width: float = 1.2,
) -> None:
    """Draw an arrow along points, and its text above the middle or centred ``at`` a point."""
    for a, b in pairwise(points[:-1]):
        axes.plot(*zip(a, b, strict=True), color=colour, linewidth=width, solid_capstyle='round')
    axes.add_patch(FancyArrowPatch(
        points[-2], points[-1], arrowstyle='-|>', mutation_scale=12, color=colour,
        shrinkA=0, shrinkB=0, linewidth=width,
    ))
    if text:
        (x0, y0), (x1, y1) = points[-2:]
        x, y = at or ((x0 + x1) / 2, (y0 + y1) / 2 + 0.07)
        axes.text(x, y, text, ha=align, va='center' if at else 'bottom', fontsize=8.5,
                  color=BLUE if colour == DARK else colour)


def ros_graph(axes: Any) -> None:
    """Draw the nodes around ``feedforward`` and their topics."""
    inputs = (
        ('MoveIt', '~/follow_joint_trajectory'),
        ('planner, teach, your node', '~/joint_trajectory'),
        ('law of your own, teleoperation', '~/additional_effort'),
        ('force-torque sensors, IMU', 'wrench_inputs.<name>.topic'),
        ('robot_state_publisher', 'robot_description'),
    )
    box(axes, 5.4, 1.5, 1.9, 4.5, 'feedforward\n\ncontrol law,\nRNEA,\nlimits, ramps', colour=OURS)
    for row, (name, topic) in enumerate(inputs):
        y = 5.4 - row
        box(axes, 0.0, y, 2.7, 0.5, name)
        arrow(axes, [(2.76, y + 0.25), (5.34, y + 0.25)], topic)
    box(axes, 10.1, 5.45, 3.4, 0.5, 'PlotJuggler, RViz, rosbag2, rqt')
    arrow(axes, [(7.36, 5.7), (10.04, 5.7)], '~/effort, ~/terms/*, /diagnostics')
    box(axes, 9.8, 1.35, 4.9, 3.65, 'ros2_control: controller manager', colour='white', top=True)
    box(axes, 10.1, 3.7, 2.2, 0.6, 'joint_state_\nbroadcaster')
    box(axes, 10.1, 1.9, 2.2, 0.6, 'effort controller\n(forward command)')
    box(axes, 13.1, 1.6, 1.3, 2.9, 'hardware\ninterface\n\nrobot or\nsimulator')
    arrow(axes, [(10.04, 4.0), (7.36, 4.0)], 'joint_states')
    arrow(axes, [(7.36, 2.2), (10.04, 2.2)], 'effort_controller/commands')
    arrow(axes, [(13.04, 4.0), (12.36, 4.0)])
    arrow(axes, [(12.36, 2.2), (13.04, 2.2)])
    box(axes, 5.4, 0.0, 1.9, 0.6, 'effort_watchdog\n(optional)', colour=OURS)
    arrow(axes, [(6.35, 1.44), (6.35, 0.66)], 'commands', at=(6.45, 1.05), align='left')
    arrow(axes, [(7.36, 0.3), (11.2, 0.3), (11.2, 1.84)], 'zeros, when commands stop',
          at=(9.3, 0.47))
    axes.set(xlim=(-0.2, 14.95), ylim=(-0.25, 6.2))


def states(axes: Any) -> None:
    """Draw the states of the control."""
    for left, width in ((-0.25, 4.75), (4.95, 7.45)):
        box(axes, left, 2.65, width, 1.5, '', colour='white', edge='#b0b4b8')
    where = {
        'waiting': (0.0, 2.9, 'no joint states'),
        'ready': (2.5, 2.9, "controller's joints\nnot confirmed"),
        'ramping': (5.2, 2.9, 'from the measured\neffort to the law'),
        'active': (7.8, 2.9, 'control law'),
        'degraded': (10.4, 2.9, 'control law,\nwith a flag'),
        'holding': (7.8, 0.9, 'gravity torque,\nfor hold_duration'),
        'ramping_down': (5.2, 0.9, 'to zero'),
        'fault': (2.5, 0.9, 'zero effort'),
        'stopped': (5.2, -0.9, 'last command five\ntimes, then none'),
    }
    for name, (x, y, text) in where.items():
        colour = '#f6dcd9' if name == 'fault' else OURS
        box(axes, x, y, 1.75, 1.0, f'$\\bf{{{name.replace("_", chr(92) + "_")}}}$\n{text}',
            colour=colour)
    for a, b in ((1.81, 2.44), (4.31, 5.14)):
        arrow(axes, [(a, 3.4), (b, 3.4)])
    arrow(axes, [(7.01, 3.6), (7.74, 3.6)])
    arrow(axes, [(7.74, 3.2), (7.01, 3.2)], 'commands withheld', at=(7.37, 4.03))
    arrow(axes, [(9.61, 3.6), (10.34, 3.6)])
    arrow(axes, [(10.34, 3.2), (9.61, 3.2)])
    arrow(axes, [(9.0, 2.59), (9.0, 1.96)], 'fault, stop or stall', at=(9.1, 2.28), align='left')
    arrow(axes, [(8.1, 1.96), (6.5, 2.84)], 'fresh joint states\nafter a stall', at=(6.6, 2.25),
          align='right')
    arrow(axes, [(7.74, 1.4), (7.01, 1.4)])
    arrow(axes, [(5.14, 1.4), (4.31, 1.4)], 'fault', at=(4.72, 1.55))
    arrow(axes, [(6.07, 0.84), (6.07, 0.16)], 'stop', at=(6.17, 0.5), align='left')
    arrow(axes, [(3.37, 2.59), (3.37, 1.96)], 'fault', at=(3.47, 2.28), align='left')
    arrow(axes, [(3.37, 0.84), (3.37, -0.4), (5.14, -0.4)], 'stop', at=(4.2, -0.25))
    arrow(axes, [(0.87, 2.59), (0.87, -0.6), (5.14, -0.6)], 'stop', at=(1.0, 1.4), align='left')
    axes.set(xlim=(-0.45, 12.6), ylim=(-1.1, 4.35))


def laws(axes: Any) -> None:
    """Draw the way from reference and measurement to the command."""
    box(axes, 0.0, 3.0, 1.9, 0.9, 'reference\n$q_d,\\ \\dot q_d,\\ \\ddot q_d$')
    box(axes, 0.0, 0.6, 1.9, 0.9, 'measured\n$q,\\ \\dot q$')
    box(axes, 2.9, 1.8, 1.9, 0.9,
        'error\n$e = q_d - q$\n$\\dot e = \\dot q_d - \\dot q$', colour=OURS)
    arrow(axes, [(0.95, 2.94), (0.95, 2.4), (2.84, 2.4)])
    arrow(axes, [(0.95, 1.56), (0.95, 2.1), (2.84, 2.1)])
    rows = (
        ('gravity', '$g(q)$'),
        ('feedforward', '$ID(q_d, \\dot q_d, \\ddot q_d) + K_p e + K_d \\dot e$'),
        ('computed_torque', '$ID(q, \\dot q, \\ddot q_d + K_p e + K_d \\dot e)$'),
        ('feedback', '$K_p e + K_d \\dot e$'),
        ('gravity_feedback', '$g(q) + K_p e + K_d \\dot e$'),
    )
    box(axes, 5.8, 0.6, 4.9, 3.3, 'mode: one of five laws of the joints', colour=OURS, top=True)
    for row, (mode, law) in enumerate(rows):
        y = 3.25 - 0.57 * row
        axes.text(5.95, y, mode, fontsize=9, va='center', color=BLUE)
        axes.text(7.75, y, law, fontsize=10, va='center')
    arrow(axes, [(4.86, 2.25), (5.74, 2.25)])
    arrow(axes, [(1.96, 3.5), (5.74, 3.5)])
    arrow(axes, [(1.96, 1.0), (5.74, 1.0)])
    axes.add_patch(Circle((11.6, 2.25), 0.2, facecolor='white', edgecolor=DARK))
    axes.text(11.6, 2.25, '+', ha='center', va='center', fontsize=12)
    arrow(axes, [(10.76, 2.25), (11.4, 2.25)])
    box(axes, 9.2, 4.5, 4.8, 1.0, 'friction, external wrenches (not in feedback),\n'
        'rotor inertia (feedforward, computed_torque),\n'
        'damping, soft limits, additional efforts', colour=OURS)
    arrow(axes, [(11.6, 4.44), (11.6, 2.45)])
    box(axes, 10.5, -0.65, 2.2, 0.7, 'what the hardware\ncompensates itself', colour=OURS)
    arrow(axes, [(11.6, 0.11), (11.6, 2.05)], '\N{MINUS SIGN}', at=(11.8, 1.8))
    box(axes, 12.7, 1.65, 1.9, 1.2, 'ramp,\neffort_limits,\neffort_rate_limit', colour=OURS)
    arrow(axes, [(11.8, 2.25), (12.64, 2.25)])
    arrow(axes, [(14.66, 2.25), (15.6, 2.25)], 'command')
    axes.set(xlim=(-0.2, 15.8), ylim=(-0.85, 5.7))


def rnea(axes: Any) -> None:
    """Draw link frames, the two passes, and the forces on one link."""
    _frames(axes)
    _passes(axes)
    _forces(axes)
    axes.set(xlim=(-0.8, 15.5), ylim=(-1.75, 3.9))


def _title(axes: Any, x: float, text: str) -> None:
    axes.text(x, 3.55, text, ha='center', fontsize=10.5, weight='bold')


def _link(axes: Any, a: Point, b: Point) -> None:
    axes.plot(*zip(a, b, strict=True), color='#b9cfe4', linewidth=15, solid_capstyle='round',
              zorder=0)


def _joint(axes: Any, at: Point) -> None:
    axes.add_patch(Circle(at, 0.13, facecolor='white', edgecolor=DARK, linewidth=1.4))


def _centre(axes: Any, at: Point, text: str, shift: Point) -> None:
    axes.plot(*at, 'o', color=DARK, markersize=5)
    axes.text(at[0] + shift[0], at[1] + shift[1], text, fontsize=9.5, ha='center', va='center')


def _frames(axes: Any) -> None:
    _title(axes, 1.6, 'Link frames')
    base, elbow, tip = (0.0, 0.0), (2.6, 0.0), (2.6, 2.6)
    _link(axes, base, elbow)
    _link(axes, elbow, tip)
    axes.plot((-0.5, 0.5), (-0.3, -0.3), color=DARK, linewidth=2)
    for at, along, name in ((base, 0.0, '1'), (elbow, pi / 2, '2')):
        for turn, axis in ((0.0, 'x'), (pi / 2, 'y')):
            end = (at[0] + 0.85 * cos(along + turn), at[1] + 0.85 * sin(along + turn))
            arrow(axes, [at, end], colour=RED, width=1.6)
            axes.text(at[0] + 1.05 * cos(along + turn), at[1] + 1.05 * sin(along + turn) + 0.2,
                      f'${axis}_{name}$', color=RED, fontsize=10, ha='center', va='center')
        _joint(axes, at)
    axes.text(0.2, -0.85, '$z_1, z_2$ towards you: the joint axes', fontsize=8.5, color=RED)
    _centre(axes, (1.3, 0.0), '$C_1$', (0.0, -0.42))
    _centre(axes, (2.6, 1.5), '$C_2$', (0.4, 0.0))
    arrow(axes, [(0.0, -1.3), (2.6, -1.3)], '$P$ of frame 2', at=(1.3, -1.52))
    arrow(axes, [(3.9, 2.6), (3.9, 1.5)], '$g$', at=(4.1, 2.05))
    axes.add_patch(Arc(elbow, 1.3, 1.3, theta1=0.0, theta2=90.0, color=DARK))
    axes.plot((2.6, 3.5), (0.0, 0.0), color=DARK, linewidth=0.8, linestyle=':')
    axes.text(3.3, 0.5, '$q_2$', fontsize=10)


def _passes(axes: Any) -> None:
    _title(axes, 7.2, 'Two passes')
    for k, name in enumerate(('base', 'link 1', 'link 2')):
        box(axes, 5.3 + 1.7 * k, 1.1, 0.9, 0.7, name, colour=OURS if k else OTHERS)
        if k:
            axes.text(5.75 + 1.7 * k, 0.75, f'$F_{k},\\ N_{k}$', ha='center', fontsize=9.5)
            x = 4.95 + 1.7 * k
            axes.text(x, -0.75, f'$\\tau_{k} = n_{k} \\cdot z$', ha='center', fontsize=9.5,
                      color=RED)
            arrow(axes, [(x, -0.1), (x, -0.5)], colour=RED)
            arrow(axes, [(x - 0.7, 2.3), (x + 0.7, 2.3)], colour=BLUE)
            arrow(axes, [(x + 0.7, 0.2), (x - 0.7, 0.2)], colour=RED)
            axes.text(x, 0.35, f'$f_{k}, n_{k}$', ha='center', fontsize=9.5, color=RED)
    axes.text(7.2, 2.85, 'outwards: $\\omega,\\ \\dot\\omega,\\ \\dot v$ of each link',
              ha='center', fontsize=9.5, color=BLUE)
    axes.text(5.75, 2.5, '$\\dot v_0 = -g$', ha='center', fontsize=9.5, color=BLUE)
    axes.text(7.2, -1.3, 'inwards: force and moment through each joint', ha='center',
              fontsize=9.5, color=RED)


def _forces(axes: Any) -> None:
    _title(axes, 12.6, 'Forces through a joint')
    near, far, centre = (10.9, 1.0), (14.2, 1.0), (12.4, 1.0)
    _link(axes, near, far)
    _joint(axes, near)
    _joint(axes, far)
    _centre(axes, centre, '$C_1$', (0.0, -0.4))
    arrow(axes, [centre, (12.4, 2.3)], colour=DARK, width=1.6)
    axes.text(12.4, 2.45, '$F_1 = m\\,\\dot v_{C}$, weight included', ha='center', fontsize=9.5)
    arrow(axes, [near, (10.9, 2.7)], '$f_1$ from the base', at=(11.1, 2.9), colour=RED, width=1.6)
    arrow(axes, [far, (14.2, 0.0)], '$-f_2$ from link 2', at=(14.1, -0.25), colour=RED, width=1.6)
    for x, y0, y1, text, x_text in (
        (near[0] - 0.25, 1.5, 0.5, '$n_1$', 10.15), (far[0] + 0.25, 1.5, 0.5, '$-n_2$', 15.05),
    ):
        axes.add_patch(FancyArrowPatch(
            (x, y0), (x, y1), connectionstyle=f'arc3,rad={0.5 if x < 12.0 else -0.5}',
            arrowstyle='-|>', mutation_scale=12, color=RED, linewidth=1.6,
        ))
        axes.text(x_text, 1.0, text, ha='center', va='center', fontsize=9.5, color=RED)
    axes.text(12.6, -0.75, '$f_1 = F_1 + f_2$', ha='center', fontsize=10)
    axes.text(12.6, -1.3, '$n_1 = N_1 + P_C \\times F_1 + n_2 + P \\times f_2$', ha='center',
              fontsize=10)


DIAGRAMS: tuple[tuple[Callable[[Any], None], float, float], ...] = (
    (ros_graph, 11.5, 4.9), (states, 10.5, 4.6), (laws, 12.0, 5.1), (rnea, 13.0, 4.5)
)


def main() -> int:
    """Write the files; return the exit code."""
    for draw, width, height in DIAGRAMS:
        figure = Figure(figsize=(width, height), dpi=90)
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_axis_off()
        draw(axes)
        figure.savefig(FOLDER / f'{draw.__name__}.png')
    return 0


if __name__ == '__main__':
    sys.exit(main())
