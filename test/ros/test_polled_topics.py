# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A node's clock in simulated time, and subscriptions and clients without an executor: DDS."""

from collections.abc import Iterator
from contextlib import contextmanager
import threading
import time
from typing import Any

import pytest

from support.ros.ros_process import NO_ROS, PATIENCE, new_domain_id, ros_node, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)

import rclpy
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Int64
from std_srvs.srv import SetBool

from rnea_ros.ros import PolledNodeTime, PolledRequest, PolledSubscription
from rnea_ros.ros.rclpy_internals import RETRY

pytestmark = pytest.mark.ros


@pytest.fixture(scope='module')
def node() -> Iterator[Any]:
    with ros_node(new_domain_id()) as spun:
        yield spun


# --- simulated time ------------------------------------------------------------------------------


@pytest.fixture
def follower(node: Any) -> Iterator[Any]:
    """Give a node that follows simulated time without an executor."""
    context = rclpy.Context()
    rclpy.init(args=[], context=context, domain_id=node.context.get_domain_id())
    follower = PolledNodeTime(
        'follower', context=context, enable_rosout=False,
        parameter_overrides=[Parameter('use_sim_time', value=True)],
    )
    yield follower
    follower.destroy_node()
    context.try_shutdown()


def test_simulated_time_wakes_no_executor_and_ends(node: Any, follower: Any) -> None:
    publisher = node.create_publisher(Clock, '/clock', 1)

    def publish(seconds: int) -> bool:
        message = Clock()
        message.clock.sec = seconds
        publisher.publish(message)
        return True

    def now() -> float:
        follower.set_time()
        return float(1e-9 * follower.get_clock().now().nanoseconds)

    assert wait_until(lambda: publish(5) and now() == 5.0)
    executor = SingleThreadedExecutor(context=follower.context)
    executor.add_node(follower)
    executor.spin_once(timeout_sec=0.0)
    publish(7)
    executor.spin_once(timeout_sec=0.5)
    assert follower.get_clock().now().nanoseconds == 5_000_000_000
    assert wait_until(lambda: publish(7) and now() == 7.0)
    executor.remove_node(follower)
    executor.shutdown()
    follower.set_parameters([Parameter('use_sim_time', value=False)])
    publish(9)
    assert now() == pytest.approx(time.time(), abs=3600.0)


def test_a_clock_that_rclpy_unsubscribed_itself_is_ignored(follower: Any) -> None:
    """Lyrical's rclpy does so when use_sim_time becomes false, without a call of the node."""
    follower._sim_time.subscription.destroy()
    for _ in range(2):
        follower.set_time()
    assert follower._sim_time is None


# --- subscriptions and clients -------------------------------------------------------------------


@contextmanager
def polled(node: Any, depth: int, *, raw: bool = False) -> Iterator[tuple[Any, Any]]:
    """Give a subscription of its own topic, and a publisher that has discovered it."""
    topic = f'depth_{depth}_{raw}'
    direct: Any = PolledSubscription(node, Int64, topic, QoSProfile(depth=depth), raw=raw)
    publisher = node.create_publisher(Int64, topic, 16)
    assert wait_until(lambda: publisher.get_subscription_count() == 1)
    yield direct, publisher
    direct.destroy()
    assert wait_until(lambda: publisher.get_subscription_count() == 0)
    node.destroy_publisher(publisher)


def publish(publisher: Any, *numbers: int) -> None:
    """Publish numbers; return once every subscription has received them."""
    for number in numbers:
        publisher.publish(Int64(data=number))
    assert publisher.wait_for_all_acked(Duration(seconds=PATIENCE))


@pytest.mark.parametrize(('depth', 'raw', 'kept'), [
    (1, False, [3]), (2, False, [2, 3]), (5, False, [1, 2, 3]), (5, True, [1, 2, 3]),
])
def test_what_the_history_kept_is_taken_once_oldest_first(
    node: Any, depth: int, kept: list[int], *, raw: bool
) -> None:
    def number(message: Any) -> int:
        return int((deserialize_message(message, Int64) if raw else message).data)

    with polled(node, depth, raw=raw) as (direct, publisher):
        assert direct.take() is None
        publish(publisher, 1, 2, 3)
        assert [number(message) for message in direct.take_all()] == kept
        assert direct.take() is None
        publish(publisher, 4, 5)
        assert number(direct.take()) == 5


def test_waiting_ends_when_a_message_comes_or_when_the_time_is_over(node: Any) -> None:
    with polled(node, 1) as (direct, publisher):
        began = time.monotonic()
        direct.wait(0.05)
        assert time.monotonic() - began >= 0.05
        publisher.publish(Int64(data=7))
        direct.wait(PATIENCE)
        assert direct.take().data == 7


def test_a_service_is_called_without_an_executor(node: Any) -> None:
    asked: list[bool] = []
    answering = threading.Event()

    def answer(request: Any, response: Any) -> Any:
        assert answering.wait(PATIENCE)
        asked.append(request.data)
        response.message = str(len(asked))
        return response

    node.create_service(SetBool, 'question', answer)
    request: Any = PolledRequest(node, SetBool, 'question', SetBool.Request(data=True))
    assert wait_until(lambda: request.ready)
    assert request.poll(0.0) is None
    request.restart()
    for now in (0.0, 0.5 * RETRY, 1.5 * RETRY):  # the second is not due
        assert request.poll(now) is None
    answering.set()
    assert wait_until(lambda: getattr(request.poll(RETRY), 'message', '') == '3'), 'the newest'
