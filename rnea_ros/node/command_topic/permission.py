# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Permission to send a command: decided in the loop, before every command."""

from __future__ import annotations

from collections.abc import Sequence
import math
import time
from typing import Any

from ...ros import Endpoint, EndpointReader
from .controller_joints import ControllerJoints
from .other_publishers import is_watchdog

READ_INTERVAL = 0.01  # time between two readings until the graph is settled and complete, s
SETTLING_TIME = 0.1  # maximum delay of the graph behind the publisher's number of listeners, s


class CommandPermission:
    """
    Permits commands to the effort controller whose joints are confirmed.

    - Once a confirmed controller takes the commands, other listeners (recorders, plots) have no
      effect. If the user listed the joints and the graph shows no controller, any named listener
      but a watchdog counts as a driver.
    - If the controller has left, or a new one is not confirmed yet, commands are withheld from the
      same tick on.
    - DDS counts a new listener up to 0.1 s before the graph shows it with the name of its node.
      Commands wait for the name, because the listener may be the controller. They do not wait
      while a controller that has answered, or such a driver, takes the commands.

    Every tick compares the number of listeners, which takes 1 us. If it or the state of the
    controller has changed, the graph is read until it is settled and shows every listener.

    :param joints_given: whether the user listed the joints
    :ivar unconfirmed: whether a listener is, or may be, a controller that is not confirmed yet
    :ivar confirmed: GIDs of the controller's subscriptions that take the commanded joints; any
        thread may replace it
    """

    def __init__(
        self, node: Any, publisher: Any, joints: ControllerJoints, *, joints_given: bool
    ) -> None:
        self._node = node
        self._publisher = publisher
        self._joints = joints
        self._joints_given = joints_given
        self._reader = EndpointReader()
        self._last_inputs: tuple[int, frozenset[bytes], frozenset[bytes]] | None = None
        self._next_read = self._settled_after = 0.0
        self._permitted = False
        self.unconfirmed = False
        self.confirmed: frozenset[bytes] = frozenset()

    def check(self) -> bool:
        """Return whether the next command may be sent; for the loop's thread."""
        now = time.monotonic()
        inputs = (self._publisher.get_subscription_count(), self.confirmed, self._joints.endpoints)
        changed = inputs != self._last_inputs
        if changed or now >= self._next_read:
            infos = self._node.get_subscriptions_info_by_topic(self._joints.topic)
            listeners = self._reader.read(infos, now)
            # A listener that the graph does not show, or not by name, may be the controller. Only
            # numbers can be compared: the publisher does not tell whom it counts.
            known = all(each.node for each in listeners) and inputs[0] <= len(listeners)
            self._permitted = self._permits(listeners, inputs[1], known)
            if changed:
                self._last_inputs, self._settled_after = inputs, now + SETTLING_TIME
            unsettled = now < self._settled_after or not known
            self._next_read = now + READ_INTERVAL if unsettled else math.inf
            self.unconfirmed = not self._permitted and (not known or any(
                listener.node == self._joints.controller for listener in listeners
            ))
        return self._permitted

    def _permits(
        self, listeners: Sequence[Endpoint], confirmed: frozenset[bytes], known: bool
    ) -> bool:
        controller = self._joints.controller
        controllers = {each.gid for each in listeners if each.node == controller}
        if controllers:
            if not controllers <= confirmed:
                return False
            has_known_receiver = self._joints.answered
        else:
            if not self._joints_given:
                return False
            has_known_receiver = any(
                each.node and not is_watchdog(each.node) for each in listeners
            )
        return has_known_receiver or known
