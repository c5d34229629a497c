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
    FORGET_AFTER,
    LOWER,
    MAX_EFFORT,
    MAX_MEASURED_VELOCITY,
    MAX_SPEED,
    MAX_STEP,
    ROLE,
    SCALE,
    UNRELATED,
    UPPER,
    JointBounds,
)

(
    POSITION, VELOCITY, EFFORT, RECEIVED, INTERVAL, STAMP, MACHINE_TIME, CHANGED,
    CHANGED_OR_EFFORT, UPDATED, JUMPED_TO, JUMPS, REJECTED, REJECTED_AT, AGREED_SINCE, CONTESTED,
    CONTEST_SHARE, CONTEST_COUNT, DERIVED_FROM, DERIVED_AT, VERDICT, VALUE, BOUND,
    EXCESSIVE_EFFORT,
) = range(24)
"""
Rows of the table, a column per joint; times in s.

- POSITION, VELOCITY, EFFORT: newest valid sample, rad, rad/s, N m or m, m/s, N
- RECEIVED, STAMP, MACHINE_TIME: its times; INTERVAL: usual time between samples
- CHANGED: last sample with another position or velocity of a commanded joint;
  CHANGED_OR_EFFORT: the same or another effort; UPDATED: 1 after a sample, 0 after ``mark_seen``
- JUMPED_TO: last position if it was a jump, else NaN; JUMPS: number of jumps in a row
- REJECTED, REJECTED_AT: last rejected position; AGREED_SINCE: since when they agree
- CONTESTED: 1 if rejected positions agreed since the last valid sample, else 0; CONTEST_SHARE:
  share of such valid samples, smoothed; CONTEST_COUNT: their number, decaying
- DERIVED_FROM, DERIVED_AT: position and time from which the next velocity is derived
- VERDICT, VALUE, BOUND: of the newest sample; EXCESSIVE_EFFORT: its effort above the limit, or NaN
"""

VALID, JUMP, TOO_FAST, OUT_OF_RANGE, VELOCITY_NOT_FINITE, POSITION_NOT_FINITE = range(6)
"""Verdicts on a joint of a sample; the highest one names the reason of a rejected sample."""

STORED, EFFORT_TOO_HIGH = -1, -2
"""Results of the kernel without a rejection; otherwise it is the number of the joint at fault."""

LONGER, SHORTER = 0.05, 0.2
"""Weights of a longer and of a shorter interval in the usual one: a pause is soon forgotten."""

LATE_INTERVALS = 2
"""A joint is late after this number of usual intervals without a sample."""

FOREVER = 1e9
"""Upper bound of an elapsed time, s; avoids infinity before the first sample."""

MAX_DELAY = 0.1
"""Maximum difference between the transport delays of two successive samples, s."""

ACCEPTED_AFTER = 0.1
"""A new position of an uncommanded joint is accepted if it persists for this time, s."""

MIN_MOVING_SPEED = 0.02
"""A joint whose velocity is higher cannot keep its position, rad/s or m/s."""

CONTEST_WEIGHT = 0.05
"""Weight of the newest valid sample in the share of contested ones."""

CONTEST_DECAY = 3.0
"""Number of contested samples that are forgotten in a second."""

MAX_CONTEST_COUNT = 6.0
"""Number of contested samples that are kept: a source that has ended is forgotten in seconds."""


def empty_table(bounds: JointBounds) -> Array:
    """Return the table of n joints without a sample, (rows, n); unrelated joints need none."""
    table = np.zeros((EXCESSIVE_EFFORT + 1, bounds.table.shape[1]))
    table[[POSITION, EFFORT, JUMPED_TO, REJECTED, EXCESSIVE_EFFORT]] = math.nan
    table[POSITION, bounds.table[ROLE] == UNRELATED] = 0.0
    table[[RECEIVED, STAMP, MACHINE_TIME, REJECTED_AT, DERIVED_AT]] = -math.inf
    table[[AGREED_SINCE, CHANGED]] = math.inf
    return table


def check_kernel(judge: Callable[..., int], time_constant: float) -> None:
    """Check before its first use that the compiled kernel detects NaN and infinity."""
    name = 'judge_joint_states'
    if needs_check(name):
        bounds, joint = JointBounds.none(1), np.zeros(1, dtype=np.intp)
        position, velocity, none = np.zeros(1), np.zeros(1), np.empty(0)

        def accepts() -> bool:
            sample = (joint, joint, position, velocity, none, 0.0, 0.0, -math.inf, time_constant)
            return judge(empty_table(bounds), bounds.table, *sample, False) == STORED

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
    :param effort: empty for none; a stamp of 0 is none too
    :param machine: machine's time of receipt with simulated time, s; -inf without
    :param time_constant: of the filter of derived velocities, s
    :param frozen: whether the joints are known to repeat old values
    :return: STORED, EFFORT_TOO_HIGH, or the number of the joint at fault
    """
    worst, at_fault = VALID, STORED
    for k in range(in_robot.size):
        moves = abs(table[VELOCITY, in_robot[k]]) > MIN_MOVING_SPEED
        frozen |= moves and bounds[ROLE, in_robot[k]] == COMMANDED
    for k in range(in_robot.size):
        joint, i = in_robot[k], in_message[k]
        qd = velocity[i] if velocity.size else 0.0
        role = bounds[ROLE, joint]
        if role != COMMANDED and math.isnan(qd):
            qd = 0.0
        verdict = _judge(table, bounds, joint, position[i], qd, stamp, received, machine, frozen)
        if verdict > worst and role == COMMANDED:
            worst, at_fault = verdict, joint
    if worst > VALID:
        return at_fault
    changed, alive, result = False, False, STORED
    for k in range(in_robot.size):
        joint, i = in_robot[k], in_message[k]
        if table[VERDICT, joint] != VALID:
            continue
        q, limit = position[i], bounds[MAX_MEASURED_VELOCITY, joint]
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
        table[EXCESSIVE_EFFORT, joint] = math.nan
        if abs(tau) > bounds[MAX_EFFORT, joint] or math.isinf(tau):
            table[EXCESSIVE_EFFORT, joint] = tau
            tau, result = math.nan, EFFORT_TOO_HIGH
        if bounds[ROLE, joint] == COMMANDED:
            alive |= not math.isnan(tau) and tau != table[EFFORT, joint]
        table[EFFORT, joint] = tau
        _register(table, bounds, joint, stamp, received, machine)
    for k in range(in_robot.size if changed or alive else 0):
        joint = in_robot[k]
        if bounds[ROLE, joint] == COMMANDED:
            table[CHANGED_OR_EFFORT, joint] = received
            if changed:
                table[CHANGED, joint] = received
    return result


@compiled
def _judge(
    table: Array, bounds: Array, joint: int, q: float, qd: float, stamp: float, received: float,
    machine: float, frozen: bool,
) -> int:
    """Write and return the verdict on a joint's position and velocity, with value and bound."""
    verdict, value, bound = VALID, q, math.inf
    if not math.isfinite(q):
        verdict = POSITION_NOT_FINITE
    elif not math.isfinite(qd):
        verdict, value = VELOCITY_NOT_FINITE, qd
    elif not bounds[LOWER, joint] <= q <= bounds[UPPER, joint]:
        verdict, bound = OUT_OF_RANGE, bounds[LOWER if q < bounds[LOWER, joint] else UPPER, joint]
    else:
        elapsed = _elapsed(table, joint, stamp, received, machine, frozen)
        reach = bounds[MAX_SPEED, joint] * elapsed + bounds[MAX_STEP, joint]
        jumps = _jumps(table, bounds, joint, q, elapsed, reach)
        if jumps:
            verdict, bound = JUMP, reach
            table[JUMPED_TO, joint] = q
            table[JUMPS, joint] += 1.0
        else:
            table[JUMPED_TO, joint] = math.nan
            table[JUMPS, joint] = 0.0
        if abs(qd) > bounds[MAX_MEASURED_VELOCITY, joint]:
            verdict, value, bound = TOO_FAST, qd, bounds[MAX_MEASURED_VELOCITY, joint]
        commanded = bounds[ROLE, joint] == COMMANDED
        if jumps or not (verdict == VALID or commanded):
            persists = _persists(table, bounds, joint, q, received)
            verdict = VALID if persists and not commanded else verdict
        elif commanded:
            _count_contests(table, joint, received)
        else:
            table[REJECTED, joint] = math.nan
    table[VERDICT, joint], table[VALUE, joint], table[BOUND, joint] = verdict, value, bound
    return verdict


@compiled
def _jumps(
    table: Array, bounds: Array, joint: int, q: float, elapsed: float, reach: float
) -> bool:
    """Return whether a joint cannot have reached a position since its last valid sample."""
    turns = bounds[CONTINUOUS, joint]
    difference = shortest_way(q - table[POSITION, joint], turns)
    expected = min(max(table[VELOCITY, joint] * elapsed, -reach), reach)
    from_valid = abs(shortest_way(difference - expected, turns))
    from_jump = abs(shortest_way(q - table[JUMPED_TO, joint], turns))
    too_far = abs(difference) > reach or from_jump < from_valid
    return bool(too_far and elapsed <= bounds[FORGET_AFTER, joint])


@compiled
def _persists(table: Array, bounds: Array, joint: int, q: float, received: float) -> bool:
    """Keep a rejected position; return whether such positions have agreed for a while."""
    elapsed = min(received - table[REJECTED_AT, joint], FOREVER)
    reach = bounds[MAX_SPEED, joint] * elapsed + bounds[MAX_STEP, joint]
    if abs(shortest_way(q - table[REJECTED, joint], bounds[CONTINUOUS, joint])) <= reach:
        table[CONTESTED, joint] = 1.0
    else:
        table[AGREED_SINCE, joint] = received
    table[REJECTED, joint], table[REJECTED_AT, joint] = q, received
    return bool(received - table[AGREED_SINCE, joint] >= ACCEPTED_AFTER)


@compiled
def _count_contests(table: Array, joint: int, received: float) -> None:
    """Count a valid sample as contested if rejected positions before it agreed."""
    contests = table[CONTESTED, joint]
    forgotten = CONTEST_DECAY * min(received - table[RECEIVED, joint], FOREVER)
    count = max(table[CONTEST_COUNT, joint] - forgotten, 0.0) + contests
    table[CONTEST_COUNT, joint] = min(count, MAX_CONTEST_COUNT)
    table[CONTEST_SHARE, joint] += CONTEST_WEIGHT * (contests - table[CONTEST_SHARE, joint])
    table[CONTESTED, joint] = 0.0


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
    counts too. Repeated values count as no sample while a joint of the message moves.
    """
    last = table[RECEIVED, joint]
    if frozen:
        last = min(last, table[CHANGED, joint])
    elapsed: float = max(received - last, table[INTERVAL, joint])
    if machine > -math.inf:
        elapsed = max(elapsed, machine - table[MACHINE_TIME, joint])
    if stamp != 0.0:
        elapsed = max(elapsed, min(stamp - table[STAMP, joint], elapsed + MAX_DELAY))
    return min(max(elapsed, 0.0), FOREVER)


@compiled
def shortest_way(difference: float, continuous: float) -> float:
    """Return a position difference, without whole turns of a continuous joint."""
    return (difference + math.pi) % math.tau - math.pi if continuous else difference


@compiled
def _derive(
    table: Array, bounds: Array, joint: int, q: float, received: float, time_constant: float
) -> float:
    """Return a new velocity from positions, with a low-pass filter; zero for the first sample."""
    dt = received - table[DERIVED_AT, joint]
    velocity: float = table[VELOCITY, joint]
    if dt > 0.0:  # samples of one tick have the same time: the next quotient spans both
        way = shortest_way(q - table[DERIVED_FROM, joint], bounds[CONTINUOUS, joint])
        velocity += (way / dt - velocity) / (1.0 + time_constant / dt)
        table[DERIVED_FROM, joint], table[DERIVED_AT, joint] = q, received
    return velocity


@compiled
def _register(
    table: Array, bounds: Array, joint: int, stamp: float, received: float, machine: float
) -> None:
    """Write the times of a valid sample."""
    interval = min(received - table[RECEIVED, joint], 0.5 * bounds[FORGET_AFTER, joint])
    if interval > 0.0 and table[RECEIVED, joint] > -math.inf:
        usual = table[INTERVAL, joint]
        share = 1.0 if usual == 0.0 else LONGER if interval > usual else SHORTER
        table[INTERVAL, joint] = usual + (interval - usual) * share
    table[RECEIVED, joint], table[MACHINE_TIME, joint] = received, machine
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
