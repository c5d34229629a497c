# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Watches the command topic while the control is active: the controller and other publishers."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ...feedforward import FeedforwardController, Reason
from .controller_joints import ControllerJoints, difference
from .other_publishers import OtherPublishers
from .permission import CommandPermission

DISCOVERY = 4.0
"""
A publisher that is discovered so long after the start was there before, s.

Where its first announcements are lost, Fast DDS repeats them after 3 s.
"""


class CommandTopicMonitor:
    """
    Confirms the controller's joints, and reports other publishers.

    A second publisher that is discovered soon after the start was there before, and ends the
    control. One that comes later is flagged but ends nothing: commands of two would fight, but the
    second one has to go, and an arm that this node lets go of, because somebody typed a command by
    mistake, would fall.

    :param node: logs
    :param controller: the control
    :param joints: the joints of the effort controller
    :param permission: of commands
    :param listed: whether the user listed the joints
    :param others: other publishers on the topic
    :param now: monotonic time, s
    """

    def __init__(
        self,
        node: Any,
        controller: FeedforwardController,
        joints: ControllerJoints,
        permission: CommandPermission,
        others: OtherPublishers,
        now: float,
        *,
        listed: bool,
    ) -> None:
        self._logger = node.get_logger()
        self._controller = controller
        self._joints = joints
        self._permission = permission
        self._listed = listed
        self._others = others
        self._known_others = frozenset(others.names)
        self._discovered = now + DISCOVERY
        self._ended = False
        self.counts: Counter[Reason] = Counter()

    @property
    def receiver(self) -> str:
        """The state of the effort controller, in a word."""
        if not self._joints.endpoints:
            return 'absent'
        return 'confirmed' if self._joints.endpoints <= self._permission.confirmed else 'withheld'

    @property
    def other_publishers(self) -> tuple[str, ...]:
        """The other nodes that publish on the command topic."""
        return self._others.names

    def look(self, now: float) -> None:
        """
        Look at everybody on the topic; for the node's executor.

        :param now: monotonic time, s
        """
        self._joints.poll(now)
        self._confirm()
        self._others.look(now, publishing=True)
        self._report_others(now)
        flags = set()
        if self._controller.withheld:
            flags.add(Reason.COMMANDS_WITHHELD)
        if self._others.names:
            flags.add(Reason.SECOND_PUBLISHER)
        self.counts.update(flags - self._controller.outside_flags)
        self._controller.outside_flags = frozenset(flags)

    def _confirm(self) -> None:
        """Confirm the controller if it takes the commanded joints, else end the control."""
        joints, commanded = self._joints, self._controller.joints
        if joints.joints is None:
            return
        if joints.joints == commanded or (self._listed and not joints.joints):
            self._permission.confirmed = joints.endpoints
            return
        what = difference(joints.joints, commanded)
        self._end(
            Reason.CONTROLLER_JOINTS_CHANGED,
            f'{joints.controller} takes commands {what} now; configure again',
        )

    def _report_others(self, now: float) -> None:
        names = frozenset(self._others.names)
        new = names - self._known_others
        self._known_others |= names
        if new and now < self._discovered:
            self._end(Reason.SECOND_PUBLISHER, self._others.complaint(new))
            return
        for name in sorted(new):
            self._logger.warning(f'{name} publishes commands to {self._joints.controller} too')

    def _end(self, reason: Reason, what: str) -> None:
        if not self._ended:
            self._ended = True
            self._controller.request_fault(reason)
            self._logger.error(what)
