# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The table of the measured joints, and its kernels: one for each sample, one for each tick.

A joint without a URDF limit is not checked against it. A joint that no commanded joint carries,
and that carries no commanded joint, such as the other arm, has no effect on the commands.

A sample with an invalid value of a commanded joint is rejected whole. An invalid value of another
joint is rejected alone: its last valid value stays, until a new position persists.

A position is a jump if the joint cannot have reached it since its last valid sample, or if it is
nearer to the last rejected position than to the expected one: a jump stays rejected.

Drivers that miss reads repeat old values: their error to a moving reference grows. Joint states
are frozen if the error grows for longer than their timeout, and by more than ``MAX_GROWTH``. While
measured efforts change, the joint may only stick: the error may grow further. A joint whose
velocity says that it moves must change too, whatever the reference does. All commanded joints of a
message must repeat: one joint that stands still among moving ones may be stuck.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, Indices
from ..compilation import compiled, kernel
from ..dynamics import require_nan_detection
from ..dynamics.kernels import BASE
from ..dynamics.tree import KinematicTree
from ..robot import RobotModel
from .settings import ResolvedSettings

COMMANDED, UNCOMMANDED, UNRELATED = range(3)
"""Roles of a joint; an unrelated one does not change the efforts of the commanded joints."""

JUMP_TOLERANCE = 0.01  # permitted step of a position, rad or m: encoders have steps of 0.006 rad
# Permitted excess of a velocity over the maximum plausible speed, rad/s or m/s. A coarse encoder's
# step of 0.006 rad, differentiated at 100 Hz, is 0.6 rad/s of noise: faster than slow joints.
VELOCITY_TOLERANCE = 1.0
# Timeouts, plus ``hold_duration``, after which the last valid position is forgotten: by then the
# control has ended. A control that waits for joint states then accepts new positions.
FORGET_TIMEOUTS = 2.0
MAX_JOINT_VALUE = 1e6  # greatest position and velocity of any joint, rad or m, rad/s or m/s
EFFORT_FACTOR = 2.0  # permitted multiple of the URDF's effort limit, or of ``effort_limits``

(
    ROLE, CONTINUOUS, MAX_SPEED, MAX_STEP, MAX_MEASURED_VELOCITY, LOWER, UPPER, FORGET_AFTER,
    MAX_EFFORT, SCALE,
) = range(10)
"""
Rows of the bounds. MAX_SPEED: maximum plausible speed; MAX_STEP: permitted step of a position;
FORGET_AFTER: age at which the last valid position no longer counts, s; SCALE: N m or N per unit of
a sample's efforts.
"""


@dataclass(frozen=True)
class JointBounds:
    """The bounds of n joints: ``table`` has a row per bound, shape (rows, n)."""

    table: Array

    @classmethod
    def of_speeds(
        cls, speeds: Array, continuous: NDArray[np.bool_] | bool = False,
        timeouts: Array | float = np.inf, hold_duration: float = 0.0,
    ) -> JointBounds:
        """
        Return bounds of speed alone.

        :param speeds: maximum plausible speeds, shape (n,), rad/s or m/s; inf for no check
        :param continuous: which joints may jump by whole turns, shape (n,)
        :param timeouts: timeouts of the joints' states, s, after which ``hold_duration`` begins
        """
        table, checked = np.zeros((SCALE + 1, speeds.size)), np.isfinite(speeds)
        table[LOWER], table[[UPPER, MAX_EFFORT]], table[SCALE] = -np.inf, np.inf, 1.0
        table[CONTINUOUS] = continuous
        table[MAX_SPEED] = np.where(checked, speeds, 0.0)
        table[MAX_STEP] = np.where(checked, JUMP_TOLERANCE, np.inf)
        table[MAX_MEASURED_VELOCITY] = speeds + VELOCITY_TOLERANCE
        table[FORGET_AFTER] = FORGET_TIMEOUTS * np.asarray(timeouts) + hold_duration
        return cls(table)

    @classmethod
    def of_robot(cls, model: RobotModel, settings: ResolvedSettings) -> JointBounds:
        """Return the bounds of a robot's joints, from the limits of its URDF."""
        factor, limits = settings.velocity_limit_factor, model.velocity_limits
        checked = (limits > 0.0) & (factor > 0.0)  # many URDFs have 0 for an unknown limit
        bounds = cls.of_speeds(
            np.where(checked, limits, np.inf) * max(factor, 1.0), model.continuous,
            settings.joint_states_timeout, settings.hold_duration,
        )
        table, commanded = bounds.table, settings.joint_indices
        table[MAX_MEASURED_VELOCITY] = np.minimum(table[MAX_MEASURED_VELOCITY], MAX_JOINT_VALUE)
        lower, upper = model.position_lower, model.position_upper
        # Zeros and limits of URDFs may be off, but hardly by more than the joint's whole range.
        limited = np.isfinite(upper - lower) & (upper > lower) & ~model.continuous
        span = np.where(limited, upper - lower, 0.0)
        table[LOWER] = np.where(limited, lower - span, -MAX_JOINT_VALUE)
        table[UPPER] = np.where(limited, upper + span, MAX_JOINT_VALUE)
        urdf_limits = np.nan_to_num(model.effort_limits[commanded], posinf=0.0)
        largest = np.maximum(urdf_limits, settings.effort_limits)
        table[MAX_EFFORT, commanded] = EFFORT_FACTOR * largest
        table[SCALE] = settings.effort_scale
        table[ROLE] = _roles(model.tree, commanded)
        return bounds


def _roles(tree: KinematicTree, commanded: NDArray[np.intp]) -> Array:
    """Return the roles of all joints; joints on one chain with a commanded one are related."""
    roles = np.full(tree.nv, float(UNRELATED))
    moved_by: list[set[int]] = [set()]
    for record in tree.bodies[BASE + 1 :]:
        first, size = int(record['qd_index']), int(record['qd_size'])
        moved_by.append(moved_by[record['parent']] | set(range(first, first + size)))
    for joints in moved_by:
        if not joints.isdisjoint(commanded.tolist()):
            roles[list(joints)] = UNCOMMANDED
    roles[commanded] = COMMANDED
    return roles


(
    POSITION, VELOCITY, EFFORT, RECEIVED, INTERVAL, STAMP, MACHINE_TIME, CHANGED,
    CHANGED_OR_EFFORT, UPDATED, JUMPS, REJECTED, REJECTED_AT, AGREED_SINCE, CONTESTED,
    CONTEST_SHARE, CONTEST_COUNT, DERIVED_FROM, DERIVED_AT, VERDICT, VALUE, BOUND, MIN_ERROR,
    LAST_CHANGED, GROWING_SINCE,
) = range(SCALE + 1, SCALE + 26)
"""
Rows of the table after those of the bounds, a column per joint; times in s.

- POSITION, VELOCITY, EFFORT: newest valid sample, rad, rad/s, N m or m, m/s, N
- RECEIVED, STAMP, MACHINE_TIME: its times; INTERVAL: usual time between samples
- CHANGED: last sample with another position or velocity of a commanded joint;
  CHANGED_OR_EFFORT: the same or another effort; UPDATED: 1 after a sample, 0 after ``mark_seen``
- JUMPS: number of jumps in a row
- REJECTED, REJECTED_AT: last rejected position; AGREED_SINCE: since when they agree
- CONTESTED: 1 if rejected positions agreed since the last valid sample, else 0; CONTEST_SHARE:
  smoothed share of such valid samples; CONTEST_COUNT: their decaying number
- DERIVED_FROM, DERIVED_AT: position and time from which the next velocity is derived
- VERDICT, VALUE, BOUND: of the newest sample
- MIN_ERROR, LAST_CHANGED: smallest error to the reference since the last change, rad or m, and
  the time of that change; GROWING_SINCE: since when the error has grown
"""

(
    VALID, EFFORT_TOO_HIGH, JUMP, TOO_FAST, OUT_OF_RANGE, VELOCITY_NOT_FINITE, POSITION_NOT_FINITE
) = range(7)
"""Verdicts on a joint; from JUMP on, position and velocity are rejected, not only the effort."""

LONGER, SHORTER = 0.05, 0.2  # weights of a new interval in the usual one: a pause is forgotten
FOREVER = 1e9  # upper bound of an elapsed time, s; avoids infinity before the first sample
MAX_DELAY = 0.1  # maximum difference between the transport delays of two successive samples, s
ACCEPTED_AFTER = 0.1  # time after which a new position of an uncommanded joint is accepted, s
MIN_MOVING_SPEED = 0.02  # a joint that is faster cannot keep its position, rad/s or m/s
CONTEST_WEIGHT = 0.05  # weight of the newest valid sample in the share of contested ones
CONTEST_DECAY = 3.0  # number of contested samples that are forgotten in a second
MAX_CONTEST_COUNT = 6.0  # so a source that has ended is forgotten in seconds
MAX_CONTEST_SHARE = 0.3  # share of contested samples above which joint states have two sources
MAX_CONTESTS = 3.0  # number of them above which several known publishers contradict each other
LATE_INTERVALS = 2  # number of usual intervals without a sample after which a joint is late
MIN_GROWTH = 0.001  # growth of the error from which its time counts, rad or m
MAX_GROWTH = 0.02  # greatest growth, rad or m: coarse encoders have steps of 0.006 rad
MAX_GROWTH_WITH_EFFORTS = 0.03  # the same while measured efforts change, rad or m
MIN_SPEED = 0.1  # a faster joint must change, rad/s or m/s; drivers may report less at rest


def empty_table(bounds: JointBounds) -> Array:
    """Return the table of n joints without a sample; unrelated joints need none."""
    table = np.zeros((GROWING_SINCE + 1, bounds.table.shape[1]))
    table[: SCALE + 1] = bounds.table
    table[[POSITION, EFFORT, REJECTED]] = math.nan
    table[POSITION, table[ROLE] == UNRELATED] = 0.0
    table[[RECEIVED, STAMP, MACHINE_TIME, REJECTED_AT, DERIVED_AT]] = -math.inf
    table[[AGREED_SINCE, CHANGED]] = math.inf
    return table


def check_kernel() -> None:
    """Check before its first use that the compiled kernel detects NaN and infinity."""
    bounds = JointBounds.of_speeds(np.ones(1))
    joint, none = np.zeros(1, dtype=np.intp), np.empty(0)
    position, velocity = np.zeros((2, 1))

    def accepts() -> bool:
        sample = (joint, joint, position, velocity, none, 0.0, 0.0, -math.inf, 0.0, False)
        return judge_and_store(empty_table(bounds), *sample)[0] == VALID

    require_nan_detection('judge_joint_states', accepts, position, velocity)


@kernel
def judge_and_store(
    table: Array, in_message: Indices, in_robot: Indices, position: Array, velocity: Array,
    effort: Array, stamp: float, received: float, machine: float, time_constant: float,
    frozen: bool,
) -> tuple[int, int]:
    """
    Judge a sample of the joints ``in_robot``, and store it unless a commanded joint is at fault.

    :param velocity: empty to derive velocities, as for NaN of uncommanded joints
    :param machine: machine's time of receipt with simulated time, s; -inf without
    :param time_constant: of the filter of derived velocities, s
    :return: the highest verdict on a commanded joint or on an effort, and the joint's number
    """
    worst, at_fault = VALID, -1
    for k in range(in_robot.size):
        joint = table[:, in_robot[k]]
        frozen |= abs(joint[VELOCITY]) > MIN_MOVING_SPEED and joint[ROLE] == COMMANDED
    for k in range(in_robot.size):
        joint, i = table[:, in_robot[k]], in_message[k]
        qd = velocity[i] if velocity.size else 0.0
        if joint[ROLE] != COMMANDED and math.isnan(qd):
            qd = 0.0
        verdict = _judge(joint, position[i], qd, stamp, received, machine, frozen)
        if verdict > worst and joint[ROLE] == COMMANDED:
            worst, at_fault = verdict, in_robot[k]
    if worst > VALID:
        return worst, at_fault
    changed, alive, largest = False, False, 0.0
    for k in range(in_robot.size):
        joint, i = table[:, in_robot[k]], in_message[k]
        if joint[VERDICT] != VALID:
            continue
        q = position[i]
        derives = velocity.size == 0 or math.isnan(velocity[i])
        qd = _derive(joint, q, received, time_constant)
        if not derives:
            qd = velocity[i]
        tau = joint[SCALE] * effort[i] if effort.size else math.nan
        if abs(tau) > joint[MAX_EFFORT] or math.isinf(tau):
            joint[VERDICT], joint[VALUE] = EFFORT_TOO_HIGH, tau
            if abs(tau) > largest:
                worst, at_fault, largest = EFFORT_TOO_HIGH, in_robot[k], abs(tau)
            tau = math.nan
        if joint[ROLE] == COMMANDED:
            changed |= q != joint[POSITION] or (not derives and qd != joint[VELOCITY])
            alive |= not math.isnan(tau) and tau != joint[EFFORT]
        else:
            limit = joint[MAX_MEASURED_VELOCITY]
            qd = min(max(qd, -limit), limit)
        joint[POSITION], joint[VELOCITY], joint[EFFORT] = q, qd, tau
        _register(joint, stamp, received, machine)
    for k in range(in_robot.size):
        joint = table[:, in_robot[k]]
        if joint[ROLE] == COMMANDED and (changed or alive):
            joint[CHANGED_OR_EFFORT] = received
            joint[CHANGED] = received if changed else joint[CHANGED]
    return worst, at_fault


@compiled
def _judge(
    joint: Array, q: float, qd: float, stamp: float, received: float, machine: float, frozen: bool
) -> int:
    """Write and return the verdict on a joint's position and velocity, with value and bound."""
    lower, upper = joint[LOWER], joint[UPPER]
    verdict, value, limit = VALID, q, math.inf
    if not math.isfinite(q):
        verdict = POSITION_NOT_FINITE
    elif not math.isfinite(qd):
        verdict, value = VELOCITY_NOT_FINITE, qd
    elif not lower <= q <= upper:
        verdict, limit = OUT_OF_RANGE, lower if q < lower else upper
    else:
        elapsed = _elapsed(joint, stamp, received, machine, frozen)
        reach = joint[MAX_SPEED] * elapsed + joint[MAX_STEP]
        jumps = _jumps(joint, q, elapsed, reach)
        if jumps:
            verdict, limit = JUMP, reach
        joint[JUMPS] = joint[JUMPS] + 1.0 if jumps else 0.0
        if abs(qd) > joint[MAX_MEASURED_VELOCITY]:
            verdict, value, limit = TOO_FAST, qd, joint[MAX_MEASURED_VELOCITY]
        commanded = joint[ROLE] == COMMANDED
        if jumps or not (verdict == VALID or commanded):
            persists = _persists(joint, q, received)
            verdict = VALID if persists and not commanded else verdict
        elif commanded:
            _count_contests(joint, received)
        else:
            joint[REJECTED] = math.nan
    joint[VERDICT], joint[VALUE], joint[BOUND] = verdict, value, limit
    return verdict


@compiled
def _elapsed(joint: Array, stamp: float, received: float, machine: float, frozen: bool) -> float:
    """
    Return the time since a joint's last valid sample, s.

    The time between receipts is too short if the earlier sample was delayed, or if one tick takes
    both: the time between the stamps and the usual interval count too, if longer. A wrong stamp
    adds at most ``MAX_DELAY``. In simulated time, joints move on while ``/clock`` is delayed: the
    machine's time counts. Repeated values count as no sample while a joint of the message moves.
    """
    last = min(joint[RECEIVED], joint[CHANGED]) if frozen else joint[RECEIVED]
    elapsed: float = max(received - last, joint[INTERVAL])
    if machine > -math.inf:
        elapsed = max(elapsed, machine - joint[MACHINE_TIME])
    if stamp != 0.0:
        elapsed = max(elapsed, min(stamp - joint[STAMP], elapsed + MAX_DELAY))
    return min(max(elapsed, 0.0), FOREVER)


@compiled
def _jumps(joint: Array, q: float, elapsed: float, reach: float) -> bool:
    """Return whether a joint cannot have reached a position since its last valid sample."""
    difference = shortest_way(joint, q - joint[POSITION])
    expected = min(max(joint[VELOCITY] * elapsed, -reach), reach)
    from_valid = abs(shortest_way(joint, difference - expected))
    from_jump = abs(shortest_way(joint, q - joint[REJECTED]))
    too_far = abs(difference) > reach or (joint[JUMPS] > 0.0 and from_jump < from_valid)
    return bool(too_far and elapsed <= joint[FORGET_AFTER])


@compiled
def _persists(joint: Array, q: float, received: float) -> bool:
    """Keep a rejected position; return whether such positions have agreed for a while."""
    elapsed = min(received - joint[REJECTED_AT], FOREVER)
    reach = joint[MAX_SPEED] * elapsed + joint[MAX_STEP]
    if abs(shortest_way(joint, q - joint[REJECTED])) <= reach:
        joint[CONTESTED] = 1.0
    else:
        joint[AGREED_SINCE] = received
    joint[REJECTED], joint[REJECTED_AT] = q, received
    return bool(received - joint[AGREED_SINCE] >= ACCEPTED_AFTER)


@compiled
def _count_contests(joint: Array, received: float) -> None:
    """Count a valid sample as contested if rejected positions before it agreed."""
    contests = joint[CONTESTED]
    forgotten = CONTEST_DECAY * min(received - joint[RECEIVED], FOREVER)
    count = max(joint[CONTEST_COUNT] - forgotten, 0.0) + contests
    joint[CONTEST_COUNT] = min(count, MAX_CONTEST_COUNT)
    joint[CONTEST_SHARE] += CONTEST_WEIGHT * (contests - joint[CONTEST_SHARE])
    joint[CONTESTED] = 0.0


@compiled
def shortest_way(joint: Array, difference: float) -> float:
    """Return a position difference, without whole turns of a continuous joint."""
    return (difference + math.pi) % math.tau - math.pi if joint[CONTINUOUS] else difference


@compiled
def _derive(joint: Array, q: float, received: float, time_constant: float) -> float:
    """Return a new velocity from positions, with a low-pass filter; zero for the first sample."""
    dt = received - joint[DERIVED_AT]
    velocity: float = joint[VELOCITY]
    if dt > 0.0:  # samples of one tick have the same time: the next quotient spans both
        way = shortest_way(joint, q - joint[DERIVED_FROM])
        velocity += (way / dt - velocity) / (1.0 + time_constant / dt)
        joint[DERIVED_FROM], joint[DERIVED_AT] = q, received
    return velocity


@compiled
def _register(joint: Array, stamp: float, received: float, machine: float) -> None:
    """Write the times of a valid sample."""
    interval = min(received - joint[RECEIVED], 0.5 * joint[FORGET_AFTER])
    if interval > 0.0 and joint[RECEIVED] > -math.inf:
        usual = joint[INTERVAL]
        share = 1.0 if usual == 0.0 else LONGER if interval > usual else SHORTER
        joint[INTERVAL] = usual + (interval - usual) * share
    joint[RECEIVED], joint[MACHINE_TIME], joint[UPDATED] = received, machine, 1.0
    if stamp != 0.0:
        joint[STAMP] = stamp


@kernel
def check_states(
    table: Array, commanded: Indices, others: Indices, reference: Array, now: float,
    period: float, timeout: float, several_publishers: bool, follows: bool,
) -> tuple[float, float, bool, bool, bool, float, float, float, float]:
    """
    Check all joints once a tick; see :class:`.TickMonitor`.

    :return: ``received``, ``others_received``: receipts of the oldest newest samples, s; ``late``,
        ``others_late`` (or rejected); ``contested``; ``unchanged_for``: longest time of repeated
        samples; since when all commanded joints have newer values, and newer values or, at rest,
        efforts; since when an error has grown beyond its limit
    """
    received = others_received = changed = alive = growing_since = math.inf
    any_late = others_late = contested = moves = False
    unchanged_for = 0.0
    for k in range(commanded.size):
        joint = table[:, commanded[k]]
        received = min(received, joint[RECEIVED])
        changed, alive = min(changed, joint[CHANGED]), min(alive, joint[CHANGED_OR_EFFORT])
        unchanged_for = max(unchanged_for, joint[RECEIVED] - joint[CHANGED])
        moves |= abs(joint[VELOCITY]) > MIN_MOVING_SPEED
        any_late |= late(joint, now, period)
        contested |= (
            joint[CONTEST_COUNT] > MAX_CONTESTS if several_publishers
            else joint[CONTEST_SHARE] > MAX_CONTEST_SHARE
        )
        growing_since = min(growing_since, _growing_since(joint, reference[k], now, follows))
    for k in range(others.size):
        joint = table[:, others[k]]
        others_received = min(others_received, joint[RECEIVED])
        others_late |= (
            joint[VERDICT] > EFFORT_TOO_HIGH or late(joint, now, timeout / LATE_INTERVALS)
        )
    return (
        received, others_received, any_late, others_late, contested, unchanged_for, changed,
        changed if moves else alive, growing_since,
    )


@compiled
def late(joint: Array, now: float, interval: float) -> bool:
    """Return whether two usual intervals, or these, s, have passed without a joint's sample."""
    return bool(now - joint[RECEIVED] > LATE_INTERVALS * max(joint[INTERVAL], interval))


@compiled
def _growing_since(joint: Array, reference: float, now: float, follows: bool) -> float:
    """Return since when a joint's error has grown beyond its limit, s; inf if it has not."""
    since, changed, speed = math.inf, joint[CHANGED], abs(joint[VELOCITY])
    repeated = joint[RECEIVED] - changed
    if speed > MIN_SPEED and speed * repeated > MAX_GROWTH:
        since = now - repeated
    error = abs(shortest_way(joint, reference - joint[POSITION]))
    if not follows or changed != joint[LAST_CHANGED]:
        joint[MIN_ERROR], joint[GROWING_SINCE] = error, now
        joint[LAST_CHANGED] = changed if follows else -math.inf
    joint[MIN_ERROR] = min(joint[MIN_ERROR], error)
    growth = error - joint[MIN_ERROR]
    if growth < MIN_GROWTH:
        joint[GROWING_SINCE] = now
    may_stick = joint[CHANGED_OR_EFFORT] > changed
    if growth > (MAX_GROWTH_WITH_EFFORTS if may_stick else MAX_GROWTH):
        since = min(since, joint[GROWING_SINCE])
    return since


@kernel
def earliest(table: Array, row: int, joints: Indices) -> float:
    """Return the earliest time, or smallest value, in a row of some joints."""
    least = math.inf
    for k in range(joints.size):
        least = min(least, table[row, joints[k]])
    return least
