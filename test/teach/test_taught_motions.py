# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Taught motions: tolerance, limits, rest, speed; and the demonstrations behind them."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
import math
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel, teach
from rnea_ros.arrays import Array
from rnea_ros.feedforward.laws import ComputedTorque, FrictionModel, Gravity, VelocitySource
from rnea_ros.feedforward.motion import TrajectoryPoint, TrajectoryRequest, compile_trajectory
from rnea_ros.feedforward.settings import FrictionSettings
from rnea_ros.identification.excitation import way
from rnea_ros.recordings import Sample, recording_from
from rnea_ros.teach import Demonstration, MotionLimits, TeachError, demonstration
from rnea_ros.trajectory_check import Quantity, TrajectoryLimits
from support.control.closed_loop import ClosedLoop
from support.models.robots import SHIPPED, joint, link, load, robot

pytest.importorskip('scipy', reason='scipy is not installed')

MODEL: RobotModel = load(SHIPPED[1])
JOINTS = MODEL.joint_names
POSE = np.array([0.3, -0.785, 0.2, -2.0, 0.4, 1.571, 0.785])
BOUNDS = TrajectoryLimits.of_model(MODEL)
LIMITS = MotionLimits.of(MODEL, BOUNDS, {})
EFFORT = np.array([87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0])
COULOMB, VISCOUS, ARMATURE = 0.01 * EFFORT, 0.004 * EFFORT, np.full(7, 0.1)


def shown(seed: int, noise: float) -> Demonstration:
    """Return a demonstration that begins and ends in motion, with trembling and noise."""
    random = np.random.default_rng(seed)
    time = np.cumsum(random.uniform(0.5, 1.5, int(random.uniform(120.0, 1600.0)))) / 200.0
    time -= time[0]
    position = np.tile(POSE, (len(time), 1))
    for frequency in (*random.uniform(0.1, 1.0, 3), 10.0):
        amplitude = 0.3 * random.uniform(-1.0, 1.0, 7) if frequency < 10.0 else 5e-4
        phase = random.uniform(0.0, 2.0 * np.pi, 7)
        position += amplitude * np.sin(2.0 * np.pi * frequency * time[:, np.newaxis] + phase)
    position = np.clip(position, BOUNDS.lower, BOUNDS.upper)
    position += noise * random.standard_normal(position.shape)
    return Demonstration(JOINTS, time, position, (0.0, 0.0))


@pytest.mark.parametrize(('seed', 'noise', 'tolerance'), [(0, 0.0, 1e-3), (3, 2e-3, 0.02)])
def test_paths_keep_tolerance_limits_and_rest(seed: int, noise: float, tolerance: float) -> None:
    found = teach.smoothed(shown(seed, noise), LIMITS, tolerance)
    recorded, motion = found.demonstration, found.motion
    assert (np.diff(recorded.time) > 0.0).all()
    apart = np.abs(motion.at(recorded.time)[0] - recorded.position)
    assert apart.max() <= tolerance
    assert not motion.velocities[[0, -1]].any()
    assert not motion.accelerations[[0, -1]].any()
    assert LIMITS.check(motion).verdict == 0
    np.testing.assert_allclose(apart.max(axis=0), found.deviation, atol=1e-9)


def test_a_motion_beyond_a_limit_is_slowed_down_just_enough() -> None:
    slow = MotionLimits.of(MODEL, BOUNDS.with_limits(Quantity.VELOCITY, {JOINTS[3]: 0.1}), {})
    free, found = (teach.smoothed(shown(3, 0.0), limits, 0.01) for limits in (LIMITS, slow))
    assert found.slowed is not None
    assert (found.slowed.joint, found.slowed.quantity) == (JOINTS[3], Quantity.VELOCITY)
    assert found.motion.duration > free.motion.duration
    assert np.abs(found.motion.sampled()[1][1][:, 3]).max() == pytest.approx(0.08, rel=1e-3)
    np.testing.assert_allclose(found.motion.positions, free.motion.positions, atol=1e-12)
    assert 'slowed down' in teach.report(found, BOUNDS)


def test_noise_above_the_tolerance_and_poses_beyond_limits_are_rejected() -> None:
    with pytest.raises(TeachError, match=r'joint fer_joint\d is .* rad from its recording after'):
        teach.smoothed(shown(0, 0.03), LIMITS, 1e-3)
    beyond = shown(0, 0.0)
    beyond.position[:, 3] += 2.5
    with pytest.raises(TeachError, match=r'joint fer_joint4 was .* rad beyond its limits'):
        teach.smoothed(beyond, LIMITS, 0.01)
    weak = MotionLimits.of(MODEL, BOUNDS.with_limits(Quantity.EFFORT, {JOINTS[1]: 5.0}), {})
    with pytest.raises(TeachError, match=r'gravity needs .* N m of joint fer_joint2 .*--effort'):
        teach.smoothed(shown(0, 0.0), weak, 0.01)


@pytest.mark.parametrize('seed', range(2))
def test_waypoints_are_joined_at_rest_in_the_fastest_time_of_the_limits(seed: int) -> None:
    random = np.random.default_rng(seed)
    bounds = replace(BOUNDS, acceleration=random.uniform(2.0, 20.0, 7))
    limits = MotionLimits.of(MODEL, bounds, {})
    room = BOUNDS.upper - BOUNDS.lower
    poses = [BOUNDS.lower + room * random.uniform(0.05, 0.95, 7) for _ in range(4)]
    motion = teach.through(JOINTS, poses, limits)
    np.testing.assert_allclose(motion.positions, poses, atol=1e-12)
    assert not motion.velocities.any()
    assert not motion.accelerations.any()
    assert limits.check(motion).verdict == 0
    shares = replace(bounds, velocity=0.8 * bounds.velocity, effort=0.8 * bounds.effort)
    fastest = MotionLimits.of(MODEL, shares, {})
    for first in range(3):
        ends = slice(first, first + 2)
        part = replace(
            motion, times=motion.times[ends] - motion.times[first],
            positions=motion.positions[ends], velocities=np.zeros((2, 7)),
            accelerations=np.zeros((2, 7)),
        )
        assert (fastest.check(part).verdict, fastest.check(part.slowed(1.01)).verdict) == (0, 1)


def test_a_repeated_waypoint_counts_once_and_one_pose_is_no_motion() -> None:
    poses = [POSE, POSE + 1e-3, POSE + 0.2, POSE + 0.2, POSE]
    assert [pose[0] for pose in teach.distinct(poses)] == pytest.approx([0.3, 0.5, 0.3])
    with pytest.raises(TeachError, match=r'2 waypoints, 1 of them different: .* two or more'):
        teach.distinct(poses[:2])


ARM_URDF = robot(
    link('base'), link('upper', 2.0, (0.2, 0.0, 0.0)), link('lower', 1.0, (0.1, 0.0, 0.0)),
    link('tool', 0.5), joint('shoulder', 'revolute', 'base', 'upper', axis=(0, 1, 0)),
    joint('slide', 'prismatic', 'upper', 'lower', axis=(1, 0, 0)),
    joint('roll', 'continuous', 'lower', 'tool', axis=(1, 0, 0)),
)
NAMES = ('shoulder', 'slide', 'roll')
BOUNDS_OF_ARM = TrajectoryLimits.of_model(RobotModel.from_urdf(ARM_URDF))
BEGIN, END, STOP = 1.5, 4.5, 6.0  # of the motion, and end of the recording, s


def path(time: Array) -> Array:
    """Return a motion from rest to rest, between rests."""
    s = np.clip((time - BEGIN) / (END - BEGIN), 0.0, 1.0)
    return np.outer(s**3 * (10.0 - 15.0 * s + 6.0 * s**2), (0.8, 0.2, 4.0))


def cut(time: Array, position: Array) -> Demonstration:
    samples = zip(time.tolist(), position.tolist(), strict=True)
    recording = recording_from(Sample(at, NAMES, row, (), ()) for at, row in samples)
    return demonstration(recording, BOUNDS_OF_ARM, NAMES)


@pytest.mark.parametrize('rate', [30.0, 1000.0])
@pytest.mark.parametrize('change', [
    lambda q: q + 3e-4 * np.random.default_rng(1).standard_normal(q.shape),
    lambda q: np.round(q / 0.0015) * 0.0015,
    lambda q: np.column_stack((q[:, :2], (q[:, 2] + np.pi) % math.tau - np.pi)),
], ids=['noisy', 'coarse', 'wrapped'])
def test_only_rest_at_both_ends_is_cut(rate: float, change: Callable[[Array], Array]) -> None:
    time: Array = np.arange(0.0, STOP, 1.0 / rate)
    found = cut(time + 1.7e9, change(path(time)))
    begin, left = found.trimmed
    assert BEGIN - 0.4 < begin < BEGIN + 0.25
    assert STOP - END - 0.3 < left < STOP - END + 0.4
    kept = path(found.time + begin)
    assert found.time[0] == 0.0
    np.testing.assert_allclose(found.position, kept, atol=2e-3)
    np.testing.assert_allclose(kept[[0, -1]], path(np.array([0.0, STOP])), atol=0.02)


def stall(duration: float) -> Any:
    def leave_out(time: Array, position: Array) -> tuple[Array, Array]:
        kept = (time <= 2.0) | (time > 1.995 + duration)
        return time[kept], position[kept]
    return leave_out


def changed(rows: slice, joint: int, change: float) -> Any:
    def add(time: Array, position: Array) -> tuple[Array, Array]:
        position[rows, joint] += change
        return time, position
    return add


@pytest.mark.parametrize(('spoil', 'reason'), [
    (stall(0.09), None), (stall(0.12), r'no joint states for 0\.12 s, 2\.00 s after .* again'),
    (changed(slice(301, None), 1, 0.027), None),
    (changed(slice(301, None), 1, 0.033), r'joint slide jumps by 0\.034\d? m, 3\.0[01] s after'),
    (changed(slice(321, 322), 0, 0.012), None),
    (changed(slice(321, 322), 0, -0.5), r'joint shoulder jumps by -0\.49\d? rad, 3\.21 s'),
    (changed(slice(230, 240), 0, np.nan),
     r'joint shoulder is NaN 2\.30 s after the start, and in 10 of 600 .*--omit'),
    (lambda t, q: (t[:30], q[:30]), r'the recording is 0\.29 s long: guide'),
    (lambda t, q: (t, 0.0 * q), r'no joint moved, shoulder most, by 0 rad: guide'),
    (lambda t, q: (t, 0.2 * path(BEGIN + 12.0 * (t - BEGIN))), r'moved for 0\.\d+ s only'),
    (lambda t, q: (np.where(t > 3.0, t - 2.5, t), q), r'run backwards by 2\.49 s: record'),
    (lambda t, q: (np.where(t == t[7], np.nan, t), q), 'a stamp is not finite'),
])
def test_what_is_not_a_guided_motion_is_rejected(spoil: Any, reason: str | None) -> None:
    time: Array = np.arange(0.0, STOP, 0.01)
    with pytest.raises(TeachError, match=reason) if reason else nullcontext():
        cut(*spoil(time, path(time)))
    two = recording_from(Sample(k, NAMES[:2], (0.1 * k,) * 2, (), ()) for k in range(9))
    with pytest.raises(TeachError, match='joint roll is not recorded; recorded are shoulder'):
        demonstration(two, BOUNDS_OF_ARM, NAMES)


def test_a_guided_motion_is_taught_within_tolerance_and_limits_and_played() -> None:
    pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')
    from rnea_ros.sim.hand import ScriptedHand
    from rnea_ros.sim.physics import Noise, SimulatedRobot

    random = np.random.default_rng(1)
    # The control knows the friction to 10 %.
    error = random.uniform(0.9, 1.1, (3, 7))
    robot = SimulatedRobot(
        SHIPPED[1].read_text(encoding='utf-8'), initial_positions=POSE,
        extra_friction=error[0] * COULOMB, extra_damping=error[1] * VISCOUS,
        armature=error[2] * ARMATURE, noise=Noise(2e-5, 5e-3, 0.1, 1),
    )
    hand, joints, rest = ScriptedHand(robot), robot.joint_names, np.zeros(7)
    loop = ClosedLoop(
        SHIPPED[1], POSE, simulated=robot, sense=lambda _: hand.update(), mode=Gravity,
        kp=(900.0,), kd=(60.0,), ramp_duration=0.1, armature=tuple(ARMATURE),
        friction=FrictionSettings(
            FrictionModel.PARAMETERS, tuple(VISCOUS), tuple(COULOMB),
            velocity=VelocitySource.DESIRED, smoothing_velocity=(0.02,),
        ),
    )
    poses = POSE + np.cumsum(random.uniform(-0.3, 0.3, (2, 7)), axis=0)
    poses = np.clip(poses, BOUNDS.lower + 0.1, BOUNDS.upper - 0.1)

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

    guided = teach.demonstration(recording, BOUNDS, joints)
    assert 0.05 < guided.trimmed[0] < 0.5
    taught = teach.smoothed(guided, LIMITS, 0.01)
    assert taught.deviation.max() < 0.01
    assert LIMITS.check(taught.motion).verdict == 0

    # Played from where the arm is
    loop.change(mode=ComputedTorque)
    loop.run(0.2)
    slow = way(joints, loop.q, taught.motion.positions[0], BOUNDS.velocity)
    played = taught.motion.after(slow)
    trajectory = compile_trajectory(
        played.request(joints), BOUNDS.rules(), now=loop.now, position=loop.q, velocity=rest
    )
    begun = len(loop.positions)
    loop.control.follow(trajectory, None)
    loop.run(played.duration + 0.2)
    measured = np.array(loop.positions[begun:])
    expected = played.at(0.001 * np.arange(len(measured), dtype=np.float64))[0]
    distance = np.abs(measured - expected)[round(1000.0 * slow.duration) :]
    assert distance.max() < 0.005
