# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A smooth motion along a demonstration, from rest to rest, within a tolerance and the limits.

Each joint is a spline of degree 5 with evenly spaced knots, whose coefficients c minimise ::

    integral (q_recorded - q)^2 dt + (1 / w^6) integral (d^3 q / dt^3)^2 dt.

It passes what is slower than w and removes what is faster. w is 2 Hz: hands guide more slowly, and
tremble at 8 to 12 Hz. Where this moves the path by more than the tolerance, w is greater. A
spline stays in the range of its coefficients; so these are clipped to the position limits. Its
points at the knots, with velocities and accelerations, give the same spline in a controller that
interpolates by quintics.

At both ends time is stretched, so that the motion begins and ends at rest whatever the recording
does there: the path stays the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import math
from pathlib import Path
import textwrap
from typing import Any

import numpy as np

from ..arrays import Array
from ..drawing import legend_above, new_figure, save, two_columns_over_time
from ..identification.excitation import LOAD_SHARE, RestToRestMotion
from ..trajectory_check import Bound, Quantity, TrajectoryLimits
from .demonstration import Demonstration, TeachError
from .timing import ROUNDING, MotionLimits

DEGREE, DERIVATIVE = 5, 3  # degree of the spline, and the derivative that is small
KNOTS = (0.05, 0.025, 0.0125)  # intervals, s; the next one if the path cannot be followed
CUTOFF = 2.0 * math.tau  # w unless the tolerance needs a greater one, rad/s
SEARCH = 1.25  # factor from one w to the next
MAX_CUTOFF = 0.3 * math.tau  # greatest product of w and the interval of the knots
EASE = 0.4  # duration of the stretched time at both ends, s; it is half of that in the recording
WRITTEN = 1e-9  # distance to the position limits, as a file rounds its numbers


@dataclass(frozen=True, eq=False)
class Taught:
    """A taught motion."""

    motion: RestToRestMotion
    demonstration: Demonstration  # its times are those of the motion
    deviation: Array  # greatest of each joint from the recording, shape (n,), rad or m
    tolerance: float  # greatest allowed deviation, rad or m
    slowed: Bound | None  # bound of the times if a limit slowed the motion down


def smoothed(demonstration: Demonstration, limits: MotionLimits, tolerance: float) -> Taught:
    """
    Return a smooth motion along a demonstration.

    :param tolerance: greatest distance of a joint from the recording at any sample, rad or m
    :raises TeachError: a joint was beyond its position limits, its noise exceeds the tolerance, or
        gravity needs more effort than there is
    """
    names, recorded = demonstration.joint_names, demonstration.position
    lower, upper = limits.range_of(names, recorded, tolerance)
    time = _eased(demonstration.time)
    room = np.minimum(WRITTEN, 0.25 * (upper - lower))
    for interval in KNOTS:
        splines = _Splines(time, recorded, interval)
        found = splines.within(tolerance, lower + room, upper - room)
        deviation = splines.deviation(found)
        if deviation.max() <= tolerance:
            break
    else:
        worst = int(deviation.argmax())
        unit = limits.limits.unit(names[worst], Quantity.POSITION)
        raise TeachError(
            f'joint {names[worst]} is {deviation[worst]:.2g} {unit} from its recording after '
            f'smoothing, more than the tolerance of {tolerance:g}: its positions have noise or '
            'steps; use a greater --tolerance'
        )
    motion = splines.motion(names, found)
    bound = limits.bound(motion)
    slowed = bound if bound.stretch > 1.0 else None
    factor = bound.stretch + ROUNDING if slowed else 1.0
    return Taught(
        motion.slowed(1.0 / factor), replace(demonstration, time=factor * time), deviation,
        tolerance, slowed
    )


def _eased(time: Array) -> Array:
    """Return the times of samples in the motion, which starts and ends slowly."""
    duration = EASE
    s = np.linspace(0.0, 1.0, 1001)
    # The rate rises from 0 to 1: 3 s^2 - 2 s^3; its integral is the recorded time.
    recorded = duration * (s**3 - 0.5 * s**4)
    rise = np.interp(time, recorded, duration * s)
    fall = np.interp(time[-1] - time, recorded, duration * s)
    half = 0.5 * duration
    eased: Array = np.where(time <= half, rise, time + half)
    eased = np.where(time[-1] - time <= half, time[-1] + duration - fall, eased)
    return eased


class _Splines:
    """The splines of all joints for one set of knots, at least an interval apart, s."""

    def __init__(self, time: Array, recorded: Array, interval: float) -> None:
        from scipy.interpolate import BSpline
        from scipy.sparse import csr_matrix, diags

        count = max(2 * DEGREE, math.floor(time[-1] / interval))
        self.times = np.linspace(0.0, time[-1], count + 1)
        self._interval = time[-1] / count
        ends = (np.zeros(DEGREE), np.full(DEGREE, time[-1]))
        self._knots = np.concatenate((ends[0], self.times, ends[1]))
        size = count + DEGREE
        # At rest at both ends: the first three coefficients are equal, and the last three.
        columns = np.clip(np.arange(size) - 2, 0, size - 5)
        tied = csr_matrix((np.ones(size), (np.arange(size), columns)), shape=(size, size - 4))
        self._recorded = recorded
        self._samples = BSpline.design_matrix(time, self._knots, DEGREE).tocsr() @ tied
        # The integral of the squared jerk, exact for a polynomial of degree 4.
        nodes, weights = np.polynomial.legendre.leggauss(DEGREE - DERIVATIVE + 1)
        places = (self.times[:-1, np.newaxis] + 0.5 * self._interval * (1.0 + nodes)).ravel()
        rows, knots = tied, self._knots
        for degree in range(DEGREE, DEGREE - DERIVATIVE, -1):
            slope = degree / (knots[degree + 1 : -1] - knots[1 : -degree - 1])
            rows = diags([-slope, slope], [0, 1], shape=(len(slope), rows.shape[0])) @ rows
            knots = knots[1:-1]
        rows = BSpline.design_matrix(places, knots, DEGREE - DERIVATIVE) @ rows
        scale = np.tile(0.5 * self._interval * weights, count)
        self._jerk = rows.T @ diags(scale) @ rows
        weighted = self._samples.T @ diags(np.gradient(time))
        self._squares, self._product = weighted @ self._samples, weighted @ recorded
        self._tied = tied

    def within(self, tolerance: float, lower: Array, upper: Array) -> Array:
        """
        Return coefficients of each joint, shape (m, n), with the least w that keeps the tolerance.

        Without any, they are those of the greatest w. All are within the bounds, shape (n,) each.
        """
        from scipy.sparse.linalg import splu

        cutoff = CUTOFF
        found = np.empty((self._samples.shape[1], self._recorded.shape[1]))
        left = np.ones(len(lower), dtype=bool)
        while left.any():
            factors = splu((self._squares + cutoff**-6.0 * self._jerk).tocsc())
            coefficients = np.clip(factors.solve(self._product), lower, upper)
            found[:, left] = coefficients[:, left]
            cutoff *= SEARCH
            if cutoff > MAX_CUTOFF / self._interval:
                break
            left &= self.deviation(found) > tolerance
        return found

    def deviation(self, coefficients: Array) -> Array:
        """Return the greatest distance of each joint from the recording, shape (n,)."""
        deviation: Array = np.abs(self._samples @ coefficients - self._recorded).max(axis=0)
        return deviation

    def motion(self, names: tuple[str, ...], coefficients: Array) -> RestToRestMotion:
        """Return the points at the knots."""
        from scipy.interpolate import BSpline

        spline: Any = BSpline(self._knots, self._tied @ coefficients, DEGREE)
        states = [spline(self.times, order) for order in range(3)]
        for values in states[1:]:
            values[[0, -1]] = 0.0  # without rounding errors
        return RestToRestMotion(names, self.times, *states)


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
