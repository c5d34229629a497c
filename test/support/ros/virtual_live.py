# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The live node of a tool, with all that it talks to, in virtual time and in one thread."""

from array import array
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from support.ros.ros_process import NO_ROS

STEP = 0.01
"""Virtual time between two looks at timers, events and messages, s."""


class VirtualLive:
    """
    A node, and the graph around it; time passes only while the tool spins.

    Messages come to every subscription that exists, latched ones to later subscriptions too.

    :param modes: the parameter ``mode`` of feedforward nodes, by their names
    :ivar keys: pressed keys that were not read yet
    """

    timeout = 10.0

    def __init__(self, modes: dict[str, str] | None = None) -> None:
        self.node = self
        self.now = 100.0
        self.keys: list[str] = []
        self.modes = modes or {}
        self.on_mode: Callable[[str], None] = lambda mode: None
        self._timers: list[Callable[[], None]] = []
        self._events: list[tuple[float, Callable[[], object]]] = []
        self._subscriptions: list[SimpleNamespace] = []
        self._latched: list[tuple[str, Any]] = []
        self._queue: deque[tuple[SimpleNamespace, Any]] = deque()

    def at(self, time: float, event: Callable[[], object]) -> None:
        """Let something happen a time after the start, s."""
        self._events.append((100.0 + time, event))

    def play(self, recorded: Any, urdf: str) -> None:
        """Publish a robot description, then each sample of a recording at its time, once."""
        from rclpy.qos import DurabilityPolicy, QoSProfile
        from sensor_msgs.msg import JointState
        from std_msgs.msg import String

        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.create_publisher(String, 'robot_description', latched).publish(String(data=urdf))
        states = self.create_publisher(JointState, 'joint_states', 10)
        columns = (recorded.position, recorded.velocity, recorded.effort)
        rows = deque(zip(recorded.time, *columns, strict=True))
        begin: list[float] = []

        def publish() -> None:
            if not states.get_subscription_count():
                return
            begin.append(self.now)
            while rows and rows[0][0] <= self.now - begin[0]:
                time, *row = rows.popleft()
                position, velocity, effort = (array('d', values) for values in row)
                message = JointState(
                    name=list(recorded.names), position=position, velocity=velocity, effort=effort
                )
                stamp = message.header.stamp
                stamp.sec, stamp.nanosec = divmod(round(1e9 * (100.0 + time)), 10**9)
                states.publish(message)

        self.create_timer(STEP, publish)

    def spin(self, duration: float, done: Callable[[], bool] = lambda: False) -> None:
        end = self.now + duration - 1e-9
        while not done() and self.now < end:
            self.now += STEP
            due = [event for time, event in self._events if time <= self.now]
            self._events = [each for each in self._events if each[0] > self.now]
            for happens in (*due, *self._timers):
                happens()
            while self._queue:
                subscription, message = self._queue.popleft()
                if subscription in self._subscriptions:
                    subscription.take(message)

    def wait(self, condition: Callable[[], bool], error: Callable[[], Exception]) -> None:
        self.spin(self.timeout, condition)
        if not condition():
            raise error()

    def create_publisher(self, kind: type, topic: str, qos: Any) -> Any:
        from rclpy.qos import DurabilityPolicy

        name = f'/{topic.lstrip("/")}'
        latched = getattr(qos, 'durability', None) is DurabilityPolicy.TRANSIENT_LOCAL

        def subscribed() -> list[SimpleNamespace]:
            return [each for each in self._subscriptions if each.topic_name == name]

        def publish(message: Any) -> None:
            assert isinstance(message, kind)
            self._latched += [(name, message)] if latched else []
            for subscription in subscribed():
                self._send(subscription, message)

        return SimpleNamespace(
            topic_name=name, publish=publish, get_subscription_count=lambda: len(subscribed())
        )

    def create_subscription(
        self, kind: type, topic: str, take: Callable[[Any], None], qos: Any, raw: bool = False
    ) -> Any:
        from rclpy.qos import DurabilityPolicy

        subscription = SimpleNamespace(topic_name=f'/{topic.lstrip("/")}', take=take, raw=raw)
        self._subscriptions.append(subscription)
        if getattr(qos, 'durability', None) is DurabilityPolicy.TRANSIENT_LOCAL:
            for name, message in self._latched:
                if name == subscription.topic_name:
                    self._send(subscription, message)
        return subscription

    def destroy_subscription(self, subscription: Any) -> None:
        self._subscriptions.remove(subscription)

    def create_timer(self, period: float, callback: Callable[[], None]) -> None:
        self._timers.append(callback)

    def create_client(self, kind: Any, name: str) -> Any:
        """Return a client of the parameter services of a node with a mode in ``modes``."""
        node, _, service = name.rpartition('/')
        answer = {'get_parameters': self._get, 'set_parameters_atomically': self._set}[service]

        def call(request: Any) -> Any:
            response = answer(node, kind, request)
            return SimpleNamespace(done=lambda: True, result=lambda: response)

        return SimpleNamespace(service_is_ready=lambda: node in self.modes, call_async=call)

    def get_clock(self) -> Any:
        from builtin_interfaces.msg import Time

        return SimpleNamespace(now=lambda: SimpleNamespace(
            to_msg=lambda: Time(sec=int(self.now), nanosec=round(1e9 * (self.now % 1.0)))
        ))

    def resolve_topic_name(self, name: str) -> str:
        return f'/{name}'

    def _send(self, subscription: SimpleNamespace, message: Any) -> None:
        from rclpy.serialization import serialize_message

        message = serialize_message(message) if subscription.raw else message
        self._queue.append((subscription, message))

    def _get(self, node: str, kind: Any, request: Any) -> Any:
        from rclpy.parameter import Parameter

        assert request.names == ['mode']
        value = Parameter('mode', value=self.modes[node]).to_parameter_msg().value
        return kind.Response(values=[value])

    def _set(self, node: str, kind: Any, request: Any) -> Any:
        (parameter,) = request.parameters
        assert parameter.name == 'mode'
        self.modes[node] = parameter.value.string_value
        self.on_mode(self.modes[node])
        response = kind.Response()
        response.result.successful = True
        return response


def replace_live_node(
    monkeypatch: pytest.MonkeyPatch, *places: str, modes: dict[str, str] | None = None
) -> VirtualLive:
    """Give a virtual live node, and let tools use it instead of a real one."""
    pytest.importorskip('rclpy', reason=NO_ROS)
    live = VirtualLive(modes)

    @contextmanager
    def live_node(name: str, ros_arguments: object) -> Iterator[VirtualLive]:
        yield live

    @contextmanager
    def pressed_keys() -> Iterator[Callable[[], str]]:
        yield lambda: live.keys.pop(0) if live.keys else ''

    for place in places or ('rnea_ros.live',):
        monkeypatch.setattr(f'{place}.live_node', live_node)
    monkeypatch.setattr('rnea_ros.tools.teach.pressed_keys', pressed_keys)
    return live
