# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The controller's joints are asked for anew whenever somebody comes who may be it."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rcl_interfaces.msg import ParameterType, ParameterValue

from rnea_ros.node.controller_joints import PATIENCE, RETRY, ControllerJoints, difference
from rnea_ros.node.endpoints import UNKNOWN

TOPIC = '/effort_controller/commands'


class Answer:
    """What comes of a question; a test answers it."""

    def __init__(self) -> None:
        self.response: Any = None

    def done(self) -> bool:
        return self.response is not None

    def result(self) -> Any:
        return self.response

    def names(self, joints: Sequence[str]) -> None:
        value = ParameterValue(
            type=ParameterType.PARAMETER_STRING_ARRAY, string_array_value=list(joints)
        )
        self.response = SimpleNamespace(values=[value])


class Graph:
    """A node that sees listeners, by number and name, and asks their parameters."""

    def __init__(self) -> None:
        self.listeners: dict[int, str] = {}
        self.ready = True
        self.questions: list[Answer] = []

    def create_client(self, kind: Any, name: str) -> Graph:
        return self

    def service_is_ready(self) -> bool:
        return self.ready

    def call_async(self, request: Any) -> Answer:
        assert list(request.names) == ['joints']
        self.questions.append(Answer())
        return self.questions[-1]

    def get_subscriptions_info_by_topic(self, topic: str) -> list[SimpleNamespace]:
        assert topic == TOPIC
        return [
            SimpleNamespace(endpoint_gid=[gid], node_namespace='/', node_name=name)
            for gid, name in self.listeners.items()
        ]


@pytest.fixture
def graph() -> Graph:
    return Graph()


@pytest.fixture
def joints(graph: Graph) -> ControllerJoints:
    """What is known once a controller has answered."""
    joints = ControllerJoints(graph, TOPIC)
    graph.listeners[1] = 'effort_controller'
    joints.poll(0.0)
    graph.questions[0].names(('a', 'b'))
    joints.poll(0.1)
    return joints


def test_the_controller_is_asked_and_its_order_is_kept(
    graph: Graph, joints: ControllerJoints
) -> None:
    assert joints.joints == ('a', 'b')
    assert joints.known
    assert joints.settled
    joints.poll(10.0)
    assert len(graph.questions) == 1


@pytest.mark.parametrize('name', ['effort_controller', UNKNOWN])
def test_whoever_comes_and_may_be_the_controller_is_asked_before_anything_counts(
    graph: Graph, joints: ControllerJoints, name: str
) -> None:
    graph.listeners = {2: name}
    joints.poll(1.0)
    settled = [joints.settled]
    graph.questions[-1].names(('b', 'a'))
    settled.append(joints.settled)
    joints.poll(1.1)
    settled.append(joints.settled)
    assert settled == [False, False, True]
    assert joints.joints == ('b', 'a')
    assert len(graph.questions) == 2


def test_an_answer_that_was_asked_for_before_another_came_does_not_count(graph: Graph) -> None:
    joints = ControllerJoints(graph, TOPIC)
    graph.listeners = {1: 'effort_controller'}
    joints.poll(0.0)
    graph.questions[0].names(('a', 'b'))
    graph.listeners = {1: 'effort_controller', 2: 'effort_controller'}
    joints.poll(0.1)
    assert not joints.settled
    assert len(graph.questions) == 2


def test_a_listener_that_is_another_node_changes_nothing(
    graph: Graph, joints: ControllerJoints
) -> None:
    graph.listeners[2] = 'plotter'
    joints.poll(1.0)
    assert joints.settled
    assert len(graph.questions) == 1


def test_a_question_without_an_answer_is_asked_again(graph: Graph) -> None:
    joints = ControllerJoints(graph, TOPIC)
    graph.listeners = {1: 'effort_controller'}
    for now in (0.0, 0.4 * RETRY, 0.8 * RETRY, 1.2 * RETRY):
        joints.poll(now)
    assert len(graph.questions) == 2
    assert not joints.known


def test_a_listener_without_parameters_names_no_joints_after_a_while(graph: Graph) -> None:
    joints = ControllerJoints(graph, TOPIC)
    graph.ready = False
    graph.listeners = {1: 'effort_controller'}
    for now in (0.0, 0.9 * PATIENCE):
        joints.poll(now)
        assert not joints.known
    joints.poll(1.1 * PATIENCE)
    assert joints.known
    assert joints.joints == ()
    assert not graph.questions


def test_when_it_goes_nothing_is_waited_for(graph: Graph, joints: ControllerJoints) -> None:
    graph.listeners = {}
    joints.poll(1.0)
    assert not joints.present
    assert joints.settled


def test_what_differs_is_told_in_words() -> None:
    assert difference(('b', 'a'), ('a', 'b')) == 'in another order: b, a'
    assert difference(('a', 'c', 'd'), ('a', 'b')) == 'without b and with c, d'
