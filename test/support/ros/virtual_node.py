# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The real feedforward node in virtual time: messages in as bytes, commands and reports out.

Its topics, services and timers are replaced and use no DDS. Its loop runs in its own thread, but
only as far as the test lets time pass. Every command is inspected.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from rnea_ros.node import feedforward_node, inputs, loop
from rnea_ros.ros import PolledSubscription, set_seconds
from support.control.control_rig import assert_valid
from support.ros.command_graph import CONTROLLER, TOPIC
from support.ros.fake_robot import JOINTS, PANDA_ARM, POSE
from support.ros.ros_process import PATIENCE
from support.ros.virtual_entities import (
    Graph,
    Log,
    Subscription,
    Timer,
    VirtualEntities,
    take_all,
    wait,
)
from support.ros.virtual_time import VirtualTime

Array = NDArray[np.float64]

MODULES = (
    'activation', 'autostart', 'command_topic', 'feedforward_node', 'follow_joint_trajectory',
    'inputs', 'loop', 'reporter', 'rest_motion', 'tare_service', 'timing',
)
"""Where ``time`` is virtual; stamps of diagnostics use real time."""

DEFAULTS = {
    'hardware_compensates': ['none'], 'rate': 100.0, 'ramp_duration': 0.05, 'hold_duration': 0.1,
    'joint_states_timeout': 0.5,
}


class Source:
    """
    Repeats one message on a topic.

    :ivar sending: whether messages are published
    :ivar stamped: whether each message gets the present time
    :ivar before_each: called before each message
    """

    def __init__(self, rig: VirtualRig, topic: str, message: Any, period: float) -> None:
        self._rig, self._topic, self._period, self.message = rig, topic, period, message
        self.sending = self.stamped = True
        self.before_each: Callable[[], None] = lambda: None
        self.due = rig.time.monotonic()
        rig.time.events.append(self)

    def send(self) -> None:
        """Publish the message now, and again after the period."""
        self.due += self._period
        self.before_each()
        if self.sending:
            if self.stamped:
                set_seconds(self.message.header.stamp, self._rig.time.time())
            self._rig.publish(self._topic, self.message)


class VirtualNode(feedforward_node.FeedforwardNode, VirtualEntities):  # type: ignore[misc]
    """The node; :class:`VirtualEntities` comes before LifecycleNode in its MRO."""

    def __init__(self, rig: VirtualRig) -> None:
        self.rig = rig
        super().__init__()


class VirtualRig:
    """
    A feedforward node, its robot and its effort controller.

    :param urdf: published once on robot_description, not to later subscriptions; None for nothing
    :param states_rate: of joint states, Hz
    :param parameters: of the node, with __ for each dot
    :ivar commands: every command, in the unit of the driver, with its time, s
    :ivar created: topic of each publisher that exists
    :ivar received: messages by topic, of those in ``subscribed_topics``
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
        self.subscribed_topics: set[str] = {'/diagnostics'}
        self.received: defaultdict[str, list[Any]] = defaultdict(list)
        self.commands: list[tuple[float, Array]] = []
        self.violations: list[str] = []
        self._polls = 0
        self._last_command: tuple[float, Array] | None = None
        self.node: Any = VirtualNode(self)
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
        """Move each joint by 1 nrad a message: repeated values during a motion count as frozen."""
        position, signs = self.robot.message.position, itertools.cycle((1e-9, -1e-9))

        def move() -> None:
            step = next(signs)
            for k in range(7):
                position[k] += step

        self.robot.before_each = move

    def repeat(self, topic: str, message: Any, period: float = 0.01) -> Source:
        """Publish a message again and again."""
        return Source(self, topic, message, period)

    def publish(self, topic: str, message: Any) -> None:
        """Publish a message, bytes, or what a function returns, once."""
        if callable(message):
            message = message()
        data = message if isinstance(message, bytes) else serialize_message(message)
        if topic == f'{TOPIC}/watchdog':
            self._last_command = None  # the watchdog's effort acts
        for subscription in list(self.subscriptions[topic]):
            subscription.receive(data)

    def send_trajectory(self, *rows: tuple[float, Any], start: float = 0.0, **fields: Any) -> None:
        """Send a trajectory of times and positions; ``fields`` are those of its last point."""
        message = JointTrajectory(joint_names=list(JOINTS))
        set_seconds(message.header.stamp, start)
        for time, positions in rows:
            message.points.append(JointTrajectoryPoint(positions=array('d', positions)))
            set_seconds(message.points[-1].time_from_start, time)
        for name, values in fields.items():
            setattr(message.points[-1], name, array('d', values))
        self.publish('/feedforward/joint_trajectory', message)

    def on_publish(self, kind: Any, topic: str, message: Any) -> None:
        """Keep and inspect what the node publishes."""
        if topic != TOPIC and topic not in self.subscribed_topics:
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
        settings = self.node._configuration.setup.settings
        scale = np.array(settings.units.command_scale)
        effort = command / scale
        # Product and quotient may round a command at its limit to the next number above it.
        effort = np.where(scale == 1.0, effort, np.nextafter(effort, 0.0))
        # A start is from zero, or from the measured effort, which the test of it checks.
        start = effort if np.isfinite(self.robot.message.effort).all() else 0.0 * effort
        then, before = self._last_command or (-math.inf, start)
        try:
            assert_valid(effort, before, settings, now - then)
        except AssertionError as error:
            self.violations.append(f'{now}: {error}')
        self._last_command = now, effort

    def run(self, seconds: float = 0.1) -> None:
        """Let time pass, s: a multiple of 0.1 s, at each of which the node polls and reports."""
        assert abs(math.remainder(seconds, 0.1)) < 1e-6 < seconds
        for _ in range(round(10.0 * seconds)):
            self.time.sleep(0.1)
            active = self.node._activation
            if active is None or active.controller.withheld:
                self._last_command = None
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

    def wait_until_controlled(self) -> VirtualRig:
        """Wait until the control is active or degraded, and diagnostics say so."""
        controlled = 'active', 'degraded'
        self.run_until(lambda: self.diagnostics.get('state') == self.state in controlled)
        return self

    def wait_for_command(self, effort: Array, tolerance: float = 1e-9) -> None:
        """Wait until the newest command is an effort."""
        self.run_until(lambda: self.newest_is(effort, tolerance))

    def newest_is(self, effort: Array, tolerance: float = 1e-9) -> bool:
        """Whether the newest command is an effort."""
        return bool(self.commands) and np.allclose(self.newest, effort, atol=tolerance)

    def change(self, **values: Any) -> Any:
        """Set parameters together, with __ for each dot; return the result."""
        return self.node.set_parameters_atomically([
            Parameter(name.replace('__', '.'), value=value) for name, value in values.items()
        ])

    def call(self, service: str, kind: Any) -> Any:
        """Resume a service until its answer; time passes while it sleeps, and no timer runs."""
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

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PolledSubscription, 'take_all', take_all)
        patch.setattr(PolledSubscription, 'wait', wait)
        patch.setattr(loop, 'HANG_TIMEOUT', 10.0 * PATIENCE)
        patch.setattr(loop.ControlLoop, 'start', start_in_step)
        patch.setattr(loop.ControlLoop, 'join', lambda *each: time.run_freely(join, *each))
        patch.setattr(inputs, 'MachineClock', lambda: time)
        for module in MODULES:
            patch.setattr(f'rnea_ros.node.{module}.time', time)
        rig = VirtualRig(time, **options)
        try:
            yield rig
        finally:
            if not time.hung:
                rig.node.shut_down()
                rig.node.destroy_node()
    assert not rig.violations, rig.violations[:3]
