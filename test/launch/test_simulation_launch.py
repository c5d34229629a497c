# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The launch files under a real launch: everything comes up, acts, and ends cleanly."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
import unittest

import pytest

pytest.importorskip('launch_testing', reason='launch_testing (of a ROS 2 installation) is missing')

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
import launch_testing
import launch_testing.actions
import launch_testing.asserts

pytestmark = pytest.mark.ros
os.environ.setdefault('ROS_DOMAIN_ID', '99')


@pytest.mark.launch_test
def generate_test_description() -> LaunchDescription:
    """Start a simulated Panda under computed torque."""
    share = Path(get_package_share_directory('rnea_ros'))
    simulation = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(share / 'launch/simulation.launch.py')),
        launch_arguments={'robot': 'panda', 'mode': 'computed_torque'}.items(),
    )
    return LaunchDescription([simulation, launch_testing.actions.ReadyToTest()])


class TestSimulation(unittest.TestCase):
    def test_the_node_takes_over_the_simulated_arm(self, proc_output: Any) -> None:
        proc_output.assertWaitFor("RobotModel('panda'", timeout=60.0)
        proc_output.assertWaitFor('computed_torque at 500 Hz', timeout=60.0)
        proc_output.assertWaitFor('active', timeout=60.0)

    def test_the_watchdog_is_beside_it(self, proc_output: Any) -> None:
        proc_output.assertWaitFor('watching /effort_controller/commands', timeout=60.0)


@launch_testing.post_shutdown_test()
class TestShutdown(unittest.TestCase):
    def test_every_process_ends_with_exit_code_0(self, proc_info: Any) -> None:
        launch_testing.asserts.assertExitCodes(proc_info)

    def test_the_node_ramped_down_before_it_ended(self, proc_output: Any) -> None:
        launch_testing.asserts.assertInStderr(proc_output, 'stopped (stop_requested)', None)
