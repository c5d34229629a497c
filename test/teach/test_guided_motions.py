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
from rnea_ros.identification.excitation import way
from rnea_ros.recordings import Sample, recording_from
from rnea_ros.sim.hand import ScriptedHand
from rnea_ros.sim.physics import Noise, SimulatedRobot
from rnea_ros.trajectory_check import TrajectoryLimits, check
from support.control.closed_loop import ClosedLoop
from support.models.robots import ROOT

PANDA = ROOT / 'urdf/panda_arm.urdf'
POSE = np.array([0.3, -0.785, 0.2, -2.0, 0.4, 1.571, 0.785])
EFFORT = np.array([87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0])
COULOMB, VISCOUS, ARMATURE = 0.01 * EFFORT, 0.004 * EFFORT, np.full(7, 0.1)
TOLERANCE = 0.01


def test_a_guided_motion_is_taught_within_tolerance_and_limits_and_played() -> None:
    random = np.random.default_rng(1)
    # The control knows the friction to 10 %.
    error = random.uniform(0.9, 1.1, (3, 7))
    robot = SimulatedRobot(
        PANDA.read_text(encoding='utf-8'), initial_positions=POSE,
        extra_friction=error[0] * COULOMB, extra_damping=error[1] * VISCOUS,
        armature=error[2] * ARMATURE, noise=Noise(2e-5, 5e-3, 0.1, 1),
    )
    hand, joints, rest = ScriptedHand(robot), robot.joint_names, np.zeros(7)
    loop = ClosedLoop(
        PANDA, POSE, simulated=robot, sense=lambda _: hand.update(), mode=Gravity,
        kp=(900.0,), kd=(60.0,), ramp_duration=0.1, armature=tuple(ARMATURE),
        friction=FrictionSettings(
            FrictionModel.PARAMETERS, tuple(VISCOUS), tuple(COULOMB),
            velocity=VelocitySource.DESIRED, smoothing_velocity=(0.02,),
        ),
    )
    limits = TrajectoryLimits.of_model(loop.model)
    poses = POSE + np.cumsum(random.uniform(-0.3, 0.3, (2, 7)), axis=0)
    poses = np.clip(poses, limits.lower + 0.1, limits.upper - 0.1)

    # Guided through the poses, with rest before and after, and released.
    loop.run(0.3)
    hand.guide(TrajectoryRequest.of_points(joints, [
        TrajectoryPoint(time, pose, rest, rest)
        for time, pose in zip((0.6, 1.2), poses, strict=True)
    ]))
    loop.run(1.5)
    hand.guide(TrajectoryRequest.of_points(joints, []))
    loop.run(0.2)
    recording = recording_from(
        Sample(0.001 * index, joints, position.tolist(), (), ())
        for index, position in enumerate(loop.positions)
    )

    # Taught
    shown = teach.demonstration(recording, limits, joints)
    assert 0.05 < shown.trimmed[0] < 0.5
    kept = teach.MotionLimits.of(loop.model, limits, {})
    taught = teach.smoothed(shown, kept, TOLERANCE)
    assert taught.deviation.max() < TOLERANCE
    assert check(loop.model, taught.motion.request(joints), kept.limits).verdict == 0

    # Played from where the arm is
    loop.change(mode=ComputedTorque)
    loop.run(0.2)
    slow = way(joints, loop.q, taught.motion.positions[0], limits.velocity)
    played = taught.motion.after(slow)
    trajectory = compile_trajectory(
        played.request(joints), limits.rules(), now=loop.now, position=loop.q, velocity=rest
    )
    begun = len(loop.positions)
    loop.control.follow(trajectory, None)
    loop.run(played.duration + 0.2)
    measured = np.array(loop.positions[begun:])
    expected = played.at(0.001 * np.arange(len(measured), dtype=np.float64))[0]
    distance = np.abs(measured - expected)[round(1000.0 * slow.duration) :]
    assert distance.max() < 0.005
