# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A simulated arm and its control in one process, without topics, and a wall: parts of an example.

Masses and centres of mass of the arm differ from its model, its sensors have noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rnea_ros.arrays import Array
from rnea_ros.feedforward import FeedforwardController
from rnea_ros.feedforward.measured import JointStateMonitor
from rnea_ros.feedforward.settings import Settings, resolve
from rnea_ros.identification.excitation import RestToRestMotion
from rnea_ros.messages import JointStateSample
from rnea_ros.robot import ReferenceFrame, RobotModel, Wrench
from rnea_ros.sim.demo.arm import DemoArm
from rnea_ros.sim.demo.robot import GOOD_MODEL, SENSOR_NOISE, with_model_error
from rnea_ros.sim.physics import Noise, SimulatedRobot

PERIOD = 0.002  # of the control, s
POINTS = 60  # of a straight way
FADE = 0.1  # ramp of the control at the start, s


class ControlledArm:
    """An arm and its control; the seed is that of the model's errors and of the noise."""

    def __init__(self, arm: DemoArm, pose: Array, seed: int, **settings: Any) -> None:
        urdf = with_model_error(arm.urdf, GOOD_MODEL, np.random.default_rng(seed))
        self.robot = SimulatedRobot(
            urdf, joints=arm.joints, initial_positions=pose, armature=arm.plan.armature,
            noise=Noise(*SENSOR_NOISE, seed), command_delay=1,
        )
        parameters = Settings(
            arm.joints, rate=1.0 / PERIOD, ramp_duration=FADE, armature=tuple(arm.plan.armature),
            reference_timeout=0.1, **settings,
        )
        self.states = JointStateMonitor(arm.model.joint_names)
        self.control = FeedforwardController(
            arm.model, resolve(parameters, arm.model), self.states
        )
        self.control.publish_external_effort(True)
        self.command: Array | None = None

    def measure(self, now: float) -> tuple[JointStateSample, Array | None]:
        """Return the joint states and the external efforts of the last tick."""
        sample = JointStateSample(self.robot.reported_joints, *self.robot.state())
        self.states.take_sample(*sample, stamp=now, clock=now, received=now)
        external = self.control.external_effort
        return sample, None if external is None else external.effort.copy()

    def compute(self, now: float) -> None:
        """Compute the command of this tick."""
        command = self.control.step(now)
        self.command = None if command is None else command.copy()


class Wall:
    """A stiff, damped wall in front of a link, normal to the root link's x axis."""

    STIFFNESS, DAMPING = 2e4, 300.0  # N/m, N s/m

    def __init__(self, robot: SimulatedRobot, model: RobotModel, link: str) -> None:
        self._robot, self._model, self._link = robot, model, link
        self._joints = [model.joint_names.index(name) for name in robot.joint_names]
        self.position = np.inf  # along the axis, m; infinite for no wall
        self.force = 0.0  # on the link, N

    def _state(self) -> tuple[Array, Array]:
        q, qd = self._model.neutral_position, np.zeros(self._model.nv)
        q[self._joints], qd[self._joints] = self._robot.motion
        return q, qd

    @property
    def place(self) -> float:
        """Place of the link along the axis, m."""
        return float(self._model.forward_kinematics(self._state()[0], self._link)[0, 3])

    def update(self) -> None:
        """Push the link in the next step; call this before every step."""
        if self.position == np.inf:
            return
        q, qd = self._state()
        pose = self._model.forward_kinematics(q, self._link)
        depth = float(pose[0, 3]) - self.position
        speed = float(pose[0, :3] @ self._model.jacobian(q, self._link)[3:] @ qd)
        self.force = 0.0
        if depth > 0.0:
            self.force = -max(self.STIFFNESS * depth + self.DAMPING * speed, 0.0)
        push = Wrench(force=(self.force, 0.0, 0.0), frame=ReferenceFrame.ROOT_LINK)
        self._robot.apply_push(self._link, push)


def straight_way(arm: DemoArm, link: str, length: float, duration: float) -> RestToRestMotion:
    """Return a motion of a link by a length, m, along the root link's x axis, without rotation."""
    model = arm.model
    numbers = [model.joint_names.index(name) for name in arm.joints]
    q = model.neutral_position
    q[numbers] = arm.plan.pose
    rows = [q[numbers].copy()]
    for _ in range(POINTS):
        turn = model.forward_kinematics(q, link)[:3, :3]
        twist = np.concatenate((np.zeros(3), turn.T @ [length / POINTS, 0.0, 0.0]))
        q[numbers] += np.linalg.pinv(model.jacobian(q, link)[:, numbers], 1e-3) @ twist
        rows.append(q[numbers].copy())
    times = np.linspace(0.0, duration, POINTS + 1)
    s = times / duration
    share = POINTS * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    q = np.array([np.interp(share, range(POINTS + 1), column) for column in np.transpose(rows)]).T
    qd = np.gradient(q, times, axis=0)
    qd[[0, -1]] = 0.0
    return RestToRestMotion(arm.joints, times, q, qd, np.gradient(qd, times, axis=0))
