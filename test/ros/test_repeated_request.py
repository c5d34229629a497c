# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A request whose answer is lost is sent again."""

from concurrent.futures import Future
import time
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from rnea_ros.ros import RepeatedRequest


@pytest.mark.parametrize('answered', [0, 2])
def test_a_request_is_sent_each_second_until_one_is_answered(
    monkeypatch: pytest.MonkeyPatch, answered: int
) -> None:
    clock, ready = [100.0], [False]
    futures: list[Future[str]] = []
    monkeypatch.setattr(time, 'monotonic', lambda: clock[0])

    def call_async(request: str) -> Future[str]:
        assert request == 'what'
        futures.append(Future())
        return futures[-1]

    client: Any = SimpleNamespace(service_is_ready=lambda: ready[0], call_async=call_async)
    repeated = RepeatedRequest(client, 'what')
    sent = []
    for k in range(12):
        ready[0] = k >= 3
        assert not repeated.poll()
        sent.append(len(futures))
        clock[0] += 0.25
    assert sent == [0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3]
    futures[answered].set_result('that')
    clock[0] += 5.0
    assert repeated.poll()
    assert (repeated.response, len(futures)) == ('that', 3)
