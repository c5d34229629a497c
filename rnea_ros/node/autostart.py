# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Automatic configure and activate: once, as soon as nothing is missing."""

from __future__ import annotations

from collections.abc import Callable
import random
import time
from typing import Any

from rclpy.lifecycle import TransitionCallbackReturn

from .activation import Activation
from .command_topic import OtherPublishers

DISCOVERY = 0.5
"""How long the node waits at its start to discover other nodes, s."""

TRY_LATER = (0.5, 3.0)
"""Range of the random delay before a start that met another publisher is repeated, s."""


class Autostart:
    """
    Configures and activates a node once. What the user does with the node later is respected.

    Two nodes that start at the same moment find each other's publisher on the command topic, and
    neither may command. Both leave the topic then and try again, each after a random time: one is
    the first.

    :param node: the lifecycle node
    :param others: other publishers on its command topic
    :param missing: returns what the node lacks, empty where it lacks nothing
    """

    def __init__(self, node: Any, others: OtherPublishers, missing: Callable[[], str]) -> None:
        self._node = node
        self._others = others
        self._missing = missing
        self._pending = False
        self._starting = False
        self._started = False
        self._used = False
        self._not_before = time.monotonic() + DISCOVERY
        self._reported = ''

    def enable(self) -> None:
        """Start as soon as nothing is missing, unless the node was active before."""
        if not self._used:
            self._pending = bool(self._node.get_parameter('autostart').value)

    def disable(self) -> None:
        """Start no more."""
        self._pending = self._started = False

    def activated(self) -> None:
        """Note an activation, of this or of the user."""
        self._used, self._started, self._pending = True, self._starting, False

    def look(self, activation: Activation | None, *, configured: bool) -> None:
        """
        Start if it is time; to be called now and then.

        :param activation: what is active, None for nothing
        :param configured: whether the node is configured; then its user activates it
        """
        if self._started and activation is not None and activation.lost_to_other_publisher:
            self._node.trigger_deactivate()
            self._try_later()
            return
        if configured or not self._pending:
            return
        if self._others.undecided or time.monotonic() < self._not_before:
            return
        missing = self._missing()
        if self._others.names:
            # DDS lists a killed node for many seconds.
            missing = self._others.complaint(self._others.names)
        if not missing:
            self._start()
        elif missing != self._reported:
            self._reported = missing
            self._node.get_logger().info(f'waiting: {missing}')

    def _start(self) -> None:
        self._pending, self._starting = False, True
        if self._node.trigger_configure() is TransitionCallbackReturn.SUCCESS:
            active = self._node.trigger_activate() is TransitionCallbackReturn.SUCCESS
            if not active and self._others.names:
                self._try_later()
        self._starting = False

    def _try_later(self) -> None:
        self._node.trigger_cleanup()
        self._pending, self._reported = True, ''
        self._not_before = time.monotonic() + random.uniform(*TRY_LATER)
