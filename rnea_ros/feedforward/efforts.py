# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
What is added to every law's effort, joint by joint: damping, soft limits, additional efforts.

Damping is -D qd while no motion is followed; it fades when a motion begins or ends. Soft limits
push a joint back in a zone of width w before a position limit. With the depth x in the zone::

    tau = (x / w) max(k x + d x', 0)    away from the limit

Spring and damper rise from zero without a step. The spring gives back what it took, the damper
only takes, and neither pulls towards the limit: no closed path gains energy.

Additional efforts are those of another program. A stream of them fades in when it begins, and out
when the newest message is older than the timeout. A pause of the control ends it.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

from ..arrays import Array, Indices
from ..compilation import compiled, kernel
from .measured import JointLayouts
from .reasons import Reason
from .settings import ResolvedSettings
from .stamps import SampleMonitor

FADE = 0.1  # time to fade the damping out or in, s

# Rows of the constants; the first six as in SoftLimitZones.
LOWER, LOWER_MARGIN, UPPER, UPPER_MARGIN, STIFFNESS, ZONE_DAMPING, DAMPING = range(7)


class JointEfforts:
    """
    Adds damping and soft limits of the m commanded joints.

    :ivar acting: whether a joint has damping or a zone
    :ivar damping: efforts of the damping at the last tick, shape (m,); ``soft_limits``: likewise
    """

    def __init__(self, joints: Indices) -> None:
        m, n = joints.size, int(joints.max(initial=-1)) + 1
        self._joints = joints
        self._constants = np.zeros((DAMPING + 1, m))
        self._share = 0.0
        self.acting = False
        self.damping, self.soft_limits = np.zeros((2, m))
        self.add(np.zeros(m), np.zeros(n), np.zeros(n), 0.0, damped=False)  # compiles the kernel

    def configure(self, constants: Array) -> None:
        """Set damping and zones: constants of shape (7, m), rows as above."""
        self._constants[:] = constants
        zones = np.isfinite(constants[[LOWER, UPPER]])
        was_acting, self.acting = self.acting, bool(zones.any() or constants[DAMPING].any())
        if not was_acting:
            self._share = 0.0  # a motion may be followed

    def add(self, effort: Array, q: Array, qd: Array, dt: float, *, damped: bool) -> None:
        """Add the efforts at a state to ``effort``, once a tick; ``damped``: without a motion."""
        change = dt / FADE
        self._share = min(max(self._share + (change if damped else -change), 0.0), 1.0)
        add_efforts(
            self._joints, self._constants, self.damping, self.soft_limits, q, qd, self._share,
            effort,
        )


@kernel
def add_efforts(
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


class AdditionalEffort(SampleMonitor):
    """
    Keeps the newest valid efforts of another program for the m commanded joints.

    :ivar enabled: whether a joint may have an additional effort
    :ivar acting: whether there is an ``effort`` to add, shape (m,)
    :ivar cut: whether a limit cuts it
    """

    def __init__(self, settings: ResolvedSettings) -> None:
        super().__init__()
        m = len(settings.joints)
        self._layouts = JointLayouts(settings.joints)
        self._newest, self._limits, self.effort = np.zeros((3, m))
        self._share = 0.0
        self.acting = False
        self.cut = scale_efforts(self._newest, self._limits, self.effort, self._share)
        self.configure(settings)

    def configure(self, settings: ResolvedSettings) -> None:
        """Set limits, timeout and fade."""
        self._settings = settings.additional_effort
        self._limits[:] = self._settings.limits
        self.enabled = any(self._settings.limits)
        if not self.enabled:
            self.clear()

    def take_sample(
        self, names: Sequence[str], effort: Array, *, stamp: float, clock: float, received: float
    ) -> Reason | None:
        """Accept efforts of the named joints, or return why they are rejected as a whole."""
        layout = self._layouts.of(names)
        reason = None
        if layout.duplicate:
            reason = Reason.DUPLICATE_JOINT
        elif layout.in_message.size < len(layout.names):
            reason = Reason.UNKNOWN_JOINT
        elif effort.size != len(layout.names):
            reason = Reason.WRONG_SIZE
        elif not np.isfinite(effort).all():
            reason = Reason.NOT_FINITE
        reason = self._register(reason, stamp, clock, received)
        if reason is None:
            self._newest[:] = 0.0
            self._newest[layout.in_robot] = effort
        return reason

    def advance(self, now: float, dt: float) -> None:
        """Advance ``effort``; once a tick of the control law."""
        if self._received == -math.inf:
            return
        fade = self._settings.fade
        left = 1.0 - (now - self._received - self._settings.timeout) / fade
        self._share = min(self._share + dt / fade, left, 1.0)
        self.acting = self._share > 0.0
        if self.acting:
            self.cut = scale_efforts(self._newest, self._limits, self.effort, self._share)
        else:
            self.clear()

    def clear(self) -> None:
        """Forget the efforts at once: the control law is not commanded now."""
        self._received, self._share = -math.inf, 0.0
        self.acting = self.cut = False


@kernel
def scale_efforts(newest: Array, limits: Array, effort: Array, share: float) -> bool:
    """Write a share of the efforts, cut at their limits; return whether a limit cuts one."""
    cut = False
    for i in range(effort.size):
        bounded = min(max(newest[i], -limits[i]), limits[i])
        cut |= bounded != newest[i]
        effort[i] = share * bounded
    return cut
