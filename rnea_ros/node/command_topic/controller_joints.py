# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The joints of the effort controller and their order, read from its parameter ``joints``."""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import Any

from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters

from ...errors import clipped
from ...ros import EndpointReader, PolledClient, process_of
from .other_publishers import HINT

# A controller without a parameter service for this long counts as one without joints, s. The
# service is requested as soon as it appears. If its first announcements are lost, Fast DDS repeats
# them after 3 s: before that, a controller of other joints may look like one without any.
SERVICE_TIMEOUT = 4.0

RETRY = 0.5  # time between two requests, s: the first may go to a controller that was killed


class ControllerJoints:
    """
    Reads the parameter ``joints`` of the effort controller behind a command topic.

    The controller is the node ``<topic>/..``. It gets a request when its subscription appears, and
    again whenever another subscription of this node appears: it may have been restarted with other
    joints. :meth:`poll` does not block; one thread at a time may call it.

    :ivar appeared_at: when the newest of these subscriptions was discovered, s
    :ivar endpoints: GIDs of the controller's subscriptions of the topic; replaced, never changed
    :ivar joints: the joints of these subscriptions; empty if the controller names none, None
        before its answer
    :ivar answered: whether ``joints`` comes from an answer, not from a missing parameter service
    """

    def __init__(self, node: Any, topic: str) -> None:
        self._node = node
        self.topic = topic
        self.controller = topic.rpartition('/')[0]
        self._client: PolledClient[Any] = PolledClient(
            node, GetParameters, f'{self.controller}/get_parameters'
        )
        self._reader = EndpointReader()
        self._sent_at = 0.0
        self.appeared_at = -math.inf
        self.endpoints: frozenset[bytes] = frozenset()
        self.joints: tuple[str, ...] | None = None
        self.answered = False

    @property
    def missing(self) -> str:
        """Why the controller's joints are not known; empty if they are."""
        if not self.endpoints:
            return f'{self.controller} does not listen on {self.topic}; start it or set joints'
        if self.joints is None:
            return f'{self.controller} has not answered which joints it commands'
        return '' if self.joints else f'{self.controller} names no joints; set joints'

    @property
    def conflict(self) -> str:
        """Why no control may start: several controllers of one name; empty if there are none."""
        number = len({process_of(gid) for gid in self.endpoints})
        said = f'{number} controllers named {self.controller} listen on {self.topic}: {HINT}'
        return said if number > 1 else ''

    def poll(self, now: float) -> None:
        """Look for the controller's subscriptions; send a request if due, or take the answer."""
        infos = self._node.get_subscriptions_info_by_topic(self.topic)
        listeners = self._reader.read(infos, now)
        present = frozenset(each.gid for each in listeners if each.node == self.controller)
        new = present - self.endpoints
        if new:
            self.appeared_at = now
        if new or not present:
            self._client.discard()
            self.joints, self.answered = None, False
        self.endpoints = present
        if present and not self.answered:
            self._request(now)

    def _request(self, now: float) -> None:
        client = self._client
        response = client.response() if client.pending else None
        if response is not None:
            self.answered = True
            self.joints = _joints(response)
        elif client.ready:
            if not client.pending or now - self._sent_at > RETRY:
                client.send(GetParameters.Request(names=['joints']))
                self._sent_at = now
        elif self.joints is None and now - self.appeared_at > SERVICE_TIMEOUT:
            self.joints = ()


def difference(joints: Sequence[str], commanded: Sequence[str]) -> str:
    """Return in words how a controller's joints differ from the commanded ones."""
    absent = [name for name in commanded if name not in joints]
    more = [name for name in joints if name not in commanded]
    words = []
    if absent:
        words.append(f'without {", ".join(absent)}')
    if more:
        words.append(f'with {", ".join(more)}')
    if not words:
        words.append(f'in another order: {", ".join(joints)}')
    return clipped(' and '.join(words))


def _joints(response: Any) -> tuple[str, ...]:
    values = response.values
    if values and values[0].type == ParameterType.PARAMETER_STRING_ARRAY:
        return tuple(values[0].string_array_value)
    return ()
