# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Who else sends commands to the controller."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...ros import EndpointReader

WATCHDOG = 'effort_watchdog'
"""Sends only while nobody else does: every node of this name is welcome."""


def is_watchdog(node: str) -> bool:
    """
    Return whether a node is an effort watchdog.

    :param node: full name
    """
    return node.rpartition('/')[2] == WATCHDOG


class OtherPublishers:
    """
    Names the other nodes that publish on the command topic.

    :param node: this node
    :param topic: full name
    """

    def __init__(self, node: Any, topic: str) -> None:
        self._node = node
        self._topic = topic
        self._endpoints = EndpointReader()
        self._own_name = node.get_fully_qualified_name()
        self.names: tuple[str, ...] = ()
        self.undecided = False

    def complaint(self, names: Iterable[str]) -> str:
        """
        Return why this node must not command.

        :param names: of others
        """
        return f'{", ".join(sorted(names))} publishes on {self._topic} already'

    def look(self, now: float, publishing: bool) -> None:
        """
        Note who is there now; whoever has no name yet leaves it undecided.

        :param now: monotonic time, s
        :param publishing: whether this node has a publisher on the topic, too
        """
        infos = self._node.get_publishers_info_by_topic(self._topic)
        names = [endpoint.node for endpoint in self._endpoints.read(infos, now)]
        if publishing and self._own_name in names:
            names.remove(self._own_name)  # a second one is another node of the same name
        self.undecided = '' in names
        others = {name for name in names if name and not is_watchdog(name)}
        self.names = tuple(sorted(others))
