# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Two robots in two namespaces: to each its own topics, controller and node."""

from typing import Any
import unittest

import pytest

pytest.importorskip('launch_testing', reason='launch_testing (of a ROS 2 installation) is missing')

from launch import LaunchDescription
from launch.actions import GroupAction
from launch_ros.actions import Node, PushRosNamespace
import launch_testing
import launch_testing.asserts
from lifecycle_msgs.msg import Transition

from support.ros.launch_files import (
    PATIENT,
    alone,
    launch_file,
    needs_simulation,
    onlooker,
    share,
    wait_until,
)

JOINTS = {'left': 6, 'right': 7}
RATE = 100.0


@pytest.mark.ros
@pytest.mark.launch_test
def generate_test_description() -> tuple[LaunchDescription, dict[str, int]]:
    """Start a UR5e by a namespace that is pushed, and a Panda by that of the launch file."""
    needs_simulation()
    common = {'rate': RATE, 'params_file': PATIENT}
    left = launch_file('simulation.launch.py', robot='ur5e', watchdog='false', **common)
    robot = Node(
        package='rnea_ros', executable='simulated_robot', namespace='right',
        parameters=[{'urdf': share('urdf/panda_arm.urdf')}],
    )
    right = launch_file('feedforward.launch.py', namespace='right', **common)
    return alone(GroupAction([PushRosNamespace('left'), left]), robot, right)


class TestTwoRobots(unittest.TestCase):
    def test_each_node_commands_its_own_robot(self, domain_id: int) -> None:
        for namespace, joints in JOINTS.items():
            with onlooker(domain_id, namespace) as seen:
                assert wait_until(lambda: len(seen.commands) > 100)
                assert {len(values) for _, values in seen.commands} == {joints}
                assert seen.diagnostics['effort_controller'] == 'confirmed'
                topic = f'/{namespace}/effort_controller/commands'
                commanders = seen.node.get_publishers_info_by_topic(topic)
                assert [each.node_namespace for each in commanders] == [f'/{namespace}']

    def test_nothing_of_theirs_is_outside_their_namespaces(self, domain_id: int) -> None:
        with onlooker(domain_id, 'left') as left, onlooker(domain_id, 'right'):
            topics = {name for name, _ in left.node.get_topic_names_and_types()}
            outside = {name for name in topics if not name.startswith(('/left/', '/right/'))}
            assert outside <= {'/diagnostics', '/parameter_events', '/rosout'}

    def test_one_ends_and_the_other_goes_on(self, domain_id: int) -> None:
        with onlooker(domain_id, 'left') as left, onlooker(domain_id, 'right') as right:
            assert wait_until(lambda: left.commands and right.commands)
            assert left.change_state(Transition.TRANSITION_DEACTIVATE)
            going_on = len(right.commands)
            assert wait_until(lambda: not left.newest.any())
            assert wait_until(lambda: len(right.commands) > going_on + 50)
            assert left.change_state(Transition.TRANSITION_ACTIVATE)
            left.wait_until_controlled()


@launch_testing.post_shutdown_test()
class TestShutdown(unittest.TestCase):
    def test_every_process_ends_with_exit_code_0(self, proc_info: Any) -> None:
        launch_testing.asserts.assertExitCodes(proc_info)
