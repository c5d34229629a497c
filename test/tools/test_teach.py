# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``teach``: a robot is guided, taught and moved, its mode restored."""

from functools import partial
import os
from pathlib import Path
import pty
import signal
from subprocess import CompletedProcess
import termios
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.identification.excitation import RestToRestMotion, motion_of
from rnea_ros.tools.teach import main
from rnea_ros.tools.trajectory_sources import read_trajectory
from support.models.robots import ROOT
from support.ros import ros_process
from support.ros.following_robot import ARM, JOINTS, POSE, FollowingRobot
from support.ros.virtual_live import VirtualLive, replace_live_node
from support.tools import finished

pytest.importorskip('scipy', reason='scipy is not installed')
pytest.importorskip('yaml', reason='PyYAML is not installed')

TOPIC = 'feedforward/joint_trajectory'
PATIENT_TOOL = 'support.ros.patient_tool'
MODEL = RobotModel.from_urdf(ARM)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file for a motion; beside it is the URDF."""
    (tmp_path / 'arm.urdf').write_text(ARM, encoding='utf-8')
    return tmp_path / 'motion.yaml'


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> VirtualLive:
    monkeypatch.setattr('sys.stdin.isatty', lambda: True, raising=False)
    return replace_live_node(monkeypatch, modes={'feedforward': 'computed_torque'})


@pytest.fixture
def robot(live: VirtualLive) -> FollowingRobot:
    return FollowingRobot(live, TOPIC, lambda: live.now)


def teach(file: Path, *arguments: str | Path) -> CompletedProcess[str]:
    return finished(main, '--urdf', file.with_name('arm.urdf'), '--omit', 'grip', *arguments)


def written(file: Path) -> RestToRestMotion:
    motion = motion_of(MODEL, read_trajectory(file, None, 0), np.zeros(3))
    return motion.of_joints(JOINTS)


def test_a_guided_motion_is_written(file: Path, live: VirtualLive, robot: FollowingRobot) -> None:
    image = file.with_suffix('.png')
    modes: list[str] = []
    live.on_mode = modes.append
    live.at(1.0, lambda: robot.guide((0.8, 0.2), (0.1, -0.1), seconds=1.3))
    ended = teach(file, '--seconds', '6', '--out', file, '--picture', image)
    assert ended.returncode == 0
    assert modes == ['gravity', 'computed_torque']
    for part in ('fine: within all known limits', 'at most 10 mrad', 'computed_torque again'):
        assert part in ended.stdout
    assert image.read_bytes().startswith(b'\x89PNG')
    motion = written(file)
    np.testing.assert_allclose(motion.positions[[0, -1]], (POSE, (0.1, -0.1)), atol=0.01)
    np.testing.assert_allclose(np.abs(motion.positions).max(axis=0), (0.8, 0.4), atol=0.02)


POINT = (
    '- {{positions: {0}, velocities: {1}, accelerations: {1}, '
    'time_from_start: {{sec: {2}}}}}\n'
)


def test_a_motion_is_played_repeatedly_but_not_in_a_mode_that_follows_none(
    file: Path, live: VirtualLive, robot: FollowingRobot
) -> None:
    way = ([*POSE], [1.0, 0.5], [0.7, 0.9])
    points = ''.join(POINT.format(pose, [0, 0], 2 * k) for k, pose in enumerate(way))
    file.write_text(f'joint_names: [shoulder, elbow]\npoints:\n{points}')
    robot.position = np.array((0.5, 0.5))
    play = ('--play', file, '--yes')
    assert teach(file, *play, '--repeat', '2', '--speed', '0.5').returncode == 0
    (sent,) = robot.trajectories
    positions = np.array([point.positions for point in sent.points])
    for number, pose in zip((0, 1, 2, 3, -3, -2, -1), ((0.5, 0.5), *way, *way), strict=True):
        np.testing.assert_allclose(positions[number], pose, atol=1e-9)
    stamps = [point.time_from_start for point in sent.points]
    times = [stamp.sec + 1e-9 * stamp.nanosec for stamp in stamps]
    assert np.diff(times[1:4]) == pytest.approx([4.0, 4.0])
    assert robot.is_at(way[-1])
    live.modes['feedforward'] = 'gravity'
    refused = teach(file, *play)
    assert refused.returncode == 2
    assert 'feedforward is in mode gravity, which follows no motion' in refused.stderr
    assert len(robot.trajectories) == 1


def test_waypoints_are_kept_by_keys(file: Path, live: VirtualLive, robot: FollowingRobot) -> None:
    poses = (POSE, (0.5, 0.1), (0.5, 0.1), (0.0, 0.0))
    for number, pose in enumerate(poses):
        live.at(1.0 + 2.0 * number, partial(robot.guide, pose, seconds=0.3))
        live.at(2.0 + 2.0 * number, partial(live.keys.extend, 'x\n'))
    live.at(9.0, partial(live.keys.append, 'q'))
    ended = teach(file, '--waypoints', '--out', file, '--speed', '0.5')
    assert 'pose 4 is kept\n' in ended.stdout
    np.testing.assert_allclose(written(file).positions, (POSE, (0.5, 0.1), (0, 0)), atol=1e-6)


@pytest.mark.parametrize(('first', 'code'), [('x ', 0), ('q', 2)])
def test_the_space_bar_starts_and_ends_a_recording(
    file: Path, live: VirtualLive, robot: FollowingRobot, first: str, code: int
) -> None:
    live.at(0.5, lambda: robot.guide((1.0, 1.0), POSE, seconds=0.3))  # not recorded
    live.at(2.0, lambda: live.keys.extend(first))
    live.at(3.0, lambda: robot.guide((0.5, 0.1), seconds=1.0))
    live.at(5.5, lambda: live.keys.append(' '))
    ended = teach(file, '--out', file)
    assert ended.returncode == code
    assert live.modes['feedforward'] == 'computed_torque'
    if code:
        assert 'teach: nothing was recorded' in ended.stderr
        return
    assert live.now == pytest.approx(105.5, abs=0.02)
    np.testing.assert_allclose(written(file).positions[[0, -1]], (POSE, (0.5, 0.1)), atol=0.01)


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGHUP])
def test_a_signal_restores_the_mode_and_writes_nothing(
    file: Path, live: VirtualLive, robot: FollowingRobot, number: signal.Signals
) -> None:
    def again(mode: str) -> None:
        if mode != 'gravity':
            signal.raise_signal(signal.SIGINT)  # ignored while the mode is restored

    def handlers() -> list[Any]:
        return [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]

    live.on_mode = again
    live.at(2.0, lambda: signal.raise_signal(number))
    before = handlers()
    ended = teach(file, '--seconds', '60', '--out', file)
    assert (ended.returncode, ended.stderr) == (2, 'teach: interrupted\n')
    assert live.modes['feedforward'] == 'computed_torque'
    assert not file.exists()
    assert handlers() == before


@pytest.mark.ros
def test_a_terminal_and_a_robot_over_dds(
    file: Path, domain_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip('rclpy', reason=ros_process.NO_ROS)
    from std_msgs.msg import String

    from rnea_ros.ros import LATCHED

    monkeypatch.setenv('PYTHONPATH', f'{ROOT / "test"}:{os.environ.get("PYTHONPATH", "")}')
    keyboard, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)
    with ros_process.ros_node(domain_id, name='feedforward') as node:
        node.declare_parameter('mode', 'computed_torque')
        node.create_publisher(String, 'robot_description', LATCHED).publish(String(data=ARM))
        robot = FollowingRobot(node, TOPIC)
        with ros_process.RosProcess(
            PATIENT_TOOL, 'teach', '--waypoints', '--out', str(file), '--omit', 'grip',
            domain_id=domain_id, program=ros_process.NEW_PYTHON, stdin=terminal,
        ) as teaching:
            teaching.wait_for('Enter keeps a pose')
            assert node.get_parameter('mode').value == 'gravity'
            for number, pose in enumerate((POSE, (0.5, 0.1)), start=1):
                robot.guide(pose, seconds=0.3)
                assert ros_process.wait_until(partial(robot.is_at, pose))
                os.write(keyboard, b'x\n')
                teaching.wait_for(f'pose {number} is kept')
            os.write(keyboard, b'q')
            assert teaching.wait(60.0) == 0, teaching.output
        assert node.get_parameter('mode').value == 'computed_torque'
        with ros_process.RosProcess(
            PATIENT_TOOL, 'teach', '--play', str(file), '--yes', domain_id=domain_id,
        ) as playing:
            assert playing.wait(60.0) == 0, playing.output
    assert termios.tcgetattr(terminal) == before
    np.testing.assert_allclose(written(file).positions, (POSE, (0.5, 0.1)), atol=1e-6)
    (sent,) = robot.trajectories
    np.testing.assert_allclose(sent.points[-1].positions, (0.5, 0.1), atol=1e-6)
