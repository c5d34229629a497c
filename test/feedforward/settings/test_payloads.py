# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Payloads replace each other linearly in time, wherever a change finds them, also in control."""

from collections.abc import Sequence
from unittest import mock

from hypothesis import given, settings, strategies
from hypothesis import strategies as st
import numpy as np
from numpy.typing import NDArray
import pytest

from rnea_ros.dynamics.tree import RigidBodyInertia
from rnea_ros.feedforward.law import LoadedModel, PayloadBlend
from rnea_ros.robot import Payload
from support.control.control_rig import PANDA_POSE, Array, Rig, panda_arm, two_joint_arm

BOX = Payload('lower', 3.0, (0.1, 0.0, 0.2), (0.1, 0.01, 0.0, 0.1, 0.0, 0.1))
CABLE, TOOL = Payload('upper', 0.5, (0.0, 0.1, 0.0)), Payload('lower', 1.0)
PERIOD = 0.01


class Blend:
    """
    A blend, beside the sum over all payloads that it must equal.

    ``shares`` are all payloads that were ever carried, each with its share.
    """

    def __init__(self, payloads: Sequence[Payload] = ()) -> None:
        self.model = two_joint_arm()
        self.robot = LoadedModel(self.model)
        self.blend = PayloadBlend([self.robot.loaded_bodies], payloads)
        self.shares: list[tuple[Payload, float]] = []
        self.target, self.left, self.duration = tuple(payloads), 0.0, 1.0

    def change(self, payloads: Sequence[Payload], duration: float) -> None:
        self.shares = self.all_shares()
        self.target = tuple(payloads)
        self.left = self.duration = max(duration, 1e-9)
        self.blend.change(self.blend.prepare(payloads), duration)

    def advance(self) -> None:
        self.left = max(self.left - PERIOD, 0.0)
        self.blend.advance(PERIOD)

    def all_shares(self) -> list[tuple[Payload, float]]:
        left = self.left / self.duration
        before = [(payload, left * share) for payload, share in self.shares]
        return [*before, *((payload, 1.0 - left) for payload in self.target)]

    @property
    def added(self) -> Array:
        """What the blend adds to mass, h and J of the bodies, shape (bodies, 13)."""
        return parameters(self.robot.bodies) - parameters(self.model.tree.bodies)

    @property
    def mass(self) -> float:
        return float(self.added[:, 0].sum())

    def expected(self) -> Array:
        total = np.zeros_like(self.added)
        for payload, share in self.all_shares():
            frame = self.model.tree.frames[payload.link]
            inertia = payload.rigid_body_inertia.transformed(frame.placement)
            total[frame.body] += share * np.array([inertia.mass, *inertia.h, *inertia.J.flat])
        return total


def parameters(bodies: NDArray[np.void]) -> Array:
    J = bodies['J'].reshape(len(bodies), 9)
    return np.column_stack([bodies['mass'], bodies['h'], J])


def test_what_is_there_from_the_start_is_there_whole() -> None:
    blend = Blend([BOX, CABLE])
    assert blend.mass == pytest.approx(3.5)
    blend.advance()
    np.testing.assert_allclose(blend.added, blend.expected(), atol=1e-12)


def test_a_payload_grows_evenly_over_its_time_and_stays() -> None:
    blend = Blend()
    blend.change([BOX], 1.0)
    for k in range(1, 150):
        blend.advance()
        assert blend.mass == pytest.approx(3.0 * min(k * PERIOD, 1.0))
        np.testing.assert_allclose(blend.added, blend.expected(), atol=1e-12)


def test_one_that_is_put_down_goes_as_the_next_comes() -> None:
    blend = Blend([BOX])
    blend.change([CABLE], 1.0)
    for _ in range(25):
        blend.advance()
    assert blend.shares == [(BOX, 1.0)]
    np.testing.assert_allclose(blend.added, blend.expected(), atol=1e-12)
    assert blend.mass == pytest.approx(0.75 * 3.0 + 0.25 * 0.5)


def test_a_change_without_time_is_there_at_the_next_tick() -> None:
    blend = Blend([BOX])
    blend.change([], 0.0)
    assert blend.mass == pytest.approx(3.0)
    blend.advance()
    assert not blend.added.any()


changes = strategies.lists(
    strategies.tuples(
        strategies.lists(strategies.sampled_from([BOX, CABLE, TOOL]), max_size=3),
        strategies.floats(0.05, 2.0), strategies.integers(1, 100),
    ),
    max_size=8,
)


@given(changes)
def test_changes_make_no_step(changes: list[tuple[list[Payload], float, int]]) -> None:
    blend = Blend()
    before = 0.0
    for payloads, duration, ticks in changes:
        blend.change(payloads, duration)
        assert blend.mass == pytest.approx(before)
        for _ in range(ticks):
            blend.advance()
            assert abs(blend.mass - before) <= 9.0 * PERIOD / duration + 1e-9
            assert (blend.added[:, 0] >= -1e-12).all()
            before = blend.mass
        np.testing.assert_allclose(blend.added, blend.expected(), atol=1e-12)


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
def test_payloads_that_change_make_no_step(changes: dict[int, float], duration: float) -> None:
    rig = Rig(panda_arm(), q=PANDA_POSE, ramp_duration=0.01, payload_blend_duration=duration)
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
