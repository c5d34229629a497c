# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Payloads replace each other linearly in time, wherever a change finds them, also in control."""

from collections.abc import Sequence

import numpy as np

from rnea_ros.feedforward.law import LoadedModel, PayloadBlend
from rnea_ros.robot import Payload
from support.control.control_rig import PANDA_POSE, Array, Rig, panda_arm, two_joint_arm

BOX = Payload('lower', 3.0, (0.1, 0.0, 0.2), (0.1, 0.01, 0.0, 0.1, 0.0, 0.1))
CABLE, TOOL = Payload('upper', 0.5, (0.0, 0.1, 0.0)), Payload('lower', 1.0)


def parameters(payloads: Sequence[Payload]) -> Array:
    """Return mass, h and J of the bodies with payloads, shape (bodies, 13)."""
    robot = LoadedModel(two_joint_arm())
    robot.set_payloads(payloads)
    return parameters_of(robot)


def parameters_of(robot: LoadedModel) -> Array:
    bodies = robot.bodies
    return np.column_stack([bodies['mass'], bodies['h'], bodies['J'].reshape(len(bodies), 9)])


def test_payloads_are_blended_linearly_from_where_they_are() -> None:
    robot = LoadedModel(two_joint_arm())
    blend, carried = PayloadBlend([robot.loaded_bodies], [BOX]), parameters([BOX])
    np.testing.assert_array_equal(parameters_of(robot), carried)
    for payloads, duration, ticks in (
        ([CABLE, TOOL], 0.1, 3), ([BOX, BOX], 0.055, 4), ([], 2.0, 20), ([TOOL], 0.0, 1)
    ):
        blend.change(blend.prepare(payloads), duration)
        before = carried
        for tick in range(1, ticks + 1):
            blend.advance(0.01)
            left = max(1.0 - tick * 0.01 / max(duration, 1e-9), 0.0)
            carried = left * before + (1.0 - left) * parameters(payloads)
            np.testing.assert_allclose(parameters_of(robot), carried, atol=1e-12)


def test_a_payload_comes_and_goes_linearly_in_the_command() -> None:
    rig = Rig(panda_arm(), q=PANDA_POSE, ramp_duration=0.01, payload_blend_duration=0.1)
    rig.activate()
    rig.run(0.03)
    weight = rig.model.with_payload('fer_link8', 3.0).gravity_torques(rig.q) - rig.gravity
    ticks = np.arange(1, 51) / 100.0
    for payloads, shares in (((Payload('fer_link8', 3.0),), ticks), ((), 0.5 * (1.0 - ticks))):
        rig.change(payloads=payloads)
        expected = rig.gravity + np.outer(shares, weight)
        np.testing.assert_allclose(rig.run(0.05), expected, rtol=1e-9, atol=1e-12)
