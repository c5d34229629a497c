# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The command: a file that check_trajectory accepts, rejections, a robot that is moved."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
import signal
import sys

import numpy as np
import pytest

from rnea_ros.recordings import read_joint_states
from rnea_ros.tools import check_trajectory
from rnea_ros.tools.excite import main
from rnea_ros.tools.trajectory_sources import read_trajectory
from support.ros.following_robot import ARM, JOINTS, POSE, FollowingRobot
from support.ros.ros_process import NO_ROS, RosProcess, new_domain_id, ros_node, wait_until
from support.tools import Printed, rejection

QUICK = ('--seconds', '0.1', '--omit', 'grip')


@pytest.fixture
def urdf(tmp_path: Path) -> Path:
    path = tmp_path / 'arm.urdf'
    path.write_text(ARM, encoding='utf-8')
    return path


def test_check_trajectory_accepts_the_file(urdf: Path, tmp_path: Path, capsys: Printed) -> None:
    pytest.importorskip('yaml', reason='PyYAML is not installed')
    out = tmp_path / 'excite.yaml'
    arguments = ['--urdf', urdf, '--out', out, '--floor', '-0.6']
    limits = ['--velocity-limits', '1.5', 'elbow=1', '--effort-limits', '30']
    assert main([*map(str, arguments), *limits, *QUICK, '--start', 'shoulder=-0.5']) == 0
    text = capsys.readouterr().out
    assert 'condition of the base regressor' in text
    assert text.startswith('collisions are not checked: the URDF has no collision shapes\n')
    assert 'no collision in' not in text
    assert 'still: grip' in text
    for file in (out, tmp_path / 'excite_validate.yaml'):
        assert check_trajectory.main([str(file), '--urdf', str(urdf), *limits]) == 0
    assert 'joint_names: ["shoulder", "elbow"]' in out.read_text(encoding='utf-8')


def test_a_slow_trajectory_takes_longer(urdf: Path, tmp_path: Path) -> None:
    out = tmp_path / 'excite.yaml'
    assert main(['--urdf', str(urdf), '--out', str(out), '--speed', '0.25', *QUICK]) == 0
    assert out.read_text(encoding='utf-8').endswith('time_from_start: {sec: 40, nanosec: 0}\n')


@pytest.mark.parametrize(('arguments', 'reason'), [
    ('', '--out'), ('--out a.yaml --yes', '--motion, --record and --yes need --publish'),
    ('--motion a.yaml', '--motion, --record and --yes need --publish'),
    ('--motion a.yaml --publish --start elbow=0', '--motion takes no --start'),
    ('--out a.yaml --floor 0 --box -1 1 -1 1 -1 1', 'not both'),
    ('--out a.yaml --keep-inside lower', 'needs --floor or --box'),
    ('--out a.yaml --start 3', '--start: 3 is not JOINT=POSITION'),
    ('--out a.yaml --speed 1.5', '1.5 is above 1'),
    ('--out a.yaml --omit thumb', "unknown joint 'thumb'"),
    ('--out a.yaml --box 0 1 0 1 x 1', "--box: 'x' is not a number"),
    ('--out a.yaml --floor 0.5', 'link lower: its origin is at z = 0 m at the start pose'),
    ('--out none/a.yaml --seconds 0.1', 'none/a.yaml cannot be written'),
    ('--publish', 'there is no terminal; see --yes'),
])
def test_unusable_input_is_rejected_in_one_line(urdf: Path, arguments: str, reason: str) -> None:
    assert reason in rejection(main, '--urdf', urdf, *arguments.split())


def test_a_missing_package_is_named_in_one_line(
    urdf: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, 'scipy', None)
    assert main(['--urdf', str(urdf), '--out', 'a.yaml']) == 2
    assert capsys.readouterr().err == 'excite: scipy is needed: pip install scipy\n'


@contextmanager
def excited_robot(urdf: Path, *arguments: str) -> Iterator[tuple[FollowingRobot, RosProcess]]:
    """Give a robot, and a process that excites it."""
    pytest.importorskip('rclpy', reason=NO_ROS)
    pytest.importorskip('rosbags', reason='rosbags is not installed')
    domain_id = new_domain_id()
    with ros_node(domain_id) as node:
        moved = FollowingRobot(node)
        with RosProcess(
            'rnea_ros.tools.excite', '--urdf', str(urdf), '--publish', 'arm/joint_trajectory',
            '--yes', *arguments, domain_id=domain_id,
        ) as process:
            yield moved, process


@pytest.mark.ros
def test_a_robot_follows_a_file_from_its_pose_and_is_recorded(urdf: Path, tmp_path: Path) -> None:
    pytest.importorskip('yaml', reason='PyYAML is not installed')
    bag, file = tmp_path / 'run', tmp_path / 'excite.yaml'
    start = ('--start', f'shoulder={POSE[0]}', 'elbow=-0.1')
    assert main(['--urdf', str(urdf), '--out', str(file), '--duration', '2', *start, *QUICK]) == 0
    with excited_robot(urdf, '--motion', str(file), '--record', str(bag)) as (moved, process):
        assert process.wait(60.0) == 0, process.output
    (trajectory,) = moved.trajectories
    assert trajectory.joint_names == list(JOINTS)
    request = read_trajectory(file, None, 0)
    planned = request.positions.values.reshape(-1, 2)
    sent = np.array([point.positions for point in trajectory.points])
    np.testing.assert_allclose(sent[-len(planned):], planned, atol=1e-9)
    assert list(trajectory.points[0].positions) == pytest.approx(POSE)
    assert list(trajectory.points[-1].positions) == pytest.approx([POSE[0], -0.1])
    samples = list(read_joint_states(bag))
    assert samples[0].names == ('grip', *JOINTS)
    recorded = np.array([recorded.position[1:] for recorded in samples])
    assert recorded[0] == pytest.approx(POSE)
    assert recorded[-1] == pytest.approx([POSE[0], -0.1], abs=1e-6)
    np.testing.assert_allclose(np.ptp(recorded, axis=0), np.ptp(sent, axis=0), atol=0.05)


@pytest.mark.ros
def test_an_interrupt_cancels_brakes_and_closes_the_bag(urdf: Path, tmp_path: Path) -> None:
    bag = tmp_path / 'run'
    options = ('--record', str(bag), '--duration', '10', *QUICK)
    with excited_robot(urdf, *options) as (moved, process):
        process.wait_for('moving')
        assert wait_until(lambda: np.abs(moved.position - POSE).max() > 0.05)
        process.send(signal.SIGINT)
        assert process.wait() == 1, process.output
        assert wait_until(lambda: len(moved.trajectories) > 2)
        _, cancelled, brake = moved.trajectories
        end = pytest.approx(list(brake.points[-1].positions), abs=1e-6)
        assert wait_until(lambda: moved.position == end)
    assert 'the robot was stopped' in process.output
    assert 'Traceback' not in process.output
    assert not cancelled.points
    assert list(brake.points[-1].velocities) == pytest.approx([0.0, 0.0], abs=1e-9)
    assert len(list(read_joint_states(bag))) > 50
