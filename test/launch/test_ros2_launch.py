# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""``ros2 launch`` as it is typed: help, arguments that cannot be used, and Ctrl-C."""

from pathlib import Path
import shutil

import pytest

from support.models.robots import ROOT
from support.ros.ros_process import RosProcess

pytest.importorskip('ros2launch', reason='ros2 launch (of a ROS 2 installation) is missing')
pytestmark = pytest.mark.ros

PATIENCE = 120.0
"""How long a launch may take, s: machines that run tests stall."""

FILES = sorted(path.name for path in (ROOT / 'launch').glob('*.launch.py'))


def ros2_launch(domain_id: int, *arguments: str) -> RosProcess:
    """Start ``ros2 launch rnea_ros``."""
    from support.ros.launch_files import share

    ros2 = shutil.which('ros2')
    assert ros2, 'ros2launch is there, and no ros2'
    share('launch')
    return RosProcess('launch', 'rnea_ros', *arguments, domain_id=domain_id, program=(ros2,))


@pytest.mark.parametrize('name', FILES)
def test_every_launch_file_lists_its_arguments(domain_id: int, name: str) -> None:
    with ros2_launch(domain_id, name, '--show-args') as process:
        assert process.wait(PATIENCE) == 0
        assert 'Arguments (pass arguments as' in process.output
        assert 'no description given' not in process.output


@pytest.mark.parametrize('name', ['feedforward.launch.py', 'simulation.launch.py'])
@pytest.mark.parametrize(('argument', 'complaint'), [
    ('urdf:=nowhere.urdf', "urdf: 'nowhere.urdf' is not a file"),
    ('params_file:=nowhere.yaml', "params_file: 'nowhere.yaml' is not a file"),
    ('rate:=fast', "rate: 'fast' is not a number"),
    ('mode:=none', '"mode" provided value "none" is not valid. Valid options are'),
    ('watchdog:=yes', '"watchdog" provided value "yes" is not valid. Valid options are'),
])
def test_an_argument_that_cannot_be_used_is_named_and_nothing_starts(
    domain_id: int, name: str, argument: str, complaint: str
) -> None:
    with ros2_launch(domain_id, name, argument) as process:
        assert process.wait(PATIENCE) == 1
        assert complaint in process.output
        assert 'Traceback' not in process.output
        assert 'process started' not in process.output


def test_ctrl_c_waits_for_a_ramp_longer_than_the_timeout_of_launch(
    domain_id: int, tmp_path: Path
) -> None:
    pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')
    own = tmp_path / 'slow.yaml'
    own.write_text('/**: {ros__parameters: {ramp_duration: 13.0, joint_states_timeout: 30.0}}')
    arguments = (f'params_file:={own}', 'watchdog:=false')
    with ros2_launch(domain_id, 'simulation.launch.py', *arguments) as process:
        process.wait_for('[feedforward]: ramping', PATIENCE)
        process.interrupt()
        assert process.wait(PATIENCE) == 0
        assert '[feedforward]: stopped' in process.output
        assert 'SIGKILL' not in process.output


@pytest.mark.parametrize(('argument', 'complaint'), [
    ('wrench_link:=none', "'none'"), ('viewer:=true', 'the viewer needs a display'),
])
def test_a_simulation_ends_when_its_robot_does(
    domain_id: int, monkeypatch: pytest.MonkeyPatch, argument: str, complaint: str
) -> None:
    for variable in ('DISPLAY', 'WAYLAND_DISPLAY'):
        monkeypatch.delenv(variable, raising=False)
    with ros2_launch(domain_id, 'simulation.launch.py', argument) as process:
        assert process.wait(PATIENCE) == 0
        assert complaint in process.output
        assert 'exit code 2' in process.output
        assert process.output.count('process has finished cleanly') == 2  # node and watchdog


def test_ctrl_c_ends_everything_with_exit_code_0(domain_id: int) -> None:
    arguments = ('watchdog:=true', 'hardware_compensates:=none')
    with ros2_launch(domain_id, 'feedforward.launch.py', *arguments) as process:
        process.wait_for('waiting: no robot_description', PATIENCE)
        process.wait_for('watching /effort_controller/commands', PATIENCE)
        process.interrupt()
        assert process.wait(PATIENCE) == 0
        assert process.output.count('process has finished cleanly') == 2
