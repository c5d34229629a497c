# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A taught motion as text and as a picture."""

from __future__ import annotations

from pathlib import Path
import textwrap

from ..drawing import legend_above, new_figure, save, two_columns_over_time
from ..identification.excitation import LOAD_SHARE
from ..trajectory_check import Quantity, TrajectoryLimits
from .smoothing import Taught


def report(taught: Taught, limits: TrajectoryLimits) -> str:
    """Return what was cut, how far the path was moved, and whether it was slowed down."""
    before, after = taught.demonstration.trimmed
    moved = ', '.join(
        f'{name} {1000.0 * value:.2g} m{limits.unit(name, Quantity.POSITION)}'
        for name, value in zip(taught.motion.joint_names, taught.deviation, strict=True)
    )
    lines = [
        f'rest cut: {before:.1f} s at the start, {after:.1f} s at the end; the motion takes '
        f'{taught.motion.duration:.1f} s',
        textwrap.fill(
            f'distance from the recording, at most {1000.0 * taught.tolerance:g} mrad or mm: '
            f'{moved}', 95, subsequent_indent='    ',
        ),
    ]
    if taught.slowed is not None:
        bound = taught.slowed
        share = 1.0 if bound.quantity is Quantity.ACCELERATION else LOAD_SHARE
        lines.append(
            f'slowed down, {100.0 * (bound.stretch - 1.0):.0f} % more time: {bound.joint} keeps '
            f'{100.0 * share:g} % of its {bound.quantity.value} limit'
        )
    return '\n'.join(lines)


def picture(path: Path, name: str, taught: Taught, limits: TrajectoryLimits) -> None:
    """Draw positions, recorded and smoothed, and their distance, joint by joint."""
    motion, demonstration = taught.motion, taught.demonstration
    smooth = motion.at(demonstration.time)[0]
    figure = new_figure(11.0, 1.0 + 1.3 * len(motion.joint_names))
    rows = two_columns_over_time(figure, len(motion.joint_names))
    figure.suptitle(f'{name}: taught motion; rows differ in scale')
    scaled = 1000.0 * (smooth - demonstration.position)
    for index, (joint, (left, right)) in enumerate(zip(motion.joint_names, rows, strict=True)):
        unit = limits.unit(joint, Quantity.POSITION)
        left.plot(
            demonstration.time, demonstration.position[:, index], color='0.65', linewidth=3.0,
            label='recorded',
        )
        left.plot(demonstration.time, smooth[:, index], color='C0', label='smoothed')
        right.plot(demonstration.time, scaled[:, index], color='C0', label='distance')
        for bound in (1000.0 * taught.tolerance, -1000.0 * taught.tolerance):
            right.axhline(bound, color='C3', linewidth=0.9, linestyle='--')
        left.set_ylabel(f'{joint}\n{unit}', fontsize='small')
        right.set_ylabel(f'm{unit}', fontsize='small')
    for axis in rows[0]:
        legend_above(axis)
    save(figure, path)
