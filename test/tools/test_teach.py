# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The command: a robot is guided, taught and moved, its mode restored whatever happens."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
import os
from pathlib import Path
import pty
import signal
import termios
import time
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.identification.excitation import RestToRestMotion, motion_of
from rnea_ros.tools.teach import main
from rnea_ros.tools.trajectory_sources import read_trajectory
from support.ros import ros_process
from support.ros.following_robot import ARM, JOINTS, POSE, FollowingRobot
from support.tools import rejection

MODEL = RobotModel.from_urdf(ARM)
Teaching = tuple[FollowingRobot, ros_process.RosProcess, Any]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file for a motion; beside it is the URDF."""
    (tmp_path / 'arm.urdf').write_text(ARM, encoding='utf-8')
    return tmp_path / 'motion.yaml'


def written(file: Path) -> RestToRestMotion:
    motion = motion_of(MODEL, read_trajectory(file, None, 0), np.zeros(3))
    return motion.of_joints(JOINTS)


@contextmanager
def started(
    file: Path, *arguments: str, mode: str = 'computed_torque', terminal: int | None = None,
    pace: float = 0.0,
) -> Iterator[Teaching]:
    """Give a robot with its feedforward node, and a process of the tool."""
    pytest.importorskip('rclpy', reason=ros_process.NO_ROS)
    pytest.importorskip('scipy', reason='scipy is not installed')
    pytest.importorskip('yaml', reason='PyYAML is not installed')
    domain_id = ros_process.new_domain_id()
    with ros_process.ros_node(domain_id, name='feedforward') as node:
        node.declare_parameter('mode', mode)
        robot = FollowingRobot(node, 'feedforward/joint_trajectory', pace)
        with ros_process.RosProcess(
            'rnea_ros.tools.teach', '--urdf', str(file.with_name('arm.urdf')), *arguments,
            '--omit', 'grip', domain_id=domain_id, program=ros_process.NEW_PYTHON, stdin=terminal,
        ) as process:
            yield robot, process, lambda: node.get_parameter('mode').value


@pytest.mark.ros
def test_a_guided_motion_is_written_and_played(file: Path) -> None:
    image = file.with_suffix('.png')
    arguments = ('--seconds', '6', '--out', str(file), '--picture', str(image))
    with started(file, *arguments) as (robot, teaching, mode):
        teaching.wait_for('guide the robot')
        assert mode() == 'gravity'
        robot.guide((0.8, 0.2), (0.1, -0.1), seconds=1.3)
        assert teaching.wait(60.0) == 0, teaching.output
        assert mode() == 'computed_torque'
    for text in ('fine: within all known limits', 'at most 10 mrad', 'computed_torque again'):
        assert text in teaching.output
    assert image.read_bytes().startswith(b'\x89PNG')
    motion = written(file)
    np.testing.assert_allclose(motion.positions[0], POSE, atol=0.01)
    np.testing.assert_allclose(motion.positions[-1], (0.1, -0.1), atol=0.01)
    np.testing.assert_allclose(np.abs(motion.positions).max(axis=0), (0.8, 0.4), atol=0.02)

    more = ('--repeat', '2', '--yes', '--speed', '0.5')
    with started(file, '--play', str(file), *more, pace=4.0) as (robot, playing, mode):
        robot.position = np.array((0.5, 0.5))
        assert playing.wait(90.0) == 0, playing.output
    (sent,) = robot.trajectories
    sent_positions = np.array([point.positions for point in sent.points])
    count = len(motion.positions)
    np.testing.assert_allclose(sent_positions[0], (0.5, 0.5))
    np.testing.assert_allclose(sent_positions[1 : count + 1], motion.positions, atol=1e-9)
    np.testing.assert_allclose(sent_positions[-count:], motion.positions, atol=1e-9)
    assert sent.points[-1].time_from_start.sec >= int(2 * 2 * motion.duration)
    np.testing.assert_allclose(robot.position, motion.positions[-1], atol=1e-6)


@pytest.mark.ros
def test_waypoints_are_kept_by_keys_and_the_terminal_is_restored(file: Path) -> None:
    keyboard, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)
    arguments = ('--waypoints', '--out', str(file), '--speed', '0.5')
    with started(file, *arguments, terminal=terminal) as (robot, teaching, mode):
        teaching.wait_for('Enter keeps a pose')
        for number, pose in enumerate((POSE, (0.5, 0.1), (0.5, 0.1), (0.0, 0.0)), start=1):
            robot.guide(pose, seconds=0.3)
            assert ros_process.wait_until(partial(robot.is_at, pose))
            os.write(keyboard, b'x\n')
            teaching.wait_for(f'pose {number} is kept')
        assert mode() == 'gravity'
        os.write(keyboard, b'q')
        assert teaching.wait(60.0) == 0, teaching.output
        assert mode() == 'computed_torque'
    assert termios.tcgetattr(terminal) == before
    np.testing.assert_allclose(written(file).positions, (POSE, (0.5, 0.1), (0, 0)), atol=1e-6)


@pytest.mark.ros
@pytest.mark.parametrize(('first', 'code'), [(b'x ', 0), (b'q', 2)])
def test_the_space_bar_starts_and_ends_a_recording(file: Path, first: bytes, code: int) -> None:
    keyboard, terminal = pty.openpty()
    with started(file, '--out', str(file), terminal=terminal) as (robot, teaching, mode):
        teaching.wait_for('the space bar starts')
        for pose in ((1.0, 1.0), POSE):  # not recorded
            robot.guide(pose, seconds=0.3)
            assert ros_process.wait_until(partial(robot.is_at, pose))
        os.write(keyboard, first)
        if code == 0:
            teaching.wait_for('the space bar ends')
            robot.guide((0.5, 0.1), seconds=1.0)
            assert ros_process.wait_until(partial(robot.is_at, (0.5, 0.1)))
            time.sleep(1.0)  # at rest, while the last joint states may queue
            os.write(keyboard, b' ')
        assert teaching.wait(60.0) == code, teaching.output
        assert mode() == 'computed_torque'
    if code:
        assert 'teach: nothing was recorded' in teaching.output
        return
    np.testing.assert_allclose(written(file).positions[[0, -1]], (POSE, (0.5, 0.1)), atol=0.01)


@pytest.mark.ros
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_restores_the_mode_and_writes_nothing(file: Path, number: signal.Signals) -> None:
    arguments = ('--seconds', '60', '--out', str(file))
    with started(file, *arguments, mode='feedback') as (_, teaching, mode):
        teaching.wait_for('guide the robot')
        assert mode() == 'gravity'
        teaching.send(number)
        assert teaching.wait() == 2
        assert mode() == 'feedback'
    assert teaching.output.endswith('teach: interrupted\n')
    assert not file.exists()


@pytest.mark.ros
def test_a_motion_ends_in_the_robots_time_or_is_refused(file: Path) -> None:
    rest = [0.0, 0.0]
    point = (
        '- {{positions: {}, velocities: {}, accelerations: {}, time_from_start: {{sec: {}}}}}\n'
    )
    file.write_text(
        'joint_names: [shoulder, elbow]\npoints:\n'
        + point.format([*POSE], rest, rest, 0) + point.format([1.0, 1.0], rest, rest, 2)
    )
    with started(file, '--play', str(file), '--yes', pace=0.5) as (robot, playing, _):
        assert playing.wait(60.0) == 0
        assert robot.position.tolist() == [1.0, 1.0]  # its time is slower than the clock
    with started(file, '--play', str(file), '--yes', mode='gravity') as (_, playing, _):
        assert playing.wait(60.0) == 2
        assert 'feedforward is in mode gravity, which follows no motion' in playing.output


@pytest.mark.parametrize(('arguments', 'reason'), [
    ('', 'give --out to teach a motion, or --play'),
    ('--out a.yaml --play b.yaml', 'give --out to teach a motion, or --play'),
    ('--out a.yaml', 'there is no terminal for keys; see --seconds'),
    ('--out a.yaml --waypoints', 'there is no terminal for keys'),
    ('--out a.yaml --waypoints --seconds 1', '--waypoints takes no --seconds'),
    ('--out a.yaml --seconds 0', '0 is not positive'),
    ('--out a.yaml --seconds 1 --repeat 2', 'need --play'),
    ('--out a.yaml --seconds 1 --velocity-limits x', "--velocity-limits: 'x' is not a number"),
    ('--play a.yaml', 'there is no terminal; see --yes'),
    ('--play a.yaml --yes --seconds 1', '--play takes no BAG, --seconds'),
    ('--play a.yaml --yes --repeat 0', '--repeat 0 is not above 0'),
    ('--play a.yaml --yes --speed 2', '2 is above 1'),
    ('bag --out a.yaml', 'BAG needs --urdf'), ('none --urdf {urdf} --out a.yaml', 'none'),
])
def test_unusable_input_is_rejected_in_one_line(file: Path, arguments: str, reason: str) -> None:
    pytest.importorskip('scipy', reason='scipy is not installed')
    given = arguments.format(urdf=file.with_name('arm.urdf'))
    assert reason in rejection(main, *given.split())
