# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The watchdog's parameters, thread, topics, reports, and requests to the controller manager."""

from collections.abc import Iterator
import re
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from support.ros.controller_manager import ControllerManager, Request, provide_messages
from support.ros.ros_process import NO_ROS, isolated, new_domain_id, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)

from diagnostic_msgs.msg import DiagnosticStatus
import rclpy
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from rnea_ros.errors import InputError
from rnea_ros.node.inputs import WatchdogEfforts
from rnea_ros.watchdog import effort_watchdog
from rnea_ros.watchdog.effort_watchdog import MARK, ControllerSwitch, EffortWatchdog, WatchLoop
from rnea_ros.watchdog.silence import SilenceMonitor, WatchdogSettings

PERIOD = 0.004
TOPIC = '/left/effort_controller/commands'


def test_a_timeout_has_two_periods() -> None:
    assert WatchdogSettings(timeout=0.008).period == PERIOD
    with pytest.raises(InputError, match='timeout'):
        WatchdogSettings(timeout=0.0079)


class Link:
    """A command topic with one received command; with ``broken``, taking raises."""

    def __init__(self) -> None:
        self.received: list[list[float]] = [[5.0, -2.0]]
        self.sent: list[list[float]] = []
        self.broken = False

    def take(self) -> list[float] | None:
        if self.broken:
            raise RuntimeError('deaf')
        return self.received.pop() if self.received else None

    def send(self, command: list[float]) -> None:
        self.sent.append(command)


def watch_loop(link: Any) -> WatchLoop:
    return WatchLoop(SilenceMonitor(0.02, 1e6, PERIOD), link, PERIOD)


def test_an_error_ends_the_thread_and_is_kept_with_its_traceback() -> None:
    link = Link()
    watch = watch_loop(link)
    watch.start()
    assert wait_until(lambda: link.sent)
    assert watch.running
    link.broken = True
    assert wait_until(lambda: not watch.running)
    assert re.search(r'Traceback[^$]*RuntimeError: deaf', str(watch.failure))
    watch.stop()


@pytest.mark.parametrize('commanded', [True, False])
def test_an_end_in_the_middle_of_a_ramp_leaves_zeros_behind(commanded: bool) -> None:
    link = Link()
    watch = watch_loop(link)
    link.received = link.received if commanded else []
    watch.start()
    assert not commanded or wait_until(lambda: len(link.sent) > 5)
    watch.stop()
    assert watch.failure is None
    assert link.sent[-1:] == ([[0.0, 0.0]] if commanded else [])
    assert all(any(command) for command in link.sent[:-1])


def command(*data: float, label: str = '') -> Float64MultiArray:
    message = Float64MultiArray(data=data)
    message.layout.dim = [MultiArrayDimension(label=label)] if label else []
    return message


def test_watchdogs_are_ignored_and_own_commands_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting: list[Float64MultiArray] = []
    sent: dict[str, list[Any]] = {}
    subscription = SimpleNamespace(take_all=lambda: waiting)
    monkeypatch.setattr(effort_watchdog, 'PolledSubscription', lambda *_: subscription)
    node = SimpleNamespace(create_publisher=lambda kind, topic, qos: SimpleNamespace(
        publish=lambda message: sent.setdefault(topic, []).append(
            (message.data.tolist(), message.layout.dim[0])
        )
    ))
    link = effort_watchdog.CommandLink(node, 'arm/commands')
    assert link.take() is None
    waiting[:] = [command(1.0), command(2.0, 3.0, label='joints'), command(4.0, label=MARK)]
    assert link.take() == [2.0, 3.0]
    waiting[:] = [command(*range(2000))]
    assert len(link.take() or ()) == 1001, 'enough to be rejected'
    link.send([5.0, 6.0])
    assert sent.keys() == {'arm/commands', 'arm/commands/watchdog'}
    for ((data, dimension),) in sent.values():
        assert data == [5.0, 6.0]
        assert (dimension.label, dimension.size, dimension.stride) == (MARK, 2, 2)


def test_the_watched_node_knows_the_watchdogs_latest_effort() -> None:
    waiting: list[Float64MultiArray] = []
    subscription: Any = SimpleNamespace(take=lambda: waiting.pop() if waiting else None)
    efforts = WatchdogEfforts(subscription, (2.0, -1.0))
    assert efforts.newest() is None
    for now, data, expected in (
        (10.0, (4.0, 3.0), [2.0, -3.0]), (10.19, (), [2.0, -3.0]), (10.21, (), None),
        (10.5, (2.0, 0.0), [1.0, 0.0]), (10.8, (1.0, np.nan), None), (11.1, (1.0,), None),
        (5.0, (8.0, 0.0), [4.0, 0.0]), (4.0, (), None),
    ):
        waiting[:] = [command(*data)] if data else []
        efforts.read_messages(now)
        newest = efforts.newest()
        assert (newest if newest is None else newest.tolist()) == expected


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Mock]]:
    """Replace what a watchdog node is made of; give it a domain."""
    for name, value in isolated(new_domain_id()).items():
        monkeypatch.setenv(name, value)
    names = ('WatchLoop', 'CommandLink', 'ControllerSwitch', 'DiagnosticsPublisher')
    parts = {name: Mock() for name in (*names, 'create_timer', 'get_logger')}
    for name, part in parts.items():
        monkeypatch.setattr(effort_watchdog if name in names else EffortWatchdog, name, part)
    yield parts
    rclpy.try_shutdown()


@pytest.mark.ros
def test_each_action_is_reported_once_and_the_controller_deactivated_after_zeros(
    parts: dict[str, Mock], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ['--ros-args', '--disable-rosout-logs', '-p', 'action:=deactivate_controller']
    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    node, now = EffortWatchdog(), 100.0
    monkeypatch.setattr(effort_watchdog, 'time', SimpleNamespace(monotonic=lambda: now))
    monitor = parts['WatchLoop'].call_args.args[0]
    timers = {each.args[0]: each.args[1] for each in parts['create_timer'].call_args_list}
    publish = parts['DiagnosticsPublisher'].return_value.publish
    deactivate = parts['ControllerSwitch'].return_value.deactivate
    log = parts['get_logger'].return_value
    assert log.info.call_args.args[0].endswith('commands: zero effort after 0.1 s of silence')
    acting = r'error: no command for .* s: ramping from \[1.5, -20\] to zero in 0.2 s'
    for commands, silence, expected, level, state in (
        ((), 0.0, (), DiagnosticStatus.OK, 'quiet'),
        (([1.5, -20.0], []), 0.0, ('warning: rejected a command that is empty or not finite',),
         DiagnosticStatus.OK, 'watching'),
        ((), 0.2, (acting,), DiagnosticStatus.ERROR, 'ramping'),
        (([1.5, -20.0],), 0.0, ('warning: commands came again after 0.200 s: handed back',),
         DiagnosticStatus.OK, 'watching'),
        ((), 2.0, (acting, 'error: zero effort was commanded'), DiagnosticStatus.ERROR, 'acted'),
    ):
        assert not deactivate.called
        for each in commands:
            monitor.receive(each, now)
        for _ in range(round(silence / PERIOD)):
            now += PERIOD
            monitor.command_at(now)
        log.reset_mock()
        for _ in range(2):  # nothing is reported twice
            timers[0.1]()
        timers[1.0]()
        lines = [f'{name}: {text}' for name, (text,), _ in log.mock_calls]
        assert all(map(re.match, expected, lines)), lines
        assert len(lines) == len(expected)
        assert publish.call_args.args[:2] == (level, state)
    assert publish.call_args.args[2] == {
        'state': 'acted', 'last_command_age': '2.000', 'acted': 2, 'handed_back': 1, 'rejected': 1,
    }
    assert deactivate.call_count == 1
    node.destroy_node()


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> ControllerManager:
    provide_messages(monkeypatch)
    return ControllerManager(answer=SimpleNamespace(ok=True))


@pytest.mark.parametrize(('ready', 'answer', 'line'), [
    (True, SimpleNamespace(ok=True), ('warning', 'was deactivated')),
    (True, RuntimeError('gone'), ('error', 'stays active: gone')),
    (False, None, ('error', 'stays active: no service controller_manager/switch_controller')),
])
def test_the_controller_of_the_topic_is_deactivated_strictly(
    manager: ControllerManager, ready: bool, answer: Any, line: tuple[str, str]
) -> None:
    manager.ready, manager.answer = ready, answer
    ControllerSwitch(manager, 'controller_manager', TOPIC).deactivate()
    level, text = line
    assert manager.lines == [(level, f'effort_controller {text}')]
    assert manager.srv_name == 'controller_manager/switch_controller'
    assert len(manager.requests) == ready
    for request in manager.requests:
        assert request.deactivate_controllers == ['effort_controller']
        assert request.activate_controllers == []
        assert (request.strictness, request.timeout.sec) == (Request.STRICT, 1)


def test_a_topic_without_a_controller_and_missing_messages_are_named(
    manager: ControllerManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match=r"command_topic: '/commands' names no controller"):
        ControllerSwitch(manager, 'controller_manager', '/commands')
    provide_messages(monkeypatch, missing=True)
    with pytest.raises(InputError, match=r'action: .* needs controller_manager_msgs'):
        ControllerSwitch(manager, 'controller_manager', TOPIC)
