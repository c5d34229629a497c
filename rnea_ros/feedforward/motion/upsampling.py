# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Upsampling of points that have positions only: velocities and accelerations of a cubic spline.

In: :class:`.Knots` with positions. Out: the same knots with the fields of the spline, so that the
polynomials through them are those of the spline. Its acceleration is continuous (C2): inverse
dynamics has no step at a point.

The velocities are those of ``positions_upsampling`` in ros2_control's joint_trajectory_controller
(JTC). A motion that continues another one begins with its acceleration too, unlike in JTC: a
stream of joined trajectories stays C2.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...arrays import Array
from .spline import CUBIC, QUINTIC, Knots


def upsampled(knots: Knots, *, continues: bool = False) -> Knots:
    """
    Return the points with the velocities and accelerations of a spline that ends at rest.

    With velocities v_i at the points, and segments of h_i seconds and length d_i, the acceleration
    of a cubic is (-4 v_i - 2 v_i+1) / h_i + 6 d_i / h_i^2 at its start and
    (2 v_i + 4 v_i+1) / h_i - 6 d_i / h_i^2 at its end. A quartic that starts with the acceleration
    a_0 ends with a_0 + 6 (v_0 + v_1) / h_0 - 12 d_0 / h_0^2. Two segments have the same
    acceleration at the point between them.

    :param knots: points with positions; the first one has the velocity of the start
    :param continues: whether the first segment is a quartic, from the acceleration of the first
        point; a single segment then ends with acceleration 0
    """
    q, count = knots.positions, knots.times.size
    if count < 2:
        return knots
    rate = 1.0 / np.diff(knots.times)[:, np.newaxis]
    slope = rate * rate * np.diff(q, axis=0)
    before, after = 4.0 * rate[:-1], 6.0 * slope[:-1]
    qd, qdd = np.zeros_like(q), np.zeros_like(q)
    qd[0], qdd[0] = knots.velocities[0], knots.accelerations[0]
    if continues:
        before[:1], after[:1] = 6.0 * rate[0], 12.0 * slope[0] - qdd[0] - 6.0 * rate[0] * qd[0]
    else:
        after[:1] -= 2.0 * rate[0] * qd[0]
    diagonal, right = before + 4.0 * rate[1:], after + 6.0 * slope[1:]
    _solve(diagonal[:, 0], 2.0 * rate[1:-1, 0], right, qd)
    starts = slice(1 if continues else 0, None)
    qdd[:-1][starts] = (6.0 * slope - 2.0 * rate * (2.0 * qd[:-1] + qd[1:]))[starts]
    degrees = np.full(count, QUINTIC)
    if count > 2 or not continues:
        # A cubic too; JTC would go on with the acceleration of the last point.
        degrees[-1] = CUBIC
    return replace(knots, velocities=qd, accelerations=qdd, degrees=degrees)


def _solve(diagonal: Array, beside: Array, right: Array, solution: Array) -> None:
    """Solve symmetric tridiagonal equations into the rows between the first and the last."""
    pivots, factors, rows = diagonal.tolist(), beside.tolist(), list(right)
    for k, factor in enumerate(factors):
        share = factor / pivots[k]
        pivots[k + 1] -= share * factor
        rows[k + 1] = rows[k + 1] - share * rows[k]
    for k in range(len(rows), 0, -1):
        over = factors[k - 1] * solution[k + 1] if k <= len(factors) else 0.0
        solution[k] = (rows[k - 1] - over) / pivots[k - 1]
