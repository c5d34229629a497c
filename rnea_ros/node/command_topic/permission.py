# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Whether a command may be sent: decided in the loop, before every command."""

from __future__ import annotations

from collections.abc import Sequence
import math
import time
from typing import Any

from ...ros import Endpoint, EndpointReader
from .controller_joints import ControllerJoints
from .other_publishers import is_watchdog

READ_AGAIN = 0.01
"""How often the graph is read while a listener has no name yet, or after a change, s."""

SETTLE = 0.1
"""How long the graph may lag behind the number of listeners, s."""


class CommandPermission:
    """
    Permits commands to the effort controller whose joints are confirmed.

    Listeners of other nodes (recorders, plots) change nothing. A controller that has left, or a
    new one whose joints are not confirmed yet, withholds commands from the same tick on.

    DDS shows a new listener up to 0.1 s before the name of its node. A listener without a name is
    ignored while a controller that has answered, or with listed joints a driver of another name,
    takes the commands. Otherwise commands wait for the name: it may be the controller.

    Every tick compares the number of listeners, which takes a microsecond. The graph is read when
    the number, or what is known of the controller, has changed.

    :param node: this node
    :param publisher: of the commands
    :param joints: the joints of the effort controller
    :param listed: whether the user listed the joints; commands then need no controller that
        names them
    :ivar unconfirmed: whether a listener is, or may be, a controller that is not confirmed yet
    :ivar confirmed: endpoints of the controller that take the commanded joints; set by any thread
    """

    def __init__(
        self, node: Any, publisher: Any, joints: ControllerJoints, *, listed: bool
    ) -> None:
        self._node = node
        self._publisher = publisher
        self._joints = joints
        self._listed = listed
        self._endpoints = EndpointReader()
        self._seen: tuple[int, frozenset[bytes], frozenset[bytes]] | None = None
        self._read_at = self._settled_at = 0.0
        self._permitted = False
        self.unconfirmed = False
        self.confirmed: frozenset[bytes] = frozenset()

    def check(self) -> bool:
        """Return whether the next command may be sent; for the loop's thread."""
        now = time.monotonic()
        seen = (  # the graph may list a listener a little later than the publisher counts it
            self._publisher.get_subscription_count(), self.confirmed, self._joints.endpoints
        )
        if seen != self._seen or now >= self._read_at:
            infos = self._node.get_subscriptions_info_by_topic(self._joints.topic)
            listeners = self._endpoints.read(infos, now)
            self._permitted = self._permits(listeners, seen[1])
            if seen != self._seen:
                self._seen, self._settled_at = seen, now + SETTLE
            unsettled = now < self._settled_at or any(not each.node for each in listeners)
            self._read_at = now + READ_AGAIN if unsettled else math.inf
            self.unconfirmed = not self._permitted and any(
                listener.node in ('', self._joints.controller) for listener in listeners
            )
        return self._permitted

    def _permits(self, listeners: Sequence[Endpoint], confirmed: frozenset[bytes]) -> bool:
        controller = self._joints.controller
        controllers = {each.gid for each in listeners if each.node == controller}
        if controllers:
            if not controllers <= confirmed:
                return False
            known = self._joints.answered
        else:
            if not self._listed:
                return False
            known = any(each.node and not is_watchdog(each.node) for each in listeners)
        return known or all(each.node for each in listeners)
