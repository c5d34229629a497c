# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Guided by a hand, taught, played back: an arm in simulation, without ROS."""

import numpy as np
import pytest

from rnea_ros import teach

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')
pytest.importorskip('scipy', reason='scipy is not installed')

from rnea_ros.feedforward.law import ComputedTorque, FrictionModel, Gravity, VelocitySource
from rnea_ros.feedforward.settings import FrictionSettings
from rnea_ros.feedforward.trajectory import TrajectoryPoint, TrajectoryRequest, compile_trajectory
from rnea_ros.identification.excitation import RestToRestMotion, way
from rnea_ros.recordings import Recording, Sample, recording_from
from rnea_ros.sim.hand import ScriptedHand
from rnea_ros.sim.physics import Noise, SimulatedRobot
from rnea_ros.trajectory_check import TrajectoryLimits, check
from support.control.closed_loop import Array, ClosedLoop
from support.models.robots import ROOT

PANDA = ROOT / 'urdf/panda_arm.urdf'
POSE = np.array([0.3, -0.785, 0.2, -2.0, 0.4, 1.571, 0.785])
EFFORT = np.array([87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0])
COULOMB, VISCOUS, ARMATURE = 0.01 * EFFORT, 0.004 * EFFORT, np.full(7, 0.1)
TOLERANCE = 0.01
PLAYED = 0.005
"""Greatest distance between the played motion and the taught one, rad."""


class GuidedArm:
    """
    The arm under control, with friction that the control knows to 10 %, and sensor noise.

    :param seed: of noise and friction
    """

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        error = random.uniform(0.9, 1.1, (3, 7))
        robot = SimulatedRobot(
            PANDA.read_text(encoding='utf-8'), initial_positions=POSE,
            extra_friction=error[0] * COULOMB, extra_damping=error[1] * VISCOUS,
            armature=error[2] * ARMATURE, noise=Noise(2e-5, 5e-3, 0.1, seed),
        )
        self._hand = ScriptedHand(robot)
        self.joints = robot.joint_names
        self.loop = ClosedLoop(
            PANDA, POSE, simulated=robot, sense=lambda _: self._hand.update(), mode=Gravity,
            kp=(900.0,), kd=(60.0,), ramp_duration=0.1, armature=tuple(ARMATURE),
            friction=FrictionSettings(
                FrictionModel.PARAMETERS, tuple(VISCOUS), tuple(COULOMB),
                velocity=VelocitySource.DESIRED, smoothing_velocity=(0.02,),
            ),
        )
        self.limits = TrajectoryLimits.of_model(self.loop.model)

    def guide(self, times: Array, poses: Array) -> Recording:
        """
        Guide the arm through poses, with a second of rest before and after; release it.

        :param times: of the poses, shape (k,), s
        :param poses: shape (k, 7), rad
        """
        rest, begun = np.zeros(7), len(self.loop.positions)
        points = [
            TrajectoryPoint(float(time), pose, rest, rest)
            for time, pose in zip(times, poses, strict=True)
        ]
        self.loop.run(1.0)
        self._hand.guide(TrajectoryRequest.of_points(self.joints, points))
        self.loop.run(float(times[-1]) + 1.0)
        self._hand.guide(TrajectoryRequest.of_points(self.joints, []))
        self.loop.run(0.2)
        return recording_from(
            Sample(0.001 * index, self.joints, position.tolist(), (), ())
            for index, position in enumerate(self.loop.positions[begun:])
        )

    def error(self, motion: RestToRestMotion) -> float:
        """Play a motion from where the arm is; return its greatest distance from the motion."""
        loop, control = self.loop, self.loop.control
        loop.change(mode=ComputedTorque)
        loop.run(0.2)
        slow = way(self.joints, loop.q, motion.positions[0], self.limits.velocity)
        played = motion.after(slow)
        trajectory = compile_trajectory(
            played.request(self.joints), self.limits.rules(), now=loop.now, position=loop.q,
            velocity=np.zeros(7),
        )
        begun = len(loop.positions)
        control.follow(trajectory, None)
        loop.run(played.duration + 0.5)
        measured = np.array(loop.positions[begun:])
        expected = played.at(0.001 * np.arange(len(measured), dtype=np.float64))[0]
        return float(np.abs(measured - expected)[round(1000.0 * slow.duration):].max())


@pytest.mark.parametrize('seed', range(2))
def test_a_guided_motion_is_taught_within_tolerance_and_limits_and_played(seed: int) -> None:
    random, arm = np.random.default_rng(seed), GuidedArm(seed)
    count = int(random.integers(2, 6))
    poses = POSE + np.cumsum(random.uniform(-0.8, 0.8, (count, 7)), axis=0)
    poses = np.clip(poses, arm.limits.lower + 0.1, arm.limits.upper - 0.1)
    times = np.cumsum(random.uniform(0.8, 2.5, count))
    recording = arm.guide(times, poses)

    shown = teach.demonstration(recording, arm.limits, arm.joints)
    assert 0.6 < shown.trimmed[0] < 1.3
    limits = teach.MotionLimits.of(arm.loop.model, arm.limits, {})
    taught = teach.smoothed(shown, limits, TOLERANCE)
    apart = np.abs(taught.motion.at(taught.demonstration.time)[0] - shown.position)
    assert apart.max() < TOLERANCE
    np.testing.assert_allclose(apart.max(axis=0), taught.deviation, atol=1e-9)
    request = taught.motion.request(arm.joints)
    assert check(arm.loop.model, request, limits.limits).verdict == 0
    assert not taught.motion.velocities[[0, -1]].any()
    assert arm.error(taught.motion) < PLAYED
