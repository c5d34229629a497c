# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The kernel that judges a sample of joint states and stores it, joint by joint.

A sample with an invalid value of a commanded joint is rejected whole. An invalid value of another
joint is rejected alone: its last valid value stays, until a new position persists.

A position is a jump if the joint cannot have reached it since its last valid sample, or if it is
nearer to the last rejected position than to the expected one: a jump stays rejected.
"""

from __future__ import annotations

from collections.abc import Callable
import math

import numpy as np

from ...arrays import Array, Indices
from ...compilation import compiled, entry
from ...dynamics import check_compiled_code, needs_check
from .joint_bounds import (
    COMMANDED,
    CONTINUOUS,
    LOWER,
    MAX_EFFORT,
    MAX_VELOCITY,
    MEMORY_TIME,
    ROLE,
    SCALE,
    SPEED,
    STEP,
    UNRELATED,
    UPPER,
    JointBounds,
)

(
    POSITION, VELOCITY, EFFORT, RECEIVED, INTERVAL, STAMP, MACHINE, CHANGED, ALIVE, UPDATED,
    JUMPED_TO, JUMPS, OTHER, OTHER_AT, OTHER_SINCE, CONTESTS, CONTEST_SHARE, CONTEST_COUNT,
    DERIVED_FROM, DERIVED_AT, VERDICT, VALUE, BOUND, WILD_EFFORT, ERROR, ANCHORED, GROWS_SINCE,
) = range(27)
"""
Rows of the table, a column per joint:

- position, velocity and effort of the newest valid sample (rad, rad/s, N m or m, m/s, N); its time
  of receipt, its stamp, and with simulated time the machine's time, s; usual interval between
  samples, s; time of the last sample with another position or velocity, and of the last with
  another effort too; whether a sample was received since the last ``mark_seen``, 1 or 0
- the last position if it was rejected as a jump, else NaN; number of jumps in a row
- the last rejected position, its time, and the time since which they agree; whether they agreed
  since the last valid sample, 1 or 0; share, and number in the last time, of valid samples with
  such rejected ones before them
- position and time from which the next velocity is derived
- verdict, value and bound of the newest sample; the last measured effort above its limit
- smallest error to the reference since the joint last changed, that time, and the time since which
  the error grows
"""

FINE, JUMP, TOO_FAST, OUT_OF_RANGE, VELOCITY_NOT_FINITE, POSITION_NOT_FINITE = range(6)
"""Verdicts on a joint of a sample; the highest one names the reason of a rejected sample."""

STORED, EFFORT_TOO_HIGH = -1, -2
"""Results of the kernel without a rejection; otherwise it is the number of the joint at fault."""

SMOOTHING = 0.05
"""Weight of the newest interval in the usual interval."""

LATE_INTERVALS = 2
"""A joint is late after this number of usual intervals without a sample."""

FOREVER = 1e9
"""Upper bound of an elapsed time, s; avoids infinity before the first sample."""

MAX_DELAY = 0.1
"""Maximum difference between the transport delays of two successive samples, s."""

BELIEVED_AFTER = 0.1
"""A new position of an uncommanded joint is accepted if it persists for this time, s."""

MOVING = 0.02
"""A joint whose velocity is higher cannot keep its position, rad/s or m/s."""

CONTEST_WEIGHT = 0.05
"""Weight of the newest valid sample in the share of contested ones."""

CONTESTS_FORGOTTEN = 3.0
"""Number of contested samples that are forgotten in a second."""

MAX_CONTEST_COUNT = 6.0
"""Number of contested samples that are kept: a source that has ended is forgotten in seconds."""

MIN_GROWTH = 0.001
"""Growth of the error from which its time counts, rad or m."""

MAX_GROWTH = 0.02
"""Growth of the error in which a joint must change, rad or m: coarse encoders have 0.006 rad."""

FAST = 0.2
"""A joint with a higher measured velocity cannot repeat both values, rad/s or m/s."""

ALIVE_FACTOR = 2.5
"""While measured efforts change, a joint that sticks may have this multiple of it."""


def empty_table(bounds: JointBounds) -> Array:
    """
    Return the table of n joints without a sample, shape (rows, n).

    Unrelated joints begin at zero: they need no sample.
    """
    table = np.zeros((GROWS_SINCE + 1, bounds.table.shape[1]))
    table[[POSITION, EFFORT, JUMPED_TO, OTHER, WILD_EFFORT]] = math.nan
    table[POSITION, bounds.table[ROLE] == UNRELATED] = 0.0
    table[[RECEIVED, STAMP, MACHINE, OTHER_AT, DERIVED_AT]] = -math.inf
    table[[OTHER_SINCE, CHANGED]] = math.inf
    return table


def reject_blind(judge: Callable[..., int], time_constant: float) -> None:
    """Check before its first use that the compiled kernel detects NaN and infinity."""
    name = 'judge_joint_states'
    if needs_check(name):
        bounds, joint = JointBounds.none(1), np.zeros(1, dtype=np.intp)
        position, velocity, none = np.zeros(1), np.zeros(1), np.empty(0)

        def accepts() -> bool:
            sample = (joint, joint, position, velocity, none, 0.0, 0.0, -math.inf)
            verdict = judge(empty_table(bounds), bounds.table, *sample, time_constant, False)
            return verdict == STORED

        check_compiled_code(name, accepts, position, velocity)


@entry
def judge_and_store(
    table: Array, bounds: Array, in_message: Indices, in_robot: Indices, position: Array,
    velocity: Array, effort: Array, stamp: float, received: float, machine: float,
    time_constant: float, frozen: bool,
) -> int:
    """
    Judge a sample of the joints ``in_robot``, and store it unless a commanded joint is at fault.

    :param velocity: empty to derive the velocities; so is NaN of a joint that is not commanded
    :param effort: empty for none
    :param stamp: 0 for none
    :param machine: machine's time of receipt with simulated time, s; -inf without
    :param time_constant: of the filter of derived velocities, s
    :param frozen: whether the joints are known to repeat old values
    :return: STORED, EFFORT_TOO_HIGH, or the number of the joint at fault
    """
    worst, at_fault = FINE, STORED
    for k in range(in_robot.size):
        joint, i = in_robot[k], in_message[k]
        qd = velocity[i] if velocity.size else 0.0
        role = bounds[ROLE, joint]
        if role != COMMANDED and math.isnan(qd):
            qd = 0.0
        verdict = _judge(table, bounds, joint, position[i], qd, stamp, received, machine, frozen)
        if verdict > worst and role == COMMANDED:
            worst, at_fault = verdict, joint
    if worst > FINE:
        return at_fault
    changed, alive, result = False, False, STORED
    for k in range(in_robot.size):
        joint, i = in_robot[k], in_message[k]
        if table[VERDICT, joint] != FINE:
            continue
        q, limit = position[i], bounds[MAX_VELOCITY, joint]
        derives = velocity.size == 0 or math.isnan(velocity[i])
        qd = _derive(table, bounds, joint, q, received, time_constant)
        if not derives:
            qd = velocity[i]
        if bounds[ROLE, joint] != COMMANDED:
            qd = min(max(qd, -limit), limit)
        else:
            changed |= q != table[POSITION, joint]
            changed |= not derives and qd != table[VELOCITY, joint]
        table[POSITION, joint], table[VELOCITY, joint] = q, qd
        tau = bounds[SCALE, joint] * effort[i] if effort.size else math.nan
        if abs(tau) > bounds[MAX_EFFORT, joint] or math.isinf(tau):
            table[WILD_EFFORT, joint] = tau
            tau, result = math.nan, EFFORT_TOO_HIGH
        alive |= not math.isnan(tau) and tau != table[EFFORT, joint]
        table[EFFORT, joint] = tau
        _register(table, joint, stamp, received, machine)
    for k in range(in_robot.size if changed or alive else 0):
        joint = in_robot[k]
        if bounds[ROLE, joint] == COMMANDED:
            table[ALIVE, joint] = received
            if changed:
                table[CHANGED, joint] = received
    return result


@compiled
def _judge(
    table: Array, bounds: Array, joint: int, q: float, qd: float, stamp: float, received: float,
    machine: float, frozen: bool,
) -> int:
    """Write and return the verdict on a joint's position and velocity, with value and bound."""
    verdict, value, bound = FINE, q, math.inf
    if not math.isfinite(q):
        verdict = POSITION_NOT_FINITE
    elif not math.isfinite(qd):
        verdict, value = VELOCITY_NOT_FINITE, qd
    elif not bounds[LOWER, joint] <= q <= bounds[UPPER, joint]:
        verdict, bound = OUT_OF_RANGE, bounds[LOWER if q < 0.0 else UPPER, joint]
    else:
        elapsed = _elapsed(table, joint, stamp, received, machine, frozen)
        reach = bounds[SPEED, joint] * elapsed + bounds[STEP, joint]
        if _jumps(table, bounds, joint, q, elapsed, reach):
            verdict, bound = JUMP, reach
            table[JUMPED_TO, joint] = q
            table[JUMPS, joint] += 1.0
        else:
            table[JUMPED_TO, joint] = math.nan
            table[JUMPS, joint] = 0.0
        if abs(qd) > bounds[MAX_VELOCITY, joint]:
            verdict, value, bound = TOO_FAST, qd, bounds[MAX_VELOCITY, joint]
        commanded = bounds[ROLE, joint] == COMMANDED
        if verdict != FINE:
            persists = _persists(table, bounds, joint, q, received)
            verdict = FINE if persists and not commanded else verdict
        elif commanded:
            _count_contests(table, joint, received)
        else:
            table[OTHER, joint] = math.nan
    table[VERDICT, joint], table[VALUE, joint], table[BOUND, joint] = verdict, value, bound
    return verdict


@compiled
def _jumps(
    table: Array, bounds: Array, joint: int, q: float, elapsed: float, reach: float
) -> bool:
    """Return whether a joint cannot have reached a position since its last valid sample."""
    turns = bounds[CONTINUOUS, joint]
    difference = _shortest(q - table[POSITION, joint], turns)
    expected = min(max(table[VELOCITY, joint] * elapsed, -reach), reach)
    from_valid = abs(_shortest(difference - expected, turns))
    from_jump = abs(_shortest(q - table[JUMPED_TO, joint], turns))
    too_far = abs(difference) > reach or from_jump < from_valid
    return bool(too_far and elapsed <= bounds[MEMORY_TIME, joint])


@compiled
def _persists(table: Array, bounds: Array, joint: int, q: float, received: float) -> bool:
    """Keep a rejected position; return whether such positions have agreed for a while."""
    since = min(received - table[OTHER_AT, joint], FOREVER)
    way = bounds[SPEED, joint] * since + bounds[STEP, joint]
    if abs(_shortest(q - table[OTHER, joint], bounds[CONTINUOUS, joint])) <= way:
        table[CONTESTS, joint] = 1.0
    else:
        table[OTHER_SINCE, joint] = received
    table[OTHER, joint], table[OTHER_AT, joint] = q, received
    return bool(received - table[OTHER_SINCE, joint] >= BELIEVED_AFTER)


@compiled
def _count_contests(table: Array, joint: int, received: float) -> None:
    """Count a valid sample: rejected ones before it that agree may be another source's."""
    contests = table[CONTESTS, joint]
    forgotten = CONTESTS_FORGOTTEN * min(received - table[RECEIVED, joint], FOREVER)
    count = max(table[CONTEST_COUNT, joint] - forgotten, 0.0) + contests
    table[CONTEST_COUNT, joint] = min(count, MAX_CONTEST_COUNT)
    table[CONTEST_SHARE, joint] += CONTEST_WEIGHT * (contests - table[CONTEST_SHARE, joint])
    table[CONTESTS, joint] = 0.0


@compiled
def _elapsed(
    table: Array, joint: int, stamp: float, received: float, machine: float, frozen: bool
) -> float:
    """
    Return the time since a joint's last valid sample, s.

    The time between receipts is too short if the earlier sample was delayed, or if one tick takes
    both samples. So the result is the longest of three times: between the receipts, between the
    stamps, and the usual interval. A wrong stamp adds at most ``MAX_DELAY``. In simulated time,
    joints keep moving while ``/clock`` is delayed: the machine's time between the receipts then
    counts too. Repeated values of a moving joint count as no sample.
    """
    last = table[RECEIVED, joint]
    if frozen or abs(table[VELOCITY, joint]) > MOVING:
        last = min(last, table[CHANGED, joint])
    elapsed: float = max(received - last, table[INTERVAL, joint])
    if machine > -math.inf:
        elapsed = max(elapsed, machine - table[MACHINE, joint])
    if stamp != 0.0:
        elapsed = max(elapsed, min(stamp - table[STAMP, joint], elapsed + MAX_DELAY))
    return min(max(elapsed, 0.0), FOREVER)


@compiled
def _shortest(difference: float, continuous: float) -> float:
    """Return a position difference, without whole turns of a continuous joint."""
    if continuous:
        return (difference + math.pi) % math.tau - math.pi
    return difference


@compiled
def _derive(
    table: Array, bounds: Array, joint: int, q: float, received: float, time_constant: float
) -> float:
    """Return a new velocity from positions, with a low-pass filter; zero for the first sample."""
    dt = received - table[DERIVED_AT, joint]
    velocity: float = table[VELOCITY, joint]
    if dt > 0.0:  # samples of one tick have the same time: the next quotient spans both
        way = _shortest(q - table[DERIVED_FROM, joint], bounds[CONTINUOUS, joint])
        velocity += (way / dt - velocity) / (1.0 + time_constant / dt)
        table[DERIVED_FROM, joint], table[DERIVED_AT, joint] = q, received
    return velocity


@compiled
def _register(
    table: Array, joint: int, stamp: float, received: float, machine: float
) -> None:
    """Write the times of a valid sample."""
    interval = received - table[RECEIVED, joint]
    if interval < math.inf:
        usual = table[INTERVAL, joint]
        share = SMOOTHING if usual != 0.0 else 1.0
        table[INTERVAL, joint] = usual + (interval - usual) * share
    table[RECEIVED, joint], table[MACHINE, joint] = received, machine
    if stamp != 0.0:
        table[STAMP, joint] = stamp
    table[UPDATED, joint] = 1.0


@entry
def oldest(table: Array, row: int, joints: Indices) -> float:
    """Return the earliest time, or smallest value, in a row of some joints."""
    least = math.inf
    for k in range(joints.size):
        least = min(least, table[row, joints[k]])
    return least


@entry
def greatest(table: Array, row: int, joints: Indices) -> float:
    """Return the latest time, or greatest value, in a row of some joints."""
    most = -math.inf
    for k in range(joints.size):
        most = max(most, table[row, joints[k]])
    return most


@entry
def any_late(table: Array, joints: Indices, now: float, least: float) -> bool:
    """Return whether a joint's next sample is late; ``least``: shortest usual interval, s."""
    for k in range(joints.size):
        usual = max(table[INTERVAL, joints[k]], least)
        if now - table[RECEIVED, joints[k]] > LATE_INTERVALS * usual:
            return True
    return False


@entry
def frozen_since(
    table: Array, bounds: Array, joints: Indices, reference: Array, now: float, follows: bool
) -> float:
    """
    Return since when a joint should have changed: it is fast, or its error has grown too far.

    :param joints: the m commanded joints
    :param reference: their reference positions, shape (m,), rad or m
    :param follows: whether they are to follow the reference now
    :return: s; inf if none
    """
    since = math.inf
    for k in range(joints.size):
        joint = joints[k]
        if abs(table[VELOCITY, joint]) > FAST:  # also if the reference starts there anew
            since = min(since, now - table[RECEIVED, joint] + table[CHANGED, joint])
        error = abs(_shortest(reference[k] - table[POSITION, joint], bounds[CONTINUOUS, joint]))
        if not follows or table[CHANGED, joint] != table[ANCHORED, joint]:
            table[ERROR, joint], table[GROWS_SINCE, joint] = error, now
            table[ANCHORED, joint] = table[CHANGED, joint] if follows else -math.inf
            continue
        table[ERROR, joint] = min(table[ERROR, joint], error)
        growth = error - table[ERROR, joint]
        if growth < MIN_GROWTH:
            table[GROWS_SINCE, joint] = now
        sticks = table[ALIVE, joint] > table[CHANGED, joint]
        if growth > MAX_GROWTH * (ALIVE_FACTOR if sticks else 1.0):
            since = min(since, table[GROWS_SINCE, joint])
    return since
