# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Which positions a joint cannot have reached, and that real arms never seem to do so."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros import RobotModel
from rnea_ros.feedforward import JointBounds, JointStateMonitor, Reason
from rnea_ros.feedforward.joint_samples import JUMP_TOLERANCE, MAX_DELAY, VELOCITY_TOLERANCE
from rnea_ros.feedforward.settings import Settings, resolve
from support.cases import each
from support.control.control_rig import mixed_arm, panda_arm
from support.models.robots import description, load
from support.recorded.bags import recording

JOINTS = ['hinge', 'wheel', 'slide']
SPEEDS = np.array([2.0, 3.0, np.inf])
TIMEOUT = 0.1
PERIOD = 0.002
NONE = np.empty(0)
JUMP = Reason.POSITION_JUMP


class Robot:
    """A hinge, an endless wheel and a slide of unlimited speed that measure ``q`` and ``qd``."""

    def __init__(self, *, differentiate: bool = False) -> None:
        bounds = JointBounds.of_speeds(SPEEDS, np.array([False, True, False]), TIMEOUT)
        self.states = JointStateMonitor(JOINTS, bounds, differentiate_velocity=differentiate)
        self.differentiate, self.now = differentiate, 100.0
        self.q, self.qd = np.zeros((2, 3))
        self.feed()

    def feed(
        self, offset: ArrayLike = (0.0, 0.0, 0.0), *, after: float = PERIOD,
        stamp: float | None = None, late: float = 0.0, machine: float | None = None,
    ) -> Reason | None:
        """Let time pass, and a sample come that is off, stamped with its time."""
        self.now += after
        return self.states.take_sample(
            JOINTS, self.q + np.asarray(offset), NONE if self.differentiate else self.qd.copy(),
            NONE, stamp=self.now if stamp is None else stamp, clock=self.now,
            received=self.now + late, machine=machine,
        )


def test_a_joint_at_rest_may_have_moved_while_a_moving_one_repeated() -> None:
    for speed, reason in ((0.03, None), (0.0, JUMP)):
        robot = Robot()
        robot.qd[1] = speed
        for _ in range(200):
            assert robot.feed() is None
        assert robot.feed((0.05, 0.05, 0.0)) is reason


@each('share, reason', [(0.999, None), (1.001, JUMP)])
@each('after', [0.001, 0.09])
@each('sign', [-1.0, 1.0])
@each('stamp', [None, 0.0])
@each('number', [0, 1])
def test_joints_move_at_their_speed(
    number: int, stamp: float | None, sign: float, after: float, share: float, reason: Any
) -> None:
    robot, offset = Robot(), np.zeros(3)
    offset[number] = sign * share * (SPEEDS[number] * after + JUMP_TOLERANCE)
    assert robot.feed(offset, after=after, stamp=stamp) is reason
    assert robot.states.rejections.total() == (reason is not None)


@each('share, reason', [(0.999, None), (1.001, Reason.VELOCITY_TOO_HIGH)])
@each('number', [0, 1])
def test_a_velocity_may_be_its_plausible_speed_and_an_allowance(
    number: int, share: float, reason: Any
) -> None:
    robot = Robot()
    robot.qd[number] = -share * (SPEEDS[number] + VELOCITY_TOLERANCE)
    robot.qd[2] = 1e6  # of unlimited speed
    assert robot.feed() is reason
    assert robot.states.velocity[number] == (0.0 if reason else robot.qd[number])


def test_a_joint_of_unlimited_speed_and_a_first_position_may_be_anywhere() -> None:
    robot = Robot()
    assert robot.feed((0.0, 0.0, 1e6)) is None
    robot.q[:] = (1e3, -1e3, 0.0)
    assert robot.feed(after=2.0 * TIMEOUT - PERIOD) is JUMP
    assert robot.feed(after=2.0 * PERIOD) is None  # older than what is still in force


@each('turns', [-3, -1, 1, 2])
def test_whole_turns_of_a_continuous_joint_are_not_jumps(turns: int) -> None:
    robot = Robot()
    assert robot.feed((0.0, math.tau * turns + 0.005, 0.0)) is None
    assert robot.states.position[1] == math.tau * turns + 0.005  # and are not taken away
    assert robot.feed((math.tau * turns, 0.0, 0.0)) is JUMP


def test_a_wrapped_position_does_not_step_the_derived_velocity() -> None:
    robot = Robot(differentiate=True)
    robot.qd[:] = (0.0, 1.0, 0.0)
    for _ in range(2000):
        robot.q += robot.qd * PERIOD
        robot.q[1] = math.remainder(robot.q[1], math.tau)
        assert robot.feed() is None
        assert 0.0 <= robot.states.velocity[1] <= 1.001


@each('late', [0.02, 0.09])
@each('stamp', [None, 0.0])
def test_a_burst_of_late_samples_is_not_a_jump(stamp: float | None, late: float) -> None:
    robot, after = Robot(), 5 * PERIOD
    robot.qd[0] = 2.0
    for k in range(100 + round(late / after)):
        robot.q += after * robot.qd
        delay = max(late - (k - 99) * after, 0.0) if k >= 100 else 0.0
        assert robot.feed(after=after, stamp=stamp, late=delay) is None


def test_while_simulated_time_is_held_up_the_machines_time_counts() -> None:
    for machine, verdict in ((7.10, None), (7.05, JUMP), (None, JUMP)):
        robot = Robot()
        assert robot.feed(machine=7.0) is None
        robot.q[0] += 0.2
        assert robot.feed(after=0.003, machine=machine) is verdict
        machine = machine and machine + 0.002
        assert robot.feed(machine=machine) is verdict


def test_a_stamp_that_is_long_behind_does_not_let_a_jump_through() -> None:
    for share, reason in ((0.99, None), (1.01, JUMP)):
        robot = Robot()
        robot.states = JointStateMonitor(JOINTS, JointBounds.of_speeds(SPEEDS, timeouts=10.0))
        robot.feed(stamp=1.0)
        way = SPEEDS[0] * (MAX_DELAY + PERIOD) + JUMP_TOLERANCE
        assert robot.feed((share * way, 0.0, 0.0)) is reason


@each('stamped', [True, False])
def test_each_joint_may_have_moved_since_its_own_last_sample(stamped: bool) -> None:
    states = JointStateMonitor(['a', 'b', 'c'], JointBounds.of_speeds(np.full(3, 2.0)))

    def feed(names: str, positions: list[float], k: int) -> Reason | None:
        return states.take_sample(
            [*names], np.array(positions), np.zeros(2), NONE,
            stamp=stamped * (100.0 + 0.002 * k), clock=100.0 + 0.002 * k, received=0.002 * k,
        )

    assert feed('ab', [0.0, 0.0], 0) is None
    for k in range(1, 101):
        assert feed('bc', [0.0, 0.0], k) is None
    # The joint a was silent for 0.2 s, in which it may have moved by 0.4 rad; b was not.
    assert feed('ab', [0.3, 0.3], 101) is JUMP
    assert feed('ab', [0.3, 0.0], 102) is None


def test_the_bounds_are_those_of_the_urdf_times_the_margin() -> None:
    model = mixed_arm()  # lift, turn (continuous), bend and gripper
    unknown = load(description(model).text.replace('velocity="3"', 'velocity="0"'))
    inf = math.inf

    def rows(model: RobotModel, **settings: Any) -> Any:
        given = Settings(joints=model.joint_names[1:3], effort_limits=(0.0, 120.0), **settings)
        return JointBounds.of_robot(model, resolve(given, model)).table.tolist()

    # Role, continuous, speed, step, velocity, position from, to, age to forget, effort, scale.
    assert rows(
        model, velocity_limit_factor=2.0, hold_duration=0.7, joint_states_timeout=0.3
    ) == [
        [1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0], [4.0, 6.0, 4.0, 4.0], [0.01] * 4,
        [5.0, 7.0, 5.0, 5.0], [-9.0, -1e6, -9.0, -9.0], [9.0, 1e6, 9.0, 9.0],
        pytest.approx([2.0 * 0.3 + 0.7] * 4), [inf, 160.0, 240.0, inf], [1.0] * 4,
    ]
    _, _, speed, step, measured, *_ = rows(unknown, velocity_limit_factor=1.5)
    assert (speed, step[1], measured) == ([3.0, 0.0, 3.0, 3.0], inf, [4.0, 1e6, 4.0, 4.0])
    _, _, speed, step, measured, *_ = rows(model, velocity_limit_factor=0.0)
    assert (speed, step, measured) == ([0.0] * 4, [inf] * 4, [1e6] * 4)


@each('name', ['panda', 'ur10'])
def test_real_arms_never_jump_with_lost_samples(name: str) -> None:
    pytest.importorskip('rosbags', reason='rosbags is not installed')
    from rnea_ros.recordings import read_joint_states

    limits = panda_arm().velocity_limits
    if name == 'ur10':
        limits = np.array([2.16, 2.16, 3.15, 3.2, 3.2, 3.2])  # of the vendor's URDF
    samples = list(read_joint_states(recording(f'{name}_exciting_trajectory.db3')))
    joints = list(samples[0].names)
    rng = np.random.default_rng(6)
    for kept, stamped in ((0.5, 1.0), (0.1, 1.0), (0.1, 0.0)):
        monitor = JointStateMonitor(joints, JointBounds.of_speeds(2.0 * limits, timeouts=10.0))
        for sample in samples:
            if rng.random() > kept:
                continue
            received = 1.0 + sample.time + rng.uniform(0.0, 0.004)  # of a loop of 250 Hz
            reason = monitor.take_sample(
                joints, np.array(sample.position), np.array(sample.velocity), NONE,
                stamp=stamped * (1.0 + sample.time), clock=1.0 + sample.time, received=received,
            )
            assert reason is None
