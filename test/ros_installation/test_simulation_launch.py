# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""``simulation.launch.py`` under launch_testing: the node takes control and ends cleanly."""

import os
from typing import Any
import unittest

import pytest

pytest.importorskip('launch_testing', reason='launch_testing (of a ROS 2 installation) is missing')
pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription, SetLaunchConfiguration
from launch.launch_description_sources import PythonLaunchDescriptionSource
import launch_testing.actions
import launch_testing.asserts

from support.models.robots import ROOT
from support.ros.ros_process import isolated, new_domain_id

PATIENCE = 120.0
"""How long the launch may take, s: kernels may have to be compiled first."""


@pytest.mark.ros
@pytest.mark.launch_test
def generate_test_description() -> LaunchDescription:
    os.environ.update(isolated(new_domain_id()))
    parameters = str(ROOT / 'test/ros_installation/patient.yaml')
    return LaunchDescription([
        SetLaunchConfiguration('sigterm_timeout', str(PATIENCE)),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(ROOT / 'launch/simulation.launch.py')),
            launch_arguments=[('params_file', parameters)],
        ),
        launch_testing.actions.ReadyToTest(),
    ])


class TestSimulation(unittest.TestCase):
    def test_the_node_takes_control(self, proc_output: Any) -> None:
        proc_output.assertWaitFor(' active', process='feedforward_node', timeout=PATIENCE,
                                  strict_proc_matching=False)


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    def test_every_process_ends_cleanly(self, proc_info: Any) -> None:
        launch_testing.asserts.assertExitCodes(proc_info)
