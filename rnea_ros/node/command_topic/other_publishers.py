# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Other nodes that publish on a topic, such as the command topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from ...ros import EndpointReader, process_of

WATCHDOG = 'effort_watchdog'  # every watchdog's node; it may publish, once all others are silent

HINT = 'two robots on one domain? Set ROS_DOMAIN_ID or ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST'


def is_watchdog(node: str) -> bool:
    """Return whether a node of a full name is an effort watchdog."""
    return node.rpartition('/')[2] == WATCHDOG


class OtherPublishers:
    """
    Finds the other nodes that publish on a topic.

    :ivar names: full names of the other nodes, sorted
    :ivar listing: the same as text; nodes of one name are counted
    :ivar same_names: those of one name, in words; empty if every node has a name of its own
    :ivar unnamed: whether there is a publisher whose node is not discovered yet
    """

    def __init__(self, node: Any, topic: str) -> None:
        self._node = node
        self._topic = node.resolve_topic_name(topic)
        self._reader = EndpointReader()
        self._own_name = node.get_fully_qualified_name()
        self.names: tuple[str, ...] = ()
        self.listing = self.same_names = ''
        self.unnamed = False

    def conflict(self, names: Iterable[str]) -> str:
        """Return in words why this node must not command beside other publishers."""
        return f'{", ".join(sorted(names))} publishes on {self._topic} already'

    def poll(self, now: float, publishing: bool = False) -> None:
        """Find the present publishers; ``publishing``: one of them is this node's own."""
        infos = self._node.get_publishers_info_by_topic(self._topic)
        # One node may have several publishers.
        nodes = {(each.node, process_of(each.gid)) for each in self._reader.read(infos, now)}
        names = [name for name, _ in nodes]
        if publishing and self._own_name in names:
            names.remove(self._own_name)  # a second one is another node of the same name
        self.unnamed = '' in names
        others = Counter(sorted(name for name in names if name and not is_watchdog(name)))
        self.names = tuple(others)
        # Publishers outside ROS have no full name.
        texts = {x: f'{n} nodes named {x}' for x, n in others.items() if n > 1 and x[0] == '/'}
        self.listing = ', '.join(texts.get(name, name) for name in others)
        same = ' and '.join(texts.values())
        self.same_names = f'{same} publish on {self._topic}: {HINT}' if same else ''
