# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A node's clock in simulated time, over real DDS."""

from collections.abc import Iterator
import time
from typing import Any

import pytest

from support.ros.ros_process import NO_ROS, new_domain_id, ros_node, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock

from rnea_ros.ros import PolledNodeTime

pytestmark = pytest.mark.ros


class Simulation:
    """Sends simulated time."""

    def __init__(self, node: Any) -> None:
        self._publisher = node.create_publisher(Clock, '/clock', 1)

    def publish(self, seconds: int) -> None:
        message = Clock()
        message.clock.sec = seconds
        self._publisher.publish(message)


@pytest.fixture
def simulation() -> Iterator[tuple[Simulation, Any]]:
    """Give simulated time, and a node that follows it without an executor."""
    domain_id = new_domain_id()
    with ros_node(domain_id, 'simulation') as other:
        context = rclpy.Context()
        rclpy.init(context=context, domain_id=domain_id)
        node = PolledNodeTime(
            'follower', context=context, enable_rosout=False,
            parameter_overrides=[Parameter('use_sim_time', value=True)],
        )
        yield Simulation(other), node
        node.destroy_node()
        context.try_shutdown()


def now(node: Any) -> float:
    """Return a node's time after an update, s."""
    node.set_time()
    return float(1e-9 * node.get_clock().now().nanoseconds)


def follow(simulation: Simulation, node: Any, seconds: int) -> bool:
    """Publish a time until a node's clock shows it; return whether it does."""

    def follows() -> bool:
        simulation.publish(seconds)
        return now(node) == seconds

    return wait_until(follows)


def test_simulated_time_wakes_no_executor(simulation: tuple[Simulation, Any]) -> None:
    source, node = simulation
    assert follow(source, node, 5)
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    executor.spin_once(timeout_sec=0.0)
    source.publish(7)
    executor.spin_once(timeout_sec=0.5)
    assert node.get_clock().now().nanoseconds == 5_000_000_000
    assert wait_until(lambda: now(node) == 7.0)
    executor.remove_node(node)
    executor.shutdown()


def test_the_machines_time_returns_after_simulation(simulation: tuple[Simulation, Any]) -> None:
    source, node = simulation
    assert follow(source, node, 5)
    node.set_parameters([Parameter('use_sim_time', value=False)])
    source.publish(7)
    assert now(node) == pytest.approx(time.time(), abs=60.0)
