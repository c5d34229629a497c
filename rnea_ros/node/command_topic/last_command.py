# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The end of a stop: the last command is sent several times."""

from __future__ import annotations

import math
import time

import numpy as np

from ...arrays import Array
from ...feedforward import FeedforwardController, State
from .permission import CommandPermission

REPEATS = 5
"""Number of times that the last command is sent: a best-effort subscription may lose one."""

CONFIRM_TIMEOUT = 2.0
"""Longest wait for the joints of a controller that has come back during a stop, s."""


class LastCommand:
    """
    Decides when the last command of a stop was sent often enough, or cannot be sent.

    :param controller: the control
    :param permission: permission of commands
    :ivar done: whether the loop may end
    """

    def __init__(self, controller: FeedforwardController, permission: CommandPermission) -> None:
        self._controller = controller
        self._permission = permission
        self._command = np.full(len(controller.joints), np.nan)
        self._repeats_left = REPEATS
        self._stopped_at = math.inf
        self.done = False

    def register(self, command: Array | None) -> None:
        """
        Register the result of a tick.

        :param command: the command that was sent, shape (m,), N m or N; None if none was sent
        """
        if self._controller.state is not State.STOPPED:
            return
        now = time.monotonic()
        self._stopped_at = min(self._stopped_at, now)
        unconfirmed = self._controller.withheld and self._permission.unconfirmed
        if unconfirmed and now - self._stopped_at < CONFIRM_TIMEOUT:
            return
        if command is not None and not (command == self._command).all():
            self._command[:], self._repeats_left = command, REPEATS
        else:
            self._repeats_left -= 1
        self.done = self._repeats_left == 0
