# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""``simulation.launch.py``: everything comes up, acts, and ends cleanly."""

from typing import Any
import unittest

import pytest

pytest.importorskip('launch_testing', reason='launch_testing (of a ROS 2 installation) is missing')

from launch import LaunchDescription
import launch_testing
import launch_testing.asserts
import numpy as np
from sensor_msgs.msg import JointState

from support.ros.launch_files import (
    PATIENCE,
    PATIENT,
    alone,
    launch_file,
    needs_simulation,
    onlooker,
    wait_until,
)

STILL = 0.01
"""Joints slower than this do not move, rad/s."""


@pytest.mark.ros
@pytest.mark.launch_test
def generate_test_description() -> tuple[LaunchDescription, dict[str, int]]:
    """Start a simulated Panda under computed torque."""
    needs_simulation()
    return alone(launch_file(
        'simulation.launch.py', robot='panda', mode='computed_torque', params_file=PATIENT
    ))


class TestSimulation(unittest.TestCase):
    def test_the_node_takes_over_the_simulated_arm(self, proc_output: Any) -> None:
        proc_output.assertWaitFor("RobotModel('panda'", timeout=PATIENCE)
        proc_output.assertWaitFor('computed_torque at 500 Hz', timeout=PATIENCE)
        proc_output.assertWaitFor('active', timeout=PATIENCE)

    def test_the_watchdog_is_beside_it(self, proc_output: Any) -> None:
        proc_output.assertWaitFor('watching /effort_controller/commands', timeout=PATIENCE)

    def test_the_arm_stands_still(self, domain_id: int) -> None:
        states: list[Any] = []
        with onlooker(domain_id) as seen:
            seen.node.create_subscription(JointState, 'joint_states', states.append, 1)
            assert wait_until(lambda: states and np.abs(states[-1].velocity).max() < STILL)


@launch_testing.post_shutdown_test()
class TestShutdown(unittest.TestCase):
    def test_every_process_ends_with_exit_code_0(self, proc_info: Any) -> None:
        launch_testing.asserts.assertExitCodes(proc_info)
