# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The effort that holds the robot where it is: where a control that ends goes first."""

from __future__ import annotations

from functools import partial
import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..dynamics.compiled import entry, entry_point
from .control_law import ControlLaw
from .settings import ResolvedSettings

Array: TypeAlias = NDArray[np.float64]


class HoldingEffort:
    """
    Keeps the gravity torque at the newest position that has a finite one.

    :param settings: the commanded joints and their effort limits
    :ivar effort: shape (m,), N m or N; zero before the first position; replaced, not changed
    :ivar overloaded: which effort limits are below it, shape (m,)
    """

    def __init__(self, settings: ResolvedSettings) -> None:
        self._commanded = settings.in_model
        self.effort = np.zeros(len(settings.joints))
        self.overloaded = np.zeros(len(settings.joints), dtype=bool)
        results = (settings.effort_limits, self.overloaded)
        self._compare = partial(entry_point(_compare, (*results, self.effort)), *results)

    def note(self, law: ControlLaw, q: Array) -> None:
        """
        Compute it anew.

        :param law: in force
        :param q: measured positions of all joints, rad or m
        """
        effort = law.gravity(q)[self._commanded]
        if math.isfinite(effort.sum()):
            self.effort = effort

    def exceeds_limits(self) -> bool:
        """Return whether any effort limit is below it, and note in ``overloaded`` which are."""
        return bool(self._compare(self.effort))


@entry
def _compare(limits: Array, overloaded: NDArray[np.bool_], effort: Array) -> bool:
    some = False
    for i in range(effort.size):
        overloaded[i] = abs(effort[i]) > limits[i]
        some |= overloaded[i]
    return some
