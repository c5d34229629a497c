# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Efforts of another program, which are added to those of every control law.

A message is accepted or rejected as a whole. It names the joints of its efforts; other joints have
none. Efforts above a limit are cut. The efforts act while messages arrive: a stream fades in when
it begins, and out when the newest message is older than the timeout. What arrived before a pause
of the control is forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
import math

import numpy as np

from ...arrays import Array
from ...compilation import entry, entry_point
from ..reasons import Reason
from ..settings import ResolvedSettings
from ..stamps import SampleMonitor
from .joint_layouts import JointLayouts


class AdditionalEffort(SampleMonitor):
    """
    Keeps the newest valid efforts for the m commanded joints.

    :ivar enabled: whether a joint may have an additional effort
    :ivar acting: whether there is an effort to add
    :ivar effort: the effort to add, shape (m,), N m or N
    :ivar cut: whether a limit cuts an effort
    """

    def __init__(self, settings: ResolvedSettings) -> None:
        super().__init__()
        m = len(settings.joints)
        self._layouts = JointLayouts(settings.joints)
        self._newest = np.zeros(m)
        self._limits = np.zeros(m)
        self._share = 0.0
        self.acting = self.cut = False
        self.effort = np.zeros(m)
        efforts = (self._newest, self._limits, self.effort)
        self._scale = partial(entry_point(_scale, (*efforts, 0.0)), *efforts)
        self.configure(settings)

    def configure(self, settings: ResolvedSettings) -> None:
        """Set limits, timeout and fade."""
        given = settings.additional_effort
        self._limits[:] = given.limits
        self._timeout, self._fade = given.timeout, given.fade
        self.enabled = any(given.limits)
        if not self.enabled:
            self.clear()

    def take_sample(
        self, names: Sequence[str], effort: Array, *, stamp: float, clock: float, received: float
    ) -> Reason | None:
        """
        Accept a message, or return why it is rejected as a whole.

        :param names: its k joints; pass the same tuple object each time for speed
        :param effort: shape (k,), N m or N
        """
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
        left = 1.0 - (now - self._received - self._timeout) / self._fade
        self._share = min(self._share + dt / self._fade, left, 1.0)
        self.acting = self._share > 0.0
        if self.acting:
            self.cut = self._scale(self._share)
        else:
            self.clear()

    def clear(self) -> None:
        """Forget the efforts at once: the control law is not commanded now."""
        self._received, self._share = -math.inf, 0.0
        self.acting = self.cut = False


@entry
def _scale(newest: Array, limits: Array, effort: Array, share: float) -> bool:
    """Write a share of the efforts, cut at their limits; return whether a limit cuts one."""
    cut = False
    for i in range(effort.size):
        bounded = min(max(newest[i], -limits[i]), limits[i])
        cut |= bounded != newest[i]
        effort[i] = share * bounded
    return cut
