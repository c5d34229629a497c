# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Payloads replace each other linearly in time, wherever a change finds them, also in control."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from numpy.typing import NDArray

from rnea_ros.feedforward.law import LoadedModel, PayloadBlend
from rnea_ros.robot import Payload
from support.control.control_rig import PANDA_POSE, Array, Rig, panda_arm, two_joint_arm

BOX = Payload('lower', 3.0, (0.1, 0.0, 0.2), (0.1, 0.01, 0.0, 0.1, 0.0, 0.1))
CABLE, TOOL = Payload('upper', 0.5, (0.0, 0.1, 0.0)), Payload('lower', 1.0)
PERIOD = 0.01


def parameters(bodies: NDArray[np.void]) -> Array:
    """Return mass, h and J of bodies, shape (bodies, 13)."""
    J = bodies['J'].reshape(len(bodies), 9)
    return np.column_stack([bodies['mass'], bodies['h'], J])


def sum_of(shares: Sequence[tuple[Payload, float]]) -> Array:
    """Return what shares of payloads add to mass, h and J of the bodies."""
    tree = two_joint_arm().tree
    total = np.zeros((len(tree.bodies), 13))
    for payload, share in shares:
        frame = tree.frames[payload.link]
        inertia = payload.rigid_body_inertia.transformed(frame.placement)
        total[frame.body] += share * np.array([inertia.mass, *inertia.h, *inertia.J.flat])
    return total


PAYLOADS = st.lists(st.sampled_from([BOX, CABLE, TOOL]), max_size=3)


@settings(max_examples=15)
@given(
    first=PAYLOADS,
    changes=st.lists(
        st.tuples(PAYLOADS, st.sampled_from([0.0, 0.055, 0.15, 2.0]), st.integers(1, 20)),
        max_size=5,
    ),
)
def test_payloads_are_blended_linearly_from_where_they_are(
    first: list[Payload], changes: list[tuple[list[Payload], float, int]]
) -> None:
    robot = LoadedModel(two_joint_arm())
    empty = parameters(robot.bodies)
    blend = PayloadBlend([robot.loaded_bodies], first)
    shares = [(payload, 1.0) for payload in first]

    def assert_carried(shares: Sequence[tuple[Payload, float]]) -> None:
        np.testing.assert_allclose(parameters(robot.bodies) - empty, sum_of(shares), atol=1e-12)

    assert_carried(shares)
    for payloads, duration, ticks in changes:
        blend.change(blend.prepare(payloads), duration)
        assert_carried(shares)
        before = shares
        for tick in range(1, ticks + 1):
            blend.advance(PERIOD)
            left = max(1.0 - tick * PERIOD / max(duration, 1e-9), 0.0)
            shares = [(payload, left * share) for payload, share in before]
            shares += [(payload, 1.0 - left) for payload in payloads]
            assert_carried(shares)


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
