# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A simulated arm that a hand pushes stops before its position limits."""

from __future__ import annotations

import numpy as np
import pytest

from rnea_ros import ReferenceFrame, Wrench
from rnea_ros.feedforward.settings import SoftLimitSettings
from support.control.closed_loop import Array, ClosedLoop
from support.models.robots import ROOT

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

PANDA = ROOT / 'urdf/panda_arm.urdf'
POSE = np.array([0.3, -0.785, 0.2, -2.0, 0.4, 1.571, 0.785])
FORCE = 30.0
DAMPING = (2.0, 2.0, 2.0, 2.0, 0.5, 0.5, 0.5)
ZONES = SoftLimitSettings((0.4,), (200.0, 200.0, 200.0, 200.0, 25.0, 25.0, 25.0))
"""The values of docs/hand_guiding.md."""


def closest(direction: Array, zones: SoftLimitSettings) -> float:
    """Return the smallest distance of a joint from a limit while the flange is pushed, rad."""
    loop = ClosedLoop(PANDA, POSE, ramp_duration=0.1, damping=DAMPING, soft_limits=zones)
    push = Wrench(force=tuple(FORCE * direction), frame=ReferenceFrame.ROOT_LINK)
    loop.simulated.apply_push('fer_link8', push)
    loop.run(2.0)
    assert loop.active()
    positions = np.array(loop.positions)
    room = np.minimum(positions - loop.model.position_lower, loop.model.position_upper - positions)
    return float(room.min())


@pytest.mark.parametrize('axis', range(3))
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_a_push_of_30_newtons_stops_before_every_limit(sign: float, axis: int) -> None:
    distance = closest(sign * np.eye(3)[axis], ZONES)
    print(f'{distance:.3f} rad before the nearest limit')
    assert distance > 0.0


def test_without_soft_limits_a_push_reaches_a_limit() -> None:
    assert closest(-np.eye(3)[2], SoftLimitSettings()) <= 0.0
