# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The measured joint state: checks samples, merges them by joint name, and measures their age.

:mod:`.joint_samples` judges each joint of a sample; rejections are counted by reason. Several
publishers may each send some of the joints. The age of a sample is the time since its receipt.
Stamps are used for the order of samples and for the time between two positions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
import math

import numpy as np

from ...arrays import Array, Indices
from ...compilation import entry_point
from ..reasons import Reason
from ..stamps import StampOrder
from . import joint_samples as samples
from .joint_bounds import COMMANDED, ROLE, UNCOMMANDED, UNRELATED, JointBounds
from .joint_layouts import JointLayout, JointLayouts

REASONS = {
    samples.POSITION_NOT_FINITE: Reason.NOT_FINITE,
    samples.VELOCITY_NOT_FINITE: Reason.NOT_FINITE,
    samples.OUT_OF_RANGE: Reason.POSITION_OUT_OF_RANGE,
    samples.TOO_FAST: Reason.VELOCITY_TOO_HIGH,
    samples.JUMP: Reason.POSITION_JUMP,
}

COMPLAINTS = {
    samples.POSITION_NOT_FINITE: 'position {value} is not finite',
    samples.VELOCITY_NOT_FINITE: (
        'velocity {value} is not finite; set differentiate_velocity if the driver has no '
        'velocities'
    ),
    samples.OUT_OF_RANGE: (
        'position {value:g} is beyond {bound:g}, further outside the limits of the URDF than '
        'their range; correct the unit (not degrees or mm), the zero or <limit>'
    ),
    samples.TOO_FAST: (
        'velocity {value:g} exceeds {bound:g}; correct <limit velocity> or raise '
        'velocity_limit_factor'
    ),
    samples.JUMP: (
        'position {value:g} is further from the last valid {position:g} than {bound:.3g}, or '
        'repeats a jump; if the joint moves so fast, raise velocity_limit_factor'
    ),
    samples.VALID: (
        'measured effort {effort:g} N m or N is more than twice its limit, and counts as unknown; '
        'set effort_scale if the driver has another unit'
    ),
}
"""Texts of the verdicts, for the values of a joint; a valid sample may have a wild effort."""

MIN_PERSISTENT = 3
"""Number of jumps in a row that count as a lasting jump."""

MAX_CONTEST_SHARE = 0.3
"""Share of contested samples above which joint states have two sources."""

MAX_CONTESTS = 3.0
"""Number of contested samples above which several known publishers contradict each other."""


class JointStateMonitor:
    """
    Holds the newest valid position, velocity and effort of every joint.

    :param joint_names: the robot's joints; others in a message are ignored
    :param bounds: what the joints can measure; None accepts all finite numbers
    :param differentiate_velocity: differentiate positions of commanded joints if a message has no
        velocities, or NaN for every joint (joint_state_broadcaster without velocities); missing
        velocities of other joints are always differentiated
    :param cutoff: cutoff frequency of the filter of differentiated velocities, Hz
    :ivar position: shape (n,), rad or m; NaN before the first sample, 0 for joints that do not
        count; this and the next two are rows of a table, which the kernel writes
    :ivar velocity: shape (n,), rad/s or m/s
    :ivar effort: shape (n,), N m or N; NaN if missing or above its limit
    :ivar table: that table; rows as in :mod:`.joint_samples`
    :ivar bounds: as given
    :ivar accepted: number of accepted samples
    :ivar rejections: number of rejected samples by reason; replaced, never changed, because
        other threads read it
    :ivar frozen: whether the commanded joints are known to repeat old values; set by the control
    :ivar several_publishers: whether several publishers are known; set by the node
    """

    def __init__(
        self, joint_names: Sequence[str], bounds: JointBounds | None = None, *,
        differentiate_velocity: bool = False, cutoff: float = 20.0,
    ) -> None:
        n = len(joint_names)
        self._names = tuple(joint_names)
        self.bounds = bounds = bounds or JointBounds.none(n)
        roles = bounds.table[ROLE]
        self._commanded = np.flatnonzero(roles == COMMANDED)
        self._uncommanded = np.flatnonzero(roles == UNCOMMANDED)
        self._needed = np.flatnonzero(roles != UNRELATED)
        self._differentiates = differentiate_velocity
        self._time_constant = 1.0 / (2.0 * math.pi * cutoff)
        self._layouts = JointLayouts(joint_names)
        self._stamps = StampOrder(n)
        self.table = table = samples.empty_table(bounds)
        self._complaint: Callable[[], str] = str
        self.position: Array = table[samples.POSITION]
        self.velocity: Array = table[samples.VELOCITY]
        self.effort: Array = table[samples.EFFORT]
        self.accepted = 0
        self.rejections: Counter[Reason] = Counter()
        self.frozen = self.several_publishers = False
        none, empty = np.zeros(0, dtype=np.intp), np.zeros(0)
        sample = (none, none, empty, empty, empty, 0.0, 0.0, 0.0, self._time_constant, False)
        # Kernels without numba's dispatcher, which would add 0.13 us or more to each call.
        self._judge_and_store = entry_point(
            samples.judge_and_store, (table, self.bounds.table, *sample)
        )
        samples.check_kernel(self._judge_and_store, self._time_constant)
        self._oldest = entry_point(samples.oldest, (table, 0, none))
        self._greatest = entry_point(samples.greatest, (table, 0, none))
        self._any_late = entry_point(samples.any_late, (table, none, 0.0, 0.0))

    @property
    def uncommanded(self) -> Indices:
        """Indices of the joints that are not commanded, but change the commands."""
        return self._uncommanded

    def missing(self) -> tuple[str, ...]:
        """Return the joints without a valid sample."""
        received = self.table[samples.RECEIVED]
        return tuple([self._names[k] for k in self._needed if received[k] == -math.inf])

    @property
    def clock_steps(self) -> int:
        """Number of detected steps of publishers' clocks."""
        return self._stamps.steps

    @property
    def jumped(self) -> bool:
        """Whether at least 3 positions in a row of a commanded joint were jumps."""
        jumps: float = self._greatest(self.table, samples.JUMPS, self._commanded)
        return jumps >= MIN_PERSISTENT

    @property
    def contested(self) -> bool:
        """
        Whether two sources contradict each other on a commanded joint.

        Rejected positions agree with each other, and valid ones come between them.
        """
        limit, row = MAX_CONTEST_SHARE, samples.CONTEST_SHARE
        if self.several_publishers:
            limit, row = MAX_CONTESTS, samples.CONTEST_COUNT
        value: float = self._greatest(self.table, row, self._commanded)
        return value > limit

    @property
    def complaint(self) -> str:
        """Why the newest rejected sample was rejected, in words; empty before the first."""
        return self._complaint()

    def stale_joints(self, now: float, timeout: float) -> dict[str, str]:
        """Return why the values of uncommanded joints are old, by name; empty if none are."""
        complaints = {}
        for joint in self._uncommanded:
            if self._late(np.array([joint]), now, timeout):
                name, column = self._names[joint], self.table[:, joint].copy()
                rejected = column[samples.VERDICT] != samples.VALID
                silent = f'joint {name!r}: silent for {now - column[samples.RECEIVED]:.2f} s'
                complaints[name] = _complaint(name, column) if rejected else silent
        return complaints

    def age(self, now: float, joints: Indices | None = None) -> float:
        """
        Return the age of the oldest joint's newest sample, s; infinite before the first.

        :param joints: indices of joints; None for all that the commands depend on
        """
        joints = self._needed if joints is None else joints
        return now - self._oldest(self.table, samples.RECEIVED, joints) if joints.size else 0.0

    def sample_time(self, joints: Indices) -> float:
        """Return the time of the oldest joint's newest sample, s: its stamp, or its receipt."""
        stamp: float = self._oldest(self.table, samples.STAMP, joints)
        if stamp == -math.inf:
            stamp = self._oldest(self.table, samples.RECEIVED, joints)
        return stamp

    def late(self, now: float, period: float) -> bool:
        """Return whether a commanded joint's next sample is late: 2 usual intervals or periods."""
        late: bool = self._any_late(self.table, self._commanded, now, period)
        return late

    def others_late(self, now: float, timeout: float) -> bool:
        """Return whether an uncommanded joint's value is rejected, or late and older than this."""
        return self._late(self._uncommanded, now, timeout)

    def _late(self, joints: Indices, now: float, timeout: float) -> bool:
        rejected = self._greatest(self.table, samples.VERDICT, joints) > samples.VALID
        least = timeout / samples.LATE_INTERVALS
        return rejected or bool(self._any_late(self.table, joints, now, least))

    def frozen_for(self, joints: Indices) -> float:
        """Return the longest time for which a joint's samples have repeated the same values, s."""
        repeated = self.table[samples.RECEIVED, joints] - self.table[samples.CHANGED, joints]
        return float(repeated.max(initial=0.0))

    def changed_since(self, time: float) -> bool:
        """Return whether the commanded joints' sources have newer values than at a time, s."""
        changed: float = self._oldest(self.table, samples.CHANGED, self._commanded)
        return changed > time

    def alive_since(self, time: float) -> bool:
        """As :meth:`changed_since`; of joints at rest, newer efforts are enough."""
        if np.abs(self.velocity[self._commanded]).max() > samples.MIN_MOVING_SPEED:
            return self.changed_since(time)
        alive: float = self._oldest(self.table, samples.CHANGED_OR_EFFORT, self._commanded)
        return alive > time

    def all_updated(self, joints: Indices) -> bool:
        """Return whether each of some joints has a sample since :meth:`mark_seen`."""
        updated: float = self._oldest(self.table, samples.UPDATED, joints)
        return updated > 0.0

    def mark_seen(self) -> None:
        """Mark every sample received so far as seen."""
        self.table[samples.UPDATED] = 0.0

    def take_sample(
        self, names: Sequence[str], position: Array, velocity: Array, effort: Array,
        *, stamp: float, clock: float, received: float, machine: float | None = None,
    ) -> Reason | None:
        """
        Accept a sample, or return why it is rejected as a whole; arrays are contiguous.

        Invalid values of uncommanded joints are left out. An effort that the joint cannot have is
        unknown, and counted.

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
        if self._differentiates and velocity.size and self._all_nan(velocity, layout):
            velocity = velocity[:0]
        reason = self._check(layout, position, velocity, effort)
        if reason is None and stamp:
            reason = self._stamps.check(layout.numbers, stamp, clock, received)
        if reason is not None:
            self.reject(reason)
            return reason
        at_fault: int = self._judge_and_store(
            self.table, self.bounds.table, layout.in_message, layout.in_robot, position, velocity,
            effort, stamp, received, -math.inf if machine is None else machine,
            self._time_constant, self.frozen,
        )
        if at_fault >= 0:
            reason = REASONS[int(self.table[samples.VERDICT, at_fault])]
            self.reject(reason, at_fault)
            return reason
        if at_fault == samples.EFFORT_TOO_HIGH:
            joint = int(np.nanargmax(np.abs(self.table[samples.EXCESSIVE_EFFORT])))
            self.reject(Reason.EFFORT_TOO_HIGH, joint)
        if stamp:
            self._stamps.accept(layout.numbers, stamp, received)
        self.accepted += 1
        return None

    def reject(self, reason: Reason, joint: int | None = None) -> None:
        """Count a rejected sample, and keep the values of a joint at fault."""
        self.rejections = self.rejections + Counter((reason,))
        if joint is None:
            self._complaint = lambda: reason.value
        else:
            name, column = self._names[joint], self.table[:, joint].copy()
            self._complaint = lambda: f'{reason.value}: {_complaint(name, column)}'

    def _check(
        self, layout: JointLayout, position: Array, velocity: Array, effort: Array
    ) -> Reason | None:
        """Return why a sample is rejected whatever its values are, None if it is not."""
        k = len(layout.names)
        if layout.duplicate:
            return Reason.DUPLICATE_JOINT
        if position.size != k or velocity.size not in (0, k) or effort.size not in (0, k):
            return Reason.WRONG_SIZE
        needs_velocity = velocity.size == 0 and not self._differentiates
        if needs_velocity and (self.bounds.table[ROLE, layout.in_robot] == COMMANDED).any():
            return Reason.NO_VELOCITY
        return None

    def _all_nan(self, velocity: Array, layout: JointLayout) -> bool:
        """Return whether the velocities of all commanded joints in a sample are NaN."""
        commanded = self.bounds.table[ROLE, layout.in_robot] == COMMANDED
        if velocity.size != len(layout.names) or not commanded.any():
            return False
        return bool(np.isnan(velocity[layout.in_message[commanded]]).all())


def _complaint(name: str, column: Array) -> str:
    """Return in words what is wrong with a joint, by its column of the table."""
    text = COMPLAINTS[int(column[samples.VERDICT])].format(
        value=column[samples.VALUE], bound=column[samples.BOUND],
        position=column[samples.POSITION], effort=column[samples.EXCESSIVE_EFFORT],
    )
    return f'joint {name!r}: {text}'
