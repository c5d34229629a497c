# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A wrench is what the environment does to the robot: tau = ID - J^T f."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel, Wrench
from support.cases import each
from support.models.oracles import Array, random_state

pytest_plugins = ('support.models.model_fixtures',)

FORCE, TORQUE, POINT = (1.0, -2.0, 3.0), (0.5, 0.4, -0.3), (0.1, 0.2, -0.3)


def share(model: RobotModel, q: Array, wrenches: Any) -> Array:
    """Return what wrenches take off the efforts at rest: J^T f."""
    rest = np.zeros(model.nv)
    efforts: Array = model.gravity_torques(q) - model.inverse_dynamics(q, rest, rest, wrenches)
    return efforts


def test_by_default_a_wrench_acts_at_its_links_origin_in_its_coordinates(
    panda: RobotModel,
) -> None:
    q, _, _ = random_state(0, panda.nv)
    bare = {'fer_hand': Wrench(FORCE, TORQUE)}
    spelled_out = {
        'fer_hand': Wrench(force=FORCE, torque=TORQUE, frame='fer_hand', point=(0.0, 0.0, 0.0))
    }
    np.testing.assert_array_equal(share(panda, q, bare), share(panda, q, spelled_out))


def test_a_wrench_acts_alike_on_links_fixed_to_each_other(panda: RobotModel) -> None:
    q, _, _ = random_state(0, panda.nv)
    wrench = Wrench(force=FORCE, torque=TORQUE, frame='fer_hand_tcp', point=POINT)
    on_tip = share(panda, q, {'fer_hand_tcp': wrench})
    assert on_tip.any()
    for name in ('fer_link7', 'fer_link8', 'fer_hand'):
        np.testing.assert_allclose(share(panda, q, {name: wrench}), on_tip, rtol=1e-9, atol=1e-10)


@each('nothing', [None, {}, {'fer_hand': []}, {'fer_hand': ()}])
def test_no_wrench_changes_nothing(panda: RobotModel, nothing: Any) -> None:
    state = random_state(0, panda.nv)
    np.testing.assert_array_equal(
        panda.inverse_dynamics(*state, nothing), panda.inverse_dynamics(*state)
    )


def test_a_wrench_acts_on_one_call_alone(panda: RobotModel) -> None:
    state = random_state(0, panda.nv)
    free = panda.inverse_dynamics(*state)
    panda.inverse_dynamics(*state, {'fer_hand': Wrench(force=FORCE)})
    np.testing.assert_array_equal(panda.inverse_dynamics(*state), free)
    np.testing.assert_array_equal(
        panda.bias_torques(*state[:2]), panda.inverse_dynamics(*state[:2], np.zeros(panda.nv))
    )


def test_a_wrench_is_not_changed_by_assignment() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Wrench().force = FORCE  # type: ignore[misc]


def test_a_wrench_is_zero_by_default() -> None:
    zero = (0.0, 0.0, 0.0)
    assert Wrench() == Wrench(force=zero, torque=zero, frame=None, point=None)
