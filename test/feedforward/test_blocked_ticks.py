# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A loop that stands still: for up to the timeout of joint states the control ignores it."""

import numpy as np
import pytest

from rnea_ros.feedforward import Reason, State
from support.control.control_rig import PANDA_POSE, Rig, panda_arm


def active_rig(timeout: float, rate: float = 1000.0) -> Rig:
    rig = Rig(panda_arm(), rate=rate, joint_states_timeout=timeout, ramp_duration=0.05)
    rig.q[:] = PANDA_POSE
    rig.activate()
    return rig


@pytest.mark.parametrize(('timeout', 'blocked'), [
    (0.02, 0.019), (0.02, 0.023), (0.2, 0.05), (0.2, 0.5), (2.0, 0.5),
])
def test_a_tick_blocked_beyond_the_timeout_interrupts(timeout: float, blocked: float) -> None:
    rig = active_rig(timeout)
    rig.now += blocked
    rig.tick()  # with a joint state that is as new as ever
    if blocked < timeout:
        assert rig.state() is State.ACTIVE
        assert rig.controller.reason is None
    else:
        assert rig.state() is State.HOLDING
        assert rig.controller.reason is Reason.TICK_BLOCKED


@pytest.mark.parametrize('rate', [500.0, 1000.0])
def test_slightly_late_ticks_end_nothing_at_any_timeout(rate: float) -> None:
    rig = active_rig(1.0 / rate, rate)
    for late in np.random.default_rng(3).uniform(-0.4, 0.4, 500):
        rig.wait(1.0 + late)
        rig.feed()
        rig.step()
    assert rig.state() is State.ACTIVE


def test_a_blocked_tick_before_anything_is_commanded_ends_nothing() -> None:
    rig = Rig(panda_arm(), ramp_duration=0.05)
    rig.q[:] = PANDA_POSE
    rig.tick(feed=False)
    rig.now += 10.0
    rig.activate()
    assert not rig.controller.reason
