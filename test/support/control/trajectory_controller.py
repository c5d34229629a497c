# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What ros2_control's joint_trajectory_controller commands; it uses no code of the package."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def _derivative(order: int, power: int, s: float) -> float:
    """Return a derivative of a power of s."""
    factor = 1.0
    for k in range(order):
        factor *= power - k
    return factor * s ** max(power - order, 0) if factor else 0.0


@dataclass
class Point:
    """One point sent to such a controller; an absent field is empty."""

    time: float
    position: Array
    velocity: Array
    acceleration: Array
    effort: Array


def sample(points: Sequence[Point], time: float) -> tuple[Array, Array, Array, Array]:
    """
    Return position, velocity, acceleration and effort that it commands at a time.

    :param points: at least one
    :param time: s, not before the first point
    """
    last = points[-1]
    zero = np.zeros_like(last.position)
    if time >= last.time:
        filled = (field if field.size else zero for field in (last.velocity, last.acceleration))
        velocity, acceleration = filled
        return last.position, velocity, acceleration, last.effort if last.effort.size else zero
    number = max(k for k, point in enumerate(points) if point.time <= time)
    a, b = points[number], points[number + 1]
    T, t = b.time - a.time, time - a.time
    effort = zero
    if a.effort.size and b.effort.size:
        effort = a.effort + (b.effort - a.effort) * t / T
    known = [(a.position, b.position)]
    if a.velocity.size and b.velocity.size:
        known.append((a.velocity, b.velocity))
        if a.acceleration.size and b.acceleration.size:
            known.append((a.acceleration, b.acceleration))
    # The polynomial with the known derivatives at both ends.
    count = 2 * len(known)
    rows = [[_derivative(k, p, at) for p in range(count)]
            for at in (0.0, 1.0) for k in range(len(known))]
    ends = [pair[side] * T**k for side in (0, 1) for k, pair in enumerate(known)]
    c = np.linalg.solve(np.array(rows), np.array(ends))
    s = t / T
    q, v, acc = (
        np.array([_derivative(k, p, s) for p in range(count)]) @ c / T**k for k in range(3)
    )
    return q, v, acc, effort
