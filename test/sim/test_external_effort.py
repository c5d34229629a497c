# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A push on a simulated arm: how fast it is found, and how well its force is known."""

from functools import partial

import numpy as np
import pytest

from rnea_ros import ReferenceFrame, Wrench
from rnea_ros.feedforward import settings
from rnea_ros.feedforward.law import ComputedTorque, Gravity

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from support.control.closed_loop import PANDA, POSES, TOOLS, Array, ClosedLoop, Motion, swing

FLANGE, POSE = TOOLS[PANDA], POSES[PANDA]
STEP = 0.002
FORCE = 10.0


def arm(source: settings.EffortSource) -> ClosedLoop:
    return ClosedLoop(
        PANDA, POSE, rate=1.0 / STEP, mode=ComputedTorque, kp=(100.0,), kd=(20.0,),
        ramp_duration=0.1, contact=settings.ContactSettings(settings.ContactAction.FLAG),
        external_effort=settings.ExternalEffortSettings(link=FLANGE, source=source),
    )


swaying = partial(swing, POSE, 0.3, 0.5)
"""A motion of all joints, up to 0.94 rad/s and 3 rad/s^2."""


def resting(t: float) -> tuple[Array, Array, Array]:
    return POSE, np.zeros(7), np.zeros(7)


@pytest.mark.parametrize('source', settings.EffortSource, ids=lambda source: source.value)
@pytest.mark.parametrize('motion', [resting, swaying], ids=['resting', 'swaying'])
@pytest.mark.parametrize('direction', [np.eye(3)[0], -np.eye(3)[1], np.eye(3)[2]], ids=str)
def test_a_push_of_10_newtons_is_found_within_20_ms_and_10_percent(
    direction: Array, motion: Motion, source: settings.EffortSource
) -> None:
    loop = arm(source)
    loop.run(1.0, motion)
    assert loop.control.contact is None
    push = Wrench(force=tuple(FORCE * direction), frame=ReferenceFrame.ROOT_LINK)
    loop.simulated.apply_push(FLANGE, push)
    found = []
    for k in range(150):
        loop.run(STEP, lambda t, start=1.0 + k * STEP: motion(start + t))  # type: ignore[misc]
        found.append(loop.control.contact is not None)
    external = loop.control.external_effort
    assert external is not None
    wrench = external.wrench_at_link()
    assert wrench is not None
    rotation = loop.model.forward_kinematics(loop.q, FLANGE)[:3, :3]
    error = np.linalg.norm(rotation @ wrench[3:] - FORCE * direction)
    print(f'{loop.control.contact} after {found.index(True) * STEP:.3f} s, {error:.2f} N wrong')
    assert any(found[:11])  # it acts from the end of the first tick
    assert error < 0.1 * FORCE


def test_additional_efforts_are_no_external_efforts() -> None:
    loop = arm(settings.EffortSource.MEASURED)
    loop.change(mode=Gravity)
    added = np.array([3.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0])

    def add(loop: ClosedLoop) -> None:
        loop.control.additional_effort.take_sample(
            loop.settings.joints, added, stamp=loop.now, clock=loop.now, received=loop.now
        )

    loop.run(0.5)
    before, loop.sense = loop.q.copy(), add
    loop.change(additional_effort=settings.AdditionalEffortSettings((10.0,)))
    loop.run(0.4)
    external = loop.control.external_effort
    assert external is not None
    assert np.abs(loop.q - before).max() > 0.1
    assert np.abs(external.effort).max() < 0.05 * added.max()
    assert loop.control.contact is None
