# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Looks after the command topic while the control is active: who listens, and who else sends."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..feedforward.controller import FeedforwardController
from ..feedforward.reasons import Reason
from .command_gate import CommandGate
from .controller_joints import ControllerJoints, difference
from .other_publishers import OtherPublishers

DISCOVERY = 4.0
"""
Who is heard of within so long after the start was there before, s: DDS takes its time.

Where its first announcements are lost, Fast DDS makes the next after 3 s.
"""

LOOK_AGAIN = 1.0
"""One may have taken another's place, so that there are as many as before: when to look, s."""


class CommandWatch:
    """
    Opens the gate for commands to a controller whose joints are those that are commanded.

    The control begins when the gate opens for the first time. A second publisher that is heard of
    soon after was there before, and ends it. One that comes later is flagged but ends nothing:
    commands of two would fight, but whoever came second is the one to go, and an arm that this
    node lets go of, because somebody typed a command by mistake, would fall.

    :param node: logs
    :param controller: the control
    :param joints: the joints of the effort controller
    :param told: whether the commanded joints were named by the effort controller
    :param gate: in front of the commands
    :param others: who else publishes on the topic
    :param now: monotonic time, s
    """

    def __init__(
        self,
        node: Any,
        controller: FeedforwardController,
        joints: ControllerJoints,
        told: bool,
        gate: CommandGate,
        others: OtherPublishers,
        now: float,
    ) -> None:
        self._logger = node.get_logger()
        self._controller = controller
        self._joints = joints
        self._told = told
        self._gate = gate
        self._others = others
        self._known_others = frozenset(others.names)
        # Who is to be ramped up to, and who was; the control's own ramp is for those at its start.
        self._wanted = self._taken_over = joints.asked if joints.settled else frozenset()
        self._numbers = (0, 0)
        self._next_look = now
        self._ended = False
        self._everybody_heard_of = now + DISCOVERY
        controller.permitted = False
        self.counts: Counter[Reason] = Counter()

    @property
    def target(self) -> str:
        """What becomes of the commands, in a word."""
        if not self._joints.present:
            return 'absent'
        flags = self._controller.outside_flags
        return 'withheld' if Reason.COMMANDS_WITHHELD in flags else 'confirmed'

    @property
    def other_publishers(self) -> tuple[str, ...]:
        """The other nodes that publish on the command topic."""
        return self._others.names

    def glance(self, now: float) -> None:
        """
        Look at everybody if there may be news: to do so holds the interpreter for half a tick.

        :param now: monotonic time, s
        """
        numbers = (self._gate.listeners(), self._others.count())
        waiting = not self._joints.settled or self._others.undecided
        flagged = bool(self._controller.outside_flags)
        if waiting or flagged or numbers != self._numbers or now >= self._next_look:
            self.look(now)

    def look(self, now: float) -> None:
        """
        Look at everybody on the topic; for the node's executor.

        :param now: monotonic time, s
        """
        listeners = self._gate.listeners()
        self._numbers = (listeners, self._others.count())
        self._next_look = now + LOOK_AGAIN
        self._joints.poll(now)
        withheld = not self._pass(listeners)
        self._others.look(now, publishing=True)
        self._tell_of_others(now)
        flags = set()
        if withheld:
            flags.add(Reason.COMMANDS_WITHHELD)
        if self._others.names:
            flags.add(Reason.SECOND_PUBLISHER)
        self.counts.update(flags - self._controller.outside_flags)
        self._controller.outside_flags = frozenset(flags)

    def _tell_of_others(self, now: float) -> None:
        names = frozenset(self._others.names)
        new = names - self._known_others
        self._known_others |= names
        if new and now < self._everybody_heard_of:
            self._end(Reason.SECOND_PUBLISHER, self._others.complaint(new))
            return
        for name in sorted(new):
            self._logger.warning(f'{name} publishes commands to {self._joints.controller} too')

    def _pass(self, listeners: int) -> bool:
        """Open the gate if the controller expects what is commanded; return whether it does."""
        joints = self._joints
        if not joints.settled:
            self._gate.shut()
            return False
        if joints.present and not self._expected():
            self._gate.shut()
            what = difference(joints.joints, self._controller.joints)
            self._end(
                Reason.CONTROLLER_JOINTS_CHANGED,
                f'{joints.controller} takes commands {what} now; configure again',
            )
            return False
        asked = joints.asked
        if not asked or asked & self._taken_over:
            self._open(asked, listeners)
            return True
        if asked != self._wanted:
            # A controller that has just come holds no effort, or an old one.
            self._wanted = asked
            self._controller.take_over(lambda: self._open(asked, listeners))
        return False

    def _open(self, asked: frozenset[bytes], listeners: int) -> None:
        self._taken_over = asked
        self._gate.open(listeners)
        self._controller.permitted = True

    def _expected(self) -> bool:
        told = self._joints.joints
        return told == self._controller.joints or not (told or self._told)

    def _end(self, reason: Reason, what: str) -> None:
        if not self._ended:
            self._ended = True
            self._controller.end(reason)
            self._logger.error(what)
