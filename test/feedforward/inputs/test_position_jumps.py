# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Which positions a joint cannot have reached, and that real arms never seem to do so."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros import RobotModel
from rnea_ros.feedforward import Reason
from rnea_ros.feedforward.inputs import JointBounds, JointStateMonitor
from rnea_ros.feedforward.inputs.joint_bounds import (
    JUMP_TOLERANCE,
    LOWER,
    UPPER,
    VELOCITY_TOLERANCE,
)
from rnea_ros.feedforward.inputs.joint_samples import MAX_DELAY
from rnea_ros.feedforward.settings import Settings, resolve
from support.control.control_rig import panda_arm
from support.models.robots import ROOT, load
from support.recorded.real_arms import recording

JOINTS = ['hinge', 'wheel', 'slide']
SPEEDS = np.array([2.0, 3.0, np.inf])
TIMEOUT = 0.1
PERIOD = 0.002
NONE = np.empty(0)


class Robot:
    """
    A hinge, a wheel that turns without end and a slide of unlimited speed, as they are measured.

    ``q`` and ``qd`` are what they measure.
    """

    def __init__(self, *, differentiate: bool = False) -> None:
        continuous = np.array([False, True, False])
        self.states = JointStateMonitor(
            JOINTS, JointBounds.of_speeds(SPEEDS, continuous, TIMEOUT),
            differentiate_velocity=differentiate,
        )
        self.differentiate = differentiate
        self.now = 100.0
        self.q = np.zeros(3)
        self.qd = np.zeros(3)
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

    def move(self) -> None:
        """Move for a period."""
        self.q += self.qd * PERIOD


def test_a_joint_at_rest_may_have_moved_while_a_moving_one_repeated() -> None:
    for speed, reason in ((0.03, None), (0.0, Reason.POSITION_JUMP)):
        robot = Robot()
        robot.qd[1] = speed
        for _ in range(200):
            assert robot.feed() is None
        assert robot.feed((0.05, 0.05, 0.0)) is reason


@pytest.mark.parametrize('after', [0.001, 0.002, 0.033, 0.09])
@pytest.mark.parametrize('sign', [-1.0, 1.0])
@pytest.mark.parametrize('stamped', [True, False])
@pytest.mark.parametrize('number', [0, 1])
def test_joints_move_at_their_speed(number: int, stamped: bool, sign: float, after: float) -> None:
    reach = SPEEDS[number] * after + JUMP_TOLERANCE
    for share, reason in ((0.999, None), (1.001, Reason.POSITION_JUMP)):
        robot, offset = Robot(), np.zeros(3)
        offset[number] = sign * share * reach
        stamp = None if stamped else 0.0
        assert robot.feed(offset, after=after, stamp=stamp) is reason
        assert robot.states.rejections.total() == (reason is not None)


@pytest.mark.parametrize('sign', [-1.0, 1.0])
@pytest.mark.parametrize('number', [0, 1])
def test_a_velocity_may_be_its_plausible_speed_and_an_allowance(number: int, sign: float) -> None:
    limit = SPEEDS[number] + VELOCITY_TOLERANCE
    for share, reason in ((0.999, None), (1.001, Reason.VELOCITY_TOO_HIGH)):
        robot = Robot()
        robot.qd[number] = sign * share * limit
        robot.qd[2] = 1e6  # of unlimited speed
        assert robot.feed() is reason
        assert robot.states.velocity[number] == (0.0 if reason else robot.qd[number])


def test_a_velocity_that_is_too_high_names_itself_beside_a_jump() -> None:
    for number in (0, 1):
        robot, offset = Robot(), np.zeros(3)
        robot.qd[number], offset[1 - number] = 100.0, 1.0
        assert robot.feed(offset) is Reason.VELOCITY_TOO_HIGH


def test_a_pause_does_not_switch_the_check_off() -> None:
    for pause in (1.0, 10.0):
        robot = Robot()
        robot.feed(after=pause)
        for _ in range(50):
            robot.feed(after=0.01)
        assert robot.feed((0.2, 0.0, 0.0), after=0.01) is Reason.POSITION_JUMP


def test_a_joint_of_unlimited_speed_and_a_first_position_may_be_anywhere() -> None:
    robot = Robot()
    assert robot.feed((0.0, 0.0, 1e6)) is None
    robot.q[:] = (1e3, -1e3, 0.0)
    assert robot.feed(after=1.0) is None  # older than what is still in force


@pytest.mark.parametrize('turns', [-3, -1, 1, 2])
def test_whole_turns_of_a_continuous_joint_are_not_jumps(turns: int) -> None:
    robot = Robot()
    assert robot.feed((0.0, math.tau * turns + 0.005, 0.0)) is None
    assert robot.states.position[1] == math.tau * turns + 0.005  # and are not taken away
    assert robot.feed((math.tau * turns, 0.0, 0.0)) is Reason.POSITION_JUMP


def test_a_wrapped_position_does_not_step_the_derived_velocity() -> None:
    robot = Robot(differentiate=True)
    robot.qd[:] = (0.0, 1.0, 0.0)
    for _ in range(5000):
        robot.move()
        robot.q[1] = math.remainder(robot.q[1], math.tau)
        assert robot.feed() is None
        assert 0.0 <= robot.states.velocity[1] <= 1.001


@settings(max_examples=200)
@given(
    rates=st.lists(st.floats(-1.0, 1.0), min_size=60, max_size=60),
    lost=st.sets(st.integers(0, 59), max_size=19),
    glitches=st.dictionaries(st.integers(0, 59), st.floats(0.03, 10.0), max_size=20),
)
def test_after_any_loss_glitches_are_rejected_and_motion_is_not(
    rates: list[float], lost: set[int], glitches: dict[int, float]
) -> None:
    robot = Robot()
    last, glitched = robot.now, 0
    for k, rate in enumerate(rates):
        robot.qd[0] = np.clip(robot.qd[0] + 0.05 * rate, -1.0, 1.0)
        robot.move()
        if k in lost:
            robot.now += PERIOD
            continue
        glitch = glitches.get(k, 0.0)
        elapsed = robot.now + PERIOD - last
        if glitch > 4.0 * elapsed + 2.0 * JUMP_TOLERANCE:
            assert robot.feed((glitch, 0.0, 0.0)) is Reason.POSITION_JUMP
            glitched += 1
        else:
            assert robot.feed() is None
            last = robot.now
    assert robot.states.rejections.total() == glitched


@pytest.mark.parametrize('late', [0.02, 0.09])
@pytest.mark.parametrize('stamped', [True, False])
def test_a_burst_of_late_samples_is_not_a_jump(stamped: bool, late: float) -> None:
    robot, periods = Robot(), 5
    robot.qd[0] = 2.0
    way = robot.qd * periods * PERIOD
    assert way[0] > JUMP_TOLERANCE
    stamp = None if stamped else 0.0
    for _ in range(100):
        robot.q += way
        assert robot.feed(after=periods * PERIOD, stamp=stamp) is None
    until = robot.now + late
    while robot.now < until:
        robot.q += way
        after = periods * PERIOD
        assert robot.feed(after=after, stamp=stamp, late=until - robot.now - after) is None


def test_stamps_give_the_duration_of_motion_after_a_late_sample() -> None:
    robot = Robot()
    for _ in range(100):
        robot.feed()
    assert robot.feed(late=0.07) is None
    robot.q[0] += 2.0 * 0.08
    assert robot.feed(after=0.08) is None


def test_after_a_glitch_along_a_fast_motion_the_motion_is_accepted() -> None:
    robot, period = Robot(), 1.0 / 30.0
    robot.qd[0] = 1.9
    for k in range(30):
        robot.q += robot.qd * period
        if k % 5 == 4:
            assert robot.feed((0.03, 0.0, 0.0), after=period) is Reason.POSITION_JUMP
        else:
            assert robot.feed(after=period) is None


def test_stamps_that_advance_too_little_make_no_jump_of_a_motion() -> None:
    robot = Robot()
    robot.qd[0] = 2.0
    stamp = robot.now
    for _ in range(100):
        for _ in range(10):
            robot.move()
        stamp += 1e-6
        assert robot.feed(after=10 * PERIOD, stamp=stamp) is None


def test_while_simulated_time_is_held_up_the_machines_time_counts() -> None:
    way = (0.2, 0.0, 0.0)
    jump = Reason.POSITION_JUMP
    for machine, verdict in ((7.10, None), (7.05, jump), (None, jump)):
        robot = Robot()
        assert robot.feed(machine=7.0) is None
        assert robot.feed(way, after=0.003, machine=machine) is verdict
    robot = Robot()
    assert robot.feed(machine=7.0) is None
    robot.q += 0.2
    for k in range(20):
        assert robot.feed(machine=7.10 + 0.002 * k) is None


def test_a_stamp_that_is_long_behind_does_not_let_a_jump_through() -> None:
    robot = Robot()
    robot.states = JointStateMonitor(JOINTS, JointBounds.of_speeds(SPEEDS, timeouts=10.0))
    robot.feed(stamp=1.0)
    jump = 1.1 * SPEEDS[0] * (MAX_DELAY + PERIOD) + JUMP_TOLERANCE
    assert robot.feed((jump, 0.0, 0.0)) is Reason.POSITION_JUMP


@pytest.mark.parametrize('stamped', [True, False])
def test_a_joint_that_two_publishers_send_has_its_own_elapsed_time(stamped: bool) -> None:
    bounds = JointBounds.of_speeds(np.full(3, 2.0), timeouts=1.0)
    states = JointStateMonitor(['a', 'b', 'c'], bounds)

    def feed(names: list[str], positions: list[float], now: float) -> Reason | None:
        return states.take_sample(
            names, np.array(positions), np.zeros(2), NONE,
            stamp=now if stamped else 0.0, clock=now, received=now,
        )  # fmt: skip

    assert feed(['a', 'b'], [0.0, 0.0], 100.0) is None
    for k in range(1, 101):
        assert feed(['b', 'c'], [0.0, 0.0], 100.0 + 0.002 * k) is None
    # The joint a was silent for 0.2 s, in which it may have moved by 0.4 rad; b was not.
    assert feed(['a', 'b'], [0.3, 0.3], 100.202) is Reason.POSITION_JUMP
    assert feed(['a', 'b'], [0.3, 0.0], 100.204) is None


def test_positions_that_jumped_before_all_joints_came_are_taken_later() -> None:
    robot = Robot()
    robot.q[0] = 1.0
    rejected = 0
    while robot.feed() is Reason.POSITION_JUMP:
        rejected += 1
    assert rejected == pytest.approx(2.0 * TIMEOUT / PERIOD, abs=1)


def reach_of(model: RobotModel, margin: float, elapsed: float) -> list[bool]:
    """Return which joints of a robot may be 100 rad or m away after some time."""
    settings = Settings(
        joints=model.joint_names, velocity_limit_factor=margin, joint_states_timeout=3600.0
    )
    bounds = JointBounds.of_robot(model, resolve(settings, model))
    bounds.table[LOWER : UPPER + 1] = [[-np.inf], [np.inf]]  # far beyond the limits of the URDF

    def accepts(joint: int) -> bool:
        states, zero = JointStateMonitor(model.joint_names, bounds), np.zeros(1)
        name = model.joint_names[joint : joint + 1]
        for q, now in ((0.0, 5.0), (100.0, 5.0 + elapsed)):
            reason = states.take_sample(
                name, np.array([q]), zero, NONE, stamp=0.0, clock=now, received=now
            )
        return reason is None

    return [accepts(joint) for joint in range(model.nv)]


def test_the_limits_are_those_of_the_urdf_times_the_margin() -> None:
    model = panda_arm()
    slow = model.velocity_limits < 2.5
    assert slow.tolist() == [True] * 4 + [False] * 3
    for margin in (1.0, 2.0):
        assert reach_of(model, margin, 99.98 / margin / 2.61) == [False] * 7
        assert reach_of(model, margin, 100.0 / margin / 2.61) == (~slow).tolist()
        assert reach_of(model, margin, 100.0 / margin / 2.175) == [True] * 7
    assert reach_of(model, 0.0, 0.0) == [True] * 7


def test_a_velocity_limit_of_zero_means_unlimited() -> None:
    text = (ROOT / 'urdf' / 'panda_arm.urdf').read_text().replace('velocity="2.61', 'velocity="0')
    assert reach_of(load(text), 2.0, 0.0) == [False] * 4 + [True] * 3


@pytest.mark.parametrize('kept', [1.0, 0.5, 0.1])
@pytest.mark.parametrize('stamped', [True, False])
@pytest.mark.parametrize('name', ['panda', 'ur10'])
def test_real_arms_never_jump_with_lost_samples(name: str, stamped: bool, kept: float) -> None:
    pytest.importorskip('rosbags', reason='rosbags is not installed')
    from rnea_ros.recordings import read_joint_states

    samples = list(read_joint_states(recording(f'{name}_exciting_trajectory.db3')))
    if name == 'panda':
        limits = panda_arm().velocity_limits
    else:
        limits = np.array([2.16, 2.16, 3.15, 3.2, 3.2, 3.2])  # of the vendor's URDF
    joints = list(samples[0].names)
    monitor = JointStateMonitor(joints, JointBounds.of_speeds(2.0 * limits, timeouts=10.0))
    rng = np.random.default_rng(6)
    for sample in samples:
        if rng.random() > kept:
            continue
        received = 1.0 + sample.time + rng.uniform(0.0, 0.004)  # of a loop of 250 Hz
        reason = monitor.take_sample(
            joints, np.array(sample.position), np.array(sample.velocity), NONE,
            stamp=1.0 + sample.time if stamped else 0.0, clock=1.0 + sample.time,
            received=received,
        )
        assert reason is None
