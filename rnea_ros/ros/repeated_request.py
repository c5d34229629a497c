# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Requests to a service that are sent again until one is answered."""

from __future__ import annotations

import math
import time
from typing import Any

REPEAT_PERIOD = 1.0  # time from one request to the next, s


class RepeatedRequest:
    """
    A request that is sent each second until it is answered: only for one that may act twice.

    A server sends one answer to a request. Fast DDS drops it if the server has not discovered the
    client within 0.1 s: on a busy computer the first answer after a start can be lost.

    :param client: service client; its node must be spun
    :param request: the request, of the client's type
    :ivar response: the answer; None until there is one
    """

    def __init__(self, client: Any, request: Any) -> None:
        self._client, self._request = client, request
        self._futures: list[Any] = []
        self._due = -math.inf
        self.response: Any = None

    def poll(self) -> bool:
        """Send the request if it is due and the service exists; return whether it is answered."""
        self.response = next((sent.result() for sent in self._futures if sent.done()), None)
        due = self.response is None and time.monotonic() >= self._due
        if due and self._client.service_is_ready():
            self._futures.append(self._client.call_async(self._request))
            self._due = time.monotonic() + REPEAT_PERIOD
        return self.response is not None
