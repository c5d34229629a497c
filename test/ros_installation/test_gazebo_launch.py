# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""``gazebo.launch.py`` under a real launch, with scripts in the place of Gazebo and ROS nodes."""

from collections.abc import Mapping
import os
from pathlib import Path
import shutil
import subprocess
import sys
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

from support.models.robots import ROOT

pytest.importorskip('ros2launch', reason='ros2 launch (of a ROS 2 installation) is missing')
xacro = pytest.importorskip('xacro', reason='xacro is not installed')
yaml = pytest.importorskip('yaml', reason='PyYAML is not installed')

pytestmark = pytest.mark.ros

SCRIPT = f"""#!{sys.executable}
import os, shutil, signal, sys, time
words = [word for word in sys.argv[1:] if not word.startswith('--ros-args')]
name = os.path.basename(sys.argv[0])
if name == 'spawner':
    name = sys.argv[1]
if name == 'activate_controller':
    name = 'activate_' + sys.argv[1]
if '--param-file' in words:
    kept = os.environ['GAZEBO_TEST_LOG'] + '.' + name
    shutil.copy(words[words.index('--param-file') + 1], kept)
def end(*_):
    with open(os.environ['GAZEBO_TEST_LOG'], 'a') as log:
        log.write('end ' + name + chr(10))
    sys.exit(0)
if {{stays}}:
    signal.signal(signal.SIGINT, end)
with open(os.environ['GAZEBO_TEST_LOG'], 'a') as log:
    log.write(name + ' ' + ' '.join(words) + chr(10))
code = os.environ.get('GAZEBO_TEST_' + name.upper())
if code is not None:
    while not any(line.startswith('gz ') for line in open(os.environ['GAZEBO_TEST_LOG'])):
        time.sleep(0.1)
    sys.exit(int(code))
if {{stays}}:
    signal.pause()
"""

UNTIL_ACTIVE = """\
    while 'activate_effort_controller' not in open(os.environ['GAZEBO_TEST_LOG']).read():
        time.sleep(0.1)
"""
"""What a node does instead of waiting for a signal."""

STAYS = {
    'ros_gz_sim': {'gz': True, 'create': False}, 'ros_gz_bridge': {'parameter_bridge': True},
    'robot_state_publisher': {'robot_state_publisher': True},
    'controller_manager': {'spawner': False},
    'rnea_ros': {'feedforward_node': True, 'activate_controller': False},
}
"""The executables of packages, and whether they run on."""

GZ_SIM = """
# As ros_gz_sim starts Gazebo: in a shell, with a substitution that keeps it from making way.
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess
from launch.substitutions import LaunchConfiguration

def generate_launch_description():
    return LaunchDescription([
        DeclareLaunchArgument('gz_args'),
        ExecuteProcess(
            cmd=['{gz} $(echo)', LaunchConfiguration('gz_args')], shell=True, prefix=None
        ),
    ])
"""


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only prefix, with every package that the launch file needs; a test may remove one."""
    root = tmp_path / 'prefix'
    for package, scripts in {**STAYS, 'gz_ros2_control': {}}.items():
        index = root / 'share/ament_index/resource_index/packages'
        index.mkdir(parents=True, exist_ok=True)
        (index / package).touch()
        (root / 'lib' / package).mkdir(parents=True)
        (root / 'share' / package).mkdir(parents=True)
        for name, stays in scripts.items():
            script = root / 'lib' / package / name
            script.write_text(SCRIPT.format(stays=stays))
            script.chmod(0o755)
    for directory in ('launch', 'config', 'urdf'):
        (root / 'share/rnea_ros' / directory).symlink_to(ROOT / directory)
    (root / 'share/ros_gz_sim/launch').mkdir()
    (root / 'share/ros_gz_sim/launch/gz_sim.launch.py').write_text(
        GZ_SIM.format(gz=root / 'lib/ros_gz_sim/gz')
    )
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(root))
    monkeypatch.setenv('GAZEBO_TEST_LOG', str(tmp_path / 'log'))
    monkeypatch.setenv('TMPDIR', str(tmp_path))
    return root


class Launched(NamedTuple):
    """Exit code and output of a launch, and what was started with what words."""

    code: int
    output: str
    lines: list[str]


def run(prefix: Path, **arguments: str) -> Launched:
    """Launch until everything has ended."""
    words = [f'{name}:={value}' for name, value in arguments.items()]
    ros2 = shutil.which('ros2')
    assert ros2, 'ros2launch is there, and no ros2'
    done = subprocess.run(
        [ros2, 'launch', '--noninteractive', str(ROOT / 'launch/gazebo.launch.py'), *words],
        env=os.environ | {'PYTHONPATH': f'{ROOT}{os.pathsep}{os.environ.get("PYTHONPATH", "")}'},
        cwd=prefix.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=120, check=False,
    )
    log = prefix.parent / 'log'
    lines = log.read_text().splitlines() if log.exists() else []
    return Launched(done.returncode, done.stdout, lines)


def argument(lines: list[str], name: str, option: str) -> str:
    (words,) = (line.split() for line in lines if line.split()[0] == name)
    return words[words.index(option) + 1]


def test_a_step_starts_when_the_one_before_has_ended(prefix: Path) -> None:
    # The node's end is what ends the launch here, once the controller is active.
    node = prefix / 'lib/rnea_ros/feedforward_node'
    node.write_text(node.read_text().replace('    signal.pause()\n', UNTIL_ACTIVE))
    launched = run(prefix, gui='true', world='mine.sdf')
    lines = launched.lines
    assert launched.code == 0, launched.output
    started = [line.split()[0] for line in lines if not line.startswith('end ')]
    together, order = started[:4], started[4:]
    assert set(together) == {'gz', 'parameter_bridge', 'robot_state_publisher', 'create'}
    assert 'gz mine.sdf' in lines
    assert order[:2] == ['joint_state_broadcaster', 'effort_controller']
    order.remove('feedforward_node')  # starts now; when it writes depends on the load
    assert order[2:] == ['activate_joint_state_broadcaster', 'activate_effort_controller']
    spawned = [line.split() for line in lines if line.split()[0] in order[:2]]
    assert all('--inactive' in words for words in spawned)
    unpaused = [line.split()[0] for line in lines if '--unpause' in line.split()]
    assert unpaused == ['activate_joint_state_broadcaster']
    assert argument(lines, 'activate_effort_controller', '--timeout') == '60'
    (activate,) = (line for line in lines if line.startswith('activate_effort_controller'))
    assert '--hold' in activate.split()  # the mode holds a pose


@pytest.mark.parametrize('step', ['create', 'activate_effort_controller', 'gz'])
def test_a_process_that_fails_ends_everything_with_an_error(
    prefix: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setenv(f'GAZEBO_TEST_{step.upper()}', '3')
    launched = run(prefix, mode='gravity')
    assert launched.code == 1
    assert any(line.startswith(f'{step} ') for line in launched.lines)
    assert 'ended with exit code 3' in launched.output
    assert ('end gz' in launched.lines) == (step != 'gz')  # it does not outlive the launch
    assert '--hold' not in ' '.join(launched.lines).split()
    if step == 'create':
        assert '[feedforward_node' not in launched.output


def test_gazebo_and_the_spawners_share_one_file_with_the_joints(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('GAZEBO_TEST_EFFORT_CONTROLLER', '1')
    index = prefix / 'share/ament_index/resource_index/packages'
    shutil.move(index / 'gz_ros2_control', index / 'ign_ros2_control')
    lines = run(prefix, positions='0, -0.5, 0, -2, 0, 1.5, 0').lines
    path = argument(lines, 'effort_controller', '--param-file')
    assert path == argument(lines, 'joint_state_broadcaster', '--param-file')
    kept = yaml.safe_load((prefix.parent / 'log.effort_controller').read_text())
    values = kept['effort_controller']['ros__parameters']
    assert values['joints'] == [f'fer_joint{number}' for number in range(1, 8)]
    given = Path(argument(lines, 'robot_state_publisher', '--params-file')).read_text()
    ((published,),) = (section.values() for section in yaml.safe_load(given).values())
    assert published['use_sim_time'] is True
    robot = ElementTree.fromstring(published['robot_description'])
    assert robot.findtext('gazebo/plugin/parameters') == path
    # The plugins are those that are installed.
    assert robot.findtext('ros2_control/hardware/plugin') == 'ign_ros2_control/IgnitionSystem'
    start = './/state_interface[@name="position"]/param[@name="initial_value"]'
    assert [float(str(each.text)) for each in robot.findall(start)][1] == -0.5
    assert '-s empty.sdf' in ' '.join(lines)
    assert not Path(path).parent.exists()  # nothing is left behind


@pytest.mark.parametrize(('arguments', 'error'), [
    ({'own_control': 'true'}, 'has no <ros2_control>'),
    ({}, 'gz_ros2_control is not installed: apt install ros-$ROS_DISTRO-gz-ros2-control'),
])
def test_arguments_that_cannot_be_start_nothing(
    prefix: Path, arguments: Mapping[str, str], error: str
) -> None:
    if not arguments:
        (prefix / 'share/ament_index/resource_index/packages/gz_ros2_control').unlink()
    launched = run(prefix, **arguments)
    assert (launched.code, launched.lines) == (1, [])
    assert error in launched.output
