# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A subscription that a thread reads by itself, past every executor.

An executor costs more than the control does, and makes its messages wait for the callbacks before
them. rclpy's way past it is the one of :mod:`rclpy.wait_for_message`; only this module knows it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile

Message = TypeVar('Message')


class _OffExecutor(CallbackGroup):
    """
    Keeps an executor from a subscription and from its QoS events.

    The events must be kept away too: an executor that waits for them is woken by every message.
    """

    def can_execute(self, entity: Any) -> bool:
        return False

    def beginning_execution(self, entity: Any) -> bool:
        return False

    def ending_execution(self, entity: Any) -> None:
        """Nothing began, so nothing ends."""


class DirectSubscription(Generic[Message]):
    """
    The newest message of a topic, without waiting.

    The node may be on an executor: it does not get the messages.

    :param node: the node that subscribes
    :param msg_type: the messages' class
    :param topic: its name, resolved and remapped as usual
    :param qos: keep last 1 makes :meth:`take` cost least
    :param options: further arguments of ``Node.create_subscription``
    """

    def __init__(
        self,
        node: Node,
        msg_type: type[Message],
        topic: str,
        qos: QoSProfile,
        **options: Any,
    ) -> None:
        self._node = node
        self._msg_type = msg_type
        self._subscription = node.create_subscription(
            msg_type, topic, lambda _: None, qos, callback_group=_OffExecutor(), **options
        )

    def take_all(self) -> Iterator[Message]:
        """Yield the messages that were not taken yet, oldest first."""
        handle = self._subscription.handle
        with handle:
            while (taken := handle.take_message(self._msg_type, False)) is not None:
                yield taken[0]

    def take(self) -> Message | None:
        """Return the newest message that was not taken yet, None where there is none."""
        newest = deque(self.take_all(), maxlen=1)
        return newest[0] if newest else None

    def destroy(self) -> None:
        """Unsubscribe; a take that is under way in another thread ends first."""
        self._node.destroy_subscription(self._subscription)
