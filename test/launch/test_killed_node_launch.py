# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""``watchdog:=true``: where the node is killed, the controller gets zeros."""

import os
import signal
from typing import Any
import unittest

import pytest

pytest.importorskip('launch_testing', reason='launch_testing (of a ROS 2 installation) is missing')

from launch import LaunchDescription
import launch_testing
import launch_testing.asserts
import numpy as np

from support.ros.launch_files import (
    PATIENCE,
    PATIENT,
    alone,
    launch_file,
    needs_simulation,
    onlooker,
    wait_until,
)


@pytest.mark.ros
@pytest.mark.launch_test
def generate_test_description() -> tuple[LaunchDescription, dict[str, int]]:
    """Start a simulated UR5e with its arm raised, the node, and the watchdog beside it."""
    needs_simulation()
    return alone(
        launch_file('simulation.launch.py', robot='ur5e', watchdog='true', params_file=PATIENT)
    )


class TestKilledNode(unittest.TestCase):
    def test_zeros_follow_the_last_command(
        self, domain_id: int, proc_info: Any, proc_output: Any
    ) -> None:
        with onlooker(domain_id) as seen:
            assert wait_until(lambda: seen.commands and np.abs(seen.newest).max() > 10.0)
            # It may discover the node's commands seconds after the node began.
            assert wait_until(lambda: seen.states.get('effort_watchdog') == 'watching')
            os.kill(proc_info['feedforward_node'].pid, signal.SIGKILL)
            proc_output.assertWaitFor('zero effort was commanded', timeout=PATIENCE)
            assert wait_until(lambda: seen.steady(np.zeros_like(seen.newest)))


@launch_testing.post_shutdown_test()
class TestShutdown(unittest.TestCase):
    def test_nothing_else_ended_badly(self, proc_info: Any) -> None:
        codes = {info.process_name.rsplit('-', 1)[0]: info.returncode for info in proc_info}
        assert codes == {
            'simulated_robot': 0, 'feedforward_node': -signal.SIGKILL, 'effort_watchdog': 0,
        }
