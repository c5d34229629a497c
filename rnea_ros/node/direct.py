# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Subscriptions that a thread reads by itself, past every executor.

An executor that wakes for each message costs half a core at 1 kHz. A control loop needs no waking:
it comes at its own time, and takes what is newest then. This module alone uses
``subscription.handle.take_message``, as ``rclpy.wait_for_message`` does.
"""

from __future__ import annotations

from typing import Any

from rclpy.callback_groups import CallbackGroup


class _OffExecutor(CallbackGroup):  # type: ignore[misc]
    """A callback group whose entities no executor ever waits for."""

    def can_execute(self, entity: Any) -> bool:
        """Never."""
        return False

    def beginning_execution(self, entity: Any) -> bool:
        """Never."""
        return False

    def ending_execution(self, entity: Any) -> None:
        """Nothing was begun."""


class DirectSubscription:
    """
    A subscription of a node that only :meth:`take` reads.

    :param node: the node
    :param message_type: the class of the messages
    :param topic: the topic's name
    :param qos: a QoSProfile
    :param options: further arguments of ``Node.create_subscription``
    """

    def __init__(self, node: Any, message_type: Any, topic: str, qos: Any, **options: Any) -> None:
        self._node = node
        self._subscription = node.create_subscription(
            message_type, topic, _ignore, qos, callback_group=_OffExecutor(), **options
        )

    def take(self) -> Any:
        """Return the next message that has come, None where there is none; never waits."""
        subscription = self._subscription
        with subscription.handle:
            taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
        return None if taken is None else taken[0]

    def destroy(self) -> None:
        """Take the subscription down; nothing may be taken afterwards."""
        self._node.destroy_subscription(self._subscription)


def _ignore(message: Any) -> None:
    """Be the callback that rclpy asks for and that nobody calls."""
