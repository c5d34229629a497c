# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Random goals and trajectories through the path that topic and action share; no DDS."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from support.control.control_rig import Rig, two_joint_arm
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rclpy.serialization import serialize_message

from rnea_ros.feedforward.law import GravityFeedback
from rnea_ros.feedforward.trajectory import (
    Goal,
    JointRules,
    JointTolerance,
    default_tolerances,
)
from rnea_ros.node.motion_requests import REJECTIONS, GoalTolerances
from support.control.motion_bench import JOINTS, MotionBench, trajectory

GOALS = 800
VALUES = (0.0, -1.0, 0.003, 0.01, 0.1, np.inf)


def new_bench(*, replacement: bool) -> MotionBench:
    rules = JointRules(
        JOINTS, lower=np.full(2, -2.0), upper=np.full(2, 2.0),
        continuous=np.array([False, True]), velocity_limits=np.full(2, 20.0), start_tolerance=0.5,
        allow_partial_joints_goal=True, allow_trajectory_replacement=replacement,
    )
    rig = Rig(
        two_joint_arm(), mode=GravityFeedback, kp=(200.0, 100.0), kd=(10.0, 5.0),
        ramp_duration=0.01,
    )
    return MotionBench(rig, rules, default_tolerances(JOINTS, {'elbow': 0.5}, {}, 0.01, 0.0))


def random_message(rng: np.random.Generator, rig: Rig) -> bytes:
    """Return a trajectory near the robot, with faults in about half of them."""
    count = int(rng.integers(0, 4))
    names = JOINTS[: 1 + int(rng.random() < 0.9)]
    times = np.cumsum(rng.choice([0.0, 0.003, 0.1, 1.0], count, p=[0.05, 0.4, 0.4, 0.15]))
    q = rig.q[: len(names)] + 0.02 * rng.normal(size=(count, len(names)))
    message = trajectory(times.tolist(), q.tolist(), names)
    for point in message.points:
        if rng.random() < 0.3:
            point.velocities = (0.1 * rng.normal(size=len(names))).tolist()
        if rng.random() < 0.05:
            point.positions[0] = float(rng.choice([np.nan, np.inf, 1e300, 3.0]))
    if message.points and rng.random() < 0.8:
        message.points[-1].velocities = [0.0] * len(names)
    if rng.random() < 0.1:
        message.header.stamp.sec = int(rig.now + rng.integers(-1, 2))
    data = bytearray(serialize_message(message))
    if rng.random() < 0.1:
        data[int(rng.integers(4, len(data)))] = int(rng.integers(256))
    return bytes(data)


def random_tolerances(rng: np.random.Generator) -> GoalTolerances:
    """Return tolerances, some of them invalid."""

    def of_joints() -> list[JointTolerance]:
        names = [name for name in JOINTS if rng.random() < 0.3]
        stated = [JointTolerance(name, *map(float, rng.choice(VALUES, 3))) for name in names]
        if rng.random() < 0.02:
            stated.append(JointTolerance('wrist', 0.1, 0.1, 0.1))
        if rng.random() < 0.02:
            stated.append(JointTolerance('elbow', float(rng.choice([-2.0, np.nan])), 0.0, 0.0))
        return stated

    return GoalTolerances(of_joints(), of_joints(), float(rng.choice([0.0, 0.002, -1.0])))


@pytest.mark.parametrize('replacement', [False, True])
def test_random_goals_break_no_rule_of_the_commands(*, replacement: bool) -> None:
    """The rig inspects every command: finite, within limits, no step above the rate limit."""
    rng, answers = np.random.default_rng(1), Counter[str]()
    pursued: Goal | None = None
    for number in range(GOALS):
        if number % 400 == 0:
            bench, pursued = new_bench(replacement=replacement), None
        controller = bench.rig.controller
        if rng.random() < 0.2:
            bench.motions.on_message(random_message(rng, bench.rig))
        if pursued is not None and rng.random() < 0.1:
            controller.cancel(pursued)
        try:
            data, stated = random_message(rng, bench.rig), random_tolerances(rng)
            motion: Any = bench.motions.goal(data, stated)
        except REJECTIONS as error:
            answers[f'rejected {error.word}'] += 1
        else:
            before, pursued = pursued, motion.goal
            controller.follow(motion.motion, motion.start, motion.goal)
            if rng.random() < 0.7:
                bench.rig.tick()
                assert before is None or before.result is not None, 'a replaced goal goes on'
        follows = bool(rng.random() < 0.8)
        for _ in range(int(rng.integers(0, 12))):
            bench.tick(follows=follows)
        if pursued is not None and pursued.result is not None:
            answers[pursued.result.code.name] += 1
            pursued = None
        assert controller.error is None
    for answer in (
        'SUCCESSFUL', 'PATH_TOLERANCE_VIOLATED', 'GOAL_TOLERANCE_VIOLATED', 'INVALID_GOAL',
        'rejected invalid_tolerance', 'rejected malformed', 'rejected no_points',
        'rejected not_finite', 'rejected position_limit', 'rejected ended_in_past',
    ):
        assert answers[answer], answers
