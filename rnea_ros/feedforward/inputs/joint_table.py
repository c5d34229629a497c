# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The measured joint state as a table, with a row per quantity and a column per joint.

Compiled kernels work on it: they take a tenth of the time of the same steps in numpy, which
counts in a loop of 1 kHz with cold caches. A layout is where the robot's joints are in a message's
list of joint names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import math

import numpy as np

from ...arrays import Array, Indices
from ...compilation import entry
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

MAX_LAYOUTS = 100
"""Number of lists of joint names that are kept; a publisher usually has one."""


def empty_table(n: int) -> Array:
    """Return the table of n joints without a sample, shape (rows, n)."""
    table = np.zeros((UPDATED + 1, n))
    table[[POSITION, EFFORT]] = math.nan
    table[RECEIVED] = -math.inf
    return table


@dataclass(frozen=True)
class JointLayout:
    """
    Positions of the robot's joints in messages with the same list of names.

    :param names: all names in the message
    :param in_message: indices of the robot's joints in the message, shape (k,)
    :param in_robot: indices of the same joints in the robot, shape (k,)
    :param numbers: ``in_robot`` as a list
    :param duplicate: whether a name occurs twice
    """

    names: tuple[str, ...]
    in_message: Indices
    in_robot: Indices
    numbers: list[int]
    duplicate: bool


class JointLayouts:
    """Finds the layouts for a robot's joints, and keeps them."""

    def __init__(self, joint_names: Sequence[str]) -> None:
        self._numbers = {name: number for number, name in enumerate(joint_names)}
        self._layouts: dict[tuple[str, ...], JointLayout] = {}
        self._last: JointLayout | None = None

    def of(self, names: Sequence[str]) -> JointLayout:
        """Return the layout for joint names; fastest if it is the same object every time."""
        last = self._last
        if last is not None and last.names is names:
            return last
        key = tuple(names)
        if key not in self._layouts:
            if len(self._layouts) == MAX_LAYOUTS:
                self._layouts.clear()
            used = [k for k, name in enumerate(key) if name in self._numbers]
            numbers = [self._numbers[key[k]] for k in used]
            self._layouts[key] = JointLayout(
                key, np.array(used, dtype=np.intp), np.array(numbers, dtype=np.intp), numbers,
                duplicate=len(set(key)) < len(key),
            )
        self._last = self._layouts[key]
        return self._last


def reject_blind(judge: Callable[..., int]) -> None:
    """Check before its first use that the compiled kernel detects NaN and infinity."""
    name = 'judge_joint_states'
    if needs_check(name):
        table, joint = np.zeros((UPDATED + 1, 1)), np.zeros(1, dtype=np.intp)
        position, velocity, ones = np.zeros(1), np.zeros(1), np.ones(1)
        sample = (table, joint, joint, position, velocity, ones, ones, ones, 0.0)
        check_compiled_code(name, lambda: judge(*sample) != NOT_FINITE, position, velocity)


@entry
def judge_sample(
    table: Array, in_message: Indices, in_robot: Indices, position: Array, velocity: Array,
    velocity_limits: Array, speeds: Array, allowances: Array, received: float,
) -> int:
    """
    Return FINE, NOT_FINITE, TOO_FAST or FAR for a sample of the joints ``in_robot``.

    A joint is TOO_FAST above its velocity limit, and FAR if it moved by more than its speed times
    the elapsed time plus allowance. The last three arrays are those of all joints; the velocity is
    empty for none.
    """
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
def store_sample(
    table: Array, effort_scale: Array, in_message: Indices, in_robot: Indices, position: Array,
    velocity: Array, effort: Array, received: float, derived: bool,
) -> None:
    """
    Write a sample into the table; velocities and efforts are empty for none.

    :param effort_scale: N m or N per unit of the sample's efforts, of all joints
    :param derived: whether velocities were derived from positions: derived velocities change even
        if samples repeat
    """
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
def oldest_receipt(table: Array, joints: Indices) -> float:
    """Return the earliest time of receipt of some joints, s."""
    oldest = math.inf
    for k in range(joints.size):
        oldest = min(oldest, table[RECEIVED, joints[k]])
    return oldest


@entry
def all_updated(table: Array, joints: Indices) -> bool:
    """Return whether each of some joints has a sample since the last mark."""
    least = 1.0
    for k in range(joints.size):
        least = min(least, table[UPDATED, joints[k]])
    return least == 1.0


@entry
def any_late(table: Array, now: float, period: float) -> bool:
    """Return whether a joint's next sample is late; ``period`` is the shortest interval, s."""
    for joint in range(table.shape[1]):
        usual = max(table[INTERVAL, joint], period)
        if now - table[RECEIVED, joint] > LATE_INTERVALS * usual:
            return True
    return False
