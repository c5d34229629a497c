# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Joint motions as finite Fourier series that begin and end at rest.

::

    qd(t) = sum over k of a_k cos(k w t) + b_k sin(k w t),    w = 2 pi / period
    sum of a_k = 0,    sum of k b_k = 0

(Swevers et al., "Optimal robot excitation and identification", IEEE T-RA 1997, eq. 14.) The two
conditions make velocity and acceleration zero at both ends, and the position returns to its start.
Every such motion is a combination of 2 K - 2 basic ones. Motions scale: half the coefficients are
half the distance from the start, at half the velocity and acceleration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array

HARMONICS = 5

DEGREES = 2 * HARMONICS - 2
"""Number of coefficients of a joint."""


@dataclass(frozen=True, eq=False)
class FourierBasis:
    """
    The basic motions at some times.

    :param time: shape (N,), s
    :param position: distance from the start, shape (N, 8), s (times a velocity: rad or m)
    :param velocity: shape (N, 8)
    :param acceleration: shape (N, 8), 1/s
    """

    time: Array
    position: Array
    velocity: Array
    acceleration: Array

    @classmethod
    def at(cls, time: Array, period: float) -> FourierBasis:
        """
        Return the basic motions.

        :param time: shape (N,), s
        :param period: s
        """
        k = np.arange(1, HARMONICS + 1)
        w = 2.0 * np.pi * k / period
        cosine, sine = np.cos(np.outer(time, w)), np.sin(np.outer(time, w))
        at_rest = np.zeros((2, 2 * HARMONICS))
        at_rest[0, :HARMONICS] = 1.0
        at_rest[1, HARMONICS:] = k
        free = np.linalg.svd(at_rest)[2][2:].T  # an orthonormal basis of the null space
        return cls(
            time,
            np.hstack((sine / w, (1.0 - cosine) / w)) @ free,
            np.hstack((cosine, sine)) @ free,
            np.hstack((-sine * w, cosine * w)) @ free,
        )

    def motion(self, start: Array, coefficients: Array) -> tuple[Array, Array, Array]:
        """
        Return positions, velocities and accelerations of n joints, each of shape (N, n).

        :param start: positions at both ends, shape (n,), rad or m
        :param coefficients: shape (8, n), rad/s or m/s
        """
        return (
            start + self.position @ coefficients,
            self.velocity @ coefficients,
            self.acceleration @ coefficients,
        )
