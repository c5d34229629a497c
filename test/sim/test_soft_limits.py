# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A simulated arm that a hand pushes stops before its position limits."""

import numpy as np
import pytest

from rnea_ros import ReferenceFrame, Wrench
from rnea_ros.feedforward.settings import SoftLimitSettings
from support.models.robots import load

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from support.control.closed_loop import PANDA, POSES, Array, ClosedLoop

FORCE = 30.0
DAMPING = (2.0, 2.0, 2.0, 2.0, 0.5, 0.5, 0.5)
MARGIN = 0.6
ZONES = SoftLimitSettings((MARGIN,), (200.0, 200.0, 200.0, 200.0, 25.0, 25.0, 25.0))
"""The values of docs/hand_guiding.md."""

HARD = 489
"""Number of a push that reaches a limit with a margin of 0.4 rad."""


def closest(pose: Array, direction: Array, zones: SoftLimitSettings) -> float:
    """Return the smallest distance of a joint from a limit while the flange is pushed, rad."""
    loop = ClosedLoop(PANDA, pose, ramp_duration=0.1, damping=DAMPING, soft_limits=zones)
    push = Wrench(force=tuple(FORCE * direction), frame=ReferenceFrame.ROOT_LINK)
    loop.simulated.apply_push('fer_link8', push)
    loop.run(2.0)
    assert loop.active()
    positions = np.array(loop.positions)
    room = np.minimum(positions - loop.model.position_lower, loop.model.position_upper - positions)
    return float(room.min())


@pytest.mark.parametrize('number', [HARD, 0, 1, 2])
def test_a_random_push_in_a_random_pose_stops_before_every_limit(number: int) -> None:
    model, random = load(PANDA), np.random.default_rng((1, number))
    room = model.position_upper - model.position_lower - 2.0 * MARGIN
    pose = model.position_lower + MARGIN + random.uniform(size=7) * room
    direction = random.normal(size=3)
    assert closest(pose, direction / np.linalg.norm(direction), ZONES) > 0.0


def test_without_soft_limits_a_push_reaches_a_limit() -> None:
    assert closest(POSES[PANDA], -np.eye(3)[2], SoftLimitSettings()) <= 0.0
