# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The end of a stop: its last command is sent several times."""

from __future__ import annotations

import math
import time

import numpy as np

from ...arrays import Array
from ...feedforward import FeedforwardController, State
from .permission import CommandPermission

REPEATS = 5
"""How often the last command of a stop is sent: best-effort listeners may lose one."""

CONFIRM_TIMEOUT = 2.0
"""How long a stop waits for a controller that has come back to confirm its joints, s."""


class LastCommand:
    """
    Whether the last command of a stop was sent several times, or cannot be sent.

    :param controller: the control
    :param permission: of its commands
    :ivar sent: whether nothing is left to send
    """

    def __init__(self, controller: FeedforwardController, permission: CommandPermission) -> None:
        self._controller = controller
        self._permission = permission
        self._command = np.full(len(controller.joints), np.nan)
        self._repeats_left = REPEATS
        self._stopped_at = math.inf
        self.sent = False

    def note(self, command: Array | None) -> None:
        """
        Note the command of a tick.

        :param command: None where none was sent
        """
        if self._controller.state is not State.STOPPED:
            return
        now = time.monotonic()
        self._stopped_at = min(self._stopped_at, now)
        waiting = self._controller.withheld and self._permission.unconfirmed
        if waiting and now - self._stopped_at < CONFIRM_TIMEOUT:
            return
        if command is not None and not (command == self._command).all():
            self._command[:], self._repeats_left = command, REPEATS
        else:
            self._repeats_left -= 1
        self.sent = self._repeats_left == 0
