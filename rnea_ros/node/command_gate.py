# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The gate in front of the command topic: shut while somebody new listens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

LOOK_AGAIN = 2
"""While the gate is shut somebody is asked to look once in so many commands."""

SHUT = -1


class CommandGate:
    """
    Lets commands pass only while all who get them have been looked at.

    The loop asks before every command how many listen, which takes a microsecond. Should one of
    them be replaced by another within a single period, the number stays the same, and it is seen
    at the next look only; a controller takes far longer to go and to come back.

    :param node: this node
    :param publisher: of the commands
    :param look: called on the node's executor when the gate shuts by itself
    """

    def __init__(self, node: Any, publisher: Any, look: Callable[[], None]) -> None:
        self._node = node
        self._publisher = publisher
        self._guard = node.create_guard_condition(look)
        self._looked_at = SHUT
        self._withheld = 0

    def destroy(self) -> None:
        """Take it down."""
        self._node.destroy_guard_condition(self._guard)

    def listeners(self) -> int:
        """Return how many listen now; to be asked before they are looked at."""
        return int(self._publisher.get_subscription_count())

    def open(self, listeners: int) -> None:
        """
        Let commands pass for as long as nobody comes or goes.

        :param listeners: how many listened when they were looked at
        """
        self._looked_at = listeners

    def shut(self) -> None:
        """Withhold commands."""
        self._looked_at = SHUT

    def passes(self) -> bool:
        """Return whether a command may be sent; for the loop's thread."""
        if self.listeners() == self._looked_at:
            self._withheld = 0
            return True
        if self._withheld % LOOK_AGAIN == 0:
            self._guard.trigger()
        self._withheld += 1
        return False
