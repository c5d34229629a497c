# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The command: a file that check_trajectory accepts, rejections, a robot that is moved."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
import signal
import sys
import time
from typing import Any

import numpy as np
import pytest

from rnea_ros.recordings import read_joint_states
from rnea_ros.tools import check_trajectory
from rnea_ros.tools.excite import main
from rnea_ros.tools.trajectory_sources import read_trajectory
from support.control.trajectory_controller import Point, sample
from support.models.robots import joint, link, robot
from support.ros.ros_process import NO_ROS, RosProcess, new_domain_id, ros_node, wait_until

ARM = robot(
    link('base'),
    link('upper', 2.0, (0.2, 0.0, 0.0)),
    link('lower', 1.0, (0.1, 0.0, 0.0)),
    link('finger', 0.1),
    joint('shoulder', 'revolute', 'base', 'upper', axis=(0, 1, 0)),
    joint('elbow', 'revolute', 'upper', 'lower', xyz=(0.4, 0, 0), axis=(0, 1, 0)),
    joint('grip', 'prismatic', 'lower', 'finger', xyz=(0.3, 0, 0), axis=(1, 0, 0)),
)
JOINTS = ('shoulder', 'elbow')
POSE = (0.3, -0.4)
QUICK = ('--seconds', '0.1', '--omit', 'grip')
Printed = pytest.CaptureFixture[str]


@pytest.fixture
def urdf(tmp_path: Path) -> Path:
    path = tmp_path / 'arm.urdf'
    path.write_text(ARM, encoding='utf-8')
    return path


def test_the_file_is_accepted_by_check_trajectory(
    urdf: Path, tmp_path: Path, capsys: Printed
) -> None:
    pytest.importorskip('yaml', reason='PyYAML is not installed')
    out = tmp_path / 'excite.yaml'
    arguments = ['--urdf', urdf, '--out', out, '--floor', '-0.6']
    limits = ['--velocity-limits', '1.5', 'elbow=1', '--effort-limits', '30']
    assert main([*map(str, arguments), *limits, *QUICK, '--start', 'shoulder=-0.5']) == 0
    text = capsys.readouterr().out
    assert 'condition of the base regressor' in text
    assert 'still: grip' in text
    assert check_trajectory.main([str(out), '--urdf', str(urdf), *limits]) == 0
    assert 'joint_names: ["shoulder", "elbow"]' in out.read_text(encoding='utf-8')


def test_a_slow_trajectory_takes_longer(urdf: Path, tmp_path: Path) -> None:
    out = tmp_path / 'excite.yaml'
    assert main(['--urdf', str(urdf), '--out', str(out), '--speed', '0.25', *QUICK]) == 0
    assert out.read_text(encoding='utf-8').endswith('time_from_start: {sec: 40, nanosec: 0}\n')


@pytest.mark.parametrize(
    ('arguments', 'reason'),
    [
        ('', '--out'),
        ('--out a.yaml --yes', '--motion, --record and --yes need --publish'),
        ('--motion a.yaml', '--motion, --record and --yes need --publish'),
        ('--motion a.yaml --publish --start elbow=0', '--motion takes no --start'),
        ('--out a.yaml --floor 0 --box -1 1 -1 1 -1 1', 'not both'),
        ('--out a.yaml --keep-inside lower', 'needs --floor or --box'),
        ('--out a.yaml --start 3', '--start 3 is not JOINT=POSITION'),
        ('--out a.yaml --speed 1.5', '1.5 is above 1'),
        ('--out a.yaml --omit thumb', "unknown joint 'thumb'"),
        ('--out a.yaml --box 0 1 0 1 x 1', "--box: 'x' is not a number"),
        ('--out a.yaml --floor 0.5', 'link lower: its origin is at z = 0 m at the start pose'),
        ('--out none/a.yaml --seconds 0.1', 'none/a.yaml cannot be written'),
        ('--publish', 'there is no terminal; see --yes'),
    ],
)
def test_what_cannot_be_used_is_rejected_in_one_line(
    urdf: Path, capsys: Printed, arguments: str, reason: str
) -> None:
    code: object
    try:
        code = main(['--urdf', str(urdf), *arguments.split()])
    except SystemExit as error:
        code = error.code
    (line,) = capsys.readouterr().err.splitlines()
    assert code == 2
    assert line.startswith('excite: ')
    assert reason in line


def test_a_missing_package_is_named_in_one_line(
    urdf: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, 'scipy', None)
    assert main(['--urdf', str(urdf), '--out', 'a.yaml']) == 2
    assert capsys.readouterr().err == 'excite: scipy is needed: pip install scipy\n'


class FollowingRobot:
    """
    A robot that follows every trajectory exactly, as a joint_trajectory_controller reads it.

    :param node: of the test's own, spun in a thread
    """

    def __init__(self, node: Any) -> None:
        from sensor_msgs.msg import JointState
        from trajectory_msgs.msg import JointTrajectory

        self.trajectories: list[Any] = []
        self.position = np.array(POSE)
        self._points: list[Point] = []
        self._begin = self._due = time.time()
        self._state = JointState
        self._publisher = node.create_publisher(JointState, 'joint_states', 10)
        node.create_subscription(JointTrajectory, 'arm/joint_trajectory', self._follow, 10)
        node.create_timer(0.01, self._catch_up)

    def _follow(self, message: Any, info: Any) -> None:
        self.trajectories.append(message)
        if not message.points:
            return  # rejected, as by the controller
        here = Point(0.0, self.position, np.zeros(2), np.zeros(2), np.zeros(0))
        points = [
            Point(
                point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec,
                np.array(point.positions),
                np.array(point.velocities),
                np.array(point.accelerations),
                np.zeros(0),
            )
            for point in message.points
        ]
        self._points = points if points[0].time == 0.0 else [here, *points]
        self._begin = self._due = 1e-9 * info['source_timestamp']

    def _catch_up(self) -> None:
        """Publish every state since the last: a stall leaves nothing of the motion out."""
        while self._due < time.time():
            self._publish()
            self._due += 0.01

    def _publish(self) -> None:
        velocity = np.zeros(2)
        if self._points:
            self.position, velocity, _, _ = sample(self._points, self._due - self._begin)
        message = self._state(
            name=['grip', *JOINTS],
            position=array('d', [0.01, *self.position]),
            velocity=array('d', [0.0, *velocity]),
            effort=array('d', [0.0, 1.0, 2.0]),
        )
        message.header.stamp.sec = int(self._due)
        message.header.stamp.nanosec = round(1e9 * (self._due % 1.0))
        self._publisher.publish(message)


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
