# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Whatever raises in a transition or a callback is logged, leaves nothing behind, ends nothing."""

from collections.abc import Callable, Iterator
import os
import signal
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from support.ros.fake_robot import FakeRobot, fake_robot
from support.ros.node_in_process import NodeInProcess, node_in_process
from support.ros.ros_process import NO_ROS, isolated, wait_for_ends

pytest.importorskip('rclpy', reason=NO_ROS)

from geometry_msgs.msg import WrenchStamped
import rclpy
from rclpy.lifecycle import TransitionCallbackReturn
from std_srvs.srv import Trigger

from rnea_ros.node import activation, configuration, control_setup, feedforward_node, loop
from rnea_ros.ros import MACHINE_TIME, NodeProcess

pytestmark = pytest.mark.ros

TOPIC = '/effort_controller/commands'
SUCCESS, ERROR = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.ERROR


class Bench:
    """A feedforward node in the test's own process, beside a fake robot."""

    def __init__(self, robot: FakeRobot, process: NodeInProcess) -> None:
        self.robot = robot
        self.process = process
        self.node = process.node
        self.logged: list[str] = []

    @property
    def state(self) -> str:
        """The lifecycle state."""
        return str(self.node._state_machine.current_state[1])

    @property
    def publishers(self) -> list[str]:
        """Topics that the node publishes to itself, one a publisher."""
        return sorted(publisher.topic_name for publisher in self.node.publishers)

    @property
    def control(self) -> str:
        """The state of the control."""
        active = self.node._activation
        return 'none' if active is None else active.controller.state.value

    def spin_until(self, condition: Callable[[], Any]) -> None:
        """Spin until a condition holds."""
        assert self.process.wait_until(condition), self.logged

    def configure(self) -> TransitionCallbackReturn:
        """Configure once the controller is known."""
        self.spin_until(lambda: not self.node._missing())
        return self.node.trigger_configure()

    def activate(self) -> None:
        """Activate, and wait until commands are sent."""
        assert self.node.trigger_activate() is SUCCESS
        self.spin_until(lambda: self.control in ('active', 'degraded'))


@pytest.fixture
def bench(domain_id: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """A node without autostart, beside a fake robot."""
    options = (
        'autostart:=false', 'rate:=100.0', 'ramp_duration:=0.05', 'hold_duration:=0.05',
        'joint_states_timeout:=5.0', 'hardware_compensates:=[none]',
        'wrench_inputs.names:=[wrist]', 'wrench_inputs.wrist.topic:=wrench',
        'wrench_inputs.wrist.link:=fer_link7', 'wrench_inputs.wrist.timeout:=5.0',
        'wrench_inputs.wrist.tare_duration:=60.0',
    )
    arguments = ' '.join(f'-p {option}' for option in options)
    with fake_robot(domain_id) as robot, node_in_process(domain_id, arguments) as process:
        bench = Bench(robot, process)
        monkeypatch.setattr(
            bench.node.get_logger(), 'error', lambda text, **_: bench.logged.append(text)
        )
        yield bench


def raise_it(*_: Any, **__: Any) -> None:
    raise ZeroDivisionError('planted')


PARTS = [
    ('configure', configuration, 'Publishers'), ('configure', control_setup, 'joint_rules'),
    ('activate', activation, 'CommandTopicMonitor'),
    ('activate', activation, 'subscribe_speed_scaling'),
    ('activate', loop, 'ManualGarbageCollection'), ('activate', activation, 'ControlLoop'),
    ('deactivate', loop, 'leave_realtime'),
]


def test_what_a_transition_raises_is_logged_and_a_second_try_works(bench: Bench) -> None:
    for transition, module, part in PARTS:
        before = bench.publishers
        bench.logged.clear()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, part, raise_it)
            if transition == 'configure':
                assert bench.configure() is ERROR
            else:
                assert bench.configure() is SUCCESS
                if transition == 'activate':
                    assert bench.node.trigger_activate() is ERROR
                else:
                    bench.activate()
                    assert bench.node.trigger_deactivate() is ERROR
        (line,) = bench.logged
        assert line.startswith(f'on_{transition} failed: Traceback')
        assert 'ZeroDivisionError: planted' in line
        assert (bench.state, bench.control) == ('unconfigured', 'none'), part
        assert bench.publishers == before, part
        assert bench.configure() is SUCCESS
        bench.activate()
        assert bench.publishers.count(TOPIC) == 1
        assert bench.node.trigger_deactivate() is SUCCESS
        assert bench.node.trigger_cleanup() is SUCCESS


def test_a_tare_that_is_pending_when_the_node_is_deactivated_is_answered(bench: Bench) -> None:
    assert bench.configure() is SUCCESS
    bench.activate()
    controller = bench.node._activation.controller
    assert controller is not None
    client = bench.robot.node.create_client(Trigger, '/feedforward/tare')
    bench.spin_until(client.service_is_ready)
    wrenches = bench.robot.node.create_publisher(WrenchStamped, '/wrench', 1)

    def measure() -> None:
        message = WrenchStamped()
        message.header.frame_id = 'fer_link7'
        message.header.stamp = bench.robot.node.get_clock().now().to_msg()
        wrenches.publish(message)

    bench.robot.node.create_timer(0.01, measure)
    bench.spin_until(lambda: not controller.environment.wrenches.stale)
    answer = client.call_async(Trigger.Request())
    bench.spin_until(lambda: controller.environment.wrenches.taring)
    assert bench.node.trigger_deactivate() is SUCCESS
    bench.spin_until(answer.done)
    assert not answer.result().success
    assert answer.result().message == 'the control is stopped'
    assert bench.node.trigger_cleanup() is SUCCESS
    answer = client.call_async(Trigger.Request())
    bench.spin_until(answer.done)
    assert answer.result().message == 'the node is not configured'


def test_lifecycle_cycles_leave_no_publisher_thread_or_descriptor(bench: Bench) -> None:
    def cycle() -> tuple[list[str], int, int, int]:
        assert bench.configure() is SUCCESS
        bench.activate()
        assert bench.node.trigger_deactivate() is SUCCESS
        assert bench.node.trigger_cleanup() is SUCCESS
        return (
            bench.publishers, len(list(bench.node.subscriptions)) + len(list(bench.node.services)),
            threading.active_count(), len(os.listdir('/proc/self/fd')),
        )

    cycle()
    wait_for_ends()  # of the tests before
    first = cycle()
    for _ in range(8):
        last = cycle()
    assert last == first


@pytest.fixture
def signals() -> Iterator[None]:
    """Restore the handlers of all signals: a node ignores signals while its process ends."""
    before = {number: signal.getsignal(number) for number in signal.valid_signals()}
    yield
    for number, handler in before.items():
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)


@pytest.mark.usefixtures('signals')
def test_an_exception_in_a_callback_is_logged_and_the_node_goes_on(
    domain_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in isolated(domain_id).items():
        monkeypatch.setenv(name, value)
    process = NodeProcess('test', 'a test', {}, [])
    try:
        node = rclpy.create_node('test')
        called = []

        def call() -> None:
            called.append(time.monotonic())
            raise_it()

        node.create_timer(0.01, call, clock=MACHINE_TIME)
        deadline = time.monotonic() + 30.0
        process.spin(node, running=lambda: len(called) < 5 and time.monotonic() < deadline)
        assert len(called) == 5
        node.destroy_node()
    finally:
        rclpy.try_shutdown()


def test_the_control_ends_with_a_process_that_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []

    class Node:
        action = SimpleNamespace(finishing=lambda: False)

        def shut_down(self) -> None:
            ended.append(True)

    class Process:
        def __init__(self, *_: Any) -> None:
            pass

        def create(self, make: Any) -> Node:
            return Node()

        spin = raise_it

    monkeypatch.setattr(feedforward_node, 'NodeProcess', Process)
    with pytest.raises(ZeroDivisionError):
        feedforward_node.main([])
    assert ended

