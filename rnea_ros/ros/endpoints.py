# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Publishers and subscriptions of a topic, with their nodes.

DDS discovers an endpoint up to 0.1 s before the name of its node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from rclpy.qos import DurabilityPolicy, QoSProfile

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Later subscriptions get the last message too; reliable."""

NAME_TIMEOUT = 1.0  # an endpoint without a node name for this long never gets one, s
UNKNOWN = '_NODE_NAME_UNKNOWN_'  # ROS's name of a node not discovered yet, or not of ROS
WATCHDOG = 'effort_watchdog'  # every watchdog's node; it may publish, once all others are silent

HINT = 'two robots on one domain? Set ROS_DOMAIN_ID or ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST'


class Endpoint(NamedTuple):
    """A publisher or a subscription: its GID in DDS, and its node; empty until discovered."""

    gid: bytes
    node: str

    @property
    def process(self) -> bytes:
        """The first 12 bytes of the GID, which all endpoints of a process share."""
        return self.gid[:12]

    @property
    def is_watchdog(self) -> bool:
        """Whether this is an endpoint of an effort watchdog."""
        return self.node.rpartition('/')[2] == WATCHDOG


def watchdog_topic(command_topic: str) -> str:
    """Return the topic on which a watchdog repeats its commands, for the node it watches."""
    return f'{command_topic}/watchdog'


class EndpointReader:
    """Reads the endpoints of one topic, and remembers when each one appeared."""

    def __init__(self) -> None:
        self._appeared: dict[bytes, float] = {}

    def read(self, infos: Iterable[Any], now: float) -> list[Endpoint]:
        """Return the endpoints of the topic, from rclpy's TopicEndpointInfo of each."""
        by_gid = [(bytes(info.endpoint_gid), info) for info in infos]
        self._appeared = {gid: self._appeared.get(gid, now) for gid, _ in by_gid}
        return [
            Endpoint(gid, _node_name(info, now - self._appeared[gid])) for gid, info in by_gid
        ]


def _node_name(info: Any, age: float) -> str:
    if info.node_name == UNKNOWN:
        return '' if age < NAME_TIMEOUT else UNKNOWN
    return f'{info.node_namespace.rstrip("/")}/{info.node_name}'


class OtherPublishers:
    """
    Finds the other nodes that publish on a topic; watchdogs do not count.

    :ivar names: full names of the other nodes, sorted; ``listing``: as text, nodes of one name
        counted; ``same_names``: those of one name, in words
    :ivar unnamed: whether there is a publisher whose node is not discovered yet
    """

    def __init__(self, node: Any, topic: str) -> None:
        self._node, self._topic = node, node.resolve_topic_name(topic)
        self._reader = EndpointReader()
        self.names: tuple[str, ...] = ()
        self.listing, self.same_names, self.unnamed = '', '', False

    def poll(self, now: float, publishing: bool = False) -> None:
        """Find the present publishers; ``publishing``: one of them is this node's own."""
        infos = self._node.get_publishers_info_by_topic(self._topic)
        # One node may have several publishers.
        nodes = {
            (publisher.node, publisher.process): publisher
            for publisher in self._reader.read(infos, now)
        }
        names = [publisher.node for publisher in nodes.values() if not publisher.is_watchdog]
        own_name = self._node.get_fully_qualified_name()
        if publishing and own_name in names:
            names.remove(own_name)  # a second one is another node of the same name
        self.unnamed = '' in names
        numbers = Counter(sorted(filter(None, names)))
        self.names = tuple(numbers)
        # Publishers outside ROS have no full name.
        texts = {x: f'{n} nodes named {x}' for x, n in numbers.items() if n > 1 and x[0] == '/'}
        self.listing = ', '.join(texts.get(name, name) for name in numbers)
        same = ' and '.join(texts.values())
        self.same_names = f'{same} publish on {self._topic}: {HINT}' if same else ''
