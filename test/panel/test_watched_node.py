# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What the panel knows of a node and asks of it: without ROS's middleware, in virtual time."""

from types import SimpleNamespace

import pytest

from support.ros.panel_node import FakeGraph, watched
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('viser', reason='viser is not installed')

from geometry_msgs.msg import WrenchStamped


@pytest.fixture
def graph(monkeypatch: pytest.MonkeyPatch) -> FakeGraph:
    return FakeGraph(monkeypatch)


def test_a_late_node_is_found_and_its_parameters_are_read(graph: FakeGraph) -> None:
    graph.ready = False
    node = watched(graph)
    graph.run(node, 10.0)
    assert (node.state, node.values) == ('absent', {})
    graph.ready = True
    graph.report(state='active')
    graph.run(node, 2.0)
    assert node.state == 'active'
    assert node.values['gains.kp'] == [5.0]


def test_a_refusal_is_kept_with_its_reason_and_changes_nothing(graph: FakeGraph) -> None:
    node = watched(graph)
    graph.run(node, 2.0)
    graph.refusal = 'damping -1.0 is not between 0 and 1e+06'
    node.change({'damping': [-1.0]})
    graph.run(node, 0.5)
    assert node.notes[-1] == (False, f'damping [-1.0] is refused: {graph.refusal}')
    assert node.values['damping'] == [0.0]


def test_changes_by_others_are_taken_over(graph: FakeGraph) -> None:
    node = watched(graph)
    graph.run(node, 2.0)
    graph.event('/feedforward', 'damping', [7.0])
    graph.event('/other', 'damping', [9.0])
    graph.event('/feedforward', 'rate', 100.0)
    assert node.values['damping'] == [7.0]
    assert 'rate' not in node.values
    graph.event('/feedforward', 'damping', [8.0], 'new')  # restarted
    assert node.values['damping'] == [8.0]


def test_the_parameters_of_a_restarted_node_are_read_again(graph: FakeGraph) -> None:
    node = watched(graph)
    graph.report(state='active')
    graph.run(node, 2.0)
    graph.answers = False  # killed: its services are still known
    graph.run(node, 6.0)
    assert (node.state, node.values, node.diagnostics) == ('absent', {}, {})
    graph.answers, graph.parameters['damping'] = True, [4.0]
    graph.report(state='ramping')
    graph.run(node, 2.0)
    assert (node.state, node.values['damping']) == ('ramping', [4.0])


def test_another_state_may_be_of_a_restarted_node(graph: FakeGraph) -> None:
    node = watched(graph)
    graph.report(state='active')
    graph.run(node, 2.0)
    graph.parameters['damping'] = [4.0]  # its events were before their discovery
    graph.report(state='ramping')
    graph.run(node, 1.5)
    assert node.values['damping'] == [4.0]
    reads = graph.calls.count('get_parameters')
    graph.run(node, 5.0)
    assert graph.calls.count('get_parameters') == reads


def test_a_second_stop_is_sent_though_the_first_has_no_answer(graph: FakeGraph) -> None:
    node = watched(graph)
    graph.run(node, 2.0)
    graph.answers = False
    node.trigger('stop')
    node.trigger('stop')
    assert graph.calls.count('change_state') == 2
    graph.run(node, 121.0)
    assert [*node.notes] == [(False, 'stop: no answer from /feedforward')]


def test_a_node_that_does_not_answer_is_named_and_blocks_nothing(graph: FakeGraph) -> None:
    node = watched(graph)
    graph.run(node, 2.0)
    graph.answers = False
    node.change({'damping': [1.0]})
    node.trigger('tare')
    graph.run(node, 6.0)
    assert not node.busy
    graph.run(node, 120.0)
    assert [*node.notes] == [(False, f'{key}: no answer from /feedforward')
                             for key in ('set', 'tare')]
    graph.ready = False
    node.trigger('rest')
    assert node.notes[-1] == (False, 'rest: no answer from /feedforward')


@pytest.mark.parametrize(('key', 'success', 'text'), [
    ('stop', True, 'stop: the node is inactive'), ('stop', False, 'stop: not possible: inactive'),
    ('rest', False, 'rest: no rest_pose'), ('tare', True, 'tare: all zero'),
])
def test_buttons_report_the_answer(
    graph: FakeGraph, key: str, success: bool, text: str
) -> None:
    node = watched(graph)
    graph.run(node, 4.0)
    graph.triggered = SimpleNamespace(success=success, **(
        {} if key == 'stop' else {'message': text.partition(': ')[2]}))
    node.trigger(key)
    graph.run(node, 0.5)
    assert node.notes[-1] == (success, text)
    assert node.state == 'inactive'


def test_topics_are_received_only_while_watched_and_old_messages_are_forgotten(
    graph: FakeGraph,
) -> None:
    node = watched(graph)
    node.watch(('terms/sum', 'external_wrench'))
    message = WrenchStamped()
    graph.publish('feedforward/external_wrench', message)
    graph.run(node, 0.5)
    assert node.newest('external_wrench') is message
    graph.run(node, 1.0)
    assert node.newest('external_wrench') is None
    node.watch(('terms/sum',))
    assert [*graph.polled] == ['feedforward/terms/sum']


def test_the_topics_of_an_arm_are_in_its_namespace(graph: FakeGraph) -> None:
    node = watched(graph, 'left/feedforward')
    assert node.namespace == '/left'
    node.watch(('joint_states', 'terms/sum'))
    assert {'/left/joint_states', 'left/feedforward/terms/sum'} <= graph.polled.keys()
    assert '/left/robot_description' in graph.subscriptions
