# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
``ros2 launch`` as it is typed: the launch files start what they say, and end it.

These tests need a ROS 2 installation, and start the package that was built last:

    . install/setup.bash && python3 -m pytest test/ros_installation
"""

import os
from pathlib import Path
import re
import shutil
import signal
import sys
from urllib.request import urlopen

import numpy as np
import pytest

from support.models.robots import ROOT
from support.ros import ros_process
from support.ros.node_observer import Onlooker
from support.ros.ros_process import RosProcess, ros_node

pytest.importorskip('ros2launch', reason='ros2 launch (of a ROS 2 installation) is missing')
pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')
pytestmark = pytest.mark.ros

PATIENCE = 120.0
"""How long a launch may take, s: kernels may have to be compiled first."""

FILES = sorted(path.name for path in (ROOT / 'launch').glob('*.launch.py'))

PATIENT = f'params_file:={ROOT}/test/ros_installation/patient.yaml'
"""Parameters of the node: machines that run tests stall, which must not end it."""


def ros2_launch(domain_id: int, *arguments: str) -> RosProcess:
    """Start ``ros2 launch``, of a launch file of the package or of a path."""
    ros2 = shutil.which('ros2')
    assert ros2, 'ros2launch is there, and no ros2'
    package = () if '/' in arguments[0] else ('rnea_ros',)
    return RosProcess('launch', *package, *arguments, domain_id=domain_id, program=(ros2,))


def end(process: RosProcess, count: int) -> None:
    """End a launch as Ctrl-C does; so many processes must have finished cleanly."""
    process.interrupt()
    assert process.wait(PATIENCE) == 0, process.output
    assert process.output.count('process has finished cleanly') == count, process.output


@pytest.mark.parametrize('name', FILES)
def test_every_launch_file_lists_its_arguments(domain_id: int, name: str) -> None:
    with ros2_launch(domain_id, name, '--show-args') as process:
        assert process.wait(PATIENCE) == 0
        assert 'Arguments (pass arguments as' in process.output
        assert 'no description given' not in process.output


def test_ctrl_c_waits_for_a_ramp_longer_than_the_timeout_of_launch(
    domain_id: int, tmp_path: Path
) -> None:
    own = tmp_path / 'slow.yaml'
    own.write_text('/**: {ros__parameters: {ramp_duration: 13.0, joint_states_timeout: 30.0}}')
    arguments = (f'params_file:={own}', 'watchdog:=false')
    with ros2_launch(domain_id, 'simulation.launch.py', *arguments) as process:
        process.wait_for('[feedforward]: ramping', PATIENCE)
        end(process, 2)
        assert '[feedforward]: stopped' in process.output


def test_the_watchdog_commands_zero_when_the_node_is_killed(domain_id: int) -> None:
    with (
        ros2_launch(domain_id, 'simulation.launch.py', 'robot:=ur5e', PATIENT) as process,
        ros_node(domain_id) as node,
    ):
        seen = Onlooker(node)
        seen.wait_until_controlled(PATIENCE)
        assert ros_process.wait_until(lambda: seen.states.get('effort_watchdog') == 'watching')
        started = re.search(r'feedforward_node-\d+\]: process started with pid \[(\d+)\]',
                            process.output)
        assert started
        assert ros_process.wait_until(lambda: np.abs(seen.newest).max() > 10.0)
        os.kill(int(started[1]), signal.SIGKILL)
        process.wait_for('zero effort was commanded', PATIENCE)
        assert ros_process.wait_until(lambda: not seen.newest.any())
        end(process, 2)  # robot and watchdog


def test_teleoperation_waits_for_both_arms(domain_id: int) -> None:
    arguments = ('teleoperation.launch.py', 'leader:=one', 'follower:=two')
    with ros2_launch(domain_id, *arguments) as process, ros_node(domain_id) as node:
        process.wait_for('no robot_description of leader and follower', PATIENCE)
        topic = '/two/feedforward/joint_trajectory'
        assert ros_process.wait_until(lambda: node.get_publishers_info_by_topic(topic))
        end(process, 1)


def test_the_panel_serves_its_page_and_ends_with_the_launch(domain_id: int) -> None:
    pytest.importorskip('viser', reason='viser is not installed')
    with ros2_launch(domain_id, 'simulation.launch.py', 'panel:=true', PATIENT) as process:
        for text in ('; Ctrl-C ends the panel', '[feedforward]: active'):
            process.wait_for(text, PATIENCE)
        address, = re.findall(r'http://localhost:\d+', process.output)
        with urlopen(address, timeout=PATIENCE) as page:
            assert b'<title>Viser</title>' in page.read()
        end(process, 4)


def test_a_goal_of_the_example_succeeds(domain_id: int) -> None:
    pytest.importorskip('control_msgs', reason='control_msgs is not installed')
    arguments = ('simulation.launch.py', 'robot:=panda_arm', 'mode:=computed_torque', PATIENT)
    example = str(ROOT / 'examples/send_goal.py')
    with ros2_launch(domain_id, *arguments) as process:
        process.wait_for(' active', PATIENCE)
        with RosProcess(example, domain_id=domain_id, program=(sys.executable, '-u')) as goal:
            assert goal.wait(PATIENCE) == 0, goal.output
            assert 'error code 0' in goal.output
