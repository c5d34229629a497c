# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The measured joint state: samples checked and merged by joint name, ages by time of receipt.

A sample is refused whole, with a reason that is counted, or taken whole. Several publishers may
each send some of the joints. Times of receipt are monotonic; stamps tell the order of samples, and
how much time a motion took.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, Indices
from ..reasons import Reason
from ..stamps import StampOrder
from .joint_table import FAR, NOT_FINITE, JointTable
from .position_jumps import PositionJumps, shortest

MAX_DELAY = 0.1
"""A sample may have been under way for so much longer than the next one, s."""

MAX_LAYOUTS = 100
"""So many different lists of joints are remembered; a publisher has one."""


@dataclass(frozen=True)
class _Layout:
    """Where the robot's joints stand in messages that list the same joints in the same order."""

    names: tuple[str, ...]
    in_message: Indices
    in_robot: Indices
    numbers: list[int]
    duplicate: bool


class JointStateMonitor:
    """
    Holds the newest valid position, velocity and effort of every joint.

    :param joint_names: the robot's joints; others in a message are ignored
    :param jumps: tells positions that cannot be; without it they are not judged
    :param continuous: which joints turn without end, shape (n,); without it none does
    :param differentiate_velocity: derive velocities from positions where a message has none, or
        NaN for every joint, which is what ros2_control's joint_state_broadcaster sends then
    :param cutoff: of the low-pass filter on derived velocities, Hz
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        *,
        jumps: PositionJumps | None = None,
        continuous: NDArray[np.bool_] | None = None,
        differentiate_velocity: bool = False,
        cutoff: float = 20.0,
    ) -> None:
        n = len(joint_names)
        self._numbers = {name: number for number, name in enumerate(joint_names)}
        self._names = tuple(joint_names)
        self._jumps = jumps or PositionJumps.unjudged(n)
        self._continuous = np.zeros(n, dtype=bool) if continuous is None else continuous
        self._differentiate = differentiate_velocity
        self._time_constant = 1.0 / (2.0 * math.pi * cutoff)
        self._layouts: dict[tuple[str, ...], _Layout] = {}
        self._last: _Layout | None = None
        self._stamps = StampOrder(n)
        self._table = JointTable(n)
        self._all = np.arange(n)
        self._taken_at = np.full(n, -math.inf)
        self._derived_from = np.zeros(n)
        self._derived_at = np.full(n, -math.inf)
        self.position = self._table.position
        self.velocity = self._table.velocity
        self.effort = self._table.effort
        self.rejections: Counter[Reason] = Counter()

    def missing(self) -> tuple[str, ...]:
        """Return the joints of which no valid sample has come yet."""
        return tuple(
            name
            for name, received in zip(self._names, self._table.received, strict=True)
            if received == -math.inf
        )

    @property
    def clock_steps(self) -> int:
        """How often a publisher's clock was found to have been set."""
        return self._stamps.steps

    def age(self, now: float, joints: Indices | None = None) -> float:
        """
        Return how long ago the oldest joint's newest sample came, s; infinite before the first.

        :param now: monotonic time, s
        :param joints: numbers of the joints that count, all of them where it is None
        """
        joints = self._all if joints is None else joints
        return now - self._table.oldest(joints) if joints.size else 0.0

    def late(self, now: float, period: float) -> bool:
        """
        Return whether some joint is silent for longer than it usually is between two samples.

        :param now: monotonic time, s
        :param period: samples are not expected more often, s
        """
        return self._table.late(now, period)

    def frozen_for(self, joints: Indices) -> float:
        """
        Return for how long samples have come in which nothing changed, s.

        :param joints: numbers of the joints whose samples count
        """
        return self._table.frozen_for(joints)

    def all_updated(self, joints: Indices) -> bool:
        """
        Return whether each of some joints has a sample that does not count as seen.

        :param joints: their numbers
        """
        return self._table.all_updated(joints)

    def mark_seen(self) -> None:
        """Let every sample that came until now count as seen."""
        self._table.mark_seen()

    def update(
        self,
        names: Sequence[str],
        position: Array,
        velocity: Array,
        effort: Array,
        *,
        stamp: float,
        clock: float,
        received: float,
        machine: float | None = None,
    ) -> Reason | None:
        """
        Take a sample, or refuse it whole; arrays are contiguous.

        :param names: joints of the sample, k of them; one tuple for all samples costs least
        :param position: shape (k,), rad or m
        :param velocity: shape (k,), rad/s or m/s, or (0,) where the sample has none
        :param effort: shape (k,), N m or N, or (0,); NaN where a joint has none
        :param stamp: the sample's own time, s; 0 where it has none, then its order is not checked
        :param clock: the clock that stamps are given in, s
        :param received: monotonic time of receipt, s
        :param machine: where ``received`` is simulated time, the machine's monotonic time
        :return: why it was refused, None where it was taken
        """
        layout = self._layout(names)
        if not layout.in_robot.size:
            return None
        if self._differentiate and _absent(velocity, layout):
            velocity = velocity[:0]
        reason = self._refusal(
            layout, position, velocity, effort, stamp, clock, received, machine
        )
        if reason is not None:
            self.refuse(reason)
            return reason
        derived = not velocity.size
        if derived:
            velocity = self._derived(layout, position, received)
        self._table.take(
            layout.in_message, layout.in_robot, position, velocity, effort, received, derived
        )
        if stamp:
            self._stamps.accept(layout.numbers, stamp, received)
        if machine is not None:
            self._taken_at[layout.in_robot] = machine
        return None

    def refuse(self, reason: Reason) -> None:
        """Count a refusal."""
        # Replaced, not changed: another thread may be reading it.
        self.rejections = self.rejections + Counter((reason,))

    def _layout(self, names: Sequence[str]) -> _Layout:
        last = self._last
        if last is not None and last.names is names:
            return last
        key = tuple(names)
        if key not in self._layouts:
            if len(self._layouts) == MAX_LAYOUTS:
                self._layouts.clear()
            used = [k for k, name in enumerate(key) if name in self._numbers]
            numbers = [self._numbers[key[k]] for k in used]
            self._layouts[key] = _Layout(
                key,
                np.array(used, dtype=np.intp),
                np.array(numbers, dtype=np.intp),
                numbers,
                duplicate=len(set(key)) < len(key),
            )
        self._last = self._layouts[key]
        return self._last

    def _refusal(
        self,
        layout: _Layout,
        position: Array,
        velocity: Array,
        effort: Array,
        stamp: float,
        clock: float,
        received: float,
        machine: float | None,
    ) -> Reason | None:
        """Return what is wrong with a sample, by itself or after those before."""
        k, jumps = len(layout.names), self._jumps
        if layout.duplicate:
            return Reason.DUPLICATE_JOINT
        if position.size != k or velocity.size not in (0, k) or effort.size not in (0, k):
            return Reason.WRONG_SIZE
        if velocity.size == 0 and not self._differentiate:
            return Reason.NO_VELOCITY
        verdict = self._table.judge(
            layout.in_message,
            layout.in_robot,
            position,
            velocity,
            jumps.speeds,
            jumps.allowances,
            received,
        )
        if verdict == NOT_FINITE:
            return Reason.NOT_FINITE
        if stamp:
            reason = self._stamps.check(layout.numbers, stamp, clock, received)
            if reason is not None:
                return reason
        if verdict == FAR or jumps.any_refused:
            q = position[layout.in_message]
            if jumps.check(
                layout.in_robot,
                q,
                self.position[layout.in_robot],
                self.velocity[layout.in_robot],
                self._elapsed(layout, stamp, received, machine),
            ):
                return Reason.POSITION_JUMP
        return None

    def _elapsed(
        self, layout: _Layout, stamp: float, received: float, machine: float | None
    ) -> Array:
        """
        Return how much time each joint had since its valid sample, s, shape (k,).

        A sample that came late did not move late: the time that it had is told by the receipts, by
        the stamps, or by the usual interval, which two samples taken in one tick have too,
        whichever is longest. A wrong stamp cannot make it much longer. While ``/clock`` is held up
        joints go on in simulated time that is not known yet: there the machine's time counts too.
        """
        joints, table = layout.in_robot, self._table
        by_stamps = stamp - np.array(self._stamps.newest(layout.numbers)) if stamp else 0.0
        by_joint = np.maximum(received - table.received[joints], table.interval(joints))
        if machine is not None:
            by_joint = np.maximum(by_joint, machine - self._taken_at[joints])
        return np.maximum(by_joint, np.minimum(by_stamps, by_joint + MAX_DELAY))

    def _derived(self, layout: _Layout, position: Array, received: float) -> Array:
        """Return filtered difference quotients where the sample has the joints, else zero."""
        joints, q = layout.in_robot, position[layout.in_message]
        velocity = np.zeros(len(layout.names))
        velocity[layout.in_message] = self._filtered(joints, q, received)
        return velocity

    def _filtered(self, joints: Indices, q: Array, received: float) -> Array:
        """Return filtered difference quotients, shape (k,); zero for the first sample."""
        velocity = self.velocity[joints]
        dt = received - self._derived_at[joints]
        # Taken in the same tick as the one before: the next quotient spans both.
        later = dt > 0.0
        if not later.any():
            return velocity
        dt = np.where(later, dt, math.inf)
        way = shortest(q - self._derived_from[joints], self._continuous[joints])
        share = 1.0 / (1.0 + self._time_constant / dt)
        filtered = velocity + share * (way / dt - velocity)
        self._derived_from[joints] = np.where(later, q, self._derived_from[joints])
        self._derived_at[joints] = np.where(later, received, self._derived_at[joints])
        return np.where(later, filtered, velocity)


def _absent(velocity: Array, layout: _Layout) -> bool:
    """Return whether a sample has NaN for the velocity of every joint of the robot's."""
    whole = velocity.size == len(layout.names)
    return whole and bool(np.isnan(velocity[layout.in_message]).all())
