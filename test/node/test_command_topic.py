# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Commands go to the confirmed controller, which names its joints; other listeners change none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from rnea_ros.feedforward import Reason, State
from support.ros.command_graph import CONTROLLER, TOPIC, CommandGraph
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rnea_ros.node import command_topic, loop
from rnea_ros.node.command_topic import READ_INTERVAL, SERVICE_TIMEOUT, CommandTopic
from rnea_ros.ros.endpoints import NAME_TIMEOUT, UNKNOWN
from rnea_ros.ros.rclpy_internals import RETRY

JOINTS = ('a', 'b', 'c')
CLOCK: Any = SimpleNamespace(now=0.0)
CLOCK.monotonic = lambda: CLOCK.now

listed_or_not = pytest.mark.parametrize('listed', [False, True])


@pytest.fixture(autouse=True)
def virtual_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_topic, 'time', CLOCK)


class Bench:
    """
    A command topic with all around it replaced.

    :ivar ended: why the control was ended
    """

    def __init__(self, listeners: dict[int, str] | None = None, *, listed: bool = False) -> None:
        CLOCK.now = 0.0
        self.graph, self.ended = CommandGraph(), list[Reason]()
        self.graph.listeners = {1: CONTROLLER} if listeners is None else listeners
        self.warnings, self.errors = self.graph.warnings, self.graph.errors
        self.control: Any = SimpleNamespace(
            joints=JOINTS, withheld=False, outside_flags=frozenset(),
            request_fault=self.ended.append,
        )
        self.topic = CommandTopic(self.graph, TOPIC)
        self.topic.begin(cast(Any, self.control), self.graph, joints_given=listed, now=0.0)
        self.topic.poll(0.0)

    def answer(self, joints: tuple[str, ...] | None) -> None:
        """Let the controller answer the newest question."""
        self.graph.questions[-1].names(joints)
        self.poll()

    def poll(self, seconds: float = 0.1) -> None:
        CLOCK.now += seconds
        self.topic.poll(CLOCK.now)

    def permits(self, after: float = 0.0) -> bool:
        """Return whether the tick after some time may command, s."""
        CLOCK.now += after
        return self.topic.check()


def confirmed(*, listed: bool = False) -> Bench:
    """Return a bench whose controller has answered with the commanded joints."""
    bench: Any = Bench(listed=listed)
    assert not bench.permits()
    assert bench.topic.unconfirmed
    assert bench.topic.controller_status == 'withheld'
    bench.answer(JOINTS)
    assert bench.permits()
    assert not bench.topic.unconfirmed
    assert bench.topic.controller_status == 'confirmed'
    checked: Bench = bench
    return checked


def test_a_controller_discovered_late_is_sent_no_command() -> None:
    bench = confirmed()
    bench.graph.listeners[2], bench.graph.undiscovered = CONTROLLER, {2}
    assert bench.permits()
    bench.graph.undiscovered = set()
    assert bench.permits(0.9 * READ_INTERVAL)
    assert not bench.permits(0.2 * READ_INTERVAL)
    assert bench.topic.unconfirmed


def test_an_exchanged_controller_is_noticed_while_the_graph_settles() -> None:
    bench = confirmed()
    bench.graph.listeners = {2: CONTROLLER}  # the same number of listeners
    assert bench.permits()
    assert not bench.permits(1.1 * READ_INTERVAL)


def test_an_unidentified_listener_gets_no_command_for_listed_joints() -> None:
    bench = Bench({}, listed=True)
    assert bench.permits()
    bench.graph.listeners[1], bench.graph.undiscovered = CONTROLLER, {1}
    assert not bench.permits()
    assert bench.topic.unconfirmed
    bench.graph.undiscovered = set()
    bench.poll()
    bench.answer(JOINTS)
    assert bench.permits(READ_INTERVAL)


@listed_or_not
@pytest.mark.parametrize('name', ['recorder', UNKNOWN, 'effort_watchdog'])
def test_a_listener_that_comes_or_goes_withholds_no_command(name: str, listed: bool) -> None:
    bench = confirmed(listed=listed)
    for _ in range(3):
        bench.graph.listeners[2] = name
        assert bench.permits()
        bench.poll()
        assert bench.permits()
        assert not bench.topic.unconfirmed
        del bench.graph.listeners[2]
        assert bench.permits()
    assert len(bench.graph.questions) == 1
    assert not bench.control.outside_flags


@pytest.mark.parametrize(('listeners', 'listed', 'permitted'), [
    ({}, True, True), ({1: 'effort_watchdog'}, True, True), ({1: 'driver'}, True, True),
    ({1: 'effort_watchdog', 2: 'recorder'}, False, False), ({}, False, False),
    ({1: 'effort_watchdog', 2: UNKNOWN}, True, False), ({2: UNKNOWN}, True, False),
    ({1: 'effort_watchdog', 2: UNKNOWN, 3: 'recorder'}, True, True),
    ({1: 'driver', 2: UNKNOWN}, True, True), ({1: 'driver', 2: CONTROLLER}, True, False),
])
def test_without_a_controller_only_listed_joints_are_commanded(
    listeners: dict[int, str], *, listed: bool, permitted: bool
) -> None:
    bench = Bench(listeners, listed=listed)
    assert bench.permits() == permitted
    if CONTROLLER not in listeners.values():
        assert bench.topic.controller_status == 'absent'
        assert bench.permits(1.1 * NAME_TIMEOUT) == listed, 'an unknown name is no node by now'
    assert not bench.ended


@pytest.mark.parametrize('name', [CONTROLLER, UNKNOWN])
def test_a_controller_that_returns_must_answer_before_it_is_commanded(name: str) -> None:
    bench = confirmed()
    bench.graph.listeners = {3: 'recorder', 4: 'plot'}
    assert not bench.permits(), 'from the tick on in which the controller has left'
    bench.graph.listeners = {2: name}
    assert not bench.permits()
    bench.graph.listeners = {2: CONTROLLER}
    bench.poll()
    assert not bench.permits()
    bench.answer(JOINTS)
    assert bench.permits()
    bench.graph.listeners = {5: CONTROLLER}
    bench.poll()
    assert not bench.permits(), 'replaced within one tick'
    assert not bench.ended


@listed_or_not
@pytest.mark.parametrize(('joints', 'difference'), [
    (('b', 'a', 'c'), 'in another order: b, a, c'), (('a', 'b', 'd'), 'without c and with d'),
    (('a', 'b', 'c', 'd'), 'with d'),
])
def test_a_controller_that_comes_back_with_other_joints_ends_the_control(
    joints: tuple[str, ...], difference: str, listed: bool
) -> None:
    bench = confirmed(listed=listed)
    bench.graph.listeners = {2: CONTROLLER}
    bench.poll()
    bench.answer(joints)
    for _ in range(3):
        bench.poll()
        assert not bench.permits()
    assert bench.topic.controller_status == 'withheld'
    assert bench.ended == [Reason.CONTROLLER_JOINTS_CHANGED]
    assert bench.errors == [f'/{CONTROLLER} takes commands {difference} now; configure again']


@listed_or_not
@pytest.mark.parametrize('answers', [True, False])
def test_a_controller_without_joint_names_needs_them_from_the_user(
    answers: bool, listed: bool
) -> None:
    bench = Bench({}, listed=listed)
    bench.graph.ready = answers
    bench.graph.listeners = {1: CONTROLLER}
    assert not bench.permits()
    bench.poll()
    if answers:
        bench.answer(None)
    else:
        bench.poll(0.9 * SERVICE_TIMEOUT)
        assert not bench.permits(), 'it may still answer'
        bench.poll(0.2 * SERVICE_TIMEOUT)
    assert bench.permits() is listed
    assert bench.topic.missing == '/effort_controller names no joints; set joints'
    assert bench.ended == ([] if listed else [Reason.CONTROLLER_JOINTS_CHANGED])
    if listed:
        bench.graph.listeners[2] = UNKNOWN
        assert bench.permits() == answers, 'the unknown one may be the controller'


def test_withheld_commands_and_a_second_controller_are_flagged_and_counted() -> None:
    bench = confirmed()
    bench.control.withheld = True
    for _ in range(3):
        bench.poll()
        assert bench.control.outside_flags == {Reason.COMMANDS_WITHHELD}
    bench.control.withheld = False
    bench.graph.listeners[2] = CONTROLLER
    bench.poll()
    bench.answer(JOINTS)
    bench.poll()
    assert bench.permits()
    assert bench.control.outside_flags == {Reason.SECOND_CONTROLLER}
    assert bench.topic.counts == {Reason.COMMANDS_WITHHELD: 1, Reason.SECOND_CONTROLLER: 1}
    assert bench.warnings == [bench.topic.conflict]
    del bench.graph.listeners[1]  # a killed controller is listed for some ten seconds
    bench.poll()
    assert bench.permits()
    assert not bench.control.outside_flags
    assert not bench.ended


def test_a_stop_waits_for_a_controller_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    CLOCK.now = 100.0
    monkeypatch.setattr(loop, 'time', CLOCK)
    control: Any = SimpleNamespace(joints=JOINTS, state=State.STOPPED, withheld=True)
    last = loop.LastCommand(control, SimpleNamespace(unconfirmed=True))  # type: ignore[arg-type]
    for _ in range(100):
        last.register(None)
        assert not last.done
    CLOCK.now += loop.CONFIRM_TIMEOUT
    for _ in range(loop.REPEATS):
        assert not last.done
        last.register(None)
    assert last.done


# --- the joints of the controller ----------------------------------------------------------------


@pytest.fixture
def graph() -> CommandGraph:
    graph = CommandGraph()
    graph.listeners = {1: CONTROLLER}
    return graph


def test_a_controller_is_asked_once_and_two_are_a_conflict(graph: CommandGraph) -> None:
    topic = CommandTopic(graph, TOPIC)
    topic.poll(0.0)
    graph.questions[0].names(('a', 'b'))
    graph.listeners |= {2: 'recorder', 3: 'recorder'}
    topic.poll(10.0)
    assert (topic.joints, topic.receiver.answered, topic.missing) == (('a', 'b'), True, '')
    assert (topic.appeared_at, len(graph.questions), topic.conflict) == (0.0, 1, '')
    graph.listeners[4] = CONTROLLER
    topic.poll(11.0)
    said = f'2 controllers named /effort_controller listen on {TOPIC}: two robots on one domain?'
    assert topic.conflict.startswith(said)
    del graph.listeners[1]
    topic.poll(12.0)
    assert topic.conflict == ''
    graph.listeners = {}
    topic.poll(13.0)
    assert topic.missing.startswith('/effort_controller does not listen')


def test_an_answer_from_before_an_endpoint_appeared_does_not_count(graph: CommandGraph) -> None:
    topic = CommandTopic(graph, TOPIC)
    topic.poll(0.0)
    graph.questions[0].names(('a', 'b'))
    graph.listeners[2] = CONTROLLER
    topic.poll(0.1)
    assert (topic.joints, len(graph.questions), topic.appeared_at) == (None, 2, 0.1)


def test_a_question_without_an_answer_is_asked_again(graph: CommandGraph) -> None:
    topic = CommandTopic(graph, TOPIC)
    for now in (0.0, 0.4 * RETRY, 0.8 * RETRY, 1.2 * RETRY):
        topic.poll(now)
    assert (topic.joints, len(graph.questions)) == (None, 2)
    assert topic.missing == '/effort_controller has not answered which joints it commands'


def test_a_parameter_service_that_appears_late_is_asked(graph: CommandGraph) -> None:
    topic = CommandTopic(graph, TOPIC)
    graph.ready = False
    for share, known in ((0.0, None), (0.9, None), (1.1, ())):
        topic.poll(share * SERVICE_TIMEOUT)
        assert topic.joints == known
    graph.ready = True
    topic.poll(1.2 * SERVICE_TIMEOUT)
    graph.questions[0].names(('a', 'b'))
    topic.poll(1.3 * SERVICE_TIMEOUT)
    assert (topic.joints, topic.receiver.answered) == (('a', 'b'), True)
