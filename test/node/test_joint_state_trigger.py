# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Ticks that joint states set off: at once, when all are there, never too many, never none."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest

from rnea_ros.feedforward import JointStateMonitor, Reason
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rnea_ros.node.loop import TRIGGER_TIMEOUT, JointStateTrigger

PERIOD = 0.125
"""A period without rounding errors, so that times can be compared exactly."""

JOINTS = ('a', 'b', 'finger')
REJECTED = ['rejected']
LATE = TRIGGER_TIMEOUT * PERIOD

Arrivals = Sequence[tuple[float, Sequence[str]]]


class Robot:
    """Joint states that come at given times, and a clock that only waiting moves on."""

    def __init__(self, arrivals: Arrivals = (), *, simulated: bool = False) -> None:
        self.simulated, self.time, self.arrivals = simulated, 0.0, list(arrivals)
        self.states = JointStateMonitor(JOINTS)
        self.schedule = JointStateTrigger(
            self.states, np.array([0, 1]), self._wait, self._take, PERIOD, cast(Any, self)
        )
        self.schedule.start()

    def now(self) -> float:
        return self.time

    def sleep(self, duration: float) -> None:
        assert duration > 0.0
        self.time += 0.0 if self.simulated else duration  # which waits for joint states

    def _wait(self, timeout: float) -> None:
        assert timeout > 0.0
        later = [time for time, _ in self.arrivals if time > self.time]
        self.time = min([self.time + timeout, *later])

    def _take(self, now: float) -> None:
        assert now == self.time
        while self.arrivals and self.arrivals[0][0] <= self.time:
            _, names = self.arrivals.pop(0)
            zeros = np.zeros(len(names))
            if names == REJECTED:
                self.states.reject(Reason.POSITION_JUMP)
            else:
                self.states.take_sample(
                    names, zeros, zeros, zeros, stamp=0.0, clock=0.0, received=self.time
                )

    def ticks(self, count: int) -> list[float]:
        times = []
        for _ in range(count):
            self.schedule.wait()
            times.append(self.time)
        return times


def whole(*times: float) -> Arrivals:
    return [(time, JOINTS) for time in times]


@pytest.mark.parametrize(('simulated', 'arrivals', 'ticks', 'untriggered'), [
    (False, whole(0.1, 0.22, 0.36, 0.47), [0.1, 0.22, 0.36, 0.47], 0),
    (False, [(0.1, 'a'), (0.11, ['finger']), (0.12, 'b'), (0.2, 'b'), (0.22, 'a')],
     [0.12, 0.22], 0),
    (False, whole(0.1, 0.1, 0.1, 0.225), [0.1, 0.225], 0),
    (False, [(0.1, ['finger']), (0.125, ['finger'])], [LATE], 1),
    (False, [(0.1, REJECTED)], [LATE], 1),
    (True, [(0.1, REJECTED), (0.2, JOINTS), (0.3, REJECTED)], [0.1, 0.2, 0.3], 0),
    (True, whole(0.1, 0.11, 0.225), [0.1, 0.11, 0.225], 0),
    (False, [], [LATE * k for k in (1, 2, 3, 4)], 4),
    (False, whole(0.5, 0.625), [LATE, 2.0 * LATE, 0.5, 0.625], 2),
], ids=[
    'whole', 'the last part of several publishers', 'one for a burst', 'none for other joints',
    'none for rejected ones', 'any in simulated time', 'while simulated time stands still',
    'when joint states are late', 'once they are back',
])  # fmt: skip
def test_ticks_come_with_joint_states_of_all_commanded_joints(
    simulated: bool, arrivals: Arrivals, ticks: list[float], untriggered: int
) -> None:
    robot = Robot(arrivals, simulated=simulated)
    assert robot.ticks(len(ticks)) == ticks
    assert robot.schedule.untriggered == untriggered


def test_a_flood_of_joint_states_makes_two_ticks_a_period() -> None:
    ticks = Robot(whole(*np.arange(0.001, 1.0, 0.001).tolist())).ticks(10)
    assert np.diff([0.0, *ticks]).min() >= 0.5 * PERIOD
    assert ticks[-1] == pytest.approx(5 * PERIOD, abs=0.02)


def test_a_tick_is_as_late_as_it_exceeds_the_period() -> None:
    robot = Robot(whole(0.1, 0.25, 0.4375))
    lateness = [robot.schedule.wait() for _ in range(3)]
    assert lateness == [0.0, pytest.approx(0.025), LATE - PERIOD]


def test_a_clock_that_is_set_back_holds_up_no_tick() -> None:
    robot = Robot()
    robot.time = 1000.0
    robot.ticks(1)
    robot.time = 5.0
    assert robot.ticks(1) == [5.0 + LATE]


def test_a_wait_that_is_cancelled_returns() -> None:
    robot = Robot()
    robot.schedule.cancel()
    assert max(robot.ticks(2)) <= LATE
