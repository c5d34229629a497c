# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Pushes on a simulated arm are found at once, known well, and stopped before every limit."""

from functools import partial

import numpy as np
import pytest

from rnea_ros import ReferenceFrame, Wrench
from rnea_ros.feedforward import settings
from rnea_ros.feedforward.law import ComputedTorque
from support.models.robots import load

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from support.control.closed_loop import PANDA, POSES, TOOLS, Array, ClosedLoop, swing

FLANGE, POSE = TOOLS[PANDA], POSES[PANDA]
STEP = 0.002
FORCE = 10.0
MEASURED, COMMANDED = settings.EffortSource.MEASURED, settings.EffortSource.COMMANDED

MARGIN = 0.6
SOFT_LIMITS = settings.SoftLimitSettings((MARGIN,), (200.0, 200.0, 200.0, 200.0, 25.0, 25.0, 25.0))
DAMPING = (2.0, 2.0, 2.0, 2.0, 0.5, 0.5, 0.5)
"""The values of docs/hand_guiding.md."""


def push(loop: ClosedLoop, force: Array) -> None:
    wrench = Wrench(force=tuple(force), frame=ReferenceFrame.ROOT_LINK)
    loop.simulated.apply_push(FLANGE, wrench)


def arm(source: settings.EffortSource) -> ClosedLoop:
    return ClosedLoop(
        PANDA, POSE, rate=1.0 / STEP, mode=ComputedTorque, kp=(100.0,), kd=(20.0,),
        ramp_duration=0.1, contact=settings.ContactSettings(settings.ContactAction.FLAG),
        external_effort=settings.ExternalEffortSettings(link=FLANGE, source=source),
    )


@pytest.mark.parametrize(('source', 'amplitude', 'direction'), [
    (MEASURED, 0.3, (0.0, -1.0, 0.0)), (COMMANDED, 0.0, (0.0, 0.0, 1.0)),
])
def test_a_push_of_10_newtons_is_found_within_20_ms_and_10_percent(
    source: settings.EffortSource, amplitude: float, direction: tuple[float, ...]
) -> None:
    loop, motion = arm(source), partial(swing, POSE, amplitude, 0.5)
    loop.run(1.0, motion)
    assert loop.control.contact is None
    push(loop, FORCE * np.array(direction))
    found = []
    for k in range(150):
        loop.run(STEP, lambda t, start=1.0 + k * STEP: motion(start + t))  # type: ignore[misc]
        found.append(loop.control.contact is not None)
    external = loop.control.external_effort
    assert external is not None
    wrench = external.wrench_at_link()
    assert wrench is not None
    rotation = loop.model.forward_kinematics(loop.q, FLANGE)[:3, :3]
    assert np.linalg.norm(rotation @ wrench[3:] - FORCE * np.array(direction)) < 0.1 * FORCE
    assert any(found[:11])  # it acts from the end of the first tick


def room(pose: Array, direction: Array, soft_limits: settings.SoftLimitSettings) -> float:
    """Return the smallest distance of a joint from a limit while the flange is pushed, rad."""
    loop = ClosedLoop(PANDA, pose, ramp_duration=0.1, damping=DAMPING, soft_limits=soft_limits)
    push(loop, 30.0 * direction)
    loop.run(2.0)
    assert loop.active()
    q, model = np.array(loop.positions), loop.model
    return float(np.minimum(q - model.position_lower, model.position_upper - q).min())


@pytest.mark.parametrize('number', [489, 0, 1])  # 489 reaches a limit with a margin of 0.4 rad
def test_a_random_push_in_a_random_pose_stops_before_every_limit(number: int) -> None:
    model, random = load(PANDA), np.random.default_rng((1, number))
    width = model.position_upper - model.position_lower - 2.0 * MARGIN
    pose = model.position_lower + MARGIN + random.uniform(size=7) * width
    direction = random.normal(size=3)
    assert room(pose, direction / np.linalg.norm(direction), SOFT_LIMITS) > 0.0


def test_without_soft_limits_a_push_reaches_a_limit() -> None:
    assert room(POSE, -np.eye(3)[2], settings.SoftLimitSettings()) <= 0.0
