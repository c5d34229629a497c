# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
What rclpy has but does not document; no other module of the package uses it.

:mod:`rclpy.wait_for_message` uses the same calls for messages. :func:`missing` is called before a
node is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rclpy.impl import implementation_singleton
from rclpy.node import Node

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


def missing() -> list[str]:
    """Return the calls that this version of rclpy lacks."""
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


def take_messages(handle: Any, msg_type: type[Any], *, raw: bool, limit: int) -> list[Any]:
    """
    Take a subscription's messages, oldest first, at most ``limit``.

    :raises DESTROYED: the subscription was destroyed
    """
    messages: list[Any] = []
    with handle:
        while len(messages) < limit:
            taken = handle.take_message(msg_type, raw)
            if taken is None:
                break
            messages.append(taken[0])
    return messages


class MessageWait:
    """Waits for the messages of one subscription, by its handle."""

    def __init__(self, node: Node, handle: Any) -> None:
        self._handle = handle
        self._wait_set = _rclpy.WaitSet(1, 0, 0, 0, 0, 0, node.context.handle)

    def wait(self, timeout: float) -> None:
        """Sleep until a message can be taken, or for the timeout, s."""
        with self._handle:
            self._wait_set.clear_entities()
            self._wait_set.add_subscription(self._handle)
            self._wait_set.wait(max(int(timeout * 1e9), 0))


def send_request(client: Any, request: Any) -> int:
    """Send a request without a future; return its number."""
    handle = client.handle
    with handle:
        return int(handle.send_request(request))


def take_response(client: Any, response_type: type[Any], number: int | None) -> Any:
    """Take responses up to that to the request of a number; None if it has not come."""
    handle = client.handle
    with handle:
        while True:
            header, response = handle.take_response(response_type)
            if header is None or header.request_id.sequence_number == number:
                return None if header is None else response
