# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Damping without a motion, and soft limits: efforts of single joints, added to those of every law.

Damping is -D qd while no motion is followed. It fades out when a motion begins, and in when it
ends.

Soft limits push a joint back in a zone of width w before a position limit. With the depth x in
the zone, and its rate of change::

    tau = (x / w) max(k x + d x', 0)    away from the limit

Spring and damper rise from zero without a step. The spring gives back what it took, the damper
only takes, and neither pulls towards the limit: no closed path gains energy.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ...arrays import Array, Indices
from ...compilation import compiled, entry, entry_point

FADE = 0.1  # time to fade the damping out or in, s

LOWER, LOWER_MARGIN, UPPER, UPPER_MARGIN, STIFFNESS, ZONE_DAMPING, DAMPING = range(7)
"""Rows of the constants; the first six as in :class:`.SoftLimitZones`."""


class JointEfforts:
    """
    Adds damping and soft limits of the m commanded joints.

    :ivar acting: whether a joint has damping or a zone
    :ivar damping: efforts of the damping at the last tick, shape (m,), N m or N
    :ivar soft_limits: efforts of the soft limits at the last tick, shape (m,), N m or N
    """

    def __init__(self, joints: Indices) -> None:
        m = joints.size
        n = int(joints.max(initial=-1)) + 1
        self._constants = np.zeros((DAMPING + 1, m))
        self._share = 0.0
        self.acting = False
        self.damping = np.zeros(m)
        self.soft_limits = np.zeros(m)
        results = (joints, self._constants, self.damping, self.soft_limits)
        kernel = entry_point(_add_efforts, (*results, *np.zeros((2, n)), 0.0, np.zeros(m)))
        self._add_efforts = partial(kernel, *results)

    def configure(self, constants: Array) -> None:
        """Set damping and zones: constants of shape (7, m), rows as above."""
        self._constants[:] = constants
        zones = np.isfinite(constants[[LOWER, UPPER]])
        was_acting, self.acting = self.acting, bool(zones.any() or constants[DAMPING].any())
        if not was_acting:
            self._share = 0.0  # a motion may be followed

    def add(self, effort: Array, q: Array, qd: Array, dt: float, *, damped: bool) -> None:
        """
        Add the efforts of this tick to those of the commanded joints, shape (m,), N m or N.

        :param q: measured positions of all joints, shape (n,), rad or m
        :param qd: measured velocities of all joints, shape (n,), rad/s or m/s
        :param damped: whether no motion is followed
        """
        change = dt / FADE
        self._share = min(max(self._share + (change if damped else -change), 0.0), 1.0)
        self._add_efforts(q, qd, self._share, effort)


@entry
def _add_efforts(
    joints: Indices, constants: Array, damping: Array, soft_limits: Array, q: Array, qd: Array,
    share: float, effort: Array,
) -> None:
    """Write a share of the damping, and the soft limits; add both."""
    for k in range(joints.size):
        i, c = joints[k], constants[:, k]
        damping[k] = -share * c[DAMPING] * qd[i]
        soft_limits[k] = _push(c[LOWER] - q[i], -qd[i], c[LOWER_MARGIN], c) - _push(
            q[i] - c[UPPER], qd[i], c[UPPER_MARGIN], c
        )
        effort[k] += damping[k] + soft_limits[k]


@compiled
def _push(depth: float, rate: float, margin: float, c: Array) -> float:
    """Return the effort away from a limit at a depth in its zone."""
    if not depth > 0.0:
        return 0.0
    effort: float = c[STIFFNESS] * depth + c[ZONE_DAMPING] * rate
    return max(effort, 0.0) * depth / margin
