# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
What rclpy has but does not document: subscriptions and requests that a thread polls.

An executor costs more time per message than the control does, and delays a message until the
callbacks before it have ended. No other module of the package uses undocumented parts of rclpy;
:mod:`rclpy.wait_for_message` uses the same calls.
"""

from __future__ import annotations

from collections.abc import Mapping
import math
import time
from typing import Any, Generic, TypeVar

from rclpy.callback_groups import CallbackGroup
from rclpy.impl import implementation_singleton
from rclpy.node import Node
from rclpy.qos import QoSProfile

_rclpy: Any = getattr(implementation_singleton, 'rclpy_implementation', None)

USED = {  # methods of rclpy's compiled classes
    'Destroyable': ('__enter__', '__exit__'),
    'Subscription': ('take_message',),
    'Client': ('send_request', 'take_response'),
    'WaitSet': ('clear_entities', 'add_subscription', 'wait'),
}

ROS_ERROR = getattr(_rclpy, 'RCLError', RuntimeError)
UNKNOWN_ARGUMENTS = getattr(_rclpy, 'UnknownROSArgsError', RuntimeError)
DESTROYED = getattr(_rclpy, 'InvalidHandle', RuntimeError)
"""Errors of rclpy's compiled part; their base class is documented."""

RETRY = 0.5  # time from one polled request to the next, s
REPEAT_PERIOD = 1.0  # time from one repeated request to the next, s

Message = TypeVar('Message')


def missing() -> list[str]:
    """Return the calls that this version of rclpy lacks; to be asked before a node is made."""
    return [
        f'{name}.{method}'
        for name, methods in USED.items()
        for method in methods
        if not hasattr(getattr(_rclpy, name, None), method)
    ]


def parameter_overrides(node: Any) -> Mapping[str, Any]:
    """Return the parameters given at the start, by name; none if rclpy lacks the attribute."""
    overrides: Mapping[str, Any] = getattr(node, '_parameter_overrides', {})
    return overrides


class _OffExecutor(CallbackGroup):
    """Keeps a subscription or client off every executor; QoS events too would wake it up."""

    def can_execute(self, entity: Any) -> bool:
        return False

    def beginning_execution(self, entity: Any) -> bool:
        return False

    def ending_execution(self, entity: Any) -> None:
        """Do nothing: nothing is ever executed."""


class PolledSubscription(Generic[Message]):
    """A subscription that a thread polls, beside an executor too; ``raw``: take CDR bytes."""

    def __init__(
        self, node: Node, msg_type: type[Any], topic: str, qos: QoSProfile,
        *, raw: bool = False, **options: Any,
    ) -> None:
        self._node, self._msg_type, self._raw = node, msg_type, raw
        self.subscription = node.create_subscription(
            msg_type, topic, lambda _: None, qos, callback_group=_OffExecutor(), raw=raw, **options
        )
        self._handle: Any = self.subscription.handle
        self._wait_set = _rclpy.WaitSet(1, 0, 0, 0, 0, 0, node.context.handle)
        self._depth = max(self.subscription.qos_profile.depth, 1)

    def take_all(self) -> list[Message]:
        """Return the untaken messages, oldest first, at most as many as the history keeps."""
        messages: list[Message] = []
        with self._handle:
            while len(messages) < self._depth:
                taken = self._handle.take_message(self._msg_type, self._raw)
                if taken is None:
                    break
                messages.append(taken[0])
        return messages

    def take(self) -> Message | None:
        """Return the newest untaken message; None if there is none."""
        messages = self.take_all()
        return messages[-1] if messages else None

    def wait(self, timeout: float) -> None:
        """Sleep until a message can be taken, at most for a timeout, s."""
        with self._handle:
            self._wait_set.clear_entities()
            self._wait_set.add_subscription(self._handle)
            self._wait_set.wait(max(int(timeout * 1e9), 0))

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
        response = None if self._pending is None else self._take_response()
        if response is not None:
            self.restart()
        elif self.ready and (self._pending is None or now - self._sent_at > RETRY):
            handle = self._client.handle
            with handle:
                self._pending, self._sent_at = int(handle.send_request(self._request)), now
        return response

    def _take_response(self) -> Message | None:
        """Take responses up to that to the pending request; None if it has not come."""
        handle = self._client.handle
        with handle:
            while True:
                header, response = handle.take_response(self._response_type)
                if header is None or header.request_id.sequence_number == self._pending:
                    return None if header is None else response


class RepeatedRequest:
    """
    A request that is sent each second until it is answered: only for one that may act twice.

    A server sends one answer to a request. Fast DDS drops it if the server has not discovered the
    client within 0.1 s: on a busy computer the first answer after a start can be lost.

    :param client: service client; its node must be spun
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
