# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

from collections.abc import Iterator
import time
from typing import Any

import pytest

from support.ros.ros_process import NO_ROS, new_domain_id, ros_node, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)

from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from std_msgs.msg import Int64
from std_srvs.srv import SetBool

from rnea_ros.ros import PolledClient, PolledSubscription

pytestmark = pytest.mark.ros

TOPIC = 'numbers'


@pytest.fixture
def node() -> Iterator[Any]:
    with ros_node(new_domain_id()) as spun:
        yield spun


def subscribe(node: Any, depth: int = 1) -> PolledSubscription[Any]:
    return PolledSubscription(node, Int64, TOPIC, QoSProfile(depth=depth))


def publish(node: Any, *numbers: int) -> None:
    """Publish numbers; return once a subscription of the executor's has had the last."""
    arrived: list[int] = []
    node.create_subscription(Int64, TOPIC, lambda message: arrived.append(message.data), 10)
    publisher = node.create_publisher(Int64, TOPIC, 10)
    assert wait_until(lambda: publisher.get_subscription_count() == 2)
    for number in numbers:
        publisher.publish(Int64(data=number))
    assert wait_until(lambda: arrived == list(numbers))


def test_there_is_nothing_to_take_before_a_message_comes(node: Any) -> None:
    assert subscribe(node).take() is None


@pytest.mark.parametrize('depth', [1, 5])
def test_the_newest_message_is_taken_once_and_by_no_executor(node: Any, depth: int) -> None:
    direct = subscribe(node, depth)
    publish(node, 1, 2, 3)
    assert wait_until(lambda: getattr(direct.take(), 'data', 0) == 3)
    assert direct.take() is None


def test_all_that_the_history_kept_is_taken_oldest_first(node: Any) -> None:
    direct = subscribe(node, depth=2)
    publish(node, 1, 2, 3)
    assert [message.data for message in direct.take_all()] == [2, 3]


def test_a_destroyed_subscription_is_gone_from_the_graph(node: Any) -> None:
    direct = subscribe(node)
    publisher = node.create_publisher(Int64, TOPIC, 1)
    assert wait_until(lambda: publisher.get_subscription_count() == 1)
    direct.destroy()
    assert wait_until(lambda: publisher.get_subscription_count() == 0)
    assert TOPIC not in {entity.topic_name.strip('/') for entity in node.subscriptions}


def test_waiting_ends_when_a_message_comes_or_when_the_time_is_over(node: Any) -> None:
    direct = subscribe(node)
    began = time.monotonic()
    direct.wait(0.2)
    assert time.monotonic() - began >= 0.2
    publisher = node.create_publisher(Int64, TOPIC, 1)
    assert wait_until(lambda: publisher.get_subscription_count() == 1)
    publisher.publish(Int64(data=7))
    began = time.monotonic()
    direct.wait(20.0)
    assert time.monotonic() - began < 10.0
    message = direct.take()
    assert message is not None
    assert message.data == 7


def test_raw_messages_are_the_bytes_that_rclpy_makes_messages_of(node: Any) -> None:
    direct: PolledSubscription[bytes] = PolledSubscription(
        node, Int64, TOPIC, QoSProfile(depth=5), raw=True
    )
    publish(node, 1, 2, 3)
    messages = direct.take_all()
    assert [deserialize_message(data, Int64).data for data in messages] == [1, 2, 3]


def test_a_service_is_called_without_an_executor(node: Any) -> None:
    asked: list[bool] = []

    def answer(request: Any, response: Any) -> Any:
        asked.append(request.data)
        response.message = str(request.data)
        return response

    node.create_service(SetBool, 'question', answer)
    client: PolledClient[Any] = PolledClient(node, SetBool, 'question')
    assert wait_until(lambda: client.ready)
    assert not client.pending
    client.send(SetBool.Request(data=False))
    assert wait_until(lambda: asked == [False])
    client.send(SetBool.Request(data=True))
    assert wait_until(lambda: getattr(client.response(), 'message', '') == 'True')
    assert not client.pending
    client.send(SetBool.Request(data=False))
    client.discard()
    assert wait_until(lambda: len(asked) == 3)
    time.sleep(0.1)
    assert client.response() is None
