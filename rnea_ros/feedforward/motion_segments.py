# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Motions between their points, at many times at once."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .polynomials import values_at
from .trajectory import Trajectory

Array: TypeAlias = NDArray[np.float64]
States: TypeAlias = tuple[Array, Array, Array]


def derivative(trajectory: Trajectory, order: int) -> Array:
    """
    Return the derivatives of a motion's polynomials by time, still in s of 0 to 1.

    :param trajectory: the motion, of two points or more
    :param order: how often to derive
    :returns: coefficients of s^0, s^1 and so on, shape (segments, powers, joints)
    """
    durations = np.diff(trajectory.knots.times)[:, np.newaxis, np.newaxis]
    polynomials = trajectory.coefficients
    for _ in range(order):
        powers = np.arange(1.0, polynomials.shape[1])[:, np.newaxis]
        polynomials = powers * polynomials[:, 1:] / durations
    return polynomials


def states_in(trajectory: Trajectory, segment: NDArray[np.intp], s: Array) -> States:
    """
    Return positions, velocities and accelerations, each of shape (N, joints).

    :param trajectory: the motion, of two points or more
    :param segment: after which point, shape (N,)
    :param s: how far into the segment, 0 to 1, shape (N,)
    """
    q, qd, qdd = (_values(derivative(trajectory, order), segment, s) for order in range(3))
    return q, qd, qdd


def _values(polynomials: Array, segment: NDArray[np.intp], s: Array) -> Array:
    by_power = np.moveaxis(polynomials, 1, 0)[:, segment]
    return values_at(by_power, np.broadcast_to(s[:, np.newaxis], by_power.shape[1:]))
