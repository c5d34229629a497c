# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A payload that is set while the control runs takes effect in its time, and no sooner."""

from __future__ import annotations

from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np

from rnea_ros.dynamics.tree import RigidBodyInertia
from rnea_ros.robot import Payload
from support.control.control_rig import PANDA_POSE, Rig, panda_arm


def test_a_tick_handles_no_payload_however_many_were_changed() -> None:
    rig = Rig(panda_arm(), ramp_duration=0.01, payload_blend_duration=2.0)
    rig.activate()
    for k in range(100):
        rig.change(payloads=(Payload('fer_link8', 1.0 + k % 2),))
        rig.run(0.01)
    with mock.patch.object(RigidBodyInertia, 'transformed', side_effect=AssertionError):
        rig.run(0.05)
    assert rig.controller.error is None


@given(
    changes=st.dictionaries(
        st.integers(0, 300), st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=1, max_size=60
    ),
    duration=st.sampled_from([0.02, 0.3, 2.0]),
)
@settings(max_examples=15)
def test_payloads_that_change_at_any_times_make_no_step(
    changes: dict[int, float], duration: float
) -> None:
    rig = Rig(panda_arm(), ramp_duration=0.01, payload_blend_duration=duration)
    rig.q[:] = PANDA_POSE
    rig.activate()
    rig.run(0.1)
    of_3_kg = rig.model.with_payload('fer_link8', 3.0).gravity_torques(rig.q) - rig.gravity
    greatest = np.abs(of_3_kg) * rig.period / duration + 1e-9
    before = rig.commands[-1]
    for k in range(320):
        if k in changes:
            payloads = (Payload('fer_link8', changes[k]),) if changes[k] else ()
            rig.change(payloads=payloads)
        command = rig.tick()
        assert command is not None
        assert (np.abs(command - before) <= greatest).all()
        before = command
