# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The node's control without ROS: the same limits, ramps and reactions in a loop of your own.

A simulated arm becomes weightless, follows a motion under computed torque, and loses its joint
states: the control holds gravity for a second, ramps to zero, and says why.
"""

import numpy as np

from rnea_ros import RobotModel
from rnea_ros.feedforward import FeedforwardController, JointBounds, State
from rnea_ros.feedforward.laws import ComputedTorque
from rnea_ros.feedforward.measured import JointStateMonitor
from rnea_ros.feedforward.motion import CUBIC, Knots, Trajectory
from rnea_ros.feedforward.settings import Settings, resolve
from rnea_ros.resources import share_path
from rnea_ros.sim.physics import SimulatedRobot

POSE = np.array([0.0, -0.8, 0.0, -2.2, 0.0, 1.6, 0.8])
GOAL = POSE + 0.4
PERIOD = 0.002


def motion(joints: tuple[str, ...]) -> Trajectory:
    """Return a cubic from pose to goal in 1.5 s, from rest to rest."""
    positions, zeros = np.stack([POSE, GOAL]), np.zeros((2, POSE.size))
    knots = Knots(np.array([0.0, 1.5]), positions, zeros, zeros, np.full(2, CUBIC))
    return Trajectory(joints, None, knots)


def main() -> tuple[float, State]:
    """Return the largest error at the goal, rad, and the last state of the control."""
    model = RobotModel.from_urdf(share_path('urdf/panda_arm.urdf'))
    arm = SimulatedRobot(
        share_path('urdf/panda_arm.urdf').read_text(encoding='utf-8'),
        initial_positions=POSE, timestep=PERIOD,
    )
    settings = resolve(Settings(
        joints=model.joint_names, rate=1.0 / PERIOD, mode=ComputedTorque, kp=(100.0,), kd=(20.0,)
    ), model)
    states = JointStateMonitor(
        model.joint_names, JointBounds.of_robot(model, settings),
    )
    control = FeedforwardController(model, settings, states)
    error, last = np.inf, control.state
    for tick in range(2700):
        now = 100.0 + tick * PERIOD  # your clock: monotonic, s
        if now < 103.0:
            q, qd, effort = arm.state()
            states.take_sample(
                model.joint_names, q, qd, effort, stamp=0.0, clock=now, received=now
            )
            error = float(np.abs(q - GOAL).max())
        if tick == 500:
            control.follow(motion(model.joint_names), None)
        command = control.step(now)
        if command is not None:
            arm.step(command)
        if control.state is not last:
            last = control.state
            reason = f' ({control.reason.value})' if control.reason else ''
            print(f'{now - 100.0:.3f} s: {last.value}{reason}')
    print(f'error at the goal {error:.4f} rad')
    return error, last


if __name__ == '__main__':
    main()
