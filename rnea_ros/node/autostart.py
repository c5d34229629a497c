# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Automatic configure and activate at the start of the node."""

from __future__ import annotations

from collections.abc import Callable
import random
import time
from typing import Any

from rclpy.lifecycle import TransitionCallbackReturn

from .activation import Activation
from .command_topic import CommandTopic

DISCOVERY = 0.5  # wait for others after the start of the node and after the newest controller, s
TRY_LATER = (0.5, 3.0)  # range of the random delay after a conflict of two publishers, s


class Autostart:
    """
    Configures and activates a node once; later transitions are the user's.

    Two nodes that start at the same moment find each other's publisher on the command topic, and
    neither may command. Both clean up and try again after a random delay, so one is first.

    :param missing: returns in words what the node still waits for; empty if nothing
    """

    def __init__(
        self, node: Any, command_topic: CommandTopic, missing: Callable[[], str]
    ) -> None:
        self._node, self._command_topic, self._missing = node, command_topic, missing
        self._pending = self._started = self._used = False
        self._not_before = time.monotonic() + DISCOVERY
        self._reported = ''

    def enable(self) -> None:
        """Start the node as soon as nothing is missing, unless it was active before."""
        if not self._used:
            self._pending = bool(self._node.get_parameter('autostart').value)

    def disable(self) -> None:
        """Do not start the node any more."""
        self._pending = self._started = False

    def activated(self) -> None:
        """Take note of an activation, by this object or by the user."""
        self._used, self._started, self._pending = True, False, False

    def poll(self, activation: Activation | None, *, configured: bool) -> None:
        """Start the node if nothing is missing, unless the user has configured it."""
        if self._started and activation is not None and activation.lost_to_other_publisher:
            self._node.trigger_deactivate()
            self._try_later()
            return
        if configured or not self._pending:
            return
        topic = self._command_topic
        not_before = max(self._not_before, topic.appeared_at + DISCOVERY)
        if topic.others.unnamed or time.monotonic() < not_before:
            return
        missing = self._missing()
        if not missing:
            self._start()
        elif missing != self._reported:
            self._reported = missing
            self._node.get_logger().info(f'waiting: {missing}')

    def _start(self) -> None:
        self._pending = False
        if self._node.trigger_configure() is TransitionCallbackReturn.SUCCESS:
            self._started = self._node.trigger_activate() is TransitionCallbackReturn.SUCCESS
            if not self._started and self._missing():
                self._try_later()

    def _try_later(self) -> None:
        self._node.trigger_cleanup()
        self._pending, self._reported = True, ''
        self._not_before = time.monotonic() + random.uniform(*TRY_LATER)
