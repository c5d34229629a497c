# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""``teleoperation.launch.py``: the node gets namespaces and joints, and ends cleanly."""

from typing import Any
import unittest

import pytest

pytest.importorskip('launch_testing', reason='launch_testing (of a ROS 2 installation) is missing')

from launch import LaunchDescription
import launch_testing
import launch_testing.asserts

from support.ros.launch_files import PATIENCE, alone, launch_file, wait_until
from support.ros.ros_process import ros_node

TOPIC = '/two/feedforward/joint_trajectory'


@pytest.mark.ros
@pytest.mark.launch_test
def generate_test_description() -> tuple[LaunchDescription, dict[str, int]]:
    """Start the node without any arm."""
    return alone(launch_file('teleoperation.launch.py', leader='one', follower='two'))


class TestTeleoperation(unittest.TestCase):
    def test_the_node_waits_for_both_arms(self, domain_id: int, proc_output: Any) -> None:
        proc_output.assertWaitFor('no robot_description of leader and follower', timeout=PATIENCE)
        with ros_node(domain_id, 'onlooker') as node:
            assert wait_until(lambda: node.get_publishers_info_by_topic(TOPIC))


@launch_testing.post_shutdown_test()
class TestShutdown(unittest.TestCase):
    def test_every_process_ends_with_exit_code_0(self, proc_info: Any) -> None:
        launch_testing.asserts.assertExitCodes(proc_info)
