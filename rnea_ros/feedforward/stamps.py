# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The order of stamped samples, also after a step of the clock that gives the stamps.

A stamp must be newer than the last one, and not in the future; otherwise it is rejected. But if
several stamps in a row are off by the same amount, and advance as time does, then the clock was
set, and the new stamps are valid. Time is monotonic time. The node's wall clock is read only for
the first sample: setting it later has no effect.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
import math

from .reasons import Reason

MAX_FUTURE = 0.010  # permitted lead of a stamp over the clock, s
SAME_SHIFT = 0.010  # largest difference between stamps' offsets to their receipts in one step, s
CONFIRMED_BY = 3  # number of samples in a row that confirm a step of the clock
SINGLE = (0,)  # index for a StampOrder of a single source


@dataclass
class _Joint:
    """The stamps of one joint, s."""

    newest: float = -math.inf  # accepted stamp
    offset: float = math.nan  # of the stamps' clock to monotonic time
    suspects: int = 0  # number of stamps in a row that were off by the same amount
    suspect: float = 0.0  # the newest of them
    shift: float = 0.0  # the first one's offset to its receipt
    since: float = 0.0  # that receipt


class StampOrder:
    """
    Checks stamps joint by joint: several publishers may send a joint, each may have its own clock.

    :ivar steps: number of detected steps of a clock
    """

    def __init__(self, n: int) -> None:
        self._joints = [_Joint() for _ in range(n)]
        self._newest = -math.inf
        self._least_offset = math.nan
        self._stepping = False
        self.steps = 0

    def newest(self, numbers: Sequence[int]) -> list[float]:
        """Return the newest accepted stamp of each of some joints, s; -inf before the first."""
        return [self._joints[number].newest for number in numbers]

    def check(
        self, numbers: Sequence[int], stamp: float, clock: float, received: float
    ) -> Reason | None:
        """Return why a stamp of a sample of some joints is rejected, None if it is valid."""
        self._stepping = False
        if self._newest < stamp <= received + self._least_offset + MAX_FUTURE:
            return None  # valid for any joint
        if math.isnan(self._least_offset):
            self._least_offset = clock - received
            for joint in self._joints:
                joint.offset = self._least_offset
        joints = [self._joints[number] for number in numbers]
        if stamp <= max(self.newest(numbers)):
            reason = Reason.STAMP_NOT_NEWER
        elif not stamp - received <= min([joint.offset for joint in joints]) + MAX_FUTURE:
            reason = Reason.STAMP_IN_FUTURE  # negated: the stamp may be NaN
        else:
            return None
        self._stepping = self._is_step(joints, stamp, received)
        return None if self._stepping else reason

    def accept(self, numbers: Sequence[int], stamp: float, received: float) -> None:
        """Accept the stamp of a sample of some joints, after :meth:`check`."""
        self._newest = max(self._newest, stamp)
        for number in numbers:
            joint = self._joints[number]
            joint.newest, joint.suspects = stamp, 0
            if self._stepping:
                joint.offset = stamp - received
        if self._stepping:
            self.steps += 1
            self._newest = max([joint.newest for joint in self._joints])
            self._least_offset = min([joint.offset for joint in self._joints])

    @staticmethod
    def _is_step(joints: Sequence[_Joint], stamp: float, received: float) -> bool:
        """Count a stamp that is off; return whether enough stamps confirm a step of the clock."""
        shift = stamp - received
        same = all(
            joint.suspects and stamp > joint.suspect and abs(shift - joint.shift) <= SAME_SHIFT
            for joint in joints
        )
        for joint in joints:
            joint.suspect = stamp
            joint.suspects += 1
            if not same:
                joint.suspects, joint.shift, joint.since = 1, shift, received
        # A burst of old samples advances too, but is received at one time.
        return all(joint.suspects >= CONFIRMED_BY and received > joint.since for joint in joints)


class SampleMonitor:
    """
    Stamps, age and counts of rejections of the messages of one source.

    :ivar rejections: number of rejected messages by reason; replaced, never changed, because
        other threads read it
    """

    def __init__(self) -> None:
        self._stamps = StampOrder(1)
        self._received = -math.inf
        self.rejections: Counter[Reason] = Counter()

    def age(self, now: float) -> float:
        """Return the age of the newest valid message, s; infinite before the first."""
        return now - self._received

    def reject(self, reason: Reason) -> None:
        """Count a rejected message."""
        self.rejections = self.rejections + Counter((reason,))

    def _register(
        self, reason: Reason | None, stamp: float, clock: float, received: float
    ) -> Reason | None:
        """Accept a message unless there is a reason, or its stamp gives one; return it."""
        if reason is None and stamp:
            reason = self._stamps.check(SINGLE, stamp, clock, received)
        if reason is not None:
            self.reject(reason)
            return reason
        if stamp:
            self._stamps.accept(SINGLE, stamp, received)
        self._received = received
        return None
