# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Velocities and efforts of a trajectory as a picture, with limits and violations."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..drawing import legend_above, new_figure, save, two_columns_over_time
from .check import MotionFigures
from .limits import Quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FAR = 2.0  # a limit above this multiple of the greatest value is written, not drawn


def picture(path: Path, name: str, figures: MotionFigures) -> None:
    """Draw velocity and effort of every joint over time, the effort of gravity, and the limits."""
    efforts, limits = figures.efforts, figures.limits
    joints = limits.joint_names
    figure = new_figure(11.0, 1.0 + 1.3 * len(joints))
    rows = two_columns_over_time(figure, len(joints))
    figure.suptitle(f'{name}: velocities and efforts of the trajectory; rows differ in scale')
    for index, (joint, (left, right)) in enumerate(zip(joints, rows, strict=True)):
        velocity, total = efforts.velocity[:, index], efforts.total[:, index]
        left.plot(efforts.time, velocity, color='C0', label='velocity')
        right.plot(efforts.time, total, color='C0', label='effort')
        right.plot(efforts.time, efforts.gravity[:, index], color='0.65', label='of it gravity')
        _limit(left, efforts.time, velocity, float(limits.velocity[index]))
        _limit(right, efforts.time, total, float(limits.effort[index]))
        left.set_ylabel(f'{joint}\n{limits.unit(joint, Quantity.VELOCITY)}', fontsize='small')
        right.set_ylabel(limits.unit(joint, Quantity.EFFORT), fontsize='small')
    for axis in rows[0]:
        legend_above(axis)
    save(figure, path)


def _limit(axis: Axes, time: Array, values: Array, limit: float) -> None:
    """Draw a limit and mark what is above it; write a limit that would flatten the curve."""
    if not math.isfinite(limit):
        return
    greatest = float(np.abs(values).max())
    if limit > FAR * greatest:
        axis.set_title(f'limit {limit:g}', loc='right', fontsize='x-small', color='C3', pad=2.0)
        return
    for bound in (limit, -limit):
        if bound > 0.0 or values.min() < -limit / FAR:
            axis.axhline(bound, color='C3', linewidth=0.9, linestyle='--')
    beyond = np.where(np.abs(values) > limit, values, np.nan)
    if np.isfinite(beyond).any():
        axis.plot(time, beyond, color='C3', linewidth=3.0, label='above the limit')
