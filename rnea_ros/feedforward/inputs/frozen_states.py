# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Joint states that repeat old values although the reference moves, as of a driver that misses reads.

The error between the reference and a position that does not change grows as fast as the reference
moves. It may grow by more than a coarse encoder's step only for the timeout of the joint states.
While measured efforts change, the joint may also stick, and the error may grow further.
"""

from __future__ import annotations

from functools import partial
import math

import numpy as np

from ...arrays import Array, Indices
from ...compilation import entry, entry_point
from ..settings import ResolvedSettings
from .joint_bounds import CONTINUOUS
from .joint_samples import ALIVE, CHANGED, POSITION, shortest_way
from .joint_states import JointStateMonitor

MIN_GROWTH = 0.001
"""Growth of the error from which its time counts, rad or m."""

MAX_GROWTH = 0.02
"""Greatest growth of the error, rad or m: coarse encoders have steps of 0.006 rad."""

STICKING_FACTOR = 2.5
"""The same while measured efforts change, as a multiple."""

ERROR, SEEN, SINCE = range(3)
"""
Rows of the memory: smallest error since the joint last changed, that time, and the time since
which the error grows, s.
"""


class FrozenStates:
    """
    Finds repeated joint states of the m commanded joints, once a tick.

    :ivar found_at: when they were found, s; inf once a newer value has come
    """

    def __init__(self, states: JointStateMonitor, settings: ResolvedSettings) -> None:
        self._states = states
        self._timeout = settings.joint_states_timeout - 0.5 * settings.parameters.period
        joints, m = settings.joint_indices, len(settings.joints)
        memory = (states.table, states.bounds.table, joints, np.zeros((SINCE + 1, m)))
        kernel = entry_point(_growing_since, (*memory, np.zeros(m), 0.0, False))
        self._growing_since = partial(kernel, *memory)
        self.found_at = math.inf

    def check(self, reference: Array, now: float, *, follows: bool) -> bool:
        """
        Return whether joint states repeat, although the reference has moved.

        :param reference: reference positions, shape (m,), rad or m
        :param follows: whether the joints are to follow it now
        """
        since = self._growing_since(reference, now, follows)
        if self.found_at < math.inf:
            if self._states.alive_since(self.found_at) or self.found_at > now:
                self.found_at = math.inf
        elif now - since > self._timeout:
            self.found_at = now
        return self.found_at < math.inf


@entry
def _growing_since(
    table: Array, bounds: Array, joints: Indices, memory: Array, reference: Array, now: float,
    follows: bool,
) -> float:
    """Return since when the first error that is too large has grown, s; inf if there is none."""
    since = math.inf
    for k in range(joints.size):
        joint = joints[k]
        way = shortest_way(reference[k] - table[POSITION, joint], bounds[CONTINUOUS, joint])
        error = abs(way)
        if not follows or table[CHANGED, joint] != memory[SEEN, k]:
            memory[ERROR, k], memory[SINCE, k] = error, now
            memory[SEEN, k] = table[CHANGED, joint] if follows else -math.inf
            continue
        memory[ERROR, k] = min(memory[ERROR, k], error)
        growth = error - memory[ERROR, k]
        if growth < MIN_GROWTH:
            memory[SINCE, k] = now
        may_stick = table[ALIVE, joint] > table[CHANGED, joint]
        if growth > MAX_GROWTH * (STICKING_FACTOR if may_stick else 1.0):
            since = min(since, memory[SINCE, k])
    return since
