# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``excite``: files that check_trajectory accepts, and a robot that is moved."""

from pathlib import Path

import numpy as np
import pytest

from rnea_ros.recordings import read_joint_states
from rnea_ros.tools import check_trajectory
from rnea_ros.tools.excite import main
from rnea_ros.tools.trajectory_sources import read_trajectory
from support.ros.following_robot import ARM, JOINTS, POSE, FollowingRobot
from support.ros.virtual_live import VirtualLive, replace_live_node
from support.tools import finished, rejection

pytest.importorskip('yaml', reason='PyYAML is not installed')

QUICK = ('--seconds', '0.1', '--omit', 'grip')
MOVE = ('--urdf', 'arm.urdf', '--publish', 'arm/joint_trajectory')


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / 'arm.urdf').write_text(ARM, encoding='utf-8')
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> VirtualLive:
    pytest.importorskip('rosbags', reason='rosbags is not installed')
    return replace_live_node(monkeypatch)


@pytest.fixture
def robot(live: VirtualLive) -> FollowingRobot:
    return FollowingRobot(live, now=lambda: live.now)


def test_check_trajectory_accepts_the_file() -> None:
    limits = ('--urdf', 'arm.urdf', '--velocity-limits', '1.5', 'elbow=1', '--effort-limits', '30')
    options = ('--floor', '-0.6', '--speed', '0.25', '--start', 'shoulder=-0.5')
    ended = finished(main, *limits, '--out', 'excite.yaml', *options, *QUICK)
    assert ended.returncode == 0
    assert 'condition of the base regressor' in ended.stdout
    unchecked = 'collisions are not checked: the URDF has no collision shapes\n'
    assert ended.stdout.startswith(unchecked)
    assert 'still: grip' in ended.stdout
    for file in map(Path, ('excite.yaml', 'excite_validate.yaml')):
        assert check_trajectory.main([str(file), *limits]) == 0
        assert read_trajectory(file, None, 0).joint_names == JOINTS
    assert read_trajectory(Path('excite.yaml'), None, 0).times[-1] == 40.0


def test_a_robot_follows_a_file_from_its_pose_and_is_recorded(robot: FollowingRobot) -> None:
    start = ('--start', f'shoulder={POSE[0]}', 'elbow=-0.1')
    assert main(['--urdf', 'arm.urdf', '--out', 'a.yaml', '--duration', '2', *start, *QUICK]) == 0
    assert main([*MOVE, '--yes', '--motion', 'a.yaml', '--record', 'run']) == 0
    (trajectory,) = robot.trajectories
    assert trajectory.joint_names == list(JOINTS)
    planned = read_trajectory(Path('a.yaml'), None, 0).positions.values.reshape(-1, 2)
    sent = np.array([point.positions for point in trajectory.points])
    np.testing.assert_allclose(sent[-len(planned):], planned, atol=1e-9)
    samples = list(read_joint_states(Path('run')))
    assert samples[0].names == ('grip', *JOINTS)
    recorded = np.array([recorded.position[1:] for recorded in samples])
    for states in (sent, recorded):
        np.testing.assert_allclose(states[[0, -1]], [POSE, [POSE[0], -0.1]], atol=1e-6)
    np.testing.assert_allclose(np.ptp(recorded, axis=0), np.ptp(sent, axis=0), atol=0.01)


def test_an_interrupt_cancels_brakes_and_closes_the_bag(
    live: VirtualLive, robot: FollowingRobot
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    live.at(6.0, interrupt)
    ended = finished(main, *MOVE, '--yes', '--record', 'run', '--duration', '10', *QUICK)
    assert ended.returncode == 1
    assert 'the robot was stopped' in ended.stdout
    _, cancelled, brake = robot.trajectories
    assert not cancelled.points
    assert cancelled.joint_names == brake.joint_names == list(JOINTS)
    first, last = brake.points[0], brake.points[-1]
    assert np.abs(np.array(first.positions) - POSE).max() > 0.05
    assert last.time_from_start.sec + 1e-9 * last.time_from_start.nanosec == pytest.approx(0.5)
    assert list(last.velocities) == pytest.approx([0.0, 0.0], abs=1e-9)
    assert robot.is_at(list(last.positions))
    states = np.array([each.position[1:] for each in read_joint_states(Path('run'))])
    assert len(states) > 50
    assert np.abs(np.diff(states, axis=0)).max() < 0.05, 'on its path'


def test_without_a_yes_nothing_moves(
    robot: FollowingRobot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr('sys.stdin.isatty', lambda: True, raising=False)
    monkeypatch.setattr('builtins.input', lambda _: 'no')
    assert 'the robot was not moved' in rejection(main, *MOVE, *QUICK)
    assert robot.trajectories == []
