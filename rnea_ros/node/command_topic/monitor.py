# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Monitors the command topic while the control is active: controllers and other publishers."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ...feedforward import FeedforwardController, Reason
from .controller_joints import ControllerJoints, difference
from .other_publishers import OtherPublishers
from .permission import CommandPermission

# Time after the start in which a discovered publisher counts as already present, s. If its first
# announcements are lost, Fast DDS repeats them after 3 s.
DISCOVERY = 4.0


class CommandTopicMonitor:
    """
    Confirms the controller's joints; reports and counts other publishers and controllers.

    A second publisher that is discovered soon after the start was there before: the control ends.
    A later one is flagged and named, and the control goes on: one test command of another node
    must not drop the arm. A second controller, maybe the first one restarted, is only flagged.
    """

    def __init__(
        self, node: Any, controller: FeedforwardController, joints: ControllerJoints,
        permission: CommandPermission, others: OtherPublishers, now: float, *, joints_given: bool,
    ) -> None:
        self._logger = node.get_logger()
        self._controller = controller
        self._joints = joints
        self._permission = permission
        self._joints_given = joints_given
        self.others = others
        self._known_others = frozenset(others.names)
        self._discovery_ends = now + DISCOVERY
        self._ended = False
        self.counts: Counter[Reason] = Counter()

    @property
    def controller_status(self) -> str:
        """Status of the effort controller: ``absent``, ``withheld`` or ``confirmed``."""
        if not self._joints.endpoints:
            return 'absent'
        return 'confirmed' if self._joints.endpoints <= self._permission.confirmed else 'withheld'

    def poll(self, now: float) -> None:
        """Check the controller and the other publishers; for the node's executor."""
        self._joints.poll(now)
        self._check_joints()
        self.others.poll(now, publishing=True)
        self._check_others(now)
        flags = set()
        if self._controller.withheld:
            flags.add(Reason.COMMANDS_WITHHELD)
        if self.others.names:
            flags.add(Reason.SECOND_PUBLISHER)
        if self._joints.conflict:
            flags.add(Reason.SECOND_CONTROLLER)
        new = flags - self._controller.outside_flags
        if Reason.SECOND_CONTROLLER in new:
            self._logger.warning(self._joints.conflict)
        self.counts.update(new)
        self._controller.outside_flags = frozenset(flags)

    def _check_joints(self) -> None:
        """Confirm a controller of the commanded joints; one of others ends the control."""
        joints, commanded = self._joints, self._controller.joints
        if joints.joints is None:
            return
        if joints.joints == commanded or (self._joints_given and not joints.joints):
            self._permission.confirmed = joints.endpoints
            return
        what = difference(joints.joints, commanded)
        self._end_control(
            Reason.CONTROLLER_JOINTS_CHANGED,
            f'{joints.controller} takes commands {what} now; configure again',
        )

    def _check_others(self, now: float) -> None:
        names = frozenset(self.others.names)
        new = names - self._known_others
        self._known_others |= names
        if new and now < self._discovery_ends:
            self._end_control(Reason.SECOND_PUBLISHER, self.others.conflict(new))
            return
        for name in sorted(new):
            self._logger.warning(f'{name} publishes commands to {self._joints.controller} too')

    def _end_control(self, reason: Reason, message: str) -> None:
        if not self._ended:
            self._ended = True
            self._controller.request_fault(reason)
            self._logger.error(message)
