# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The newest reading of one force-torque sensor: checked, and aged by time of receipt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container
import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..dynamics.compiled import entry, entry_point
from ..dynamics.self_test import refuse_blind_code, untried
from .reasons import Reason
from .stamp_order import ONLY, StampOrder
from .wrench_filter import lengths
from .wrench_settings import Measures, WrenchInputSettings

Array: TypeAlias = NDArray[np.float64]

FINE, NOT_FINITE, OVER_CAP = range(3)
"""What a look at the numbers of a reading tells."""

_REFUSALS = {NOT_FINITE: Reason.NOT_FINITE, OVER_CAP: Reason.OVER_CAP}


class WrenchMonitor:
    """
    Takes readings, or refuses them whole and counts why.

    :param settings: of the sensor
    :param links: names of the links that a reading's frame may be
    """

    def __init__(self, settings: WrenchInputSettings, links: Container[str]) -> None:
        self._settings = settings
        self._links = links
        self._sign = 1.0 if settings.measures is Measures.ENVIRONMENT_ON_ROBOT else -1.0
        self._stamps = StampOrder(1)
        self._reading = np.zeros(6)
        self._judge = entry_point(
            _judge, (*np.zeros((2, 3)), 0.0, 0.0, 0.0, self._reading)
        )
        _refuse_blind(self._judge)
        self._received = -math.inf
        self.link = settings.link
        self.wrench = np.zeros(6)
        self.rejections: Counter[Reason] = Counter()

    def age(self, now: float) -> float:
        """
        Return how long ago the newest reading came, s; infinite before the first.

        :param now: monotonic time, s
        """
        return now - self._received

    def forget_frame(self) -> None:
        """Let the next reading's frame be another link, where the settings name none."""
        self.link = self._settings.link

    def update(
        self,
        frame_id: str,
        force: Array,
        torque: Array,
        *,
        stamp: float,
        clock: float,
        received: float,
    ) -> Reason | None:
        """
        Take a reading, or refuse it whole.

        :param frame_id: of its header; not looked at where the settings name a link
        :param force: x, y, z in the sensor's frame, shape (3,), contiguous, N
        :param torque: x, y, z in the sensor's frame, about its origin, likewise, N m
        :param stamp: the reading's own time, s; 0 where it has none, then its order is not checked
        :param clock: the clock that stamps are given in, s
        :param received: monotonic time of receipt, s
        :return: why it was refused, None where it was taken
        """
        reason = self._frame_refusal(frame_id) or self._read(force, torque)
        if stamp:
            reason = reason or self._stamps.refusal(ONLY, stamp, clock, received)
        if reason is not None:
            self.refuse(reason)
            return reason
        self.link = self.link or frame_id
        self._received = received
        if stamp:
            self._stamps.take(ONLY, stamp, received)
        self.wrench[:] = self._reading
        return None

    def refuse(self, reason: Reason) -> None:
        """Count a refusal."""
        # Replaced, not changed: another thread may be reading it.
        self.rejections = self.rejections + Counter((reason,))

    def _frame_refusal(self, frame_id: str) -> Reason | None:
        settings = self._settings
        if not settings.link and frame_id not in self._links:
            return Reason.UNKNOWN_FRAME
        if not settings.link and self.link not in ('', frame_id):
            return Reason.FRAME_CHANGED
        return None

    def _read(self, force: Array, torque: Array) -> Reason | None:
        """Write what the environment exerts into ``_reading``; return why it cannot be used."""
        settings = self._settings
        verdict = self._judge(
            force, torque, self._sign, settings.max_force, settings.max_torque, self._reading
        )
        return None if verdict == FINE else _REFUSALS[verdict]


def _refuse_blind(judge: Callable[..., int]) -> None:
    """Try the kernel on a reading before it is used."""
    name = 'judge_wrenches'
    if untried(name):
        force, torque, wrench = np.zeros(3), np.zeros(3), np.zeros(6)
        reading = (force, torque, 1.0, math.inf, math.inf, wrench)
        refuse_blind_code(name, lambda: judge(*reading) == FINE, force, torque)


@entry
def _judge(
    force: Array, torque: Array, sign: float, max_force: float, max_torque: float, wrench: Array
) -> int:
    """Write [torque; force] times the sign; return what is wrong with it."""
    for k in range(3):
        wrench[k], wrench[3 + k] = sign * torque[k], sign * force[k]
    for k in range(6):
        if not math.isfinite(wrench[k]):
            return NOT_FINITE
    about, along = lengths(wrench)
    return OVER_CAP if along > max_force or about > max_torque else FINE
