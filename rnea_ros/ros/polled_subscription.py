# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Subscriptions and questions to services that a thread reads by itself, past every executor.

An executor costs more than the control does, and makes its messages wait for the callbacks before
them. rclpy's way past it is the one of :mod:`rclpy.wait_for_message`; only this module knows it.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from rclpy.callback_groups import CallbackGroup
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
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


class PolledSubscription(Generic[Message]):
    """
    The newest message of a topic, without waiting.

    The node may be on an executor: it does not get the messages.

    :param node: the node that subscribes
    :param msg_type: the messages' class
    :param topic: its name, resolved and remapped as usual
    :param qos: keep last 1 makes :meth:`take` cost least
    :param raw: whether to take messages as the bytes in which they came
    :param options: further arguments of ``Node.create_subscription``
    :ivar subscription: rclpy's
    """

    def __init__(
        self,
        node: Node,
        msg_type: type[Any],
        topic: str,
        qos: QoSProfile,
        *,
        raw: bool = False,
        **options: Any,
    ) -> None:
        self._node = node
        self._msg_type = msg_type
        self._raw = raw
        self.subscription = node.create_subscription(
            msg_type,
            topic,
            lambda _: None,
            qos,
            callback_group=_OffExecutor(),
            raw=raw,
            **options,
        )
        self._handle = self.subscription.handle
        self._wait_set = _rclpy.WaitSet(1, 0, 0, 0, 0, 0, node.context.handle)
        self._most = max(self.subscription.qos_profile.depth, 1)

    def take_all(self) -> list[Message]:
        """
        Return the messages that were not taken yet, oldest first.

        No more of them than the history keeps: whoever sends without end holds nobody up.
        """
        messages: list[Message] = []
        handle = self._handle
        with handle:
            while len(messages) < self._most:
                taken = handle.take_message(self._msg_type, self._raw)
                if taken is None:
                    break
                messages.append(taken[0])
        return messages

    def take(self) -> Message | None:
        """Return the newest message that was not taken yet, None where there is none."""
        messages = self.take_all()
        return messages[-1] if messages else None

    def wait(self, timeout: float) -> None:
        """
        Sleep until a message is there that was not taken yet, or for a time.

        :param timeout: s
        """
        handle, wait_set = self._handle, self._wait_set
        with handle:
            wait_set.clear_entities()
            wait_set.add_subscription(handle)
            wait_set.wait(max(int(timeout * 1e9), 0))

    def destroy(self) -> None:
        """Unsubscribe; a take that is under way in another thread ends first."""
        self._node.destroy_subscription(self.subscription)


class PolledClient(Generic[Message]):
    """
    A client of a service whose answer is polled, also while the executor is busy.

    :param node: the node that asks
    :param srv_type: the service's class
    :param name: its name, resolved and remapped as usual
    """

    def __init__(self, node: Node, srv_type: type[Any], name: str) -> None:
        self._response: type[Message] = srv_type.Response
        self._client: Any = node.create_client(srv_type, name, callback_group=_OffExecutor())
        self._asked: int | None = None

    @property
    def possible(self) -> bool:
        """Whether somebody is there to answer."""
        return bool(self._client.service_is_ready())

    @property
    def asked(self) -> bool:
        """Whether an answer is waited for."""
        return self._asked is not None

    def ask(self, request: Any) -> None:
        """Ask; an answer to what was asked before counts no more."""
        handle = self._client.handle
        with handle:
            self._asked = handle.send_request(request)

    def forget(self) -> None:
        """Wait for no answer."""
        self._asked = None

    def answer(self) -> Message | None:
        """Return the answer to what was asked last, None where none has come; does not wait."""
        handle = self._client.handle
        with handle:
            while True:
                header, response = handle.take_response(self._response)
                if header is None:
                    return None
                if header.request_id.sequence_number == self._asked:
                    self._asked = None
                    return response  # type: ignore[no-any-return]
