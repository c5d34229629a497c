# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The measured joint state: samples are merged by joint name, and the result is checked every tick.

Several publishers may each send some of the joints; :mod:`.joint_samples` judges each joint. The
age of a sample is the time since its receipt. Stamps give the order of samples, and the time
between two positions.

Stale joint states interrupt the control, and so does a pause between ticks as long as the same
timeout. Joint states are stale too if they repeat old values while the reference moves. A flag is
only a warning: the control continues.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
import math

import numpy as np

from ..arrays import Array, Indices
from . import joint_samples as samples
from .joint_samples import COMMANDED, ROLE, UNCOMMANDED, UNRELATED, JointBounds
from .motion import Reference
from .reasons import Reason
from .settings import ResolvedSettings
from .stamps import StampOrder

MAX_LAYOUTS = 100  # number of lists of joint names that are kept; a publisher usually has one
MIN_PERSISTENT = 3  # number of jumps in a row that count as a lasting jump

REJECTIONS = {
    samples.POSITION_NOT_FINITE: (Reason.NOT_FINITE, 'position {value} is not finite'),
    samples.VELOCITY_NOT_FINITE: (
        Reason.NOT_FINITE,
        'velocity {value} is not finite; set differentiate_velocity if the driver has no '
        'velocities',
    ),
    samples.OUT_OF_RANGE: (
        Reason.POSITION_OUT_OF_RANGE,
        'position {value:g} is beyond {bound:g}, further outside the limits of the URDF than '
        'their range; correct the unit (not degrees or mm), the zero or <limit>',
    ),
    samples.TOO_FAST: (
        Reason.VELOCITY_TOO_HIGH,
        'velocity {value:g} exceeds {bound:g}; correct <limit velocity> or raise '
        'velocity_limit_factor',
    ),
    samples.JUMP: (
        Reason.POSITION_JUMP,
        'position {value:g} is further from the last valid {position:g} than {bound:.3g}, or '
        'repeats a jump; if the joint moves so fast, raise velocity_limit_factor',
    ),
    samples.EFFORT_TOO_HIGH: (
        Reason.EFFORT_TOO_HIGH,
        'measured effort {value:g} N m or N is more than twice its limit, and counts as unknown; '
        'set effort_scale if the driver has another unit',
    ),
}
"""Reason of each verdict, and its text for the values of a joint."""


@dataclass(frozen=True)
class JointLayout:
    """Positions of the robot's joints in messages with the same list of names."""

    names: tuple[str, ...]  # all names in the message
    in_message: Indices  # indices of the robot's joints in the message, shape (k,)
    in_robot: Indices  # indices of the same joints in the robot, shape (k,)
    numbers: list[int]  # in_robot as a list
    duplicate: bool  # whether a name occurs twice


class JointLayouts:
    """Finds the layouts for a robot's joints, and keeps the newest."""

    def __init__(self, joint_names: Sequence[str]) -> None:
        self._numbers = {name: number for number, name in enumerate(joint_names)}
        self._of = lru_cache(MAX_LAYOUTS)(self._make)

    def of(self, names: Sequence[str]) -> JointLayout:
        """Return the layout for joint names; fastest for a tuple."""
        return self._of(tuple(names))

    def _make(self, names: tuple[str, ...]) -> JointLayout:
        used = [k for k, name in enumerate(names) if name in self._numbers]
        numbers = [self._numbers[names[k]] for k in used]
        return JointLayout(
            names, np.array(used, dtype=np.intp), np.array(numbers, dtype=np.intp), numbers,
            duplicate=len(set(names)) < len(names),
        )


class JointStateMonitor:
    """
    Holds the newest valid position, velocity and effort of every joint.

    :param joint_names: the robot's joints; others in a message are ignored
    :param bounds: what the joints can measure; None accepts all finite numbers
    :param differentiate_velocity: differentiate positions of commanded joints if a message has no
        velocities, or NaN for every joint (joint_state_broadcaster without velocities); missing
        velocities of other joints are always differentiated
    :param cutoff: cutoff frequency of the filter of differentiated velocities, Hz
    :ivar table: rows as in :mod:`.joint_samples`, a column per joint; the kernels write it
    :ivar position: its row, shape (n,), rad or m; NaN before the first sample, 0 for joints that
        do not count. ``velocity``: rad/s or m/s. ``effort``: N m or N, NaN if missing or too high
    :ivar uncommanded: indices of the joints that are not commanded, but change the commands
    :ivar accepted: number of accepted samples; ``rejections``: of rejected ones by reason;
        replaced, never changed, because other threads read it
    :ivar complaint: why the newest rejected sample was rejected; empty before the first
    :ivar frozen: whether the commanded joints are known to repeat old values; set by the control
    :ivar contested: whether two sources contradict each other on a commanded joint: rejected
        positions agree, and valid ones come between them; set by :class:`TickMonitor`
    :ivar several_publishers: whether several publishers are known; set by the node
    """

    def __init__(
        self, joint_names: Sequence[str], bounds: JointBounds | None = None, *,
        differentiate_velocity: bool = False, cutoff: float = 20.0,
    ) -> None:
        self._names = tuple(joint_names)
        unbounded = JointBounds.of_speeds(np.full(len(self._names), math.inf))
        self.table = samples.empty_table(bounds or unbounded)
        roles = self.table[ROLE]
        self._commanded = np.flatnonzero(roles == COMMANDED)
        self.uncommanded = np.flatnonzero(roles == UNCOMMANDED)
        self._needed = np.flatnonzero(roles != UNRELATED)
        self._differentiates = differentiate_velocity
        self._time_constant = 1.0 / (2.0 * math.pi * cutoff)
        self._layouts = JointLayouts(joint_names)
        self._stamps = StampOrder(len(self._names))
        self.position: Array = self.table[samples.POSITION]
        self.velocity: Array = self.table[samples.VELOCITY]
        self.effort: Array = self.table[samples.EFFORT]
        self.accepted = 0
        self.rejections: Counter[Reason] = Counter()
        self.complaint = ''
        self.frozen = self.contested = self.several_publishers = False
        # These calls compile the kernels before the loop starts.
        samples.check_kernel()
        self.age(0.0)

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
        return bool((self.table[samples.JUMPS, self._commanded] >= MIN_PERSISTENT).any())

    def stale_joints(self, now: float, timeout: float) -> dict[str, str]:
        """Return why the values of uncommanded joints are old, by name; empty if none are."""
        complaints = {}
        for k in self.uncommanded:
            name, joint = self._names[k], self.table[:, k].copy()
            if joint[samples.VERDICT] > samples.EFFORT_TOO_HIGH:
                complaints[name] = _fault(name, joint)
            elif samples.late(joint, now, timeout / samples.LATE_INTERVALS):
                silence = now - joint[samples.RECEIVED]
                complaints[name] = f'joint {name!r}: silent for {silence:.2f} s'
        return complaints

    def age(self, now: float, joints: Indices | None = None) -> float:
        """Return the age of the oldest newest sample of joints, or of all that count, s."""
        joints = self._needed if joints is None else joints
        return now - samples.earliest(self.table, samples.RECEIVED, joints)

    def sample_time(self, joints: Indices) -> float:
        """Return the time of the oldest joint's newest sample, s: its stamp, or its receipt."""
        stamp = samples.earliest(self.table, samples.STAMP, joints)
        if stamp == -math.inf:
            stamp = samples.earliest(self.table, samples.RECEIVED, joints)
        return stamp

    def all_updated(self, joints: Indices) -> bool:
        """Return whether each of some joints has a sample since :meth:`mark_seen`."""
        return samples.earliest(self.table, samples.UPDATED, joints) > 0.0

    def mark_seen(self) -> None:
        """Mark every sample received so far as seen."""
        self.table[samples.UPDATED] = 0.0

    def take_sample(
        self, names: Sequence[str], position: Array, velocity: Array, effort: Array,
        *, stamp: float, clock: float, received: float, machine: float | None = None,
    ) -> Reason | None:
        """
        Accept a sample of k joints, or return why it is rejected as a whole.

        Invalid values of uncommanded joints are left out; efforts that are too high are unknown.
        Arrays are contiguous, shape (k,), or (0,) for no velocities or efforts.

        :param effort: in the unit of the driver; NaN where a joint has none
        :param machine: with simulated time, the machine's monotonic time of receipt, s
        """
        layout = self._layouts.of(names)
        if not layout.in_robot.size:
            return None
        k, reason = len(layout.names), None
        if layout.duplicate:
            reason = Reason.DUPLICATE_JOINT
        elif position.size != k or velocity.size not in (0, k) or effort.size not in (0, k):
            reason = Reason.WRONG_SIZE
        elif self._differentiates == bool(velocity.size):
            # A driver without velocities may send NaN for all of them, or is an error.
            commanded = layout.in_message[self.table[ROLE, layout.in_robot] == COMMANDED]
            if commanded.size and not velocity.size:
                reason = Reason.NO_VELOCITY
            elif commanded.size and np.isnan(velocity[commanded]).all():
                velocity = velocity[:0]
        if reason is None and stamp:
            reason = self._stamps.check(layout.numbers, stamp, clock, received)
        if reason is not None:
            self.reject(reason)
            return reason
        verdict, joint = samples.judge_and_store(
            self.table, layout.in_message, layout.in_robot, position, velocity, effort, stamp,
            received, -math.inf if machine is None else machine, self._time_constant, self.frozen,
        )
        if verdict != samples.VALID:
            reason = REJECTIONS[verdict][0]
            self.reject(reason, joint)
        if verdict > samples.EFFORT_TOO_HIGH:
            return reason
        if stamp:
            self._stamps.accept(layout.numbers, stamp, received)
        self.accepted += 1
        return None

    def reject(self, reason: Reason, joint: int | None = None) -> None:
        """Count a rejected sample, and say which joint is at fault."""
        self.rejections = self.rejections + Counter((reason,))
        fault = '' if joint is None else f': {_fault(self._names[joint], self.table[:, joint])}'
        self.complaint = reason.value + fault


def _fault(name: str, joint: Array) -> str:
    """Return in words what is wrong with a joint, by its column of the table."""
    text = REJECTIONS[int(joint[samples.VERDICT])][1].format(
        value=joint[samples.VALUE], bound=joint[samples.BOUND], position=joint[samples.POSITION],
    )
    return f'joint {name!r}: {text}'


FROZEN_AFTER = 0.08
"""Unchanged joint states during a motion raise a flag after this time, s."""

NEVER = 1e9
"""A timeout that no age reaches, s, but that of a joint without any valid value, infinity."""

FLAGS = (
    Reason.JOINT_STATES_LATE, Reason.JOINT_STATES_FROZEN, Reason.UNCOMMANDED_STALE,
    Reason.REFERENCE_STALE, Reason.LIMITS_CANNOT_HOLD, Reason.ADDITIONAL_EFFORT_CUT,
)
"""The flags that :class:`TickMonitor` raises."""


class TickMonitor:
    """
    Checks joint states and ticks, once a tick.

    Each timeout trips at the nearest tick: ages are measured half a period ahead, times between
    ticks half a period short. Other joints are uncommanded ones that count.

    :ivar dt: time in which this tick may change the command: time since the last tick, at most a
        period, s
    :ivar elapsed: time since the last tick, s
    :ivar blocked: whether that exceeds the timeout of the joint states: even if joint states are
        new, the old command was in force for too long
    :ivar stale: whether joint states are too old, missing, repeated, or of two sources
    :ivar thawed: whether old positions have changed in this tick
    :ivar unchanged_for: longest time for which a commanded joint's samples have repeated, s
    :ivar flags: raised flags; ``flag_counts``: number of times that each was raised; replaced,
        never changed, because other threads read them
    """

    def __init__(
        self, states: JointStateMonitor, reference: Reference, settings: ResolvedSettings
    ) -> None:
        self._states, self._reference, self._settings = states, reference, settings
        self._period, self._timeout = settings.period, settings.joint_states_timeout
        self._timeout_of_others = settings.uncommanded_timeout or NEVER
        self._last_tick = self._frozen_at = math.inf
        self._last_rest = 0.0
        # Repeating: the commanded joints repeat old values although the reference moves; ends with
        # newer values, at rest also with newer efforts. Old: ends with newer positions only; the
        # tick of that is ``thawed``.
        self._repeating = self._old = self.thawed = False
        self.dt, self.elapsed, self.blocked, self.stale = self._period, 0.0, False, True
        self._newest_change, self._way = -math.inf, 0.0  # of the law's own target since then
        self._conditions = (False,) * len(FLAGS)
        self.flags: frozenset[Reason] = frozenset()
        self.flag_counts: Counter[Reason] = Counter()
        self._check_states(0.0, follows=False)  # compiles the kernel before the loop starts

    def check(self, now: float, *, follows: bool, target_speed: float = 0.0) -> None:
        """
        Check tick and joint states.

        :param follows: whether joints are to follow the reference
        :param target_speed: of a target of the law itself, m/s or rad/s
        """
        self.elapsed, self._last_tick = now - self._last_tick, now
        self.blocked = self.exceeds_timeout(self.elapsed)
        # The first tick, and a tick after simulated time was set back, count as a whole period.
        self.dt = min(self.elapsed, self._period) if self.elapsed >= 0.0 else self._period
        self._check_states(now, follows=follows)
        if target_speed > 0.0:
            self._compare_with_target(now, target_speed)
        half_period_ahead = now + 0.5 * self._period
        self.stale = (
            self._repeating
            or half_period_ahead - self._received > self._timeout
            or half_period_ahead - self._others_received > self._timeout_of_others
            or self._states.contested
        )

    def _check_states(self, now: float, *, follows: bool) -> None:
        """Check the measured state, and whether it repeats old values."""
        states, settings = self._states, self._settings
        (
            self._received, self._others_received, self._late, self._others_late,
            states.contested, self.unchanged_for, changed, alive, growing_since,
        ) = samples.check_states(
            states.table, settings.joint_indices, states.uncommanded, self._reference.position,
            now, self._period, self._timeout, states.several_publishers, follows,
        )
        self._frozen_at = min(self._frozen_at, now)  # simulated time can be set back
        self.thawed = self._old and changed > self._frozen_at
        self._old = self._old and not self.thawed
        if self._repeating:
            self._repeating = alive <= self._frozen_at
        elif now - growing_since > self._timeout - 0.5 * self._period:
            self._repeating = self._old = True
            self._frozen_at = now

    def _compare_with_target(self, now: float, speed: float) -> None:
        """Find old values: no joint changes while the law's target moves on."""
        changes = self._states.table[samples.CHANGED_OR_EFFORT, self._settings.joint_indices]
        newest = float(changes.max())
        if newest != self._newest_change:
            self._newest_change, self._way = newest, 0.0
        self._way += speed * self.dt
        if self._way > samples.MAX_GROWTH:
            self._repeating = self._old = True
            self._frozen_at = now

    def overdue(self, now: float) -> tuple[Reason, float, float]:
        """Return why joint states are stale, for how long, and the timeout, s."""
        commanded = now - self._received
        if self.exceeds_timeout(commanded + self._period):
            return Reason.JOINT_STATES_STALE, commanded, self._timeout
        if self._repeating:
            return Reason.JOINT_STATES_FROZEN, self.unchanged_for, self._timeout
        others = now - self._others_received
        return Reason.JOINT_STATES_STALE, others, self._timeout_of_others

    def exceeds_timeout(self, duration: float) -> bool:
        """Return whether a duration exceeds the joint states' timeout by half a period."""
        return duration - 0.5 * self._period > self._timeout

    def set_flags(self, now: float, *, overloaded: bool, cut: bool) -> None:
        """Raise and clear flags; ``overloaded``: effort limits are below the holding effort."""
        if not self._reference.moving:
            self._last_rest = now
        in_motion = now - self._last_rest > FROZEN_AFTER
        repeats = self._repeating or (in_motion and self.unchanged_for > FROZEN_AFTER)
        self._states.frozen = repeats or self._old
        stale = self._reference.stale
        conditions = (self._late, repeats, self._others_late, stale, overloaded, cut)
        if conditions == self._conditions:
            return
        self._conditions = conditions
        flags = frozenset([flag for flag, holds in zip(FLAGS, conditions, strict=True) if holds])
        if flags - self.flags:
            self.flag_counts = self.flag_counts + Counter(flags - self.flags)
        self.flags = flags
