# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A simulated arm that a hand pushes stops before its position limits."""

from pathlib import Path

import numpy as np
import pytest

from rnea_ros import ReferenceFrame, Wrench
from rnea_ros.feedforward.settings import SoftLimitSettings
from support.models.robots import joint, link, load, robot

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


LENGTH, UPPER = 0.5, 1.5
"""Of a pendulum, m, and its limit, rad."""


def overshoot(
    folder: Path, mass: float, limit: float, stiffness: float, margin: float, energy: float,
    push: float,
) -> float:
    """
    Return how far beyond its limit a pendulum swings that was pushed towards it, rad.

    The push does the given work, J, until the limit.
    """
    urdf = folder / 'pendulum.urdf'
    limits = f'<limit lower="-60" upper="{UPPER}" effort="{limit}" velocity="99"/>'
    swing = joint('swing', 'continuous', 'base', 'bob', axis=(0, 1, 0), more=limits)
    text = robot(link('base'), link('bob', mass, com=(LENGTH, 0.0, 0.0)), swing)
    urdf.write_text(text.replace('continuous', 'revolute'), encoding='utf-8')
    zones = SoftLimitSettings((margin,), (stiffness,), (0.0,))
    loop = ClosedLoop(
        urdf, np.array([UPPER - energy / push]), ramp_duration=0.01, soft_limits=zones,
    )
    loop.simulated.apply_efforts([push])
    loop.run(0.1)
    while loop.simulated.motion[1][0] > 0.0:
        loop.run(0.01)
    assert np.max(loop.positions) > UPPER - margin
    return float(np.max(loop.positions)) - UPPER


@pytest.mark.parametrize('number', range(6))
def test_a_push_below_the_rules_work_never_reaches_a_limit(number: int, tmp_path: Path) -> None:
    """The rule of docs/hand_guiding.md."""
    random = np.random.default_rng(number)
    mass, margin, stiffness = random.uniform([1.0, 0.3, 60.0], [3.0, 0.8, 200.0])
    weight = 9.81 * LENGTH * mass
    limit = weight + random.uniform(0.4, 1.6) * stiffness * margin
    effort = min(stiffness * margin, limit - weight)
    work = effort * margin / 3.0
    push = random.uniform(0.3, 0.9) * effort / 3.0
    assert overshoot(tmp_path, mass, limit, stiffness, margin, 0.95 * work, push) < 0.0
    if effort == stiffness * margin:
        assert overshoot(tmp_path, mass, limit, stiffness, margin, 1.3 * work, push) > 0.0
