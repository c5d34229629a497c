# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Publishers and subscriptions of a topic, with the names of their nodes.

DDS discovers an endpoint up to 0.1 s before the name of its node.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Later subscriptions get the last message too; reliable."""

NAME_TIMEOUT = 1.0  # an endpoint without a node name for this long never gets one, s
UNKNOWN = '_NODE_NAME_UNKNOWN_'  # ROS's name of a node not discovered yet, or not of ROS


@dataclass(frozen=True)
class Endpoint:
    """A publisher or a subscription: its GID in DDS, and its node; empty until discovered."""

    gid: bytes
    node: str


def process_of(gid: bytes) -> bytes:
    """Return the first 12 bytes of a GID, which all endpoints of a process share."""
    return gid[:12]


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
            Endpoint(gid, self._node_name(info, now - self._appeared[gid])) for gid, info in by_gid
        ]

    @staticmethod
    def _node_name(info: Any, age: float) -> str:
        if info.node_name == UNKNOWN:
            return '' if age < NAME_TIMEOUT else UNKNOWN
        return f'{info.node_namespace.rstrip("/")}/{info.node_name}'
