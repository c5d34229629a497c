# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""``urdf:=`` with a robot that cannot be: the node says why, commands nothing, ends cleanly."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
import unittest

import pytest

pytest.importorskip('launch_testing', reason='launch_testing (of a ROS 2 installation) is missing')

from launch import LaunchDescription
import launch_testing
import launch_testing.asserts

from support.ros.fake_robot import PANDA_ARM, fake_robot
from support.ros.launch_files import PATIENCE, PATIENT, alone, launch_file

FOLDER = TemporaryDirectory(prefix='rnea_ros_')
COMPLAINT = "cannot configure: joint 'fer_joint1': unknown type 'elastic'"


@pytest.mark.ros
@pytest.mark.launch_test
def generate_test_description() -> tuple[LaunchDescription, dict[str, int]]:
    """Start the node with a joint of a type that there is not."""
    path = Path(FOLDER.name, 'elastic.urdf')
    path.write_text(PANDA_ARM.replace('type="revolute"', 'type="elastic"', 1), encoding='utf-8')
    return alone(launch_file('feedforward.launch.py', urdf=path, params_file=PATIENT))


class TestWrongUrdf(unittest.TestCase):
    def test_the_node_says_what_is_wrong_and_commands_nothing(
        self, domain_id: int, proc_output: Any
    ) -> None:
        with fake_robot(domain_id, urdf=None) as robot:
            proc_output.assertWaitFor(COMPLAINT, timeout=PATIENCE)
            assert robot.lifecycle_state == 'unconfigured'
            assert not robot.commands


@launch_testing.post_shutdown_test()
class TestShutdown(unittest.TestCase):
    def test_every_process_ends_with_exit_code_0(self, proc_info: Any) -> None:
        launch_testing.asserts.assertExitCodes(proc_info)

    def test_it_is_said_once_and_without_a_traceback(self, proc_output: Any) -> None:
        written = ''.join(output.text.decode() for output in proc_output)
        assert written.count('cannot configure') == 1
        assert 'Traceback' not in written
