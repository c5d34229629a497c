# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Other nodes that publish on the command topic."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...ros import EndpointReader

WATCHDOG = 'effort_watchdog'  # every watchdog's node; it may publish, once all others are silent


def is_watchdog(node: str) -> bool:
    """Return whether a node of a full name is an effort watchdog."""
    return node.rpartition('/')[2] == WATCHDOG


class OtherPublishers:
    """
    Finds the other nodes that publish on the command topic.

    :ivar names: full names of the other nodes, sorted
    :ivar unnamed: whether there is a publisher whose node is not discovered yet
    """

    def __init__(self, node: Any, topic: str) -> None:
        self._node = node
        self._topic = topic
        self._reader = EndpointReader()
        self._own_name = node.get_fully_qualified_name()
        self.names: tuple[str, ...] = ()
        self.unnamed = False

    def conflict(self, names: Iterable[str]) -> str:
        """Return in words why this node must not command beside other publishers."""
        return f'{", ".join(sorted(names))} publishes on {self._topic} already'

    def poll(self, now: float, publishing: bool) -> None:
        """Find the present publishers; ``publishing``: one of them is this node's own."""
        infos = self._node.get_publishers_info_by_topic(self._topic)
        names = [endpoint.node for endpoint in self._reader.read(infos, now)]
        if publishing and self._own_name in names:
            names.remove(self._own_name)  # a second one is another node of the same name
        self.unnamed = '' in names
        others = {name for name in names if name and not is_watchdog(name)}
        self.names = tuple(sorted(others))
