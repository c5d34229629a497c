# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Every executable: its help, one-line errors for bad arguments, a quiet end on a closed pipe."""

from contextlib import suppress
import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import threading

import pytest

from rnea_ros.command_line import CLOSED_PIPE
from rnea_ros.interrupts import INTERRUPTED
from support.models.robots import ROOT
from support.ros import ros_process
from support.ros.fork_server import run_forked

SETUP = (ROOT / 'setup.py').read_text(encoding='utf-8')
EXECUTABLES: dict[str, str] = dict(re.findall(r"'(\w+)': '(rnea_ros(?:\.\w+)+)'", SETUP))

WITHOUT_ROS = ('preflight', 'check_trajectory', 'excite', 'replay', 'identify', 'teach', 'export')
URDF = f'--urdf {ROOT}/urdf/panda_arm.urdf'
ROS = '--ros-args'
FROM_ROS = ('-r bad', '--foo', '-p rate:', '--params-file none.yaml', '--params-file text.yaml')
"""Arguments that ROS itself rejects."""

FILES = {
    'text.yaml': 'a: [b\n', 'unknown.yaml': '/**:\n  ros__parameters:\n    no_such_parameter: 1\n',
    'broken.urdf': '<robot name="r"><link', 'text.db3': 'not a bag',
}


def set_to(*parameters: str, also: str = '') -> list[str]:
    """Return arguments that set one parameter each, beside what every node rejects."""
    common = (*FROM_ROS, '--params-file unknown.yaml', '-p no_such_parameter:=1.0')
    return [f'{ROS} {arguments}' for arguments in (
        *common, *(f'-p {also}{parameter}' for parameter in parameters)
    )]


REJECTED = {
    'feedforward_node': set_to(
        'rate:=1e9', 'rate:=fast', 'rate:=-1.0', 'mode:=levitation', 'command_topic:=a//b',
        'base_sensor.topic:=a//b', 'wrench_inputs.names:=[a] -p wrench_inputs.a.topic:=a//b',
        'start_tolerance:=near', 'trigger:=clock', 'realtime.priority:=99', 'gravity:=[0.0,0.0]',
    ),
    'simulated_robot': [
        '', f'{ROS} -p urdf:=none.urdf', f'{ROS} -p urdf:=broken.urdf',
        *set_to(
            'state_rate:=fast', 'state_rate:=2000.0', 'lockstep:=true', 'joints:=[fer_joint9]',
            'initial_positions:=[0.0]', 'wrench_link:=nowhere', 'push.link:=nowhere',
            'controller:=a//b', 'effort_scale:=[2.1]',
            'effort_scale:=[1.0,1.0,1.0,1.0,1.0,1.0,0.0]',
            also=f'urdf:={ROOT}/urdf/panda_arm.urdf -p ',
        ),
    ],
    'effort_watchdog': set_to(
        'rate:=1.0', 'action:=pray', 'command_topic:=a//b', 'controller_manager:=a//b',
        'timeout:=0.001', 'timeout:=soon', 'timeout:=.nan', 'timeout:=0.006',
        'ramp_duration:=-1.0',
    ),
    'demo': ['--robot r2d2', '--rate 1', '--urdf none.urdf', '--urdf broken.urdf',
             '--identify --perfect-model', '--teleoperation --identify', '--identify --rate 300',
             '--output text.yaml/a', f'{ROS} -r bad'],
    'play_joint_states': ['', 'none.db3', 'text.db3', 'none.db3 --speed 0',
                          'none.db3 --wait nan', 'none.db3 --urdf broken.urdf'],
    'preflight': [
        'text.db3', f'none.db3 {URDF}', f'text.db3 {URDF}', '--poses 1', '--poses 3',
        '--duration nan', '--effort-scale 0', '--joints a', '--use dance',
        'none.db3 --urdf none.urdf', *(f'{ROS} {arguments}' for arguments in FROM_ROS),
    ],
    'check_trajectory': [
        '', f'none.yaml {URDF}', f'text.yaml {URDF}', f'text.db3 {URDF}',
        'text.yaml --urdf none.urdf', 'text.yaml --urdf broken.urdf',
        *(f'--topic t {URDF} {ROS} {arguments}' for arguments in FROM_ROS),
    ],
    'excite': [
        '', URDF, '--out a.yaml', '--out a.yaml --urdf none.urdf',
        '--out a.yaml --urdf broken.urdf',
        f'--out a.yaml {URDF} --start elbow=1', f'--out a.yaml {URDF} --floor x',
        f'--out a.yaml {URDF} --floor 0.9', f'--publish {URDF}',
        *(f'--publish --yes {URDF} {ROS} {arguments}' for arguments in FROM_ROS),
    ],
    'replay': [
        '', f'none.db3 {URDF}', f'text.db3 {URDF}', 'text.db3 --urdf broken.urdf',
        f'none.db3 {URDF} -p rate:=fast', f'none.db3 {URDF} --params-file text.yaml',
        f'none.db3 {URDF} --params-file unknown.yaml', f'none.db3 {URDF} -p mode:=levitation',
    ],
    'teach': [
        '', '--out a.yaml', '--play none.yaml', f'none.db3 --out a.yaml {URDF}',
        f'text.db3 --out a.yaml {URDF}', 'none.db3 --out a.yaml --urdf broken.urdf',
        f'--play none.yaml --yes {URDF}', f'--play text.yaml --yes {URDF}',
        *(f'--out a.yaml --seconds 1 {URDF} {ROS} {arguments}' for arguments in FROM_ROS),
    ],
    'export': [
        '', URDF, '--out c --urdf broken.urdf', f'--out c {URDF} --prefix my-arm',
        f'--out c {URDF} --frame elbow', f'--out text.yaml {URDF}',
        f'--out c {URDF} --params-file unknown.yaml',
    ],
    'identify': [
        'text.db3', f'none.db3 {URDF}', f'text.db3 {URDF}', 'text.db3 --urdf broken.urdf',
        f'none.db3 {URDF} --links base', f'none.db3 {URDF} --keep-friction text.yaml',
        f'none.db3 {URDF} --write-urdf {ROOT}/urdf/panda_arm.urdf',
        f'none.db3 {URDF} --picture none/a.png', f'none.db3 {URDF} --prior-weight 0',
        *(f'{ROS} {arguments}' for arguments in FROM_ROS),
    ],
    'trajectory_effort': ['file.yaml', *set_to(
        'resample:=1e-9', 'resample:=-1.0', 'resample:=1.0e-5', 'friction.model:=stribeck',
        'trajectory_topic:=a//b', 'robot_description:=<robot',
    )],
    'teleoperation': [
        '', *(f'{ROS} {arguments}' for arguments in FROM_ROS),
        f'{ROS} -p joints:=[a] -p rate:=1e9', f'{ROS} -p joints:=[a] -p leader:=a//b',
        f'{ROS} -p joints:=[a] -p feedback.source:=coupling',
        f'{ROS} -p joints:=[a] -p leader_description:=<robot',
    ],
    'activate_controller': [
        '', 'a b', 'effort_controller --timeout 0', 'effort_controller --node a//b',
        *(f'effort_controller {ROS} {arguments}' for arguments in FROM_ROS),
    ],
}  # fmt: skip

NODES = {
    'feedforward_node': ('feedforward', ''),
    'simulated_robot': ('simulated_robot', f'{ROS} -p urdf:={ROOT}/urdf/panda_arm.urdf'),
    'effort_watchdog': ('effort_watchdog', ''), 'trajectory_effort': ('trajectory_effort', ''),
    'teleoperation': ('teleoperation', f'{ROS} -p joints:=[a]'),
}
"""Executables that run until a signal: the name of the node, and arguments that let it run."""

TOOLS = tuple(name for name, module in EXECUTABLES.items() if '.tools.' in module)

INTERRUPTING = """\
import os, signal, time
os.kill(os.getpid(), signal.SIGINT)
time.sleep(1.0)
raise ImportError('as if it was not there')
"""
"""A module whose import is interrupted; extensions in C turn that into another error."""

Ended = subprocess.CompletedProcess[str]


def needs_ros(name: str, *values: object) -> object:
    return pytest.param(name, *values, marks=[] if name in WITHOUT_ROS else [pytest.mark.ros])


@pytest.fixture(scope='module')
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp('files')
    for name, text in FILES.items():
        (directory / name).write_text(text, encoding='utf-8')
    return directory


def module_of(name: str, arguments: str = '') -> str:
    """Return the module of an executable; skip the test where what it imports is missing."""
    if name not in WITHOUT_ROS or ROS in arguments:
        pytest.importorskip('rclpy', reason=ros_process.NO_ROS)
    if EXECUTABLES[name].startswith('rnea_ros.sim'):
        pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')
    return str(EXECUTABLES[name])


def run(name: str, arguments: str, directory: Path) -> Ended:
    """Run an executable as a fork of a process that has imported the package."""
    return run_forked(
        module_of(name, arguments), *arguments.split(), env=environment(), cwd=directory
    )


def run_anew(name: str, arguments: str, directory: Path, *modules: Path) -> Ended:
    """Run an executable as a user does: a Python of its own, with other modules before all."""
    variables = environment()
    variables['PYTHONPATH'] = os.pathsep.join([*map(str, modules), variables['PYTHONPATH']])
    return subprocess.run(
        [sys.executable, '-m', module_of(name), *arguments.split()], cwd=directory, env=variables,
        capture_output=True, text=True, timeout=120.0, check=False,
    )


def environment() -> dict[str, str]:
    """Return the variables of a process that finds the package in any folder."""
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get('PYTHONPATH')])])
    return os.environ | {'PYTHONPATH': paths, 'ROS_DOMAIN_ID': str(ros_process.new_domain_id())}


def why_not_interrupted(name: str, ended: Ended) -> str:
    """Return what is wrong with the end after Ctrl-C: one line, the exit code of a shell."""
    if ended.returncode == INTERRUPTED and ended.stderr == f'{name}: interrupted\n':
        return ''
    return f'exit code {ended.returncode}, {ended.stderr!r}'


def why_not_rejected(name: str, ended: Ended) -> str:
    """Return what is wrong with a rejection: one line with the name, exit code 2, nothing else."""
    line = rf'(\[FATAL\] \[[\d.]+\] \[{name}\]|{name}): \S.*\n'
    if ended.returncode == 2 and not ended.stdout and re.fullmatch(line, ended.stderr):
        return ''
    return f'exit code {ended.returncode}, {ended.stdout!r}, {ended.stderr!r}'


@pytest.mark.parametrize('name', [needs_ros(name) for name in EXECUTABLES])
def test_every_executable_rejects_unknown_arguments(name: str, directory: Path) -> None:
    assert why_not_rejected(name, run_anew(name, '--no-such-option', directory)) == ''


@pytest.mark.ros
@pytest.mark.parametrize('name', NODES)
def test_every_node_runs_until_a_signal_and_exits_with_code_0(name: str) -> None:
    module = module_of(name, ROS)
    domain_id = ros_process.new_domain_id()
    node, arguments = NODES[name]
    with (
        ros_process.ros_node(domain_id) as observer,
        ros_process.RosProcess(
            module, *arguments.split(), domain_id=domain_id, program=ros_process.NEW_PYTHON
        ) as process,
    ):
        assert ros_process.wait_until(lambda: node in observer.get_node_names())
        for number in (signal.SIGUSR1, signal.SIGALRM, signal.SIGRTMIN):
            process.send(number)
        ended = threading.Event()
        sender = threading.Thread(target=_interrupt_until, args=(process, ended))
        sender.start()
        try:
            assert process.wait() == 0
        finally:
            ended.set()
            sender.join()


def _interrupt_until(process: ros_process.RosProcess, ended: threading.Event) -> None:
    """Send SIGINT a hundred times a second, also while Python ends."""
    with suppress(ProcessLookupError):
        while not ended.wait(0.01):
            process.send(signal.SIGINT)


@pytest.mark.parametrize('name', [needs_ros(name) for name in EXECUTABLES])
def test_help_says_what_an_executable_is_and_what_it_takes(name: str, directory: Path) -> None:
    ended = run(name, '--help', directory)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ''
    assert ended.stdout.startswith(f'usage: {name} ')
    assert len(ended.stdout.splitlines()) > 10


@pytest.mark.parametrize('name', ['check_trajectory', 'demo'])
def test_a_tool_ends_quietly_if_the_reader_of_its_output_has_ended(name: str) -> None:
    if name not in WITHOUT_ROS:
        pytest.importorskip('rclpy', reason=ros_process.NO_ROS)
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ended = subprocess.run(
            [sys.executable, '-m', EXECUTABLES[name], '--help'],
            # Unbuffered, argparse itself ignores that its help cannot be written.
            env=environment() | {'PYTHONUNBUFFERED': ''},
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120.0,
            check=False,
        )
    finally:
        os.close(writer)
    assert ended.stderr == ''
    assert ended.returncode == CLOSED_PIPE


@pytest.mark.parametrize('name', [needs_ros(name) for name in TOOLS])
def test_an_interrupt_during_imports_ends_a_tool_with_one_line(name: str, tmp_path: Path) -> None:
    (tmp_path / 'numpy.py').write_text(INTERRUPTING)
    for module in ('rclpy', 'urdf_parser_py'):
        (tmp_path / f'{module}.py').write_text(INTERRUPTING)
    assert why_not_interrupted(name, run_anew(name, '', tmp_path, tmp_path)) == ''


@pytest.mark.parametrize(('name', 'module', 'arguments'), [
    ('preflight', 'rosbags', f'text.db3 {URDF}'), ('replay', 'rosbags', f'text.db3 {URDF}'),
    ('check_trajectory', 'yaml', f'text.yaml {URDF}'),
    ('identify', 'scipy', f'text.db3 {URDF}'), ('excite', 'scipy', f'--out a.yaml {URDF}'),
])
def test_an_interrupt_of_the_work_ends_a_tool_with_one_line(
    name: str, module: str, arguments: str, directory: Path, tmp_path: Path
) -> None:
    (tmp_path / f'{module}.py').write_text(INTERRUPTING)
    ended = run_anew(name, arguments, directory, tmp_path)
    assert why_not_interrupted(name, ended) == ''


@pytest.mark.ros
def test_a_simulated_robot_without_mujoco_says_what_to_install(tmp_path: Path) -> None:
    pytest.importorskip('rclpy', reason=ros_process.NO_ROS)
    (tmp_path / 'mujoco.py').write_text("raise ModuleNotFoundError(name='mujoco')")
    ended = run_anew('simulated_robot', '', tmp_path, tmp_path)
    assert ended.returncode == 2
    assert ended.stderr == 'simulated_robot: MuJoCo is missing: pip install mujoco\n'


@pytest.mark.parametrize('for_ros', [False, True], ids=['own', 'ros'])
@pytest.mark.parametrize('name', [needs_ros(name) for name in EXECUTABLES])
def test_bad_input_is_one_line_and_exit_code_2(name: str, for_ros: bool, directory: Path) -> None:
    rejected = [each for each in ('--no-such-option', *REJECTED[name]) if (ROS in each) == for_ros]
    wrong = {
        arguments: why
        for arguments in rejected
        if (why := why_not_rejected(name, run(name, arguments, directory)))
    }
    assert not wrong


@pytest.mark.ros
@pytest.mark.parametrize(('name', 'table'), [
    ('feedforward_node', 'rnea_ros.node.parameters.table.PARAMETERS'),
    ('simulated_robot', 'rnea_ros.sim.options.PARAMETERS'),
    ('effort_watchdog', 'rnea_ros.watchdog.parameters.PARAMETERS'),
    ('teleoperation', 'rnea_ros.teleoperation.settings.PARAMETERS'),
])
def test_the_help_of_a_node_has_all_its_parameters(name: str, table: str, directory: Path) -> None:
    pytest.importorskip('rclpy', reason=ros_process.NO_ROS)
    module, _, variable = table.rpartition('.')
    text = run(name, '--help', directory).stdout
    for parameter in getattr(__import__(module, fromlist=[variable]), variable):
        assert f'\n  {parameter} (' in text
