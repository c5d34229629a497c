# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The joints of the effort controller are requested again for each new endpoint of its node."""

import pytest

from support.ros.command_graph import CONTROLLER, TOPIC, CommandGraph
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rnea_ros.node.command_topic import ControllerJoints, difference
from rnea_ros.node.command_topic.controller_joints import RETRY, SERVICE_TIMEOUT


@pytest.fixture
def graph() -> CommandGraph:
    return CommandGraph()


@pytest.fixture
def joints(graph: CommandGraph) -> ControllerJoints:
    """What is known once a controller has answered."""
    joints = ControllerJoints(graph, TOPIC)
    graph.listeners[1] = CONTROLLER
    joints.poll(0.0)
    graph.questions[0].names(('a', 'b'))
    joints.poll(0.1)
    return joints


def test_the_controller_is_asked_once(graph: CommandGraph, joints: ControllerJoints) -> None:
    joints.poll(10.0)
    assert joints.joints == ('a', 'b')
    assert joints.answered
    assert joints.missing == ''
    assert len(graph.questions) == 1
    graph.listeners = {}
    joints.poll(11.0)
    assert joints.missing.startswith('/effort_controller does not listen')


def test_an_answer_from_before_an_endpoint_appeared_does_not_count(graph: CommandGraph) -> None:
    joints = ControllerJoints(graph, TOPIC)
    graph.listeners = {1: CONTROLLER}
    joints.poll(0.0)
    graph.questions[0].names(('a', 'b'))
    graph.listeners = {1: CONTROLLER, 2: CONTROLLER}
    joints.poll(0.1)
    assert joints.joints is None
    assert len(graph.questions) == 2


def test_a_question_without_an_answer_is_asked_again(graph: CommandGraph) -> None:
    joints = ControllerJoints(graph, TOPIC)
    graph.listeners = {1: CONTROLLER}
    for now in (0.0, 0.4 * RETRY, 0.8 * RETRY, 1.2 * RETRY):
        joints.poll(now)
    assert len(graph.questions) == 2
    assert joints.joints is None
    assert joints.missing == '/effort_controller has not answered which joints it commands'


def test_a_parameter_service_that_appears_late_is_asked(graph: CommandGraph) -> None:
    joints = ControllerJoints(graph, TOPIC)
    graph.ready = False
    graph.listeners = {1: CONTROLLER}
    joints.poll(0.0)
    joints.poll(1.1 * SERVICE_TIMEOUT)
    graph.ready = True
    joints.poll(1.2 * SERVICE_TIMEOUT)
    graph.questions[0].names(('a', 'b'))
    joints.poll(1.3 * SERVICE_TIMEOUT)
    assert joints.joints == ('a', 'b')
    assert joints.answered


def test_two_controllers_of_one_name_are_a_conflict_until_one_has_left(
    graph: CommandGraph, joints: ControllerJoints
) -> None:
    graph.listeners |= {2: 'recorder', 3: 'recorder'}
    joints.poll(1.0)
    assert joints.conflict == ''
    graph.listeners[4] = CONTROLLER
    joints.poll(2.0)
    said = f'2 controllers named /effort_controller listen on {TOPIC}: two robots on one domain?'
    assert joints.conflict.startswith(said)
    del graph.listeners[1]
    joints.poll(3.0)
    assert joints.conflict == ''


def test_what_differs_is_said_in_words() -> None:
    assert difference(('b', 'a'), ('a', 'b')) == 'in another order: b, a'
    assert difference(('a', 'c', 'd'), ('a', 'b')) == 'without b and with c, d'
