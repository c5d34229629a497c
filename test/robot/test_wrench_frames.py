# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A wrench acts on the robot (tau = ID - J^T f), in the axes of any link, base or world."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from rnea_ros import ReferenceFrame, RobotModel, Wrench
from support.cases import each
from support.models.comparison import assert_equal
from support.models.oracle_pairs import Pair
from support.models.oracles import Array, random_state
from support.models.robots import SHIPPED, load

pytest_plugins = ('support.models.model_fixtures',)

FORCE = (1.0, -2.0, 3.0)


def test_a_wrench_takes_its_share_off_the_efforts(pair: Pair) -> None:
    model, (q, qd, qdd) = pair.model, pair.motion(0)
    name, point, torque = model.link_names[-1], (0.1, 0.2, -0.3), (0.3, 0.2, 0.1)
    share = model.jacobian(q, name, point).T @ np.array([*torque, *FORCE])
    pushed = model.inverse_dynamics(q, qd, qdd, {name: Wrench(FORCE, torque, point=point)})
    assert_equal(pushed, model.inverse_dynamics(q, qd, qdd) - share)


def test_a_link_named_base_is_not_mistaken_for_the_root_link() -> None:
    # A UR's link 'base' is turned by half a turn about z from its root link, 'base_link'.
    arm = load(SHIPPED[2])
    q, rest = np.array([0.3, -1.2, 1.5, -0.8, 1.1, 0.4]), np.zeros(6)

    def efforts(frame: str | ReferenceFrame, force: tuple[float, ...]) -> Array:
        return arm.inverse_dynamics(q, rest, rest, {'tool0': Wrench(force, frame=frame)})

    assert 'base' in arm.link_names[1:]
    assert_equal(efforts('base', (1, 2, 3)), efforts(ReferenceFrame.ROOT_LINK, (-1, -2, 3)))
    assert_equal(efforts('base_link', (1, 2, 3)), efforts(ReferenceFrame.ROOT_LINK, (1, 2, 3)))
    assert not any('base' in f'{frame.name} {frame.value}'.lower() for frame in ReferenceFrame)


@each('nothing', [None, {}, {'fer_hand': []}, {'fer_hand': ()}])
def test_a_wrench_acts_on_one_call_alone(panda: RobotModel, nothing: Any) -> None:
    state = random_state(0, panda.nv)
    free = panda.inverse_dynamics(*state)
    assert (panda.inverse_dynamics(*state, {'fer_hand': Wrench(force=FORCE)}) != free).any()
    np.testing.assert_array_equal(panda.inverse_dynamics(*state, nothing), free)
    np.testing.assert_array_equal(panda.bias_torques(*state[:2]), panda.inverse_dynamics(
        *state[:2], np.zeros(panda.nv)
    ))


def test_a_wrench_is_zero_by_default_and_not_changed_by_assignment() -> None:
    zero = (0.0, 0.0, 0.0)
    assert Wrench() == Wrench(force=zero, torque=zero, frame=None, point=None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Wrench().force = FORCE  # type: ignore[misc]
