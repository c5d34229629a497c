# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The measured joint state as a table, with a row per quantity and a column per joint.

Compiled kernels work on it: they take a tenth of the time of the same steps in numpy, which
counts in a loop of 1 kHz with cold caches.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
import math

import numpy as np

from ...arrays import Array, Indices
from ...compilation import entry, entry_point
from ...dynamics import check_compiled_code, needs_check

POSITION, VELOCITY, EFFORT, RECEIVED, INTERVAL, CHANGED, UPDATED = range(7)
"""
Rows: position, velocity and effort of the newest valid sample (rad, rad/s, N m or m, m/s, N); its
time of receipt, s; usual interval between samples, s; time of the last sample with other values
than the one before, s; whether a sample was received since the last ``mark_seen``, 1 or 0.
"""

SMOOTHING = 0.05
"""Weight of the newest interval in the usual interval."""

LATE_INTERVALS = 2
"""A joint is late after this number of usual intervals without a sample."""

FOREVER = 1e9
"""Upper bound of an elapsed time, s; avoids infinity before the first sample."""

FINE, NOT_FINITE, TOO_FAST, FAR = range(4)
"""Results of the check of a sample; FAR: it may have jumped."""


class JointTable:
    """
    The newest valid sample of every joint.

    A sample is passed as its arrays, with the indices of the robot's joints in the sample and in
    the table. Arrays are contiguous, of float64 and intp.

    :param n: the number of joints
    :param effort_scale: N m or N per unit of the samples' efforts, shape (n,)
    :ivar position: rad or m, shape (n,); NaN before the first sample
    :ivar velocity: rad/s or m/s, shape (n,)
    :ivar effort: N m or N, shape (n,); NaN for none
    :ivar received: monotonic time of receipt, s, shape (n,); -inf before the first sample
    """

    def __init__(self, n: int, effort_scale: Array) -> None:
        table = np.zeros((UPDATED + 1, n))
        table[[POSITION, EFFORT]] = math.nan
        table[RECEIVED] = -math.inf
        self.position: Array = table[POSITION]
        self.velocity: Array = table[VELOCITY]
        self.effort: Array = table[EFFORT]
        self.received: Array = table[RECEIVED]
        none, empty = np.zeros(0, dtype=np.intp), np.zeros(0)
        sample = (table, none, none, empty, empty)
        judge = entry_point(_judge, (*sample, empty, empty, empty, 0.0))
        _reject_blind(judge)
        self.judge: Callable[..., int] = partial(judge, table)
        """
        Return FINE, NOT_FINITE, TOO_FAST or FAR for a sample.

        Arguments: indices of its joints in the sample and in the robot, positions, velocities (or
        an empty array), velocity limits, maximum speeds and allowances of all joints, monotonic
        time of receipt, s. A joint is TOO_FAST above its velocity limit, and FAR if it moved by
        more than its speed times the elapsed time plus allowance.
        """
        self.take: Callable[..., None] = partial(
            entry_point(_take, (table, effort_scale, *sample[1:], empty, 0.0, False)),
            table,
            effort_scale,
        )
        """
        Write a sample into the table.

        Arguments: indices of its joints in the sample and in the robot, positions, velocities,
        efforts in the driver's unit (or an empty array), monotonic time of receipt, s, and whether
        velocities were derived from positions: derived velocities change even if samples repeat.
        """
        self.oldest: Callable[[Indices], float] = partial(
            entry_point(_oldest, (table, none)), table
        )
        """Return the earliest time of receipt of some joints, s."""

        self.late: Callable[[float, float], bool] = partial(
            entry_point(_late, (table, 0.0, 0.0)), table
        )
        """
        Return whether a joint's next sample is late.

        Arguments: monotonic time and shortest expected interval, s.
        """
        self.all_updated: Callable[[Indices], bool] = partial(
            entry_point(_all_updated, (table, none)), table
        )
        """Return whether each of some joints has a sample since ``mark_seen``."""

        self._table = table

    def frozen_for(self, joints: Indices) -> float:
        """Return for how long samples of some joints have repeated the same values, s."""
        repeated = self._table[RECEIVED, joints] - self._table[CHANGED, joints]
        return float(repeated.max(initial=0.0))

    def mark_seen(self) -> None:
        """Count every sample until now as seen."""
        self._table[UPDATED] = 0.0

    def interval(self, joints: Indices) -> Array:
        """Return the usual interval between samples of some joints, s."""
        usual: Array = self._table[INTERVAL, joints]
        return usual


def _reject_blind(judge: Callable[..., int]) -> None:
    """Check before its first use that the compiled kernel detects NaN and infinity."""
    name = 'judge_joint_states'
    if needs_check(name):
        table, joint = np.zeros((UPDATED + 1, 1)), np.zeros(1, dtype=np.intp)
        position, velocity, ones = np.zeros(1), np.zeros(1), np.ones(1)
        sample = (table, joint, joint, position, velocity, ones, ones, ones, 0.0)
        check_compiled_code(name, lambda: judge(*sample) != NOT_FINITE, position, velocity)


@entry
def _judge(
    table: Array,
    in_message: Indices,
    in_robot: Indices,
    position: Array,
    velocity: Array,
    velocity_limits: Array,
    speeds: Array,
    allowances: Array,
    received: float,
) -> int:
    verdict = FINE
    for k in range(in_robot.size):
        i, joint = in_message[k], in_robot[k]
        if not math.isfinite(position[i]) or (velocity.size and not math.isfinite(velocity[i])):
            return NOT_FINITE
        elapsed = min(received - table[RECEIVED, joint], FOREVER)
        reach = speeds[joint] * elapsed + allowances[joint]
        if velocity.size and abs(velocity[i]) > velocity_limits[joint]:
            verdict = TOO_FAST
        elif verdict == FINE and not abs(position[i] - table[POSITION, joint]) <= reach:
            verdict = FAR
    return verdict


@entry
def _take(
    table: Array,
    effort_scale: Array,
    in_message: Indices,
    in_robot: Indices,
    position: Array,
    velocity: Array,
    effort: Array,
    received: float,
    derived: bool,
) -> None:
    joints = in_robot.size
    changed = False
    for k in range(joints):
        i, joint = in_message[k], in_robot[k]
        if position[i] != table[POSITION, joint]:
            changed = True
        if velocity[i] != table[VELOCITY, joint] and not derived:
            changed = True
        table[POSITION, joint] = position[i]
        table[VELOCITY, joint] = velocity[i]
        table[EFFORT, joint] = effort_scale[joint] * effort[i] if effort.size else math.nan
        interval = received - table[RECEIVED, joint]
        if interval < math.inf:
            usual = table[INTERVAL, joint]
            share = SMOOTHING if usual != 0.0 else 1.0
            table[INTERVAL, joint] = usual + (interval - usual) * share
        table[RECEIVED, joint] = received
        table[UPDATED, joint] = 1.0
    for k in range(joints if changed else 0):
        table[CHANGED, in_robot[k]] = received


@entry
def _oldest(table: Array, joints: Indices) -> float:
    oldest = math.inf
    for k in range(joints.size):
        oldest = min(oldest, table[RECEIVED, joints[k]])
    return oldest


@entry
def _all_updated(table: Array, joints: Indices) -> bool:
    least = 1.0
    for k in range(joints.size):
        least = min(least, table[UPDATED, joints[k]])
    return least == 1.0


@entry
def _late(table: Array, now: float, period: float) -> bool:
    for joint in range(table.shape[1]):
        usual = max(table[INTERVAL, joint], period)
        if now - table[RECEIVED, joint] > LATE_INTERVALS * usual:
            return True
    return False
