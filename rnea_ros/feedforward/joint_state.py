# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The measured joint state: samples checked and merged by joint name, ages by time of receipt.

A sample is refused whole, with a reason that is counted, or taken whole. Several publishers may
each send some of the joints. Times of receipt are monotonic; stamps only tell the order of
samples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .reasons import Reason

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]

MAX_FUTURE = 0.010
"""How far a stamp may lie ahead of the clock, s."""

SMOOTHING = 0.05
"""Weight of the newest interval between samples in the usual one."""


@dataclass
class _Source:
    """Messages that list the same joints in the same order."""

    names: list[str]
    in_message: Indices
    in_robot: Indices
    joints: frozenset[int]
    duplicate: bool
    stamp: float = -math.inf
    received: float = -math.inf
    interval: float = 0.0
    changed: float = -math.inf
    values: Array = field(default_factory=lambda: np.empty(0))


class JointStateMonitor:
    """
    Holds the newest valid position, velocity and effort of every joint.

    :param joint_names: the robot's joints; others in a message are ignored
    :param differentiate_velocity: derive velocities from positions where a message has none
    :param cutoff: of the low-pass filter on derived velocities, Hz
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        *,
        differentiate_velocity: bool = False,
        cutoff: float = 20.0,
    ) -> None:
        n = len(joint_names)
        self._numbers = {name: number for number, name in enumerate(joint_names)}
        self._names = tuple(joint_names)
        self._differentiate = differentiate_velocity
        self._time_constant = 1.0 / (2.0 * math.pi * cutoff)
        self._sources: dict[tuple[str, ...], _Source] = {}
        self._last: _Source | None = None
        self._received = np.full(n, -math.inf)
        self.position = np.zeros(n)
        self.velocity = np.zeros(n)
        self.effort = np.full(n, math.nan)
        self.rejections: Counter[Reason] = Counter()

    def missing(self) -> tuple[str, ...]:
        """Return the joints of which no valid sample has come yet."""
        return tuple(
            name
            for name, received in zip(self._names, self._received, strict=True)
            if received == -math.inf
        )

    def age(self, now: float) -> float:
        """
        Return how long ago the oldest joint's newest sample came, s; infinite before the first.

        :param now: monotonic time, s
        """
        return now - float(self._received.min()) if self._names else 0.0

    def interval(self) -> float:
        """Return the usual time between samples of the slowest source, s; 0 before two came."""
        return max((source.interval for source in self._sources.values()), default=0.0)

    def frozen_for(self, joints: Iterable[int]) -> float:
        """
        Return for how long samples have come whose values never changed, s.

        :param joints: numbers of the joints that count
        """
        return max(
            (
                source.received - source.changed
                for source in self._sources.values()
                if not source.joints.isdisjoint(joints)
            ),
            default=0.0,
        )

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
    ) -> Reason | None:
        """
        Take a sample, or refuse it whole.

        :param names: joints of the sample, k of them
        :param position: shape (k,), rad or m
        :param velocity: shape (k,), rad/s or m/s, or (0,) where the sample has none
        :param effort: shape (k,), N m or N, or (0,); NaN where a joint has none
        :param stamp: the sample's own time, s; 0 where it has none, then its order is not checked
        :param clock: the clock that stamps are given in, s
        :param received: monotonic time of receipt, s
        :return: why it was refused, None where it was taken
        """
        source = self._source(names)
        if not source.in_robot.size:
            return None
        reason = self._refusal(source, position, velocity, effort, stamp, clock)
        if reason is not None:
            self.rejections[reason] += 1
            return reason
        self._take(source, position, velocity, effort, received)
        source.stamp = stamp or source.stamp
        return None

    def _source(self, names: Sequence[str]) -> _Source:
        if self._last is not None and self._last.names == names:
            return self._last
        key = tuple(names)
        if key not in self._sources:
            used = [k for k, name in enumerate(key) if name in self._numbers]
            in_robot = [self._numbers[key[k]] for k in used]
            self._sources[key] = _Source(
                list(key),
                np.array(used, dtype=np.intp),
                np.array(in_robot, dtype=np.intp),
                frozenset(in_robot),
                duplicate=len(set(key)) < len(key),
            )
        self._last = self._sources[key]
        return self._last

    def _refusal(
        self,
        source: _Source,
        position: Array,
        velocity: Array,
        effort: Array,
        stamp: float,
        clock: float,
    ) -> Reason | None:
        k = len(source.names)
        if source.duplicate:
            return Reason.DUPLICATE_JOINT
        if position.size != k or velocity.size not in (0, k) or effort.size not in (0, k):
            return Reason.WRONG_SIZE
        if velocity.size == 0 and not self._differentiate:
            return Reason.NO_VELOCITY
        if stamp and stamp > clock + MAX_FUTURE:
            return Reason.STAMP_IN_FUTURE
        if stamp and stamp <= source.stamp:
            return Reason.STAMP_NOT_NEWER
        used = source.in_message
        if not np.isfinite(position[used]).all():
            return Reason.NOT_FINITE
        if velocity.size and not np.isfinite(velocity[used]).all():
            return Reason.NOT_FINITE
        return None

    def _take(
        self,
        source: _Source,
        position: Array,
        velocity: Array,
        effort: Array,
        received: float,
    ) -> None:
        used, joints = source.in_message, source.in_robot
        q = position[used]
        qd = velocity[used] if velocity.size else self._derived(source, q, received)
        values = np.concatenate((q, qd))
        if not np.array_equal(values, source.values):
            source.changed = received
        source.values = values
        if math.isfinite(source.received):
            newest = received - source.received
            source.interval += (newest - source.interval) * (SMOOTHING if source.interval else 1.0)
        source.received = received
        self.position[joints] = q
        self.velocity[joints] = qd
        self.effort[joints] = effort[used] if effort.size else math.nan
        self._received[joints] = received

    def _derived(self, source: _Source, q: Array, received: float) -> Array:
        """Return filtered difference quotients; zero for the first sample."""
        joints = source.in_robot
        dt = received - source.received
        if not 0.0 < dt < math.inf:
            return np.zeros(joints.size)
        quotient = (q - self.position[joints]) / dt
        share = dt / (dt + self._time_constant)
        return self.velocity[joints] + share * (quotient - self.velocity[joints])
