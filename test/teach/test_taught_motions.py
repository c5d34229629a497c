# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Smoothing and waypoints: tolerance, limits, rest, speed."""

from dataclasses import replace

import numpy as np
import pytest

from rnea_ros import RobotModel, teach
from rnea_ros.teach import Demonstration, MotionLimits, TeachError
from rnea_ros.trajectory_check import Quantity, TrajectoryLimits
from support.models.robots import SHIPPED, load

pytest.importorskip('scipy', reason='scipy is not installed')

MODEL: RobotModel = load(SHIPPED[1])
JOINTS = MODEL.joint_names
POSE = np.array([0.3, -0.785, 0.2, -2.0, 0.4, 1.571, 0.785])
BOUNDS = TrajectoryLimits.of_model(MODEL)
LIMITS = MotionLimits.of(MODEL, BOUNDS, {})


def shown(seed: int, noise: float, size: float = 0.3, rate: float = 200.0) -> Demonstration:
    """Return a demonstration that begins and ends in motion, with trembling and noise."""
    random = np.random.default_rng(seed)
    time = np.cumsum(random.uniform(0.5, 1.5, int(rate * random.uniform(0.6, 8.0)))) / rate
    time -= time[0]
    position = np.tile(POSE, (len(time), 1))
    for frequency in (*random.uniform(0.1, 1.0, 3), 10.0):
        amplitude = size * random.uniform(-1.0, 1.0, 7) if frequency < 10.0 else 5e-4
        phase = random.uniform(0.0, 2.0 * np.pi, 7)
        position += amplitude * np.sin(2.0 * np.pi * frequency * time[:, np.newaxis] + phase)
    position = np.clip(position, BOUNDS.lower, BOUNDS.upper)
    position += noise * random.standard_normal(position.shape)
    return Demonstration(JOINTS, time, position, (0.0, 0.0))


@pytest.mark.parametrize('seed', range(4))
@pytest.mark.parametrize(('noise', 'tolerance'), [(0.0, 1e-3), (5e-4, 4e-3), (2e-3, 0.02)])
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


@pytest.mark.parametrize('seed', range(3))
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
    for first in range(3):
        part = replace(
            motion, times=motion.times[first : first + 2] - motion.times[first],
            positions=motion.positions[first : first + 2],
            velocities=np.zeros((2, 7)), accelerations=np.zeros((2, 7)),
        )
        assert MotionLimits.of(MODEL, shares, {}).check(part).verdict == 0
        assert MotionLimits.of(MODEL, shares, {}).check(part.slowed(1.01)).verdict == 1


def test_a_repeated_waypoint_counts_once_and_one_pose_is_no_motion() -> None:
    poses = [POSE, POSE + 1e-3, POSE + 0.2, POSE + 0.2, POSE]
    assert [pose[0] for pose in teach.distinct(poses)] == pytest.approx([0.3, 0.5, 0.3])
    with pytest.raises(TeachError, match=r'2 waypoints, 1 of them different: .* two or more'):
        teach.distinct(poses[:2])
    with pytest.raises(TeachError, match='0 waypoints'):
        teach.distinct([])
