# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Who is on a topic, by node: names come a little later than the endpoints that they belong to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

PATIENCE = 1.0
"""How long an endpoint may have no node before it counts as one that never has, s."""

UNKNOWN = '_NODE_NAME_UNKNOWN_'
"""What ROS calls a node that was not heard of yet, or that is none of ROS."""


@dataclass(frozen=True)
class Endpoint:
    """
    A publisher or a subscription.

    :param gid: tells it from every other
    :param node: full name of its node, empty where it is not known yet
    """

    gid: bytes
    node: str


class EndpointReader:
    """Remembers since when each endpoint is there."""

    def __init__(self) -> None:
        self._since: dict[bytes, float] = {}

    def read(self, infos: Iterable[Any], now: float) -> list[Endpoint]:
        """
        Return the endpoints of a topic.

        :param infos: rclpy's TopicEndpointInfo of each
        :param now: monotonic time, s
        """
        seen = [(bytes(info.endpoint_gid), info) for info in infos]
        self._since = {gid: self._since.get(gid, now) for gid, _ in seen}
        return [Endpoint(gid, self._name(info, now - self._since[gid])) for gid, info in seen]

    @staticmethod
    def _name(info: Any, age: float) -> str:
        if info.node_name == UNKNOWN:
            return '' if age < PATIENCE else UNKNOWN
        return f'{info.node_namespace.rstrip("/")}/{info.node_name}'
