# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Virtual publishers, subscriptions, services, timers and graph of a node: no DDS."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
import rclpy
from rclpy.lifecycle import LifecycleNode
from rclpy.serialization import deserialize_message

from support.ros.command_graph import TOPIC, CommandGraph
from support.ros.fake_robot import JOINTS
from support.ros.ros_process import isolated, new_domain_id
from support.ros.virtual_time import VirtualTime


class Subscription:
    """A subscription; ``queue`` has the bytes of the messages not taken yet."""

    def __init__(
        self, kind: Any, callback: Any, qos: Any, time: VirtualTime, options: Any
    ) -> None:
        self.kind, self.callback, self.time = kind, callback, time
        self.raw, self.polled = options.get('raw', False), 'callback_group' in options
        self.qos_profile = qos if hasattr(qos, 'depth') else SimpleNamespace(depth=qos)
        self.queue: deque[bytes] = deque(maxlen=max(self.qos_profile.depth, 1))
        self.destroy: Callable[[], None]  # Lyrical's rclpy calls it for /clock

    @property
    def handle(self) -> Subscription:
        return self

    def receive(self, data: bytes) -> None:
        if self.polled:
            self.queue.append(data)
        else:
            self.callback(data if self.raw else deserialize_message(data, self.kind))


class Timer:
    """A timer; :meth:`VirtualRig.run` calls it."""

    def __init__(self, period: float, callback: Callable[[], None]) -> None:
        self.period, self.callback, self.running = period, callback, True

    def cancel(self) -> None:
        self.running = False

    def reset(self) -> None:
        self.running = True


def take_all(polled: Any) -> list[Any]:
    """Take the messages of a polled subscription, oldest first."""
    subscription = polled.subscription
    taken = [*subscription.queue]
    subscription.queue.clear()
    kind = subscription.kind
    return taken if subscription.raw else [deserialize_message(data, kind) for data in taken]


def wait(polled: Any, timeout: float) -> None:
    """Wait for a message of a polled subscription in virtual time."""
    subscription = polled.subscription
    subscription.time.wait(lambda: subscription.queue, timeout)


class Log:
    """What the node has logged, as lines ``level: text``."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __getattr__(self, level: str) -> Callable[..., None]:
        return lambda text, **_: self.lines.append(f'{level}: {text}')


class Graph(CommandGraph):
    """A graph whose controller answers at once; ``joints`` None for none."""

    joints: Sequence[str] | None = JOINTS

    def send_request(self, request: Any) -> int:
        number = super().send_request(request)
        self.questions[-1].names(self.joints)
        return number


@cache
def context() -> Any:
    """Initialise ROS, once for all tests of the process."""
    made = rclpy.Context()
    domain_id = new_domain_id()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in isolated(domain_id).items():
            patch.setenv(name, value)
        rclpy.init(args=[], context=made, domain_id=domain_id)
    return made


class VirtualEntities(LifecycleNode):
    """Replaces LifecycleNode's ``create_*`` methods; rcl's node is alone on its DDS domain."""

    rig: Any

    def __init__(self, name: str) -> None:
        super().__init__(
            name, context=context(), enable_rosout=False, enable_communication_interface=False,
            parameter_overrides=self.rig.overrides,
        )

    def create_publisher(self, kind: Any, topic: str, *_: Any, **__: Any) -> Any:
        name = self.resolve_topic_name(topic)
        self.rig.created.append(name)
        return SimpleNamespace(
            publish=lambda message: self.rig.on_publish(kind, name, message), topic_name=name,
            get_subscription_count=self.rig.graph.get_subscription_count if name == TOPIC else (
                lambda: name in self.rig.subscribed_topics
            ),
            wait_for_all_acked=lambda _: True,
        )

    def create_subscription(
        self, kind: Any, topic: str, callback: Any, qos: Any, **options: Any
    ) -> Any:
        name = self.resolve_topic_name(topic)
        subscription = Subscription(kind, callback, qos, self.rig.time, options)
        subscriptions = self.rig.subscriptions[name]
        subscriptions.append(subscription)
        subscription.destroy = lambda: subscriptions.remove(subscription)
        return subscription

    def create_service(self, _: Any, name: str, callback: Any, **__: Any) -> Any:
        self.rig.services[self.resolve_service_name(name)] = callback

    def create_client(self, kind: Any, name: str, **options: Any) -> Any:
        return self.rig.graph.create_client(kind, name, options['callback_group'])

    def create_timer(self, period: float, callback: Any, **_: Any) -> Any:
        timer = Timer(period, callback)
        self.rig.timers.append(timer)
        return timer

    def destroy_publisher(self, publisher: Any) -> bool:
        self.rig.created.remove(publisher.topic_name)
        return True

    def destroy_subscription(self, subscription: Any) -> bool:
        for subscriptions in self.rig.subscriptions.values():
            if subscription in subscriptions:
                subscriptions.remove(subscription)
        return True

    def get_subscriptions_info_by_topic(self, topic: str, *_: Any) -> Any:
        return self.rig.graph.get_subscriptions_info_by_topic(topic)

    def get_publishers_info_by_topic(self, topic: str, *_: Any) -> Any:
        return [
            SimpleNamespace(endpoint_gid=[k] * 16, node_namespace='/', node_name=name)
            for k, name in enumerate(self.rig.publishers[topic])
        ]

    def get_logger(self) -> Any:
        return self.rig.log
