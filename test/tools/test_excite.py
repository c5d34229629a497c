# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``excite``: files that check_trajectory accepts, and a robot that is moved."""

from pathlib import Path
import sys

import numpy as np
import pytest

from rnea_ros.recordings import read_joint_states
from rnea_ros.tools import check_trajectory
from rnea_ros.tools.excite import main
from rnea_ros.tools.trajectory_sources import read_trajectory
from support.ros.following_robot import ARM, JOINTS, POSE, FollowingRobot
from support.ros.virtual_live import VirtualLive, replace_live_node
from support.tools import Printed

pytest.importorskip('yaml', reason='PyYAML is not installed')

QUICK = ('--seconds', '0.1', '--omit', 'grip')
MOVE = ('--publish', 'arm/joint_trajectory')


@pytest.fixture
def urdf(tmp_path: Path) -> Path:
    path = tmp_path / 'arm.urdf'
    path.write_text(ARM, encoding='utf-8')
    return path


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> VirtualLive:
    pytest.importorskip('rosbags', reason='rosbags is not installed')
    return replace_live_node(monkeypatch)


@pytest.fixture
def robot(live: VirtualLive) -> FollowingRobot:
    return FollowingRobot(live, now=lambda: live.now)


def test_check_trajectory_accepts_the_file(urdf: Path, tmp_path: Path, capsys: Printed) -> None:
    out = tmp_path / 'excite.yaml'
    arguments = ['--urdf', urdf, '--out', out, '--floor', '-0.6', '--speed', '0.25']
    limits = ['--velocity-limits', '1.5', 'elbow=1', '--effort-limits', '30']
    assert main([*map(str, arguments), *limits, *QUICK, '--start', 'shoulder=-0.5']) == 0
    text = capsys.readouterr().out
    assert 'condition of the base regressor' in text
    assert text.startswith('collisions are not checked: the URDF has no collision shapes\n')
    assert 'no collision in' not in text
    assert 'still: grip' in text
    for file in (out, tmp_path / 'excite_validate.yaml'):
        assert check_trajectory.main([str(file), '--urdf', str(urdf), *limits]) == 0
        assert read_trajectory(file, None, 0).joint_names == JOINTS
    assert read_trajectory(out, None, 0).times[-1] == 40.0


def test_a_missing_package_is_named(
    urdf: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, 'scipy', None)
    assert main(['--urdf', str(urdf), '--out', 'a.yaml']) == 2
    assert capsys.readouterr().err == 'excite: scipy is needed: pip install scipy\n'


def test_a_robot_follows_a_file_from_its_pose_and_is_recorded(
    urdf: Path, tmp_path: Path, robot: FollowingRobot
) -> None:
    bag, file = tmp_path / 'run', tmp_path / 'excite.yaml'
    start = ('--start', f'shoulder={POSE[0]}', 'elbow=-0.1')
    assert main(['--urdf', str(urdf), '--out', str(file), '--duration', '2', *start, *QUICK]) == 0
    arguments = ('--yes', '--motion', str(file), '--record', str(bag))
    assert main(['--urdf', str(urdf), *MOVE, *arguments]) == 0
    (trajectory,) = robot.trajectories
    assert trajectory.joint_names == list(JOINTS)
    planned = read_trajectory(file, None, 0).positions.values.reshape(-1, 2)
    sent = np.array([point.positions for point in trajectory.points])
    np.testing.assert_allclose(sent[-len(planned):], planned, atol=1e-9)
    assert sent[0] == pytest.approx(POSE)
    assert sent[-1] == pytest.approx([POSE[0], -0.1])
    samples = list(read_joint_states(bag))
    assert samples[0].names == ('grip', *JOINTS)
    recorded = np.array([recorded.position[1:] for recorded in samples])
    assert recorded[0] == pytest.approx(POSE)
    assert recorded[-1] == pytest.approx([POSE[0], -0.1], abs=1e-6)
    np.testing.assert_allclose(np.ptp(recorded, axis=0), np.ptp(sent, axis=0), atol=0.01)


def test_an_interrupt_cancels_brakes_and_closes_the_bag(
    urdf: Path, tmp_path: Path, live: VirtualLive, robot: FollowingRobot, capsys: Printed
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    bag = tmp_path / 'run'
    live.at(6.0, interrupt)
    options = ('--yes', '--record', str(bag), '--duration', '10', *QUICK)
    assert main(['--urdf', str(urdf), *MOVE, *options]) == 1
    _, cancelled, brake = robot.trajectories
    assert not cancelled.points
    assert cancelled.joint_names == brake.joint_names == list(JOINTS)
    first, last = brake.points[0], brake.points[-1]
    assert np.abs(np.array(first.positions) - POSE).max() > 0.05
    assert last.time_from_start.sec + 1e-9 * last.time_from_start.nanosec == pytest.approx(0.5)
    assert list(last.velocities) == pytest.approx([0.0, 0.0], abs=1e-9)
    assert robot.is_at(list(last.positions))
    states = np.array([each.position[1:] for each in read_joint_states(bag)])
    assert len(states) > 50
    assert np.abs(np.diff(states, axis=0)).max() < 0.05, 'on its path'
    assert 'the robot was stopped' in capsys.readouterr().out


@pytest.mark.parametrize('answer', ['no', ''])
def test_without_a_yes_nothing_moves(
    urdf: Path, robot: FollowingRobot, monkeypatch: pytest.MonkeyPatch, capsys: Printed,
    answer: str,
) -> None:
    monkeypatch.setattr('sys.stdin.isatty', lambda: True, raising=False)
    monkeypatch.setattr('builtins.input', lambda _: answer)
    assert main(['--urdf', str(urdf), *MOVE, *QUICK]) == 2
    assert 'the robot was not moved' in capsys.readouterr().err
    assert robot.trajectories == []
