# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A stop takes no longer than the settings say; the end of the loop waits so long."""

from __future__ import annotations

import numpy as np
import pytest

from rnea_ros.feedforward import State
from rnea_ros.feedforward.law import Feedback
from support.control.control_rig import PANDA_POSE, Rig, panda_arm


@pytest.mark.parametrize('rate_limit', [20.0, 100.0, 2000.0])
@pytest.mark.parametrize('ramp_duration', [0.0, 0.4])
def test_a_stop_is_over_in_time_however_far_gravity_is_from_the_command(
    rate_limit: float, ramp_duration: float
) -> None:
    rig = Rig(
        panda_arm(), rate=100.0, mode=Feedback, effort_limits=(30.0,),
        effort_rate_limit=(rate_limit,), ramp_duration=ramp_duration,
    )
    rig.q[:] = PANDA_POSE
    rig.effort = -30.0 * np.sign(rig.gravity)
    rig.tick()
    rig.controller.request_stop()
    took = rig.run_until(State.STOPPED)
    way = 30.0 + np.minimum(np.abs(rig.gravity), 30.0).max()
    assert took > way / rate_limit
    assert took < rig.resolved.greatest_stop_time + 3.0 * rig.period
