# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The real feedforward node in virtual time: messages in as bytes, commands and reports out; no DDS.

Its loop runs in its own thread, but only as far as the test lets time pass. Publishers,
subscriptions, services, timers and the graph of ROS are replaced; every command is inspected.
"""

from __future__ import annotations

from array import array
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
import itertools
import threading
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
import pytest
import rclpy
from rclpy.lifecycle import LifecycleNode
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from rnea_ros.node import activation, autostart, control, feedforward_node, loop, tare_service
from rnea_ros.node.command_topic import permission
from rnea_ros.node.inputs import sensor_topics
from rnea_ros.node.outputs import reporter
from rnea_ros.node.timing import loop_statistics
from rnea_ros.ros import polled_subscription, set_seconds
from support.ros.command_graph import CONTROLLER, TOPIC, CommandGraph
from support.ros.fake_robot import JOINTS, LIMITS, PANDA_ARM, POSE
from support.ros.ros_process import PATIENCE, isolated, new_domain_id

Array = NDArray[np.float64]

MODULES = (
    activation, autostart, feedforward_node, loop, loop_statistics, permission, reporter,
    sensor_topics, tare_service,
)
"""Modules that read the machine's time."""

WALL = 7000.0
"""Wall time at the monotonic time 0, s."""

DEFAULTS = {
    'hardware_compensates': ['none'], 'rate': 100.0, 'ramp_duration': 0.05, 'hold_duration': 0.1,
    'joint_states_timeout': 0.5,
}


class VirtualTime:
    """
    The module ``time`` and the clock of the loop, moved on by the test alone.

    :ivar events: called at their times, in order: ``(time of the next call, function)``
    """

    simulated: ClassVar[bool] = False

    def __init__(self) -> None:
        self._now = 100.0
        self._limit = 0.0
        self._turn = threading.Condition()
        self._parked = False
        self._thread: threading.Thread | None = None
        self.events: list[Source] = []

    def monotonic(self) -> float:
        return self._now

    now = latest = perf_counter = process_time = monotonic

    def time(self) -> float:
        return self._now + WALL

    stamp = time

    def attach(self, thread: threading.Thread) -> None:
        """Let a loop's thread run no further than :meth:`sleep` of the test's thread allows."""
        self._thread, self._parked = thread, False
        self._limit = self._now

    def sleep(self, duration: float) -> None:
        """Sleep in the loop's thread, or let the loop run for a time, s."""
        if threading.current_thread() is self._thread:
            self._advance(self._now + duration)
            return
        end = self._now + duration
        with self._turn:
            self._limit, self._parked = end, False
            self._turn.notify_all()
            while self._thread is not None and self._thread.is_alive() and not self._parked:
                self._turn.wait(0.02)
        if self._now < end:
            self._pass_events(end)
            self._now = end

    def stall(self, duration: float) -> None:
        """Let time pass during which the loop's thread stands still, s."""
        self._now += duration

    def wait(self, arrived: Callable[[], Any], timeout: float) -> None:
        """Sleep in the loop's thread until a message has arrived, at most a timeout, s."""
        end = self._now + timeout
        while self._now < end and not arrived():
            due = min((event.due for event in self.events), default=end)
            self._advance(min(end, max(due, self._now)))

    @contextmanager
    def running_freely(self) -> Iterator[None]:
        """Let the loop's thread go on while the test's thread waits for it."""
        with self._turn:
            self._limit = float('inf')
            self._turn.notify_all()
        yield
        self._limit = self._now

    def _advance(self, end: float) -> None:
        with self._turn:
            while end > self._limit + 1e-9:
                self._parked = True
                self._turn.notify_all()
                self._turn.wait(PATIENCE)
            self._parked = False
        self._pass_events(end)
        self._now = max(self._now, end)

    def _pass_events(self, end: float) -> None:
        while due := [event for event in self.events if event.due <= end + 1e-9]:
            event = min(due, key=lambda each: each.due)
            self._now = max(self._now, event.due)
            event.send()


class Source:
    """
    A topic that repeats one message.

    :ivar message: to change, with a header unless ``stamped`` is False
    :ivar sending: whether it is published
    :ivar before: called before each message
    """

    def __init__(self, rig: VirtualRig, topic: str, message: Any, period: float) -> None:
        self._rig = rig
        self._topic = topic
        self._period = period
        self.message = message
        self.sending = self.stamped = True
        self.before: Callable[[], None] = lambda: None
        self.due = rig.time.monotonic()
        rig.time.events.append(self)

    def send(self) -> None:
        """Publish the message now, and again after the period."""
        self.due += self._period
        self.before()
        if self.sending:
            if self.stamped:
                set_seconds(self.message.header.stamp, self._rig.time.time())
            self._rig.publish(self._topic, self.message)


class Subscription:
    """A subscription; ``queue`` has the bytes of the messages that nobody has taken."""

    def __init__(self, kind: Any, callback: Any, qos: Any, time: VirtualTime, options: Any) -> None:
        self.kind = kind
        self.raw = options.get('raw', False)
        self.polled = 'callback_group' in options
        self.callback = callback
        self.qos_profile = qos if hasattr(qos, 'depth') else SimpleNamespace(depth=qos)
        self.queue: deque[bytes] = deque(maxlen=max(self.qos_profile.depth, 1))
        self.time = time

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


class Wait:
    """Waits for a message in virtual time."""

    def __init__(self, _: Any, subscription: Subscription) -> None:
        self._subscription = subscription

    def wait(self, timeout: float) -> None:
        self._subscription.time.wait(lambda: self._subscription.queue, timeout)


def take_messages(subscription: Subscription, kind: Any, *, raw: bool, limit: int) -> list[Any]:
    """Take the messages of a subscription, oldest first."""
    queue = subscription.queue
    taken = [queue.popleft() for _ in range(min(limit, len(queue)))]
    return taken if raw else [deserialize_message(data, kind) for data in taken]


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


class _Entities(LifecycleNode):
    """Below the feedforward node: what it creates is not of DDS."""

    def __init__(self, name: str) -> None:
        super().__init__(
            name, context=context(), enable_rosout=False, enable_communication_interface=False,
            parameter_overrides=self.rig.overrides,
        )

    rig: VirtualRig

    def create_publisher(self, kind: Any, topic: str, *_: Any, **__: Any) -> Any:
        name = self.resolve_topic_name(topic)
        self.rig.created.append(name)
        return SimpleNamespace(
            publish=lambda message: self.rig.sent(kind, name, message), topic_name=name,
            get_subscription_count=lambda: self.rig.subscribers(name),
            wait_for_all_acked=lambda _: True,
        )

    def create_subscription(
        self, kind: Any, topic: str, callback: Any, qos: Any, **options: Any
    ) -> Any:
        name = self.resolve_topic_name(topic)
        subscription = Subscription(kind, callback, qos, self.rig.time, options)
        self.rig.subscriptions[name].append(subscription)
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


class _VirtualNode(feedforward_node.FeedforwardNode, _Entities):
    def __init__(self, rig: VirtualRig) -> None:
        self.rig = rig
        super().__init__()


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


class VirtualRig:
    """
    A feedforward node, its robot and its effort controller.

    :param urdf: what is latched on robot_description; None for nothing
    :param states_rate: of joint states, Hz
    :param parameters: of the node, with __ for each dot
    :ivar commands: every command, in the unit of the driver, with its time, s
    :ivar created: topic of each publisher that exists
    :ivar received: messages by topic, of those in ``listened`` and of the diagnostics
    """

    def __init__(
        self, time: VirtualTime, *, urdf: str | None = PANDA_ARM, states_rate: float = 100.0,
        joints: Sequence[str] | None = JOINTS, **parameters: Any,
    ) -> None:
        self.overrides = [
            Parameter(name.replace('__', '.'), value=value)
            for name, value in (DEFAULTS | parameters).items()
        ]
        self.time = time
        self.graph, self.log = Graph(), Log()
        self.graph.listeners, self.graph.joints = {1: CONTROLLER}, joints
        self.subscriptions: defaultdict[str, list[Subscription]] = defaultdict(list)
        self.publishers: defaultdict[str, list[str]] = defaultdict(list)
        self.publishers['/joint_states'] = ['robot']
        self.created: list[str] = []
        self.services: dict[str, Any] = {}
        self.timers: list[Timer] = []
        self.listened: set[str] = {'/diagnostics'}
        self.received: defaultdict[str, list[Any]] = defaultdict(list)
        self.commands: list[tuple[float, Array]] = []
        self.violations: list[str] = []
        self._polls = 0
        self._before: tuple[float, Array] | None = None
        self.node: Any = _VirtualNode(self)
        self.robot = self.repeat('/joint_states', JointState(
            name=list(JOINTS), position=array('d', POSE), velocity=array('d', [0.0] * 7),
            effort=array('d', [float('nan')] * 7),
        ), 1.0 / states_rate)
        if urdf is not None:
            self.describe(urdf)

    def describe(self, urdf: str) -> None:
        """Publish a robot_description."""
        self.publish('/robot_description', String(data=urdf))

    def tremble(self) -> None:
        """Let every joint move by a nanoradian: a robot that stands still for ever is frozen."""
        position, signs = self.robot.message.position, itertools.cycle((1e-9, -1e-9))

        def move() -> None:
            step = next(signs)
            for k in range(7):
                position[k] += step

        self.robot.before = move

    def repeat(self, topic: str, message: Any, period: float = 0.01) -> Source:
        """Publish a message again and again."""
        return Source(self, topic, message, period)

    def publish(self, topic: str, message: Any) -> None:
        """Publish a message, bytes, or what a function returns, once."""
        if callable(message):
            message = message()
        data = message if isinstance(message, bytes) else serialize_message(message)
        for subscription in list(self.subscriptions[topic]):
            subscription.receive(data)

    def send(self, *rows: tuple[float, Any], start: float = 0.0, **fields: Any) -> None:
        """Send a trajectory of times and positions; ``fields`` are those of its last point."""
        message = JointTrajectory(joint_names=list(JOINTS))
        set_seconds(message.header.stamp, start)
        for time, positions in rows:
            message.points.append(JointTrajectoryPoint(positions=array('d', positions)))
            set_seconds(message.points[-1].time_from_start, time)
        for name, values in fields.items():
            setattr(message.points[-1], name, array('d', values))
        self.publish('/feedforward/joint_trajectory', message)

    def subscribers(self, topic: str) -> int:
        return self.graph.get_subscription_count() if topic == TOPIC else topic in self.listened

    def sent(self, kind: Any, topic: str, message: Any) -> None:
        """Keep and inspect what the node publishes."""
        if topic != TOPIC and topic not in self.listened:
            return
        if not isinstance(message, kind):
            message = deserialize_message(bytes(message), kind)
        if topic == TOPIC:
            assert kind is Float64MultiArray
            self._inspect(np.array(message.data))
        else:
            self.received[topic].append(message)

    def _inspect(self, command: Array) -> None:
        now = self.time.monotonic()
        self.commands.append((now, command))
        active = self.node._activation
        settings = self.node._configuration.setup.settings
        effort = command / settings.command_scale
        if effort.shape != (len(settings.joints),) or not np.isfinite(effort).all():
            self.violations.append(f'{now}: {effort}')
        elif (np.abs(effort) > LIMITS[settings.joint_indices] * (1.0 + 1e-9)).any():
            self.violations.append(f'{now}: above the limits: {effort}')
        if self._before is not None and active is not None:
            then, before = self._before
            step = settings.effort_rate_limit * max(now - then, settings.parameters.period)
            if (np.abs(effort - before) > step * (1.0 + 1e-9)).any():
                self.violations.append(f'{now}: a step from {before} to {effort}')
        self._before = now, effort

    def run(self, seconds: float = 0.1) -> None:
        """Let time pass, s: a multiple of 0.1 s, at each of which the node polls and reports."""
        for _ in range(round(10.0 * seconds)):
            self.time.sleep(0.1)
            self._polls += 1
            for timer in self.timers:
                if timer.running and self._polls % max(round(10.0 * timer.period), 1) == 0:
                    timer.callback()

    def run_until(self, condition: Callable[[], Any], seconds: float = 30.0) -> None:
        """Let time pass until a condition is true, at most for a time, s."""
        for _ in range(round(10.0 * seconds)):
            if condition():
                return
            self.run()
        assert condition(), (self.diagnostics, self.log.lines, self.newest)

    def activate(self) -> VirtualRig:
        """Wait until the control is active."""
        self.run_until(lambda: self.state in ('active', 'degraded'))
        self.run_until(lambda: self.diagnostics.get('state') == self.state)
        return self

    def settle(self, effort: Array, tolerance: float = 1e-9) -> None:
        """Wait until the newest command is an effort."""
        self.run_until(lambda: self.steady(effort, tolerance))

    def steady(self, effort: Array, tolerance: float = 1e-9) -> bool:
        return bool(self.commands) and np.allclose(self.newest, effort, atol=tolerance)

    def set(self, **values: Any) -> Any:
        """Set parameters together, with __ for each dot; return the result."""
        return self.node.set_parameters_atomically([
            Parameter(name.replace('__', '.'), value=value) for name, value in values.items()
        ])

    def call(self, service: str, kind: Any) -> Any:
        """Call a service and let time pass until its answer."""
        response = kind.Response()
        answer = self.services[service](kind.Request(), response)
        while hasattr(answer, 'send'):
            try:
                answer.send(None)
            except StopIteration as end:
                return end.value
        return answer

    def logged(self, text: str) -> int:
        """Return how many lines of the log contain a text."""
        return sum(text in line for line in self.log.lines)

    def count(self, reason: str) -> int:
        """Return how often the newest diagnostics counted a reason."""
        return int(self.diagnostics.get(f'count/{reason}', '0'))

    @property
    def newest(self) -> Array:
        return self.commands[-1][1] if self.commands else np.zeros(0)

    @property
    def state(self) -> str:
        """The state of the control."""
        active = self.node._activation
        return 'none' if active is None else str(active.controller.state.value)

    @property
    def diagnostics(self) -> dict[str, str]:
        """The values of the newest diagnostics."""
        reports = self.received['/diagnostics']
        return {v.key: v.value for v in reports[-1].status[0].values} if reports else {}

    @property
    def flags(self) -> set[str]:
        return set(self.diagnostics.get('flags', '').split())


@contextmanager
def virtual_node(**options: Any) -> Iterator[VirtualRig]:
    """Give a node in virtual time; see :class:`VirtualRig`."""
    time = VirtualTime()
    start, join = loop.ControlLoop.start, loop.ControlLoop.join

    def start_in_step(self: Any) -> None:
        time.attach(self._thread)
        start(self)

    def join_freely(self: Any, *arguments: Any) -> str:
        with time.running_freely():
            return join(self, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(polled_subscription, 'take_messages', take_messages)
        patch.setattr(polled_subscription, 'MessageWait', Wait)
        patch.setattr(loop, 'HANG_TIMEOUT', 10.0 * PATIENCE)
        patch.setattr(loop.ControlLoop, 'start', start_in_step)
        patch.setattr(loop.ControlLoop, 'join', join_freely)
        patch.setattr(control, 'MachineClock', lambda: time)
        for module in MODULES:
            patch.setattr(module, 'time', time)
        rig = VirtualRig(time, **options)
        try:
            yield rig
        finally:
            rig.node.shut_down()
            rig.node.destroy_node()
    assert not rig.violations, rig.violations[:3]
