# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Guided by a hand, taught, played back: an arm in simulation, without ROS."""

from __future__ import annotations

import numpy as np
import pytest

from rnea_ros import teach
from rnea_ros.trajectory_check import check

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')
pytest.importorskip('scipy', reason='scipy is not installed')

from support.guided import POSE, GuidedArm

TOLERANCE = 0.01
PLAYED = 0.005
"""Greatest distance between the played motion and the taught one, rad."""


@pytest.mark.parametrize('seed', range(8))
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
