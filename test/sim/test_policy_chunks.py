# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
An arm in MuJoCo that follows the chunks of a policy, in lockstep at 1 kHz.

Each chunk has the next 0.6 s of the demo's motion and is joined to the one before, five times a
second. The robot equals its model.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from rnea_ros.feedforward import CONTROLLING, FeedforwardController, trajectory
from rnea_ros.feedforward.inputs import JointStateMonitor
from rnea_ros.feedforward.law import ComputedTorque
from rnea_ros.feedforward.settings import Settings, resolve
from support.control.control_rig import panda_arm
from support.models.robots import ROOT

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from rnea_ros.sim.demo.motion import KD, KP, sine_motion
from rnea_ros.sim.physics import SimulatedRobot

MODEL = panda_arm()
URDF = (ROOT / 'urdf/panda_arm.urdf').read_text(encoding='utf-8')
POSE = np.array([0.0, -math.pi / 4, 0.0, -3 * math.pi / 4, 0.0, math.pi / 2, math.pi / 4])
LEAD_IN, DURATION, REPLAN = 500, 1500, 200
"""Start of the motion, its duration, and time between two chunks, ms."""

HORIZON = 0.6
"""Length of a chunk, s."""


class Run(NamedTuple):
    """
    :param error: root mean square of the distance from the policy's motion, rad
    :param jerk: root mean square of the rate of change of the commands, N m/s
    :param step: greatest change of a command in a tick, N m
    """

    error: float
    jerk: float
    step: float


def run(interpolation: trajectory.Interpolation, rate: float) -> Run:
    joints = MODEL.joint_names
    robot = SimulatedRobot(URDF, initial_positions=POSE)
    settings = Settings(
        joints=joints, rate=1e3, mode=ComputedTorque, kp=(KP,), kd=(KD,), ramp_duration=0.2,
        velocity_limit_factor=0.0,
    )
    states = JointStateMonitor(joints)
    control = FeedforwardController(MODEL, resolve(settings, MODEL), states)
    policy = sine_motion(MODEL, joints, POSE, 1e-3 * DURATION)
    rules = trajectory.JointRules(
        joints, MODEL.position_lower, MODEL.position_upper, MODEL.continuous,
        MODEL.velocity_limits, interpolation=interpolation, allow_trajectory_replacement=True,
    )
    ahead = np.arange(round(HORIZON * rate) + 1) / rate

    def motion_at(now: Any) -> Any:
        return policy.at(np.clip(np.atleast_1d(now) - 1e-3 * LEAD_IN, 0.0, 1e-3 * DURATION))[0]

    errors, commands = [], []
    command: Any = None
    for k in range(LEAD_IN + DURATION):
        now = 1e-3 * k
        measured = robot.state()
        assert states.take_sample(joints, *measured, stamp=now, clock=now, received=now) is None
        if k % REPLAN == REPLAN // 2:
            # The handover is three periods later, as in the node.
            handover = control.handover(now + 0.003)
            points = zip(ahead, motion_at(now + ahead), strict=True)
            request = trajectory.TrajectoryRequest.of_points(
                joints, [trajectory.TrajectoryPoint(float(t), q) for t, q in points], now
            )
            motion = trajectory.compile_trajectory(
                request, rules, now=now + 0.003 if handover else now, position=measured[0],
                velocity=measured[1], handover=handover,
            )
            control.follow(motion, now)
        step = control.step(now)
        if step is not None:
            command = step.copy()
            if k > LEAD_IN:
                commands.append(command)
                errors.append(measured[0] - motion_at(now)[0])
        robot.step(command)
    assert control.state in CONTROLLING
    changes = np.diff(commands, axis=0)
    return Run(
        float(np.sqrt(np.mean(np.square(errors)))), 1e3 * float(np.sqrt(np.mean(changes**2))),
        float(np.abs(changes).max()),
    )


def test_a_spline_through_chunks_has_less_torque_rate_and_less_error() -> None:
    linear, spline = (run(each, 30.0) for each in trajectory.Interpolation)
    for each in (linear, spline):
        print(f'error {1e3 * each.error:.3f} mrad, torque rate {each.jerk:.1f} N m/s, '
              f'greatest step {each.step:.3f} N m')
    assert spline.error < 0.1 * linear.error
    assert spline.jerk < 0.25 * linear.jerk
