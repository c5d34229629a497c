# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The measured joint state: checks samples, merges them by joint name, and measures their age.

A sample is accepted or rejected as a whole; rejections are counted by reason. Several publishers
may each send some of the joints. The age of a sample is the time since its receipt. Stamps are
used for the order of samples and for the time between two positions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
import math

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, Indices
from ...compilation import entry_point
from ..angles import shortest
from ..reasons import Reason
from ..stamps import StampOrder
from .joint_table import (
    CHANGED,
    EFFORT,
    FAR,
    INTERVAL,
    NOT_FINITE,
    POSITION,
    RECEIVED,
    TOO_FAST,
    UPDATED,
    VELOCITY,
    JointLayout,
    JointLayouts,
    all_updated,
    any_late,
    empty_table,
    judge_sample,
    oldest_receipt,
    reject_blind,
    store_sample,
)
from .position_jumps import PositionJumps

MAX_DELAY = 0.1
"""Maximum difference between the transport delays of two successive samples, s."""


class JointStateMonitor:
    """
    Holds the newest valid position, velocity and effort of every joint.

    :param joint_names: the robot's joints; others in a message are ignored
    :param jumps: rejects positions that a joint cannot have reached, and velocities that it cannot
        have; None accepts all
    :param continuous: which joints are continuous, shape (n,); None for none
    :param differentiate_velocity: differentiate positions if a message has no velocities, or NaN
        for every joint (joint_state_broadcaster without velocities)
    :param cutoff: cutoff frequency of the filter of differentiated velocities, Hz
    :param effort_scale: N m or N per unit of the samples' efforts, shape (n,); None for 1
    :ivar position: shape (n,), rad or m; NaN before the first sample; this and the next two are
        rows of a table, which ``store_sample`` writes
    :ivar velocity: shape (n,), rad/s or m/s
    :ivar effort: shape (n,), N m or N; NaN where a message has none
    :ivar rejections: number of rejected samples by reason; replaced, never changed, because
        other threads read it
    """

    def __init__(
        self, joint_names: Sequence[str], *, jumps: PositionJumps | None = None,
        continuous: NDArray[np.bool_] | None = None, differentiate_velocity: bool = False,
        cutoff: float = 20.0, effort_scale: Array | None = None,
    ) -> None:
        n = len(joint_names)
        self._names = tuple(joint_names)
        if continuous is None:
            continuous = np.zeros(n, dtype=bool)
        self._jumps = jumps or PositionJumps(np.full(n, np.inf), continuous, np.zeros(n), 0.0)
        self._derived = DerivedVelocity(continuous, cutoff) if differentiate_velocity else None
        self._layouts = JointLayouts(joint_names)
        self._stamps = StampOrder(n)
        self._table = table = empty_table(n)
        self._effort_scale = np.ones(n) if effort_scale is None else effort_scale
        self._all = np.arange(n)
        self._machine_times = np.full(n, -math.inf)
        self.position: Array = table[POSITION]
        self.velocity: Array = table[VELOCITY]
        self.effort: Array = table[EFFORT]
        self.rejections: Counter[Reason] = Counter()
        none, empty = np.zeros(0, dtype=np.intp), np.zeros(0)
        sample = (none, none, empty, empty)
        # The kernels of joint_table; numba's dispatcher would add 0.13 us or more to each call.
        self._judge_sample = entry_point(judge_sample, (table, *sample, *(3 * [empty]), 0.0))
        reject_blind(self._judge_sample)
        self._store_sample = entry_point(
            store_sample, (table, self._effort_scale, *sample, empty, 0.0, False)
        )
        self._oldest_receipt = entry_point(oldest_receipt, (table, none))
        self._any_late = entry_point(any_late, (table, 0.0, 0.0))
        self._all_updated = entry_point(all_updated, (table, none))

    def missing(self) -> tuple[str, ...]:
        """Return the joints without a valid sample."""
        return tuple(
            name
            for name, received in zip(self._names, self._table[RECEIVED], strict=True)
            if received == -math.inf
        )

    @property
    def clock_steps(self) -> int:
        """Number of detected steps of publishers' clocks."""
        return self._stamps.steps

    @property
    def jumped(self) -> bool:
        """Whether the last positions of a joint were all rejected as jumps, not only one."""
        return self._jumps.persistent

    def age(self, now: float, joints: Indices | None = None) -> float:
        """Return the age of the oldest joint's newest sample, s; infinite before the first."""
        joints = self._all if joints is None else joints
        return now - self._oldest_receipt(self._table, joints) if joints.size else 0.0

    def sample_time(self, joints: Indices, numbers: Sequence[int]) -> float:
        """
        Return the time of the oldest joint's newest sample, s: its stamp, or else its receipt.

        :param numbers: the indices of the joints as a list
        """
        stamp = min(self._stamps.newest(numbers))
        if stamp == -math.inf:
            stamp = self._oldest_receipt(self._table, joints)
        return stamp

    def late(self, now: float, period: float) -> bool:
        """Return whether a joint's next sample is later than its usual interval, or a period."""
        late: bool = self._any_late(self._table, now, period)
        return late

    def frozen_for(self, joints: Indices) -> float:
        """Return the longest time for which a joint's samples have repeated the same values, s."""
        repeated = self._table[RECEIVED, joints] - self._table[CHANGED, joints]
        return float(repeated.max(initial=0.0))

    def all_updated(self, joints: Indices) -> bool:
        """Return whether each of some joints has a sample since :meth:`mark_seen`."""
        updated: bool = self._all_updated(self._table, joints)
        return updated

    def mark_seen(self) -> None:
        """Mark every sample received so far as seen."""
        self._table[UPDATED] = 0.0

    def take_sample(
        self, names: Sequence[str], position: Array, velocity: Array, effort: Array,
        *, stamp: float, clock: float, received: float, machine: float | None = None,
    ) -> Reason | None:
        """
        Accept a sample, or return why it is rejected as a whole; arrays are contiguous.

        :param names: the k joints of the sample; pass the same tuple object each time for speed
        :param position: shape (k,), rad or m
        :param velocity: shape (k,), rad/s or m/s, or (0,) for no velocities
        :param effort: shape (k,), unit of the driver, or (0,) for no efforts; NaN where a joint
            has none
        :param machine: with simulated time, the machine's monotonic time of receipt, s
        """
        layout = self._layouts.of(names)
        if not layout.in_robot.size:
            return None
        if self._derived is not None and _all_nan(velocity, layout):
            velocity = velocity[:0]
        reason = self._check(layout, position, velocity, effort, stamp, clock, received, machine)
        if reason is not None:
            self.reject(reason)
            return reason
        joints = layout.in_robot
        derived = None if velocity.size else self._derived
        if derived is not None:
            velocity = np.zeros(len(layout.names))  # zero for joints of other robots
            velocity[layout.in_message] = derived.differentiate(
                joints, position[layout.in_message], self.velocity[joints], received
            )
        self._store_sample(
            self._table, self._effort_scale, layout.in_message, joints, position, velocity,
            effort, received, derived is not None,
        )
        if stamp:
            self._stamps.accept(layout.numbers, stamp, received)
        if machine is not None:
            self._machine_times[joints] = machine
        return None

    def reject(self, reason: Reason) -> None:
        """Count a rejected sample."""
        self.rejections = self.rejections + Counter((reason,))

    def _check(
        self, layout: JointLayout, position: Array, velocity: Array, effort: Array, stamp: float,
        clock: float, received: float, machine: float | None,
    ) -> Reason | None:
        """Return why a sample is rejected, None if it is valid."""
        k, jumps, joints = len(layout.names), self._jumps, layout.in_robot
        if layout.duplicate:
            return Reason.DUPLICATE_JOINT
        if position.size != k or velocity.size not in (0, k) or effort.size not in (0, k):
            return Reason.WRONG_SIZE
        if velocity.size == 0 and self._derived is None:
            return Reason.NO_VELOCITY
        verdict = self._judge_sample(
            self._table, layout.in_message, joints, position, velocity, jumps.velocity_limits,
            jumps.speeds, jumps.allowances, received,
        )
        if verdict == NOT_FINITE:
            return Reason.NOT_FINITE
        if stamp:
            reason = self._stamps.check(layout.numbers, stamp, clock, received)
            if reason is not None:
                return reason
        if verdict == TOO_FAST:
            return Reason.VELOCITY_TOO_HIGH
        # The table's check is fast but may find too many jumps: check those again, and all samples
        # after a rejection.
        if verdict == FAR or jumps.any_rejected:
            elapsed = self._elapsed(layout, stamp, received, machine)
            q, valid = position[layout.in_message], self.position[joints]
            if jumps.check(joints, q, valid, self.velocity[joints], elapsed):
                return Reason.POSITION_JUMP
        return None

    def _elapsed(
        self, layout: JointLayout, stamp: float, received: float, machine: float | None
    ) -> Array:
        """
        Return the time since each joint's last valid sample, s, shape (k,).

        The time between receipts is too short if the earlier sample was delayed, or if one tick
        takes both samples. So the result is the longest of three times: between the receipts,
        between the stamps, and the usual interval. A wrong stamp adds at most ``MAX_DELAY``. In
        simulated time, joints keep moving while ``/clock`` is delayed: the machine's time between
        the receipts then counts too.
        """
        joints, table = layout.in_robot, self._table
        by_stamps = stamp - np.array(self._stamps.newest(layout.numbers)) if stamp else 0.0
        by_joint = np.maximum(received - table[RECEIVED, joints], table[INTERVAL, joints])
        if machine is not None:
            by_joint = np.maximum(by_joint, machine - self._machine_times[joints])
        longest: Array = np.maximum(by_joint, np.minimum(by_stamps, by_joint + MAX_DELAY))
        return longest


def _all_nan(velocity: Array, layout: JointLayout) -> bool:
    """Return whether the velocities of all the robot's joints in a sample are NaN."""
    complete = velocity.size == len(layout.names)
    return complete and bool(np.isnan(velocity[layout.in_message]).all())


class DerivedVelocity:
    """Differentiates positions, with a low-pass filter of first order and a cutoff in Hz."""

    def __init__(self, continuous: NDArray[np.bool_], cutoff: float) -> None:
        self._continuous = continuous
        self._time_constant = 1.0 / (2.0 * math.pi * cutoff)
        self._position = np.zeros(continuous.size)
        self._time = np.full(continuous.size, -math.inf)

    def differentiate(self, joints: Indices, q: Array, velocity: Array, received: float) -> Array:
        """
        Return new velocities, shape (k,), rad/s or m/s; zero for the first sample.

        :param joints: indices of the sample's joints, shape (k,)
        :param q: their positions, shape (k,), rad or m
        :param velocity: their last velocities, shape (k,), rad/s or m/s
        """
        dt = received - self._time[joints]
        # Samples of one tick have the same time: the next quotient spans both.
        later = dt > 0.0
        if not later.any():
            return velocity
        dt = np.where(later, dt, math.inf)
        difference = shortest(q - self._position[joints], self._continuous[joints])
        gain = 1.0 / (1.0 + self._time_constant / dt)
        filtered = velocity + gain * (difference / dt - velocity)
        self._position[joints] = np.where(later, q, self._position[joints])
        self._time[joints] = np.where(later, received, self._time[joints])
        return np.where(later, filtered, velocity)
