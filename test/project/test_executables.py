# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Every executable has its help; some run as processes: signals, a closed pipe, bad parameters."""

from importlib import import_module
import os
from pathlib import Path
import re
import subprocess
import sys

import pytest

from rnea_ros.command_line import CLOSED_PIPE
from rnea_ros.interrupts import INTERRUPTED
from support import python_process
from support.fuzz.hostile_files import YAMLS, arm, write_recording
from support.models.robots import ROOT
from support.ros import ros_process
from support.ros.fork_server import run_forked
from support.tools import EXECUTABLES, run

NODES = {
    'feedforward_node': 'feedforward.settings', 'simulated_robot': 'sim.options',
    'effort_watchdog': 'watchdog.silence', 'teleoperation': 'teleoperation.settings',
}
"""Modules with the parameters of nodes."""

INTERRUPTING = """\
import os, signal, time
os.kill(os.getpid(), signal.SIGINT)
time.sleep(1.0)
raise ImportError('as if it was not there')
"""
"""A module whose import is interrupted; extensions in C turn that into another error."""

PANDA = f'{ROOT}/urdf/panda_arm.urdf'


def needs(name: str) -> None:
    if name not in ('preflight', 'check_trajectory', 'excite', 'replay', 'identify', 'export'):
        pytest.importorskip('rclpy', reason=ros_process.NO_ROS)
    if EXECUTABLES[name].startswith('rnea_ros.sim'):
        pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')


def environment(*first: Path) -> dict[str, str]:
    """Return the variables of a process that finds the package, and other modules before it."""
    paths = [*map(str, (*first, ROOT)), *filter(None, [os.environ.get('PYTHONPATH')])]
    return os.environ | {
        'PYTHONPATH': os.pathsep.join(paths), 'ROS_DOMAIN_ID': str(ros_process.new_domain_id()),
        'PYTHONUNBUFFERED': '',
    }


@pytest.mark.parametrize('name', EXECUTABLES)
def test_every_executable_has_help_and_rejects_unknown_options(name: str, tmp_path: Path) -> None:
    needs(name)
    shown = run(f'{name} --help', tmp_path)
    assert (shown.returncode, shown.stderr) == (0, '')
    assert shown.stdout.startswith(f'usage: {name} ')
    assert len(shown.stdout.splitlines()) > 10
    if name in NODES:
        for parameter in import_module(f'rnea_ros.{NODES[name]}').PARAMETERS:
            assert f'\n  {parameter} (' in shown.stdout
    rejected = run(f'{name} --no-such-option', tmp_path)
    assert (rejected.returncode, rejected.stdout) == (2, '')
    assert re.fullmatch(rf'{name}: .*\n', rejected.stderr)


@pytest.mark.ros
@pytest.mark.parametrize(('name', 'parameter', 'value'), [
    ('feedforward_node', 'mode', 'levitation'), ('feedforward_node', 'command_topic', 'a//b'),
    ('feedforward_node', 'base_sensor.topic', 'a//b'), ('feedforward_node', 'no_such', '1.0'),
    ('simulated_robot', 'urdf', ''), ('simulated_robot', 'state_rate', f'2000.0 -p urdf:={PANDA}'),
    ('simulated_robot', 'controller', f'a//b -p urdf:={PANDA}'),
    ('effort_watchdog', 'action', 'pray'), ('effort_watchdog', 'command_topic', 'a//b'),
    ('effort_watchdog', 'controller_manager', 'a//b'),
    ('trajectory_effort', 'resample', '-1.0'), ('trajectory_effort', 'trajectory_topic', 'a//b'),
    ('teleoperation', 'rate', '1e9 -p joints:=[a]'),
    ('teleoperation', 'leader', 'a//b -p joints:=[a]'),
    ('teleoperation', 'dead_man_topic', 'a//b -p joints:=[a]'),
    ('teleoperation', 'leader_description', '<robot -p joints:=[a]'),
])  # fmt: skip
def test_a_node_ends_at_a_bad_parameter(
    name: str, parameter: str, value: str, tmp_path: Path
) -> None:
    needs(name)
    given = ('--ros-args', '-p', *f'{parameter}:={value}'.split())
    ended = run_forked(EXECUTABLES[name], *given, env=environment(), cwd=tmp_path)
    assert ended.returncode == 2, ended.stderr
    reason = {'leader_description': 'URDF', 'controller': 'a//b'}.get(parameter, parameter)
    assert re.fullmatch(rf'\[FATAL\] \[[\d.]+\] \[{name}\]: .*{reason}.*\n', ended.stderr)


@pytest.mark.ros
def test_a_node_runs_until_a_signal_and_exits_with_code_0(domain_id: int) -> None:
    needs('effort_watchdog')
    with ros_process.ros_node(domain_id) as observer, ros_process.RosProcess(
        EXECUTABLES['effort_watchdog'], domain_id=domain_id, program=ros_process.NEW_PYTHON
    ) as process:
        assert ros_process.wait_until(lambda: 'effort_watchdog' in observer.get_node_names())
        process.interrupt()
        assert process.wait() == 0
    assert 'Traceback' not in process.output


def run_anew(
    line: str, folder: Path, *modules: Path, stdout: int = subprocess.DEVNULL
) -> tuple[int, str]:
    """Run a tool as a user does: a Python of its own; return exit code and errors."""
    name, *arguments = line.split()
    ended = subprocess.run(
        [sys.executable, '-m', EXECUTABLES[name], *arguments], cwd=folder, stdout=stdout,
        env=environment(*modules), stderr=subprocess.PIPE, text=True, timeout=120.0, check=False,
    )
    return ended.returncode, ended.stderr


def test_a_process_rejects_with_one_line_and_exit_code_2(tmp_path: Path) -> None:
    ended = run_anew('preflight none.db3 --urdf a.urdf', tmp_path)
    reason = "URDF: cannot read 'a.urdf': No such file or directory"
    assert ended == (2, f'preflight: {reason}\n')


def test_a_tool_ends_quietly_if_the_reader_of_its_output_has_ended(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:  # unbuffered, argparse itself ignores that its help cannot be written
        ended = run_anew('preflight --help', tmp_path, stdout=writer)
    finally:
        os.close(writer)
    assert ended == (CLOSED_PIPE, '')


@pytest.mark.parametrize('module', ['numpy', 'rosbags'], ids=['while it starts', 'in its work'])
def test_an_interrupt_during_imports_ends_a_tool_with_one_line(
    module: str, tmp_path: Path
) -> None:
    (tmp_path / f'{module}.py').write_text(INTERRUPTING)
    (tmp_path / 'text.db3').write_text('not a bag')
    ended = run_anew(f'preflight text.db3 --urdf {PANDA}', tmp_path, tmp_path)
    assert ended == (INTERRUPTED, 'preflight: interrupted\n')


@pytest.mark.ros
def test_a_simulated_robot_without_mujoco_says_what_to_install(tmp_path: Path) -> None:
    needs('simulated_robot')
    (tmp_path / 'mujoco.py').write_text("raise ModuleNotFoundError(name='mujoco')")
    ended = run_anew('simulated_robot', tmp_path, tmp_path)
    assert ended == (2, 'simulated_robot: MuJoCo is missing: pip install mujoco\n')


LINES = (
    ('check_trajectory good.yaml --urdf arm.urdf', 0, ''),
    ('check_trajectory --topic x --urdf arm.urdf', 2, 'live topics need ROS'),
    ('preflight motion --urdf arm.urdf', 0, ''), ('preflight', 2, 'live topics need ROS'),
    ('identify second --urdf arm.urdf', 1, 'identify: '), ('identify', 2, 'live topics need ROS'),
    ('replay ten --urdf arm.urdf', 0, ''),
    ('excite --urdf arm.urdf --publish --yes', 2, '--publish needs ROS'),
    ('teach --urdf arm.urdf --play good.yaml --yes', 2, 'a robot needs ROS'),
)
CODE = f"""
import sys
sys.path.insert(0, {str(ROOT / 'test')!r})
for name in ('rclpy', 'rcl_interfaces', 'sensor_msgs', 'trajectory_msgs'):
    sys.modules[name] = None
from pathlib import Path
from support.tools import run
for line, code, reason in {LINES!r}:
    end = run(line, Path(%r))
    assert end.returncode == code, (line, end)
    assert reason in end.stderr, (line, end)
print('matplotlib' in sys.modules)
"""


def test_tools_that_read_files_need_no_ros(tmp_path: Path) -> None:
    for package in ('rosbags', 'scipy', 'yaml'):
        pytest.importorskip(package, reason=f'{package} is not installed')
    (tmp_path / 'arm.urdf').write_text(arm(), encoding='utf-8')
    (tmp_path / 'good.yaml').write_text(YAMLS['good'], encoding='utf-8')
    for name in ('motion', 'second', 'ten'):
        write_recording(tmp_path, name)
    assert python_process.run(CODE % str(tmp_path)) == 'False\n'
