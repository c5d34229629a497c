# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Positions, velocities and efforts of an exciting motion as a picture, with their bounds."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...drawing import add_grid, legend_above, new_figure, save
from .excitation import Excitation

TITLES = ('position, rad or m', 'velocity, rad/s or m/s', 'effort, N m or N')
FAR = 2.0
"""A bound beyond this multiple of the greatest value is not drawn."""


def picture(path: Path, excitation: Excitation) -> None:
    """
    Draw position, velocity and effort of every joint over time.

    :param path: PNG file to write
    :param excitation: the exciting motion
    :raises PictureError: matplotlib is missing, or the file cannot be written
    """
    model, constraints = excitation.model, excitation.constraints
    times, (q, qd, qdd) = excitation.motion.sampled()
    effort = model.inverse_dynamics_batch(q, qd, qdd)
    count = model.nv
    figure = new_figure(11.0, 1.0 + 1.1 * count)
    figure.suptitle(
        f'{model.name}: exciting motion; condition {excitation.condition:.1f}, random '
        f'{excitation.random_condition:.1f}; rows differ in scale'
    )
    rows = figure.subplots(count, 3, squeeze=False, sharex=True)
    for index, (name, axes) in enumerate(zip(model.joint_names, rows, strict=True)):
        for kind, (axis, values) in enumerate(zip(axes, (q, qd, effort), strict=True)):
            axis.plot(times, values[:, index], color='C0', label='motion')
            greatest = max(float(np.abs(values[:, index]).max()), 1e-9)
            label = 'bound (limit with margin)'
            for bound in (constraints.lower, constraints.upper):
                if abs(bound[kind * count + index]) <= FAR * greatest:
                    axis.axhline(bound[kind * count + index], color='C3', linewidth=0.9,
                                 linestyle='--', label=label)
                    label = '_nolegend_'
            add_grid(axis)
        axes[0].set_ylabel(name, fontsize='small')
    for axis, title in zip(rows[-1], TITLES, strict=True):
        axis.set_xlabel(f'{title}\ntime, s', fontsize='small')
    legend_above(rows[0, 0])
    save(figure, path)
