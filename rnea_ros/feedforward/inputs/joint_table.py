# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The measured joint state as a table, one row a quantity and one column a joint, and its kernels.

A control loop that wakes a thousand times a second finds its caches cold: the fewer instructions
a tick takes, whatever they compute, the less it costs. A kernel is a tenth of the same in numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
import math

import numpy as np

from ...arrays import Array, Indices
from ...dynamics import refuse_blind_code, untried
from ...dynamics.compilation import entry, entry_point

POSITION, VELOCITY, EFFORT, RECEIVED, INTERVAL, CHANGED, UPDATED = range(7)
"""
Rows: the newest valid sample, rad, rad/s and N m (or m, m/s and N); when it was received; the
usual time between two samples; when a sample last differed from the one before it, s; whether
there was a sample since all were counted as seen, 1 or 0.
"""

SMOOTHING = 0.05
"""Weight of the newest interval between samples in the usual one."""

LATE_INTERVALS = 2
"""A joint that was silent for longer than so many usual intervals is late."""

FOREVER = 1e9
"""Stands for the time since a sample that never came, s."""

FINE, NOT_FINITE, FAR = range(3)
"""What a look at a sample tells; far from the valid one, it may have jumped."""


class JointTable:
    """
    The newest valid sample of every joint.

    Samples are given as their arrays, shape (k,), with where the robot's joints stand in them and
    in the table. Arrays are contiguous, of float64 and of intp.

    :param n: the number of joints
    :ivar position: rad or m, shape (n,); NaN before the first sample
    :ivar velocity: rad/s or m/s, shape (n,)
    :ivar effort: N m or N, shape (n,); NaN where there is none
    """

    def __init__(self, n: int) -> None:
        table = np.zeros((UPDATED + 1, n))
        table[[POSITION, EFFORT]] = math.nan
        table[RECEIVED] = -math.inf
        self.position: Array = table[POSITION]
        self.velocity: Array = table[VELOCITY]
        self.effort: Array = table[EFFORT]
        self.received: Array = table[RECEIVED]
        none, empty = np.zeros(0, dtype=np.intp), np.zeros(0)
        sample = (table, none, none, empty, empty)
        judge = entry_point(_judge, (*sample, empty, empty, 0.0))
        _refuse_blind(judge)
        self.judge: Callable[..., int] = partial(judge, table)
        """
        Return FINE, NOT_FINITE or FAR for a sample.

        Parameters are where its joints stand in it and in the robot, positions, velocities
        (possibly none), speeds and allowances of all joints, which make it plain how far each can
        have come, and the monotonic time of receipt, s.
        """
        self.take: Callable[..., None] = partial(
            entry_point(_take, (*sample, empty, 0.0, False)), table
        )
        """
        Take a sample.

        Parameters are where its joints stand in it and in the robot, positions, velocities,
        efforts (possibly none), the monotonic time of receipt, s, and whether velocities were
        derived from positions: then they may change in samples that do not.
        """
        self.oldest: Callable[[Indices], float] = partial(
            entry_point(_oldest, (table, none)), table
        )
        """Return when the sample was received that is the oldest of some joints, s."""

        self.late: Callable[[float, float], bool] = partial(
            entry_point(_late, (table, 0.0, 0.0)), table
        )
        """
        Return whether a joint is silent for longer than it usually is between two samples.

        Parameters are the time and the shortest interval that is expected, s.
        """
        self.all_updated: Callable[[Indices], bool] = partial(
            entry_point(_all_updated, (table, none)), table
        )
        """Return whether each of some joints has a sample that does not count as seen."""

        self._table = table

    def frozen_for(self, joints: Indices) -> float:
        """Return for how long samples of some joints have come in which nothing changed, s."""
        silence = self._table[RECEIVED, joints] - self._table[CHANGED, joints]
        return float(silence.max(initial=0.0))

    def mark_seen(self) -> None:
        """Let every sample that came until now count as seen."""
        self._table[UPDATED] = 0.0

    def interval(self, joints: Indices) -> Array:
        """Return the usual time between two samples of some joints, s."""
        usual: Array = self._table[INTERVAL, joints]
        return usual


def _refuse_blind(judge: Callable[..., int]) -> None:
    """Try the kernel on a sample of one joint before it is used."""
    name = 'judge_joint_states'
    if untried(name):
        table, joint = np.zeros((UPDATED + 1, 1)), np.zeros(1, dtype=np.intp)
        position, velocity, ones = np.zeros(1), np.zeros(1), np.ones(1)
        sample = (table, joint, joint, position, velocity, ones, ones, 0.0)
        refuse_blind_code(name, lambda: judge(*sample) != NOT_FINITE, position, velocity)


@entry
def _judge(
    table: Array,
    in_message: Indices,
    in_robot: Indices,
    position: Array,
    velocity: Array,
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
        if not abs(position[i] - table[POSITION, joint]) <= reach:
            verdict = FAR
    return verdict


@entry
def _take(
    table: Array,
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
        table[EFFORT, joint] = effort[i] if effort.size else math.nan
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
