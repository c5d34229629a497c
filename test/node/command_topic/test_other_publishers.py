# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Other publishers of commands are found in the graph; names of nodes come later."""

from types import SimpleNamespace

import pytest

from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rnea_ros.node.command_topic import OtherPublishers
from rnea_ros.ros.endpoints import NAME_TIMEOUT, UNKNOWN

OWN = '/arm/feedforward'


class Graph:
    """A node that knows the publishers of a topic; each is a full name, or '' for none yet."""

    def __init__(self, *names: str) -> None:
        self.names = list(names)
        self.processes: dict[int, int] = {}

    def get_fully_qualified_name(self) -> str:
        return OWN

    def resolve_topic_name(self, topic: str) -> str:
        return topic

    def get_publishers_info_by_topic(self, topic: str) -> list[SimpleNamespace]:
        infos = []
        for number, full_name in enumerate(self.names):
            namespace, _, name = full_name.rpartition('/')
            infos.append(SimpleNamespace(
                endpoint_gid=[self.processes.get(number, number), *([0] * 12), number],
                node_namespace=namespace or '/', node_name=name or UNKNOWN,
            ))
        return infos


def others(*names: str, publishing: bool = True) -> OtherPublishers:
    publishers = OtherPublishers(Graph(*names), '/effort_controller/commands')
    publishers.poll(0.0, publishing)
    return publishers


@pytest.mark.parametrize(('there', 'publishing', 'names'), [
    ((OWN,), True, ()), ((OWN, '/rival', '/arm/rival', '/rival'), True, ('/arm/rival', '/rival')),
    (('/rival',), True, ('/rival',)), ((OWN, OWN), True, (OWN,)), ((OWN,), False, (OWN,)),
    ((OWN, '/effort_watchdog', '/arm/effort_watchdog'), True, ()),
], ids=['own', 'others', 'before the own', 'of the own name', 'own name, not own', 'watchdogs'])
def test_all_nodes_but_the_own_publisher_and_watchdogs_are_named(
    there: tuple[str, ...], publishing: bool, names: tuple[str, ...]
) -> None:
    assert others(*there, publishing=publishing).names == names


def test_a_publisher_without_a_node_name_counts_after_a_while() -> None:
    graph = Graph(OWN, '')
    publishers = OtherPublishers(graph, '/effort_controller/commands')
    found = []
    for share in (0.0, 0.9, 1.1):
        publishers.poll(5.0 + share * NAME_TIMEOUT, publishing=True)
        found.append((publishers.unnamed, publishers.names))
    assert found == [(True, ()), (True, ()), (False, (UNKNOWN,))]
    graph.names[1] = '/rival'
    publishers.poll(6.2, publishing=True)
    assert publishers.names == ('/rival',)


def test_two_robots_are_nodes_of_one_name_in_several_processes() -> None:
    graph = Graph('/robot', '/gripper', '/robot', '/gripper')
    graph.processes = {3: 1}  # one node with two publishers
    publishers = OtherPublishers(graph, '/joint_states')
    assert publishers.same_names == ''
    publishers.poll(0.0)
    assert publishers.names == ('/gripper', '/robot')
    assert publishers.listing == '/gripper, 2 nodes named /robot'
    said = '2 nodes named /robot publish on /joint_states: two robots on one domain?'
    assert publishers.same_names.startswith(said)
    graph.names.pop(2)
    graph.processes = {2: 1}
    publishers.poll(10.0)
    assert (publishers.listing, publishers.same_names) == ('/gripper, /robot', '')


def test_publishers_without_a_node_are_not_two_robots() -> None:
    publishers = OtherPublishers(Graph('', ''), '/joint_states')
    for now in (0.0, 2.0 * NAME_TIMEOUT):
        publishers.poll(now)
    assert (publishers.listing, publishers.same_names) == (UNKNOWN, '')
