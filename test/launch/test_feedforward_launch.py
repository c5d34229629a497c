# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""``feedforward.launch.py`` beside a robot that is up: commands, lifecycle, and a clean end."""

from typing import Any
import unittest

import pytest

pytest.importorskip('launch_testing', reason='launch_testing (of a ROS 2 installation) is missing')

from launch import LaunchDescription
from launch_ros.actions import Node
import launch_testing
import launch_testing.asserts
from lifecycle_msgs.msg import Transition
import numpy as np

from support.ros.launch_files import (
    PATIENT,
    alone,
    launch_file,
    needs_simulation,
    onlooker,
    share,
    wait_until,
)
from support.ros.node_observer import Onlooker

RATE = 100.0
POSTURE = [0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785]

HOLDING = 10.0
"""More than this some joint takes to hold the arm, N m."""


@pytest.mark.ros
@pytest.mark.launch_test
def generate_test_description() -> tuple[LaunchDescription, dict[str, int]]:
    """Start a simulated Panda, and the node that finds it by its topics."""
    needs_simulation()
    robot = Node(
        package='rnea_ros', executable='simulated_robot',
        parameters=[{'urdf': share('urdf/panda_arm.urdf'), 'initial_positions': POSTURE}],
    )
    node = launch_file(
        'feedforward.launch.py', controller='effort_controller', rate=RATE, params_file=PATIENT
    )
    return alone(robot, node)


def commands_come_at_the_rate(seen: Onlooker) -> bool:
    """Whether most of the newest commands came one period apart."""
    times = [at for at, _ in seen.commands[-100:]]
    return len(times) == 100 and bool(abs(np.median(np.diff(times)) * RATE - 1.0) < 0.1)


class TestFeedforward(unittest.TestCase):
    def test_commands_come_at_the_rate_and_hold_the_arm(self, domain_id: int) -> None:
        with onlooker(domain_id) as seen:
            assert wait_until(lambda: commands_come_at_the_rate(seen))
            assert wait_until(lambda: np.abs(seen.newest).max() > HOLDING), seen.newest

    def test_deactivated_it_is_silent_and_a_new_life_commands_again(self, domain_id: int) -> None:
        with onlooker(domain_id) as seen:
            assert wait_until(lambda: len(seen.commands) > 0)
            for transition, state in (
                (Transition.TRANSITION_DEACTIVATE, 'inactive'),
                (Transition.TRANSITION_CLEANUP, 'unconfigured'),
            ):
                assert seen.change_state(transition)
                assert seen.lifecycle_state == state
                assert wait_until(lambda: not seen.newest.any())
            assert seen.change_state(Transition.TRANSITION_CONFIGURE)
            assert seen.change_state(Transition.TRANSITION_ACTIVATE)
            assert seen.lifecycle_state == 'active'
            assert wait_until(lambda: commands_come_at_the_rate(seen))


@launch_testing.post_shutdown_test()
class TestShutdown(unittest.TestCase):
    def test_every_process_ends_with_exit_code_0(self, proc_info: Any) -> None:
        launch_testing.asserts.assertExitCodes(proc_info)

    def test_the_node_ramped_down_before_it_ended(self, proc_output: Any) -> None:
        launch_testing.asserts.assertInStderr(proc_output, 'stopped (stop_requested)', None)
