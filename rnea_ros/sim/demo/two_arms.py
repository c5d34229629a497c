# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Two simulated arms under teleoperation, in one process: controls, link with delay, hand and wall.

It is the code of the nodes without their topics, so a busy computer changes no result.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array
from ...feedforward import FeedforwardController
from ...feedforward.laws import ComputedTorque, Gravity
from ...feedforward.measured import JointStateMonitor
from ...feedforward.motion import Setpoint, TrajectoryPoint, TrajectoryRequest
from ...feedforward.settings import AdditionalEffortSettings, Settings, resolve
from ...messages import JointStateSample
from ...robot import ReferenceFrame, RobotModel, Wrench
from ...teleoperation import (
    Coupling,
    CouplingState,
    FeedbackSettings,
    FeedbackSource,
    TeleoperationSettings,
    follower_rules,
    leader_inertia,
)
from ..hand import ScriptedHand
from ..physics import Noise, SimulatedRobot
from .arm import DemoArm
from .robot import EFFORT_NOISE, GOOD_MODEL, POSITION_NOISE, VELOCITY_NOISE, with_model_error

PERIOD = 0.002  # of both controls and of the teleoperation, s
KP, KD = 400.0, 40.0  # of the follower's computed torque, 1/s^2 and 1/s
LIMIT_SHARE = 0.35  # limit of the efforts on the leader, as a share of the effort limits
OFFSET = 0.05  # of the follower's joints from the leader's at the start, rad or m
FADE = 0.1  # ramp of the controls at the start, s
START = 100.0  # monotonic time, s


class SimulatedArm:
    """An arm and its control; the seed is that of the model's errors and of the noise."""

    def __init__(self, arm: DemoArm, pose: Array, seed: int, **settings: Any) -> None:
        urdf = with_model_error(arm.urdf, GOOD_MODEL, np.random.default_rng(seed))
        self.robot = SimulatedRobot(
            urdf, joints=arm.joints, initial_positions=pose, armature=arm.plan.armature,
            noise=Noise(POSITION_NOISE, VELOCITY_NOISE, EFFORT_NOISE, seed), command_delay=1,
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
    """A stiff, damped wall in front of a link of an arm, normal to the root link's x axis."""

    STIFFNESS, DAMPING = 2e4, 300.0  # N/m, N s/m

    def __init__(self, arm: SimulatedArm, model: RobotModel, link: str, joints: Array) -> None:
        self._robot, self._model, self._link, self._joints = arm.robot, model, link, joints
        self.position = np.inf
        self.force = 0.0

    @property
    def place(self) -> float:
        """Place of the link along the wall's normal, m."""
        return float(self._model.forward_kinematics(self._state()[0], self._link)[0, 3])

    def _state(self) -> tuple[Array, Array]:
        q, qd = self._model.neutral_position, np.zeros(self._model.nv)
        q[self._joints], qd[self._joints] = self._robot.motion
        return q, qd

    def update(self) -> None:
        """Push the link in the next step; call this before every step."""
        if self.position == np.inf:
            return
        q, qd = self._state()
        depth = self.place - self.position
        normal = self._model.forward_kinematics(q, self._link)[0, :3]
        speed = float(normal @ self._model.jacobian(q, self._link)[3:] @ qd)
        self.force = 0.0
        if depth > 0.0:
            self.force = -max(self.STIFFNESS * depth + self.DAMPING * speed, 0.0)
        push = Wrench(force=(self.force, 0.0, 0.0), frame=ReferenceFrame.ROOT_LINK)
        self._robot.apply_push(self._link, push)


@dataclass(frozen=True)
class Record:
    """What was recorded, one row a tick."""

    time: Array  # shape (N,), s
    leader: Array  # positions, shape (N, m), rad or m
    follower: Array  # positions, shape (N, m), rad or m
    speed: Array  # greatest speed of a joint of the leader, shape (N,), rad/s or m/s
    contact: Array  # force of the follower on the wall, shape (N,), N
    felt: Array  # force of the leader on the hand along the same axis, shape (N,), N


class TwoArms:
    """A leader, guided by a hand, and a follower; the link between has a delay each way, s."""

    def __init__(self, arm: DemoArm, delay: float, **settings: Any) -> None:
        model, joints = arm.model, arm.joints
        numbers = np.array([model.joint_names.index(name) for name in joints])
        limits = LIMIT_SHARE * model.effort_limits[numbers]
        additional = AdditionalEffortSettings(limits=tuple(limits.tolist()))
        self.leader = SimulatedArm(
            arm, arm.plan.pose, 1, mode=Gravity, additional_effort=additional
        )
        self.follower = SimulatedArm(
            arm, arm.plan.pose + OFFSET, 2, mode=ComputedTorque, kp=(KP,), kd=(KD,)
        )
        given: dict[str, Any] = {
            'joints': joints,
            'feedback': FeedbackSettings(
                FeedbackSource.EXTERNAL_EFFORT, limits=tuple(limits.tolist()),
                armature=tuple(arm.plan.armature),
            ),
        }
        self.coupling = Coupling(
            TeleoperationSettings(**(given | settings)), follower_rules(model, joints),
            leader_inertia(model, joints),
        )
        self.link = model.description.joints[joints[-1]].child if model.description else ''
        self.wall = Wall(self.follower, model, self.link, numbers)
        self.hand = ScriptedHand(self.leader.robot)
        self._pose = TrajectoryPoint(0.0, positions=tuple(arm.plan.pose.tolist()))
        self._model, self._numbers, self._joints = model, numbers, joints
        self.rest()
        ticks = 1 + round(delay / PERIOD)
        self._forth: deque[Any] = deque([None] * ticks)
        self._back: deque[Any] = deque([None] * ticks)
        self.now = START

    def rest(self) -> None:
        """Let the hand hold the start pose."""
        self.hand.guide(TrajectoryRequest.of_points(self._joints, [self._pose]))

    def run(self, duration: float) -> Record:
        """Go on for a time, s."""
        rows = [self._tick() for _ in range(round(duration / PERIOD))]
        return Record(*(np.array(column) for column in zip(*rows, strict=True)))

    def couple(self) -> None:
        """Go on until the arms are coupled, and all has begun."""
        while self.coupling.state is not CouplingState.COUPLED and self.now < START + 20.0:
            self.run(0.1)
        self.run(1.0)

    def _tick(self) -> tuple[Any, ...]:
        self.now = now = self.now + PERIOD
        leader, follower, coupling = self.leader, self.follower, self.coupling
        self._back.append(follower.measure(now))
        received = ((coupling.leader, leader.measure(now)), (coupling.follower, self._back[0]))
        for inputs, message in received:
            if message is None:
                continue
            states, effort = message
            inputs.states.take_sample(*states, stamp=0.0, clock=now, received=now)
            if effort is not None:
                nothing = np.empty(0)
                inputs.take_effort(JointStateSample(self._joints, nothing, nothing, effort), now)
        self._back.popleft()
        output = coupling.step(now)
        self._forth.append(output.setpoint)
        setpoint = self._forth.popleft()
        if setpoint is not None:
            follower.control.follow(Setpoint(None, self._joints, *setpoint), None)
        if output.effort is not None:
            leader.control.additional_effort.take_sample(
                self._joints, output.effort, stamp=0.0, clock=now, received=now
            )
        leader.compute(now)
        follower.compute(now)
        for _ in range(round(1000.0 * PERIOD)):
            self.hand.update()
            self.wall.update()
            leader.robot.step(leader.command)
            follower.robot.step(follower.command)
        q, qd = leader.robot.motion
        return (
            now - START, q.copy(), follower.robot.motion[0].copy(), np.abs(qd).max(),
            -self.wall.force, self._felt(q),
        )

    def _felt(self, q: Array) -> float:
        """Return the force on the hand along the wall's normal that its efforts correspond to."""
        full = self._model.neutral_position
        full[self._numbers] = q
        jacobian = self._model.jacobian(full, self.link)[:, self._numbers]
        wrench = np.linalg.lstsq(jacobian.T, self.hand.efforts, rcond=1e-3)[0]
        turned = self._model.forward_kinematics(full, self.link)[0, :3]
        return float(turned @ wrench[3:])
