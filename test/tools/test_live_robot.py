# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Live topics: a motion ends when the arm stands, a collection by stamps; keys and signals."""

from collections.abc import Callable
import os
import pty
import signal
import sys
import termios
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.ros.ros_process import NO_ROS, new_domain_id, wait_until
from support.ros.virtual_live import STEP, VirtualLive
from support.tools import Printed

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('rclpy', reason=NO_ROS)

from rclpy.signals import SignalHandlerOptions, get_current_signal_handlers_options
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from rnea_ros import RneaError
from rnea_ros.identification.excitation import RestToRestMotion
from rnea_ros.live import LiveNode, MovingRobot, collect_joint_states, live_node
from rnea_ros.ros import RosError, trajectory_message
from rnea_ros.tools.teach import pressed_keys

MODULE, DURATION = 'rnea_ros.live.moving_robot', 2.0
MOTION = RestToRestMotion(
    ('elbow',), np.array([0.0, DURATION]), np.array([[0.0], [1.0]]), *np.zeros((2, 2, 1))
)


class Arm(VirtualLive):
    """
    A joint whose states are read later than they are sent.

    :param backlog: age of a state when it is read, s
    :param creep: speed after the motion, rad/s
    :param pause: times since the start without a state, s
    """

    def __init__(
        self, backlog: float = 0.0, creep: float = 0.0, pause: tuple[float, float] = (0.0, 0.0)
    ) -> None:
        super().__init__()
        self._backlog, self._creep, self._pause = backlog, creep, pause
        self._start = np.inf
        self.sent: list[Any] = []
        self._states = self.create_publisher(JointState, 'joint_states', 1)
        self.create_subscription(JointTrajectory, 'trajectory', self.follow, 1)
        self.create_timer(STEP, self._publish)

    def follow(self, message: Any) -> None:
        self.sent.append(message)
        self._start = self.now + self._backlog

    def _publish(self) -> None:
        since = max(self.now - self._start, 0.0)
        if self._pause[0] < since < self._pause[1]:
            return
        position = min(since / DURATION, 1.0) + self._creep * max(since - DURATION, 0.0)
        state = JointState(name=['elbow'], position=[position])
        state.header.stamp = self.get_clock().now().to_msg()
        self._states.publish(state)


def moving(arm: Any) -> MovingRobot:
    return MovingRobot(arm, ['elbow'], 'trajectory')


@pytest.mark.parametrize(
    ('backlog', 'creep', 'until'), [(0.0, 0.0, 3.0), (3.0, 0.0, 5.5), (0.0, 0.1, 8.0)]
)
def test_a_motion_ends_when_the_arm_stands_still(
    backlog: float, creep: float, until: float, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr('rnea_ros.command_line.PROGRESS', 0.5 * DURATION)
    arm = Arm(backlog, creep)
    robot = moving(arm)
    assert robot.pose() == 0.0
    sent = arm.now + 1.0
    assert robot.follow(MOTION, ['elbow'], None)
    assert arm.now - sent == pytest.approx(until, abs=0.05)
    printed = capsys.readouterr().out
    assert printed.count('1 s of 2 s\n') == 1
    assert creep or 'elbow ends 0 rad' in printed


def test_a_motion_may_end_or_pause_before_the_pose_is_taken_but_not_creep() -> None:
    for arm in (Arm(), Arm(pause=(0.5, 1.3))):
        arm.follow(None)
        assert moving(arm).pose() == 1.0
    creeping = Arm(creep=0.1)
    creeping.follow(None)
    with pytest.raises(RneaError, match='the robot moves: elbow'):
        moving(creeping).pose()


@pytest.mark.parametrize(('clock', 'elapsed'), [(True, 1.0), (False, 0.5)])
def test_the_brake_starts_where_the_robot_is(
    clock: bool, elapsed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    arm = Arm(pause=(0.5, 5.0))  # simulated time stands still meanwhile
    robot = moving(arm)
    robot.pose()
    now = SimpleNamespace(time=lambda: arm.now if clock else 1e9)
    monkeypatch.setattr(f'{MODULE}.time', now)
    arm.at(arm.now - 100.0 + 2.0, interrupt)  # 1 s after the motion was sent
    assert not robot.follow(MOTION, ['elbow'], None)
    brake = MOTION.braked(elapsed, 0.5)
    sent = [point.positions[0] for point in arm.sent[-1].points]
    assert sent[0] == pytest.approx(brake.positions[0, 0], abs=0.02)
    assert sent[0] < sent[-1] < 1.0


def test_an_interrupt_while_the_motion_is_sent_stops_the_robot(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupts = [signal.SIGINT]

    def message(*arguments: Any, **more: Any) -> Any:
        if interrupts:
            signal.raise_signal(interrupts.pop())
        return trajectory_message(*arguments, **more)

    monkeypatch.setattr('rnea_ros.live.client.trajectory_message', message)
    arm = Arm()
    robot = moving(arm)
    robot.pose()
    assert not robot.follow(MOTION, ['elbow'], None)
    assert [len(each.points) > 0 for each in arm.sent] == [True, False, True]


def collected(duration: float, *stamped: tuple[str, float]) -> int:
    """Return how many joint states, of a joint and with a stamp, are collected."""
    messages = []
    for name, stamp in stamped:
        messages.append(JointState(name=[name], position=[0.0]))
        stamps = messages[-1].header.stamp
        stamps.sec, stamps.nanosec = divmod(round(1e9 * stamp), 10**9)
    live: Any = VirtualLive()
    publisher = live.create_publisher(JointState, 'joint_states', 1)
    live.create_timer(0.01, lambda: publisher.publish(messages.pop(0)) if messages else None)
    return len(collect_joint_states(live, 'joint_states', duration, lambda samples: False))


def test_the_stamps_of_one_publisher_end_the_collection() -> None:
    arms = [('arm', 100.0 + k) for k in range(20)]
    grippers = [('gripper', 5000.0 + k) for k in range(20)]
    alternating = [each for pair in zip(arms, grippers, strict=True) for each in pair]
    assert collected(6.0, *alternating) == 13


@pytest.mark.parametrize('stamps', [(100.0, 101.0, 2.0), (100.0, 101.0)])
def test_a_reset_of_time_and_a_silence_end_the_collection(stamps: tuple[float, ...]) -> None:
    assert collected(50.0, *(('arm', stamp) for stamp in stamps)) == len(stamps)


def test_samples_are_a_hundred_per_second_at_most() -> None:
    assert collected(0.1, *(('arm', 100.0 + 0.001 * k) for k in range(101))) == 11


def test_keys_come_from_the_terminal_which_is_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    keyboard, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)
    monkeypatch.setattr(sys, 'stdin', SimpleNamespace(fileno=lambda: terminal))
    read: list[str] = []

    def pressed() -> bool:
        read.append(key())
        return ''.join(read) == 'ab'

    with pressed_keys() as key:
        assert key() == ''
        os.write(keyboard, b'ab')
        assert wait_until(pressed)
        assert key() == ''
        assert termios.tcgetattr(terminal) != before
    assert termios.tcgetattr(terminal) == before


class ThreeSteps(LiveNode):
    """A node that asks three times whether a wait is over."""

    def __init__(self) -> None:
        pass

    def spin(self, _: float, done: Callable[[], bool] = lambda: False) -> None:
        any(done() for _ in range(3))


def test_a_condition_that_held_once_ends_a_wait() -> None:
    answers = iter([False, True, False])
    ThreeSteps().wait(lambda: next(answers), lambda: RneaError('late'))
    assert [*answers] == [False]  # a moving robot may have left the pose already
    with pytest.raises(RneaError, match='late'):
        ThreeSteps().wait(lambda: False, lambda: RneaError('late'))


@pytest.mark.ros
def test_a_node_stays_valid_after_a_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('ROS_DOMAIN_ID', str(new_domain_id()))
    before = signal.getsignal(signal.SIGTERM)
    try:
        with live_node('tool', []) as live:
            publisher = live.node.create_publisher(JointState, 'joint_states', 1)
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGTERM)
            assert get_current_signal_handlers_options() == SignalHandlerOptions.NO
            assert publisher.get_subscription_count() == 0
        with pytest.raises(RosError, match="'a b'"), live_node('tool', []) as live:
            live.node.create_publisher(JointState, 'a b', 1)
    finally:
        signal.signal(signal.SIGTERM, before)
