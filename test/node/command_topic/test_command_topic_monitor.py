# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Commands go to the confirmed controller; other listeners change nothing."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from rnea_ros.feedforward import Reason, State
from support.ros.command_graph import CONTROLLER, TOPIC, CommandGraph
from support.ros.ros_process import NO_ROS, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)

from rnea_ros.node import loop
from rnea_ros.node.command_topic import CommandPermission, CommandTopicMonitor, ControllerJoints
from rnea_ros.node.command_topic.controller_joints import SERVICE_TIMEOUT
from rnea_ros.node.command_topic.monitor import DISCOVERY
from rnea_ros.ros.endpoints import UNKNOWN

JOINTS = ('a', 'b', 'c')
OTHER_JOINTS = [('b', 'a', 'c'), ('a', 'b'), ('a', 'b', 'c', 'd')]


class Log:
    """A node that only logs."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.errors: list[str] = []

    def get_logger(self) -> Log:
        return self

    def warning(self, text: str) -> None:
        self.warnings.append(text)

    def error(self, text: str) -> None:
        self.errors.append(text)


class Control:
    """A control that notes why it is ended."""

    joints = JOINTS
    withheld = False

    def __init__(self) -> None:
        self.outside_flags: frozenset[Reason] = frozenset()
        self.ended: list[Reason] = []

    def request_fault(self, reason: Reason) -> None:
        self.ended.append(reason)


class Others:
    """Other publishers."""

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()

    def poll(self, now: float, publishing: bool) -> None:
        assert publishing

    def conflict(self, names: Iterable[str]) -> str:
        return f'{", ".join(names)} was there before'


class Bench:
    """A monitor and a permission with all around them replaced."""

    def __init__(self, listeners: dict[int, str] | None = None, *, listed: bool = False) -> None:
        self.graph, self.log = CommandGraph(), Log()
        self.control, self.others = Control(), Others()
        self.graph.listeners = {1: CONTROLLER} if listeners is None else listeners
        node: Any = self.graph
        self.joints = ControllerJoints(node, TOPIC)
        self.permission = CommandPermission(node, node, self.joints, listed=listed)
        parts: Any = (self.log, self.control, self.joints, self.permission, self.others, 0.0)
        self.monitor = CommandTopicMonitor(*parts, listed=listed)
        self.now = 0.0
        self.monitor.poll(self.now)

    def answer(self, joints: tuple[str, ...] | None) -> None:
        """Let the controller answer the newest question."""
        self.graph.questions[-1].names(joints)
        self.poll()

    def poll(self, seconds: float = 0.1) -> None:
        self.now += seconds
        self.monitor.poll(self.now)

    def permits(self) -> bool:
        return self.permission.check()


def confirmed(*, listed: bool = False) -> Bench:
    """Return a bench whose controller has answered with the commanded joints."""
    bench = Bench(listed=listed)
    assert not bench.permits()
    bench.answer(JOINTS)
    assert bench.permits()
    assert bench.monitor.controller_status == 'confirmed'
    return bench


def test_a_controller_discovered_late_is_sent_no_command() -> None:
    bench = confirmed()
    bench.graph.listeners[2], bench.graph.undiscovered = CONTROLLER, {2}
    assert bench.permits()
    bench.graph.undiscovered = set()
    assert wait_until(lambda: not bench.permits())
    assert bench.permission.unconfirmed


def test_an_unidentified_listener_gets_no_command_for_listed_joints() -> None:
    bench = Bench({}, listed=True)
    assert bench.permits()
    bench.graph.listeners[1], bench.graph.undiscovered = CONTROLLER, {1}
    assert not bench.permits()
    assert bench.permission.unconfirmed
    bench.graph.undiscovered = set()
    bench.poll()
    bench.answer(JOINTS)
    assert wait_until(bench.permits)


@pytest.mark.parametrize('listed', [False, True])
@pytest.mark.parametrize('name', ['recorder', UNKNOWN, 'effort_watchdog'])
def test_a_listener_that_comes_or_goes_withholds_no_command(name: str, listed: bool) -> None:
    bench = confirmed(listed=listed)
    for _ in range(3):
        bench.graph.listeners[2] = name
        assert bench.permits()
        bench.poll()
        assert bench.permits()
        assert not bench.permission.unconfirmed
        del bench.graph.listeners[2]
        assert bench.permits()
    assert len(bench.graph.questions) == 1
    assert not bench.control.outside_flags


def test_the_graph_is_read_only_when_the_listeners_have_changed() -> None:
    bench = confirmed()
    reads = bench.graph.reads
    assert all(bench.permits() for _ in range(100))
    assert bench.graph.reads == reads
    bench.graph.listeners[2] = 'recorder'
    assert all(bench.permits() for _ in range(100))
    assert bench.graph.reads == reads + 1


def test_listeners_alone_are_not_a_controller() -> None:
    bench = Bench({1: 'effort_watchdog', 2: 'recorder'})
    bench.poll(10.0 * SERVICE_TIMEOUT)
    assert not bench.permits()
    assert bench.monitor.controller_status == 'absent'
    assert not bench.control.ended


def test_nothing_is_sent_from_the_tick_on_in_which_the_controller_has_left() -> None:
    bench = confirmed()
    bench.graph.listeners = {2: 'recorder', 3: 'plot'}
    assert not bench.permits()


@pytest.mark.parametrize('name', [CONTROLLER, UNKNOWN])
def test_a_controller_that_returns_must_answer_before_it_is_commanded(name: str) -> None:
    bench = confirmed()
    bench.graph.listeners = {}
    assert not bench.permits()
    bench.graph.listeners = {2: name}
    assert not bench.permits()
    bench.graph.listeners = {2: CONTROLLER}
    bench.poll()
    assert not bench.permits()
    bench.answer(JOINTS)
    assert bench.permits()
    assert not bench.control.ended


def test_a_controller_replaced_within_one_tick_is_noticed() -> None:
    bench = confirmed()
    bench.graph.listeners = {2: CONTROLLER}
    bench.poll()
    assert not bench.permits()


@pytest.mark.parametrize('listed', [False, True])
@pytest.mark.parametrize('joints', OTHER_JOINTS)
def test_a_controller_that_comes_back_with_other_joints_ends_the_control(
    joints: tuple[str, ...], listed: bool
) -> None:
    bench = confirmed(listed=listed)
    bench.graph.listeners = {2: CONTROLLER}
    bench.poll()
    bench.answer(joints)
    for _ in range(3):
        bench.poll()
        assert not bench.permits()
        assert bench.monitor.controller_status == 'withheld'
    assert bench.control.ended == [Reason.CONTROLLER_JOINTS_CHANGED]
    assert len(bench.log.errors) == 1


@pytest.mark.parametrize('answers', [True, False])
def test_a_controller_without_joint_names_needs_them_from_the_user(answers: bool) -> None:
    for listed in (True, False):
        bench = Bench({}, listed=listed)
        bench.graph.ready = answers
        bench.graph.listeners = {1: CONTROLLER}
        assert not bench.permits()
        bench.poll()
        if answers:
            bench.answer(None)
        else:
            bench.poll(1.1 * SERVICE_TIMEOUT)
        assert bench.permits() is listed
        assert bench.joints.missing == '/effort_controller names no joints; set joints'
        assert bench.control.ended == ([] if listed else [Reason.CONTROLLER_JOINTS_CHANGED])


def test_a_service_announced_late_permits_no_command_of_other_joints() -> None:
    bench = Bench({}, listed=True)
    bench.graph.ready = False
    bench.graph.listeners = {1: CONTROLLER}
    for _ in range(32):  # Fast DDS repeats them after 3 s
        bench.poll(0.1)
        assert not bench.permits()
    bench.graph.ready = True
    bench.poll()
    bench.answer(('other',))
    assert not bench.permits()
    assert bench.control.ended == [Reason.CONTROLLER_JOINTS_CHANGED]


def test_listed_joints_are_commanded_before_a_controller_is_there() -> None:
    assert Bench({}, listed=True).permits()
    assert Bench({1: 'effort_watchdog'}, listed=True).permits()
    assert Bench({1: 'driver'}, listed=True).permits()


def test_an_unnamed_listener_may_be_the_controller() -> None:
    bench = Bench({1: 'effort_watchdog'}, listed=True)
    bench.graph.listeners[2] = UNKNOWN
    assert not bench.permits()
    bench.graph.listeners[3] = 'recorder'
    assert bench.permits()
    never_answered = Bench(listed=True)
    never_answered.graph.ready = False
    never_answered.poll(1.1 * SERVICE_TIMEOUT)
    assert never_answered.permits()
    never_answered.graph.listeners[2] = UNKNOWN
    assert not never_answered.permits()


def test_a_driver_of_another_name_is_a_known_receiver() -> None:
    bench = Bench({1: 'driver'}, listed=True)
    assert bench.permits()
    bench.graph.listeners[2] = UNKNOWN
    assert bench.permits()
    bench.graph.listeners[2] = CONTROLLER
    bench.permission._next_read = 0.0  # a name is looked for again soon
    assert not bench.permits()


def test_withheld_commands_are_flagged_and_counted() -> None:
    bench = confirmed()
    bench.control.withheld = True
    for _ in range(3):
        bench.poll()
        assert bench.control.outside_flags == {Reason.COMMANDS_WITHHELD}
    bench.control.withheld = False
    bench.poll()
    assert not bench.control.outside_flags
    assert bench.monitor.counts == {Reason.COMMANDS_WITHHELD: 1}


def test_a_publisher_discovered_soon_after_the_start_ends_it() -> None:
    bench = confirmed()
    bench.others.names = ('/rival',)
    for _ in range(3):
        bench.poll()
    assert bench.control.ended == [Reason.SECOND_PUBLISHER]
    assert bench.log.errors == ['/rival was there before']


def test_a_publisher_that_comes_later_is_flagged_counted_and_named_once() -> None:
    bench = confirmed()
    bench.poll(DISCOVERY)
    bench.others.names = ('/rival',)
    for _ in range(3):
        bench.poll()
        assert bench.control.outside_flags == {Reason.SECOND_PUBLISHER}
        assert bench.permits()
    assert bench.log.warnings == ['/rival publishes commands to /effort_controller too']
    assert bench.monitor.counts[Reason.SECOND_PUBLISHER] == 1
    assert not bench.control.ended
    bench.others.names = ()
    bench.poll()
    assert not bench.control.outside_flags


def test_a_second_controller_is_flagged_counted_and_named_once() -> None:
    bench = confirmed()
    bench.graph.listeners[2] = CONTROLLER
    bench.poll()
    bench.answer(JOINTS)
    bench.poll()
    assert bench.permits()
    assert bench.control.outside_flags == {Reason.SECOND_CONTROLLER}
    assert bench.monitor.counts == {Reason.SECOND_CONTROLLER: 1}
    assert bench.log.warnings == [bench.joints.conflict]
    del bench.graph.listeners[1]  # a killed controller is listed for some ten seconds
    bench.poll()
    assert bench.permits()
    assert not bench.control.outside_flags
    assert not bench.control.ended


def test_a_stop_waits_for_a_controller_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(loop, 'time', SimpleNamespace(monotonic=lambda: now))
    control: Any = SimpleNamespace(joints=JOINTS, state=State.STOPPED, withheld=True)
    permission: Any = SimpleNamespace(unconfirmed=True)
    last = loop.LastCommand(control, permission)
    for _ in range(100):
        last.register(None)
        assert not last.done
    now += loop.CONFIRM_TIMEOUT
    for _ in range(loop.REPEATS):
        assert not last.done
        last.register(None)
    assert last.done
