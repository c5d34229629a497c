# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Random goals and trajectories through the path that topic and action share; no DDS."""

from array import array
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.control.control_rig import Rig, two_joint_arm
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rclpy.duration import Duration
from rclpy.serialization import serialize_message
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from rnea_ros.errors import RequestRejectedError
from rnea_ros.feedforward.law import GravityFeedback
from rnea_ros.feedforward.trajectory import (
    Goal,
    GoalSample,
    JointRules,
    JointTolerance,
    default_tolerances,
)
from rnea_ros.node.follow_joint_trajectory import fill_feedback
from rnea_ros.node.motion_requests import REJECTIONS, GoalTolerances, MotionRequests

JOINTS = ('shoulder', 'elbow')
GOALS = 1200
VALUES = (0.0, -1.0, 0.003, 0.01, 0.1, np.inf)


class Bench:
    """
    A controlled arm, and what judges motions for it.

    :param rng: source of every choice
    :param replacement: whether trajectories are joined to the active one
    """

    def __init__(self, rng: np.random.Generator, *, replacement: bool = False) -> None:
        self.rng = rng
        self.rig = Rig(
            two_joint_arm(), mode=GravityFeedback, kp=(200.0, 100.0), kd=(10.0, 5.0),
            ramp_duration=0.01,
        )
        self.rig.activate()
        rules = JointRules(
            JOINTS, lower=np.full(2, -2.0), upper=np.full(2, 2.0),
            continuous=np.array([False, True]), velocity_limits=np.full(2, 20.0),
            start_tolerance=0.5, allow_partial_joints_goal=True,
            allow_trajectory_replacement=replacement,
        )
        setup = SimpleNamespace(
            rules=rules, settings=self.rig.resolved, state_type=None,
            tolerances=default_tolerances(JOINTS, {'elbow': 0.5}, {}, 0.01, 0.0),
            deceleration=None,
        )
        log = SimpleNamespace(error=lambda *_, **__: None)
        clock = SimpleNamespace(latest=lambda: self.rig.now, stamp=lambda: self.rig.now)
        self.rejections: Counter[str] = Counter()
        self.motions = MotionRequests(
            SimpleNamespace(get_logger=lambda: log),
            SimpleNamespace(setup=setup),  # type: ignore[arg-type]
            self.rig.controller,
            clock,  # type: ignore[arg-type]
            self.rejections,
        )

    def message(self) -> bytes:
        """Return a trajectory near the robot, with faults in about half of them."""
        rng = self.rng
        count = int(rng.integers(0, 4))
        names = list(JOINTS[: 1 + int(rng.random() < 0.9)])
        times = np.cumsum(rng.choice([0.0, 0.003, 0.1, 1.0], count, p=[0.05, 0.4, 0.4, 0.15]))
        message = JointTrajectory(joint_names=names)
        for time in times:
            q = self.rig.q[: len(names)] + 0.02 * rng.normal(size=len(names))
            point = JointTrajectoryPoint(positions=array('d', q))
            if rng.random() < 0.3:
                point.velocities = array('d', 0.1 * rng.normal(size=len(names)))
            if rng.random() < 0.05:
                point.positions[0] = float(rng.choice([np.nan, np.inf, 1e300, 3.0]))
            point.time_from_start = Duration(seconds=float(time)).to_msg()
            message.points.append(point)
        if message.points and rng.random() < 0.8:
            message.points[-1].velocities = array('d', [0.0] * len(names))
        if rng.random() < 0.1:
            message.header.stamp.sec = int(self.rig.now + rng.integers(-1, 2))
        data = bytearray(serialize_message(message))
        if rng.random() < 0.1:
            data[int(rng.integers(4, len(data)))] = int(rng.integers(256))
        return bytes(data)

    def tolerances(self) -> GoalTolerances:
        """Return tolerances, some of them invalid."""
        rng = self.rng

        def of_joints() -> list[JointTolerance]:
            names = [name for name in JOINTS if rng.random() < 0.3]
            stated = [JointTolerance(name, *map(float, rng.choice(VALUES, 3))) for name in names]
            if rng.random() < 0.02:
                stated.append(JointTolerance('wrist', 0.1, 0.1, 0.1))
            if rng.random() < 0.02:
                stated.append(JointTolerance('elbow', float(rng.choice([-2.0, np.nan])), 0.0, 0.0))
            return stated

        return GoalTolerances(of_joints(), of_joints(), float(rng.choice([0.0, 0.002, -1.0])))

    def run(self) -> None:
        """Let some ticks pass; the robot follows, or is held back."""
        follows = self.rng.random() < 0.8
        for _ in range(int(self.rng.integers(0, 12))):
            desired = self.rig.controller.reference_at(self.rig.now + self.rig.period)
            if desired is not None and follows:
                self.rig.q[:], self.rig.qd[:] = desired.position, desired.velocity
            self.rig.tick()


def test_motions_are_rejected_while_commands_are_withheld() -> None:
    bench = Bench(np.random.default_rng(0))
    point = JointTrajectoryPoint(positions=[0.1, 0.0])
    point.time_from_start = Duration(seconds=1).to_msg()
    message = bytes(serialize_message(JointTrajectory(joint_names=list(JOINTS), points=[point])))
    bench.rig.controller.permitted = False
    bench.rig.tick()
    bench.motions.on_message(message)
    bench.motions.on_message(bytes(serialize_message(JointTrajectory())))
    assert bench.rejections == {'joint_trajectory/commands_withheld': 1}
    with pytest.raises(RequestRejectedError, match='commands_withheld'):
        bench.motions.goal(message, GoalTolerances([], [], 0.0))
    bench.rig.controller.permitted = True
    bench.rig.run(0.1)
    assert bench.rig.controller.reference_at(bench.rig.now) is None
    bench.motions.on_message(message)
    bench.rig.tick()
    assert bench.rig.controller.reference_at(bench.rig.now) is not None


def pursue(goals: int, seed: int, *, replacement: bool) -> Counter[str]:
    """Send random goals; return how often each kind of answer came."""
    rng = np.random.default_rng(seed)
    answers: Counter[str] = Counter()
    bench = Bench(rng, replacement=replacement)
    pursued: Goal | None = None
    for number in range(goals):
        if number % 400 == 399:
            bench = Bench(rng, replacement=replacement)
            pursued = None
        if rng.random() < 0.2:
            bench.motions.on_message(bench.message())
        if pursued is not None and rng.random() < 0.1:
            bench.rig.controller.cancel(pursued)
        try:
            motion: Any = bench.motions.goal(bench.message(), bench.tolerances())
        except REJECTIONS as error:
            answers[f'rejected {error.word}'] += 1
        else:
            before, pursued = pursued, motion.goal
            bench.rig.controller.follow(motion.motion, motion.start, motion.goal)
            if rng.random() < 0.7:
                bench.rig.tick()
                assert before is None or before.result is not None, 'a replaced goal goes on'
        bench.run()
        if pursued is not None and pursued.result is not None:
            answers[pursued.result.code.name] += 1
            pursued = None
    assert bench.rig.controller.error is None
    return answers


@pytest.mark.parametrize('replacement', [False, True])
def test_random_goals_break_no_rule_of_the_commands(*, replacement: bool) -> None:
    """The rig inspects every command: finite, within limits, no step above the rate limit."""
    answers = pursue(GOALS, seed=1, replacement=replacement)
    for answer in (
        'SUCCESSFUL', 'PATH_TOLERANCE_VIOLATED', 'GOAL_TOLERANCE_VIOLATED', 'INVALID_GOAL',
        'rejected invalid_tolerance', 'rejected malformed', 'rejected no_points',
        'rejected not_finite', 'rejected position_limit', 'rejected ended_in_past',
    ):
        assert answers[answer], answers


def test_a_goal_without_points_is_rejected_and_the_active_one_goes_on() -> None:
    bench = Bench(np.random.default_rng(0))
    point = JointTrajectoryPoint(positions=[0.1, 0.1])
    point.time_from_start.sec = 1
    nothing = GoalTolerances([], [], 0.0)
    data = serialize_message(JointTrajectory(joint_names=list(JOINTS), points=[point]))
    motion = bench.motions.goal(data, nothing)
    bench.rig.controller.follow(motion.motion, motion.start, motion.goal)
    with pytest.raises(REJECTIONS, match='no_points'):
        bench.motions.goal(serialize_message(JointTrajectory(joint_names=list(JOINTS))), nothing)
    bench.rig.run(0.1)
    assert motion.goal.result is None
    assert motion.goal.sample is not None


class OlderFeedback:
    """The fields of ``FollowJointTrajectory.Feedback`` in control_msgs 4.8 (Humble) and 5.8."""

    __slots__ = ('actual', 'desired', 'error', 'header', 'joint_names')

    def __init__(self) -> None:
        self.desired, self.actual, self.error = (JointTrajectoryPoint() for _ in range(3))


class Feedback(OlderFeedback):
    """Those of control_msgs 6.3 and newer."""

    __slots__ = ('index',)

    def __init__(self) -> None:
        super().__init__()
        self.index = 0


@pytest.mark.parametrize('kind', [OlderFeedback, Feedback])
def test_feedback_has_the_index_of_the_point_if_there_is_one(kind: type[OlderFeedback]) -> None:
    desired, actual = np.arange(6.0).reshape(3, 2), np.ones((2, 2))
    sample = GoalSample(5.0, 0.5, 0.25, desired, actual, desired[:2] - actual)
    feedback = kind()
    fill_feedback(feedback, sample, np.array([0.2, 1.0]))
    assert list(feedback.desired.positions) == [0.0, 1.0]
    assert list(feedback.desired.accelerations) == [4.0, 5.0]
    assert list(feedback.error.velocities) == [1.0, 2.0]
    assert feedback.actual.time_from_start.nanosec == 500_000_000
    assert feedback.desired.time_from_start.nanosec == 250_000_000
    assert getattr(feedback, 'index', 1) == 1
