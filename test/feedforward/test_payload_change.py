# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A payload that is set while the control runs takes effect in its time, and no sooner."""

from __future__ import annotations

from control_rig import PANDA_POSE, Rig, panda_arm
import numpy as np

from rnea_ros.feedforward import State
from rnea_ros.robot import Payload


def test_a_payload_is_carried_evenly_more_over_its_time() -> None:
    rig = Rig(panda_arm(), ramp_duration=0.01)
    rig.q[:] = PANDA_POSE
    rig.activate()
    rig.run(0.1)
    loaded = rig.model.with_payload('fer_link8', 2.0).gravity_torques(rig.q)
    rig.change(payloads=(Payload('fer_link8', 2.0),), payload_blend_duration=0.4)
    commands = rig.run(0.5)
    share = np.minimum(np.arange(1, 501) / 400.0, 1.0)[:, np.newaxis]
    expected = rig.gravity + share * (loaded - rig.gravity)
    one_tick = np.abs(loaded - rig.gravity) / 400.0 + 1e-9
    assert (np.abs(commands - expected) <= one_tick).all()
    np.testing.assert_allclose(commands[-1], loaded)
    assert rig.state() is State.ACTIVE
