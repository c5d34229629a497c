# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A motion is over when the arm stands still, though its joint states wait in a queue."""

from collections.abc import Callable
import signal
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from rnea_ros import RneaError
from rnea_ros.identification.excitation import RestToRestMotion
from rnea_ros.tools.live import MovingRobot

INTERVAL, DURATION = 0.01, 2.0
MOTION = RestToRestMotion(
    ('elbow',), np.array([0.0, DURATION]), np.array([[0.0], [1.0]]), *np.zeros((2, 2, 1))
)


class Arm:
    """
    A node with one joint; its states are read later than they are sent.

    :param backlog: age of a state when it is read, s
    :param creep: speed after the motion, rad/s
    :param pause: times since the start without a state, s
    """

    topic_name = '/topic'

    def __init__(
        self, backlog: float, creep: float = 0.0, pause: tuple[float, float] = (0.0, 0.0)
    ) -> None:
        self.node = self
        self._backlog, self._creep, self._pause = backlog, creep, pause
        self._start = np.inf
        self.read = 100.0
        self.sent: list[Any] = []
        self.interrupts_sending = False
        self.interrupt_at = np.inf

    def create_publisher(self, *_: Any) -> Any:
        return self

    def create_subscription(self, kind: Any, topic: str, take: Any, *_: Any, **__: Any) -> Any:
        self._take = take
        return self

    def get_subscription_count(self) -> int:
        return 1

    def publish(self, message: Any) -> None:
        if not self.sent and self.interrupts_sending:
            signal.raise_signal(signal.SIGINT)
        self.sent.append(message)
        self._start = self.read + self._backlog

    def spin(self, duration: float, done: Callable[[], bool] = lambda: False) -> None:
        for _ in range(round(duration / INTERVAL)):
            if done():
                return
            self.read += INTERVAL
            if self.read > self.interrupt_at:
                self.interrupt_at = np.inf
                raise KeyboardInterrupt
            since = max(self.read - self._start, 0.0)
            if self._pause[0] < since < self._pause[1]:
                continue
            position = min(since / DURATION, 1.0) + self._creep * max(since - DURATION, 0.0)
            state = JointState(name=['elbow'], position=[position])
            state.header.stamp.sec = int(self.read)
            state.header.stamp.nanosec = int(1e9 * (self.read % 1.0))
            self._take(serialize_message(state))


@pytest.mark.parametrize(
    ('backlog', 'creep', 'until'), [(0.0, 0.0, 3.0), (3.0, 0.0, 5.5), (0.0, 0.1, 8.0)]
)
def test_a_motion_ends_when_the_arm_stands_still(
    backlog: float, creep: float, until: float, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr('rnea_ros.tools.live.moving_robot.PROGRESS', 0.5 * DURATION)
    live: Any = Arm(backlog, creep)
    robot = MovingRobot(live, ['elbow'], 'trajectory')
    assert robot.pose() == 0.0
    sent = live.read + 1.0
    assert robot.follow(MOTION, ['elbow'], None)
    assert live.read - sent == pytest.approx(until, abs=0.05)
    printed = capsys.readouterr().out
    assert printed.count('1 s of 2 s\n') == 1
    assert creep or 'elbow ends 0 rad' in printed


@pytest.mark.parametrize('creep', [0.0, 0.1])
def test_a_motion_may_end_before_the_pose_is_taken_but_not_creep(creep: float) -> None:
    live: Any = Arm(0.0, creep)
    robot = MovingRobot(live, ['elbow'], 'trajectory')
    live.publish(None)
    if creep:
        with pytest.raises(RneaError, match='the robot moves: elbow'):
            robot.pose()
    else:
        assert robot.pose() == 1.0


def test_a_pause_of_the_states_in_a_motion_is_no_rest() -> None:
    live: Any = Arm(0.0, pause=(0.5, 1.3))
    robot = MovingRobot(live, ['elbow'], 'trajectory')
    live.publish(None)
    assert robot.pose() == 1.0


@pytest.mark.parametrize(('clock', 'elapsed'), [(True, 1.0), (False, 0.5)])
def test_the_brake_starts_where_the_robot_is(
    clock: bool, elapsed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    live: Any = Arm(0.0, pause=(0.5, 5.0))  # simulated time stands still meanwhile
    robot = MovingRobot(live, ['elbow'], 'trajectory')
    robot.pose()
    now = SimpleNamespace(time=lambda: live.read if clock else 1e9)
    monkeypatch.setattr('rnea_ros.tools.live.moving_robot.time', now)
    live.interrupt_at = live.read + 2.0  # 1 s after the motion was sent
    assert not robot.follow(MOTION, ['elbow'], None)
    brake = MOTION.braked(elapsed, 0.5)
    sent = [point.positions[0] for point in live.sent[-1].points]
    assert sent[0] == pytest.approx(brake.positions[0, 0], abs=0.02)
    assert sent[0] < sent[-1] < 1.0


def test_an_interrupt_while_the_motion_is_sent_stops_the_robot() -> None:
    live: Any = Arm(0.0)
    robot = MovingRobot(live, ['elbow'], 'trajectory')
    robot.pose()
    live.interrupts_sending = True
    assert not robot.follow(MOTION, ['elbow'], None)
    assert [len(each.points) > 0 for each in live.sent] == [True, False, True]
