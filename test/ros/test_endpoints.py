# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The other publishers of a topic are named, once they are discovered."""

from types import SimpleNamespace

import pytest

from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rnea_ros.ros import OtherPublishers
from rnea_ros.ros.endpoints import NAME_TIMEOUT, UNKNOWN

TOPIC, OWN = '/effort_controller/commands', '/arm/feedforward'


class Graph:
    """A node that knows the publishers of a topic; each is a full name, or '' for none yet."""

    def __init__(self, *names: str) -> None:
        self.names, self.processes = list(names), dict[int, int]()

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


@pytest.mark.parametrize(('there', 'publishing', 'names'), [
    ((OWN,), True, ()), ((OWN, '/rival', '/arm/rival', '/rival'), True, ('/arm/rival', '/rival')),
    (('/rival',), True, ('/rival',)), ((OWN, OWN), True, (OWN,)), ((OWN,), False, (OWN,)),
    ((OWN, '/effort_watchdog', '/arm/effort_watchdog'), True, ()),
])
def test_all_nodes_but_the_own_publisher_and_watchdogs_are_named(
    there: tuple[str, ...], publishing: bool, names: tuple[str, ...]
) -> None:
    publishers = OtherPublishers(Graph(*there), TOPIC)
    publishers.poll(0.0, publishing)
    assert publishers.names == names


def test_a_publisher_without_a_node_name_counts_after_a_while() -> None:
    graph = Graph(OWN, '')
    publishers = OtherPublishers(graph, TOPIC)
    for share, unnamed, names in ((0.0, True, ()), (0.9, True, ()), (1.1, False, (UNKNOWN,))):
        publishers.poll(5.0 + share * NAME_TIMEOUT, publishing=True)
        assert (publishers.unnamed, publishers.names) == (unnamed, names)
    graph.names[1] = '/rival'
    publishers.poll(6.2, publishing=True)
    assert publishers.names == ('/rival',)


def test_two_robots_are_nodes_of_one_name_in_several_processes() -> None:
    graph = Graph('/robot', '/gripper', '/robot', '/gripper')
    graph.processes = {3: 1}  # one node with two publishers
    publishers = OtherPublishers(graph, '/joint_states')
    publishers.poll(0.0)
    assert publishers.listing == '/gripper, 2 nodes named /robot'
    said = '2 nodes named /robot publish on /joint_states: two robots on one domain?'
    assert publishers.same_names.startswith(said)
    graph.names, graph.processes = ['', ''], {}
    for now in (10.0, 10.0 + 2.0 * NAME_TIMEOUT):
        publishers.poll(now)
    assert (publishers.listing, publishers.same_names) == (UNKNOWN, ''), 'without a node'
