# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The order of stamped samples, through clocks that are set back or forward.

A stamp must be newer than those before, and not ahead of time. One that is neither is refused; but
when several in a row are off by the same amount and otherwise advance as time does, then it was
the clock that was set, and they count from there on. Time is monotonic time: the node's own wall
clock is looked at only for the first sample, so that setting it later changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

from .reasons import Reason

MAX_FUTURE = 0.010
"""How far a stamp may lie ahead of the clock, s."""

SAME_SHIFT = 0.010
"""Stamps whose shifts against their receipts differ by no more are off by the same amount, s."""

SINGLE = (0,)
"""Numbers for whoever judges the stamps of one thing alone."""

CONFIRMED_BY = 3
"""So many samples in a row, off by the same amount, show that the clock was set."""


@dataclass
class _Joint:
    """
    What is known of one joint's stamps.

    :param newest: the newest stamp that was taken, s
    :param offset: of the clock that stamps are given in, against monotonic time, s
    :param suspects: how many stamps in a row were off by the same amount
    :param suspect: the newest of them, s
    :param shift: of the first of them, against its receipt, s
    :param since: its receipt, monotonic time, s
    """

    newest: float = -math.inf
    offset: float = math.nan
    suspects: int = 0
    suspect: float = 0.0
    shift: float = 0.0
    since: float = 0.0


class StampOrder:
    """
    Judges stamps joint by joint: a publisher's stamps tell nothing about another's.

    Joints are plain objects rather than arrays: a loop over a few of them takes a tenth of the
    time.

    :param n: the number of joints
    """

    def __init__(self, n: int) -> None:
        self._joints = [_Joint() for _ in range(n)]
        self._newest = -math.inf
        self._least_offset = math.nan
        self._stepping = False
        self.steps = 0

    def newest(self, numbers: Sequence[int]) -> list[float]:
        """Return the newest stamp that was taken of each of some joints, s; -inf before it."""
        return [self._joints[number].newest for number in numbers]

    def check(
        self, numbers: Sequence[int], stamp: float, clock: float, received: float
    ) -> Reason | None:
        """
        Return why a stamp cannot be used, None where it can.

        :param numbers: of the sample's joints
        :param stamp: s
        :param clock: the clock that stamps are given in, s
        :param received: monotonic time of receipt, s
        """
        self._stepping = False
        if self._newest < stamp <= received + self._least_offset + MAX_FUTURE:
            return None  # whichever joints it is of
        offset = min([self._joints[number].offset for number in numbers])
        if math.isnan(offset):
            offset = self._least_offset = clock - received
            for joint in self._joints:
                joint.offset = offset
        if stamp <= max(self.newest(numbers)):
            reason = Reason.STAMP_NOT_NEWER
        elif not stamp - received <= offset + MAX_FUTURE:  # negated: it may not be a number
            reason = Reason.STAMP_IN_FUTURE
        else:
            return None
        self._stepping = self._is_step([self._joints[k] for k in numbers], stamp, received)
        return None if self._stepping else reason

    def accept(self, numbers: Sequence[int], stamp: float, received: float) -> None:
        """
        Count from a sample on; it was not refused.

        :param numbers: of its joints
        :param stamp: s
        :param received: monotonic time of receipt, s
        """
        self.steps += self._stepping
        self._newest = max(self._newest, stamp)
        for number in numbers:
            joint = self._joints[number]
            joint.newest = stamp
            joint.suspects = 0
            if self._stepping:
                joint.offset = stamp - received
        if self._stepping:
            self._newest = max([joint.newest for joint in self._joints])
            self._least_offset = min([joint.offset for joint in self._joints])

    @staticmethod
    def _is_step(joints: Sequence[_Joint], stamp: float, received: float) -> bool:
        """Add a stamp that is off to those before it; return whether they are enough."""
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
        # Old samples that come in a burst advance too, but no time passes meanwhile.
        return all(joint.suspects >= CONFIRMED_BY and received > joint.since for joint in joints)
