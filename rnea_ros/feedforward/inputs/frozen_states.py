# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Joint states that repeat old values although the reference moves, as of a driver that misses reads.

If positions do not change, their error to the moving reference grows. Joint states are frozen if
the error grows for longer than their timeout, and by more than :data:`MAX_GROWTH`. While measured
efforts change, the joint may only stick: the error may grow further. A joint whose velocity says
that it moves must change too, whatever the reference does. All commanded joints of a message must
repeat: one joint that stands still among moving ones may be stuck.
"""

from __future__ import annotations

from functools import partial
import math

import numpy as np

from ...arrays import Array, Indices
from ...compilation import entry, entry_point
from ..settings import ResolvedSettings
from .joint_bounds import CONTINUOUS
from .joint_samples import CHANGED, CHANGED_OR_EFFORT, POSITION, RECEIVED, VELOCITY, shortest_way
from .joint_states import JointStateMonitor

MIN_GROWTH = 0.001
"""Growth of the error from which its time counts, rad or m."""

MAX_GROWTH = 0.02
"""Greatest growth of the error, rad or m: coarse encoders have steps of 0.006 rad."""

MAX_GROWTH_WITH_EFFORTS = 0.03
"""The same while measured efforts change, rad or m."""

MIN_SPEED = 0.1
"""Speed above which a joint must change, rad/s or m/s; drivers may report less at rest."""

MIN_ERROR, LAST_CHANGED, GROWING_SINCE = range(3)
"""Rows of the memory: smallest error since the last change, rad or m; time of that change, s."""


class FrozenStates:
    """
    Finds repeated joint states of the m commanded joints, once a tick.

    :ivar found: whether they repeat; ends with newer values, of joints at rest also efforts alone
    :ivar old: whether positions may be old: from then on until they change
    :ivar thawed: whether old positions have changed in this tick
    """

    def __init__(self, states: JointStateMonitor, settings: ResolvedSettings) -> None:
        self._states = states
        self._timeout = settings.joint_states_timeout - 0.5 * settings.period
        joints, m = settings.joint_indices, len(settings.joints)
        memory = (states.table, states.bounds.table, joints, np.zeros((GROWING_SINCE + 1, m)))
        kernel = entry_point(_growing_since, (*memory, np.zeros(m), 0.0, False))
        self._growing_since = partial(kernel, *memory)
        self.found = self.old = self.thawed = False
        self._found_at = math.inf

    def check(self, reference: Array, now: float, *, follows: bool) -> bool:
        """
        Return whether joint states repeat, although the reference has moved.

        :param reference: reference positions, shape (m,), rad or m
        :param follows: whether the joints are to follow it now
        """
        since = self._growing_since(reference, now, follows)
        self._found_at = min(self._found_at, now)  # simulated time can be set back
        self.thawed = self.old and self._states.changed_since(self._found_at)
        self.old = self.old and not self.thawed
        if self.found:
            self.found = not self._states.alive_since(self._found_at)
        elif now - since > self._timeout:
            self.found = self.old = True
            self._found_at = now
        return self.found


@entry
def _growing_since(
    table: Array, bounds: Array, joints: Indices, memory: Array, reference: Array, now: float,
    follows: bool,
) -> float:
    """Return the earliest start of a growth beyond its limit, s; inf if there is none."""
    since = math.inf
    for k in range(joints.size):
        joint = joints[k]
        speed, changed = abs(table[VELOCITY, joint]), table[CHANGED, joint]
        repeated = table[RECEIVED, joint] - changed
        if speed > MIN_SPEED and speed * repeated > MAX_GROWTH:
            since = min(since, now - repeated)
        way = shortest_way(reference[k] - table[POSITION, joint], bounds[CONTINUOUS, joint])
        error = abs(way)
        if not follows or changed != memory[LAST_CHANGED, k]:
            memory[MIN_ERROR, k], memory[GROWING_SINCE, k] = error, now
            memory[LAST_CHANGED, k] = changed if follows else -math.inf
            continue
        memory[MIN_ERROR, k] = min(memory[MIN_ERROR, k], error)
        growth = error - memory[MIN_ERROR, k]
        if growth < MIN_GROWTH:
            memory[GROWING_SINCE, k] = now
        may_stick = table[CHANGED_OR_EFFORT, joint] > changed
        if growth > (MAX_GROWTH_WITH_EFFORTS if may_stick else MAX_GROWTH):
            since = min(since, memory[GROWING_SINCE, k])
    return since
