# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Two simulated arms under teleoperation, in one process: controls, link with delay, hand and wall.

It is the code of the nodes without their topics, so a busy computer changes no result.
:mod:`teleoperation_demo` lets a hand guide the leader.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from controlled_arm import PERIOD, ControlledArm, Wall
import numpy as np

from rnea_ros.arrays import Array
from rnea_ros.feedforward.laws import ComputedTorque, Gravity
from rnea_ros.feedforward.motion import Setpoint, TrajectoryPoint, TrajectoryRequest
from rnea_ros.feedforward.settings import AdditionalEffortSettings
from rnea_ros.messages import JointStateSample
from rnea_ros.sim.demo.arm import DemoArm
from rnea_ros.sim.hand import ScriptedHand
from rnea_ros.teleoperation import (
    Coupling,
    CouplingState,
    FeedbackSettings,
    FeedbackSource,
    TeleoperationSettings,
    follower_rules,
    leader_inertia,
)

KP, KD = 400.0, 40.0  # of the follower's computed torque, 1/s^2 and 1/s
LIMIT_SHARE = 0.35  # limit of the efforts on the leader, as a share of the effort limits
OFFSET = 0.05  # of the follower's joints from the leader's at the start, rad or m
START = 100.0  # monotonic time, s


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
    """
    A leader, guided by a hand, and a follower; the link between has a delay each way, s.

    :param show: is called after each tick
    """

    def __init__(
        self, arm: DemoArm, delay: float, show: Callable[[TwoArms], None] | None = None
    ) -> None:
        self._arm, model, joints, self._show = arm, arm.model, arm.joints, show
        self._numbers = np.array([model.joint_names.index(name) for name in joints])
        limits = tuple((LIMIT_SHARE * model.effort_limits[self._numbers]).tolist())
        pose = arm.plan.pose
        additional = AdditionalEffortSettings(limits=limits)
        self.leader = ControlledArm(arm, pose, 1, mode=Gravity, additional_effort=additional)
        self.follower = ControlledArm(
            arm, pose + OFFSET, 2, mode=ComputedTorque, kp=(KP,), kd=(KD,)
        )
        feedback = FeedbackSettings(
            FeedbackSource.EXTERNAL_EFFORT, limits=limits, armature=tuple(arm.plan.armature)
        )
        self.coupling = Coupling(
            TeleoperationSettings(joints=joints, feedback=feedback),
            follower_rules(model, joints), leader_inertia(model, joints),
        )
        self.link = model.description.joints[joints[-1]].child if model.description else ''
        self.wall = Wall(self.follower.robot, model, self.link)
        self.hand = ScriptedHand(self.leader.robot)
        self.rest()
        ticks = 1 + round(delay / PERIOD)
        self._forth: deque[Any] = deque([None] * ticks)
        self._back: deque[Any] = deque([None] * ticks)
        self.now = START

    def rest(self) -> None:
        """Let the hand hold the start pose."""
        pose = TrajectoryPoint(0.0, positions=tuple(self._arm.plan.pose.tolist()))
        self.hand.guide(TrajectoryRequest.of_points(self._arm.joints, [pose]))

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
        joints = self._arm.joints
        self._back.append(follower.measure(now))
        received = ((coupling.leader, leader.measure(now)), (coupling.follower, self._back[0]))
        for inputs, message in received:
            if message is None:
                continue
            states, effort = message
            inputs.states.take_sample(*states, stamp=0.0, clock=now, received=now)
            if effort is not None:
                nothing = np.empty(0)
                inputs.take_effort(JointStateSample(joints, nothing, nothing, effort), now)
        self._back.popleft()
        output = coupling.step(now)
        self._forth.append(output.setpoint)
        setpoint = self._forth.popleft()
        if setpoint is not None:
            follower.control.follow(Setpoint(None, joints, *setpoint), None)
        if output.effort is not None:
            leader.control.additional_effort.take_sample(
                joints, output.effort, stamp=0.0, clock=now, received=now
            )
        leader.compute(now)
        follower.compute(now)
        for _ in range(round(1000.0 * PERIOD)):
            self.hand.update()
            self.wall.update()
            leader.robot.step(leader.command)
            follower.robot.step(follower.command)
        q, qd = leader.robot.motion
        if self._show is not None:
            self._show(self)
        return (
            now - START, q.copy(), follower.robot.motion[0].copy(), np.abs(qd).max(),
            -self.wall.force, self.hand_force()[0],
        )

    def hand_force(self) -> Array:
        """Return the hand's force, in the root link's axes, that its efforts correspond to, N."""
        model, full = self._arm.model, self._arm.model.neutral_position
        full[self._numbers] = self.leader.robot.motion[0]
        jacobian = model.jacobian(full, self.link)[:, self._numbers]
        wrench = np.linalg.lstsq(jacobian.T, self.hand.efforts, rcond=1e-3)[0]
        force: Array = model.forward_kinematics(full, self.link)[:3, :3] @ wrench[3:]
        return force
