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
from support.models.robots import ROOT
from support.ros import ros_process
from support.ros.fork_server import run_forked
from support.tools import EXECUTABLES, run

NODES = {
    'feedforward_node': 'rnea_ros.node.parameters.table',
    'simulated_robot': 'rnea_ros.sim.options',
    'effort_watchdog': 'rnea_ros.watchdog.parameters',
    'teleoperation': 'rnea_ros.teleoperation.settings',
}
"""Modules with the parameters of nodes."""

INTERRUPTING = """\
import os, signal, time
os.kill(os.getpid(), signal.SIGINT)
time.sleep(1.0)
raise ImportError('as if it was not there')
"""
"""A module whose import is interrupted; extensions in C turn that into another error."""


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
        for parameter in import_module(NODES[name]).PARAMETERS:
            assert f'\n  {parameter} (' in shown.stdout
    rejected = run(f'{name} --no-such-option', tmp_path)
    assert (rejected.returncode, rejected.stdout) == (2, '')
    assert re.fullmatch(rf'{name}: .*\n', rejected.stderr)


@pytest.mark.ros
@pytest.mark.parametrize(('name', 'arguments', 'reason'), [
    ('feedforward_node', 'mode:=levitation', 'mode'),
    ('feedforward_node', 'command_topic:=a//b', 'command_topic'),
    ('feedforward_node', 'base_sensor.topic:=a//b', 'base_sensor.topic'),
    ('feedforward_node', 'no_such_parameter:=1.0', 'no_such_parameter'),
    ('simulated_robot', 'state_rate:=500.0', 'urdf'),
    ('simulated_robot', f'urdf:={ROOT}/urdf/panda_arm.urdf -p state_rate:=2000.0', 'state_rate'),
    ('simulated_robot', f'urdf:={ROOT}/urdf/panda_arm.urdf -p controller:=a//b', 'a//b'),
    ('effort_watchdog', 'action:=pray', 'action'),
    ('effort_watchdog', 'command_topic:=a//b', 'command_topic'),
    ('effort_watchdog', 'controller_manager:=a//b', 'controller_manager'),
    ('trajectory_effort', 'resample:=-1.0', 'resample'),
    ('trajectory_effort', 'trajectory_topic:=a//b', 'trajectory_topic'),
    ('teleoperation', 'joints:=[a] -p rate:=1e9', 'rate'),
    ('teleoperation', 'joints:=[a] -p leader:=a//b', 'leader'),
    ('teleoperation', 'joints:=[a] -p dead_man_topic:=a//b', 'dead_man_topic'),
    ('teleoperation', 'joints:=[a] -p leader_description:=<robot', 'URDF'),
])  # fmt: skip
def test_a_node_ends_at_a_bad_parameter(
    name: str, arguments: str, reason: str, tmp_path: Path
) -> None:
    needs(name)
    ended = run_forked(
        EXECUTABLES[name], '--ros-args', '-p', *arguments.split(), env=environment(), cwd=tmp_path
    )
    assert ended.returncode == 2, ended.stderr
    assert re.fullmatch(rf'\[FATAL\] \[[\d.]+\] \[{name}\]: .*{reason}.*\n', ended.stderr)


@pytest.mark.ros
def test_a_node_runs_until_a_signal_and_exits_with_code_0(domain_id: int) -> None:
    needs('effort_watchdog')
    with (
        ros_process.ros_node(domain_id) as observer,
        ros_process.RosProcess(
            EXECUTABLES['effort_watchdog'], domain_id=domain_id, program=ros_process.NEW_PYTHON
        ) as process,
    ):
        assert ros_process.wait_until(lambda: 'effort_watchdog' in observer.get_node_names())
        process.interrupt()
        assert process.wait() == 0
    assert 'Traceback' not in process.output


def run_anew(arguments: list[str], folder: Path, *modules: Path) -> tuple[int, str]:
    """Run a tool as a user does: a Python of its own; return exit code and errors."""
    ended = subprocess.run(
        [sys.executable, '-m', *arguments], cwd=folder, env=environment(*modules),
        capture_output=True, text=True, timeout=120.0, check=False,
    )
    return ended.returncode, ended.stderr


def test_a_process_rejects_with_one_line_and_exit_code_2(tmp_path: Path) -> None:
    code, line = run_anew([EXECUTABLES['preflight'], 'none.db3', '--urdf', 'a.urdf'], tmp_path)
    assert code == 2
    assert re.fullmatch(r'preflight: none\.db3 does not exist\n', line)


def test_a_tool_ends_quietly_if_the_reader_of_its_output_has_ended() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:  # unbuffered, argparse itself ignores that its help cannot be written
        ended = subprocess.run(
            [sys.executable, '-m', EXECUTABLES['preflight'], '--help'], env=environment(),
            stdout=writer, stderr=subprocess.PIPE, text=True, timeout=120.0, check=False,
        )
    finally:
        os.close(writer)
    assert (ended.returncode, ended.stderr) == (CLOSED_PIPE, '')


@pytest.mark.parametrize('module', ['numpy', 'rosbags'], ids=['while it starts', 'in its work'])
def test_an_interrupt_during_imports_ends_a_tool_with_one_line(
    module: str, tmp_path: Path
) -> None:
    (tmp_path / f'{module}.py').write_text(INTERRUPTING)
    (tmp_path / 'text.db3').write_text('not a bag')
    urdf = str(ROOT / 'urdf/panda_arm.urdf')
    arguments = [EXECUTABLES['preflight'], 'text.db3', '--urdf', urdf]
    ended = run_anew(arguments, tmp_path, tmp_path)
    assert ended == (INTERRUPTED, 'preflight: interrupted\n')


@pytest.mark.ros
def test_a_simulated_robot_without_mujoco_says_what_to_install(tmp_path: Path) -> None:
    needs('simulated_robot')
    (tmp_path / 'mujoco.py').write_text("raise ModuleNotFoundError(name='mujoco')")
    ended = run_anew([EXECUTABLES['simulated_robot']], tmp_path, tmp_path)
    assert ended == (2, 'simulated_robot: MuJoCo is missing: pip install mujoco\n')
