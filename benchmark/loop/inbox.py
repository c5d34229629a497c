# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A subscription that is read by hand, with the time at which each message came."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.qos import QoSProfile, ReliabilityPolicy

# Every contender subscribes and publishes as the node does.
STATES = QoSProfile(depth=16, reliability=ReliabilityPolicy.BEST_EFFORT)
WRENCHES = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
COMMANDS = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)


class _Aside(CallbackGroup):
    """Keeps an executor from what is in it."""

    def can_execute(self, entity: Any) -> bool:
        return False

    def beginning_execution(self, entity: Any) -> bool:
        return False

    def ending_execution(self, entity: Any) -> None:
        """Nothing began, so nothing ends."""


class Inbox:
    """
    Messages of a topic.

    :param node: the node that subscribes
    :param kind: the messages' class
    :param topic: its name
    :param qos: profile, or depth
    """

    def __init__(self, node: Any, kind: Any, topic: str, qos: Any) -> None:
        self._kind = kind
        self.subscription = node.create_subscription(
            kind, topic, lambda _: None, qos, callback_group=_Aside()
        )

    def take(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yield new messages, oldest first, with their times of sending and receipt."""
        handle = self.subscription.handle
        with handle:
            while (taken := handle.take_message(self._kind, False)) is not None:
                yield taken

    def newest(self) -> Any:
        """Return the newest new message, None without one."""
        newest = None
        for message, _ in self.take():
            newest = message
        return newest
