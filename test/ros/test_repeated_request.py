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

    def call_async(self, request: Any) -> Future[str]:
        assert request == 'what'
        self.futures.append(Future())
        return self.futures[-1]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return what the clock shows, s, as a list of one number."""
    shown = [100.0]
    monkeypatch.setattr(time, 'monotonic', lambda: shown[0])
    return shown


def test_it_is_sent_each_second_from_when_the_service_exists(clock: list[float]) -> None:
    client = Client()
    repeated = RepeatedRequest(client, 'what')
    sent = []
    for k in range(16):
        client.ready = k >= 3
        assert not repeated.answered()
        sent.append(len(client.futures))
        clock[0] += 0.25
    assert [k for k in range(1, 16) if sent[k] > sent[k - 1]] == [3, 7, 11, 15]


@pytest.mark.parametrize('answered', [0, 1])
def test_an_answer_to_any_of_them_counts_and_ends_them(clock: list[float], answered: int) -> None:
    client = Client()
    client.ready = True
    repeated = RepeatedRequest(client, 'what')
    for _ in range(2):
        assert not repeated.answered()
        clock[0] += 1.5
    client.futures[answered].set_result('that')
    assert repeated.answered()
    assert repeated.response == 'that'
    clock[0] += 5.0
    assert repeated.answered()
    assert len(client.futures) == 2
