# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A request whose answer is lost is sent again."""

from concurrent.futures import Future
import time
from typing import Any

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from rnea_ros.ros import RepeatedRequest


class Client:
    """A client whose requests are answered by the test."""

    def __init__(self) -> None:
        self.ready = False
        self.futures: list[Future[str]] = []

    def service_is_ready(self) -> bool:
        return self.ready

    def call_async(self, request: str) -> Future[str]:
        self.futures.append(Future())
        return self.futures[-1]


@pytest.mark.parametrize('answered', [0, 2])
def test_a_request_is_sent_each_second_until_one_is_answered(
    monkeypatch: pytest.MonkeyPatch, answered: int
) -> None:
    clock = [100.0]
    monkeypatch.setattr(time, 'monotonic', lambda: clock[0])
    client: Any = Client()
    repeated = RepeatedRequest(client, 'what')
    sent = []
    for k in range(12):
        client.ready = k >= 3
        assert not repeated.poll()
        sent.append(len(client.futures))
        clock[0] += 0.25
    assert sent == [0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3]
    client.futures[answered].set_result('that')
    clock[0] += 5.0
    assert repeated.poll()
    assert repeated.response == 'that'
    assert len(client.futures) == 3
