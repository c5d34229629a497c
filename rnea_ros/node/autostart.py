# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The start by itself: once, as soon as nothing is missing."""

from __future__ import annotations

from collections.abc import Callable
import random
import time
from typing import Any

from rclpy.lifecycle import TransitionCallbackReturn

from .activation import Activation
from .other_publishers import OtherPublishers

DISCOVERY = 0.5
"""How long the node waits at its start to discover other nodes, s."""

TRY_LATER = (0.5, 3.0)
"""Shortest and longest time before a start that met another publisher is repeated, s."""


class Autostart:
    """
    Configures and activates a node once; a later deactivation by the user is respected.

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
        self._began = False
        self._not_before = time.monotonic() + DISCOVERY
        self._reported = ''

    def begin(self) -> None:
        """Start as soon as nothing is missing."""
        self._pending = bool(self._node.get_parameter('autostart').value)

    def end(self) -> None:
        """Start no more."""
        self._pending = self._began = False

    def look(self, activation: Activation | None, *, configured: bool) -> None:
        """
        Start if it is time; to be called now and then.

        :param activation: what is active, None for nothing
        :param configured: whether the node is configured; then its user activates it
        """
        if self._began and activation is not None and activation.lost_to_other_publisher:
            self._node.trigger_deactivate()
            self._try_later()
            return
        if configured or not self._pending:
            return
        if self._others.undecided or time.monotonic() < self._not_before:
            return
        missing = self._missing()
        if self._others.names:
            # A killed node is listed for many seconds; this one waits its turn.
            missing = self._others.complaint(self._others.names)
        if not missing:
            self._start()
        elif missing != self._reported:
            self._reported = missing
            self._node.get_logger().info(f'waiting: {missing}')

    def _start(self) -> None:
        self._pending, self._began = False, True
        if self._node.trigger_configure() is not TransitionCallbackReturn.SUCCESS:
            return
        activated = self._node.trigger_activate() is TransitionCallbackReturn.SUCCESS
        if not activated and self._others.names:
            self._try_later()

    def _try_later(self) -> None:
        self._node.trigger_cleanup()
        self._pending = True
        self._not_before = time.monotonic() + random.uniform(*TRY_LATER)
