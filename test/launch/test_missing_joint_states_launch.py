# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A robot without joint states: the node logs that it waits, and goes on when they come."""

from typing import Any
import unittest

import pytest

pytest.importorskip('launch_testing', reason='launch_testing (of a ROS 2 installation) is missing')

from launch import LaunchDescription
import launch_testing
import launch_testing.asserts

from support.ros.fake_robot import GRAVITY, PERIOD, fake_robot
from support.ros.launch_files import PATIENCE, PATIENT, alone, launch_file, wait_until

NEVER = 1e-6
"""Rate of joint states that are not sent, Hz."""


@pytest.mark.ros
@pytest.mark.launch_test
def generate_test_description() -> tuple[LaunchDescription, dict[str, int]]:
    """Start the node, which finds its robot by its topics."""
    return alone(launch_file('feedforward.launch.py', params_file=PATIENT))


class TestMissingJointStates(unittest.TestCase):
    def test_the_node_waits_for_them_and_commands_nothing(
        self, domain_id: int, proc_output: Any
    ) -> None:
        with fake_robot(domain_id, rate=NEVER) as robot:
            proc_output.assertWaitFor(
                'waiting for a joint state of fer_joint1, fer_joint2', timeout=PATIENCE
            )
            robot.wait_for_state('waiting')
            reports = robot.reports
            assert wait_until(lambda: robot.reports > reports + 1)
            assert robot.diagnostics['state'] == 'waiting'
            assert not robot.commands

            robot.node.create_timer(PERIOD, robot.send)
            robot.wait_until_controlled(PATIENCE)
            assert wait_until(lambda: robot.steady(GRAVITY))


@launch_testing.post_shutdown_test()
class TestShutdown(unittest.TestCase):
    def test_every_process_ends_with_exit_code_0(self, proc_info: Any) -> None:
        launch_testing.asserts.assertExitCodes(proc_info)
