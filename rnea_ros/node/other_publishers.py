# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Who else sends commands to the controller."""

from __future__ import annotations

from typing import Any

from .endpoints import Endpoints

WATCHDOG = 'effort_watchdog'
"""Sends only while nobody else does: every node of this name is welcome."""


class OtherPublishers:
    """
    Names the other nodes that publish on the command topic, on which this node has one publisher.

    :param node: this node
    :param topic: full name
    """

    def __init__(self, node: Any, topic: str) -> None:
        self._node = node
        self._topic = topic
        self._endpoints = Endpoints()
        self.names: tuple[str, ...] = ()
        self.undecided = False

    def look(self, now: float) -> None:
        """
        Note who is there now; whoever has no name yet leaves it undecided.

        :param now: monotonic time, s
        """
        infos = self._node.get_publishers_info_by_topic(self._topic)
        names = [endpoint.node for endpoint in self._endpoints.read(infos, now)]
        own = self._node.get_fully_qualified_name()
        if own in names:
            # One of them is this node; a second one is another node of the same name.
            names.remove(own)
        self.undecided = '' in names
        others = {name for name in names if name and name.rpartition('/')[2] != WATCHDOG}
        self.names = tuple(sorted(others))
