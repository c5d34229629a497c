# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Subscriptions and requests that a thread polls without an executor; requests that are repeated.

An executor costs more time per message than the control does, and delays a message until the
callbacks before it have ended.
"""

from __future__ import annotations

import math
import time
from typing import Any, Generic, TypeVar

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile

from .rclpy_internals import MessageWait, send_request, take_messages, take_response

Message = TypeVar('Message')

RETRY = 0.5  # time from one polled request to the next, s
REPEAT_PERIOD = 1.0  # time from one repeated request to the next, s


class _OffExecutor(CallbackGroup):
    """Keeps a subscription or client off every executor; QoS events too would wake it up."""

    def can_execute(self, entity: Any) -> bool:
        return False

    def beginning_execution(self, entity: Any) -> bool:
        return False

    def ending_execution(self, entity: Any) -> None:
        """Do nothing: nothing is ever executed."""


class PolledSubscription(Generic[Message]):
    """
    A subscription that a thread polls; its node may be on an executor.

    :param raw: True for messages as CDR bytes
    :param options: further arguments of ``Node.create_subscription``
    :ivar subscription: rclpy's subscription
    """

    def __init__(
        self, node: Node, msg_type: type[Any], topic: str, qos: QoSProfile,
        *, raw: bool = False, **options: Any,
    ) -> None:
        self._node, self._msg_type, self._raw = node, msg_type, raw
        self.subscription = node.create_subscription(
            msg_type, topic, lambda _: None, qos, callback_group=_OffExecutor(), raw=raw, **options
        )
        self._handle = self.subscription.handle
        self._message_wait = MessageWait(node, self._handle)
        self._depth = max(self.subscription.qos_profile.depth, 1)

    def take_all(self) -> list[Message]:
        """Return the untaken messages, oldest first; at most as many as the history keeps."""
        return take_messages(self._handle, self._msg_type, raw=self._raw, limit=self._depth)

    def take(self) -> Message | None:
        """Return the newest untaken message; None if there is none."""
        messages = self.take_all()
        return messages[-1] if messages else None

    def wait(self, timeout: float) -> None:
        """Sleep until a message can be taken, at most for a timeout, s."""
        self._message_wait.wait(timeout)

    def destroy(self) -> None:
        """Unsubscribe; waits for a :meth:`take` of another thread to end."""
        self._node.destroy_subscription(self.subscription)


class PolledRequest(Generic[Message]):
    """
    A request to a service, sent again until it is answered; it works while the executor is busy.

    Only the response to the newest one counts: the first may go to a server that was killed.
    """

    def __init__(self, node: Node, srv_type: type[Any], name: str, request: Any) -> None:
        self._response_type: type[Message] = srv_type.Response
        self._client: Any = node.create_client(srv_type, name, callback_group=_OffExecutor())
        self._request, self._sent_at = request, -math.inf
        self.restart()

    def restart(self) -> None:
        """Ignore the response to the pending request; the next poll sends a new one."""
        self._pending: int | None = None

    @property
    def ready(self) -> bool:
        """Whether the service is available."""
        return bool(self._client.service_is_ready())

    def poll(self, now: float) -> Message | None:
        """Return the response, once; send the request if it is due and the service exists."""
        if self._pending is not None:
            response: Any = take_response(self._client, self._response_type, self._pending)
            if response is not None:
                self.restart()
                return response  # type: ignore[no-any-return]
        if self.ready and (self._pending is None or now - self._sent_at > RETRY):
            self._pending, self._sent_at = send_request(self._client, self._request), now
        return None


class RepeatedRequest:
    """
    A request that is sent each second until it is answered: only for one that may act twice.

    A server sends one answer to a request. Fast DDS drops it if the server has not discovered the
    client within 0.1 s: on a busy computer the first answer after a start can be lost.

    :param client: service client; its node must be spun
    :param request: the request, of the client's type
    :ivar response: the answer; None until there is one
    """

    def __init__(self, client: Any, request: Any) -> None:
        self._client, self._request = client, request
        self._futures: list[Any] = []
        self._due = -math.inf
        self.response: Any = None

    def poll(self) -> bool:
        """Send the request if it is due and the service exists; return whether it is answered."""
        self.response = next((sent.result() for sent in self._futures if sent.done()), None)
        due = self.response is None and time.monotonic() >= self._due
        if due and self._client.service_is_ready():
            self._futures.append(self._client.call_async(self._request))
            self._due = time.monotonic() + REPEAT_PERIOD
        return self.response is not None
