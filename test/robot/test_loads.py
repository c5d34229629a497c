# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Loads: a wrench acts on the robot (tau = ID - J^T f); a payload counts as a link."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros import InputError, ReferenceFrame, RobotModel, Wrench
from rnea_ros.robot import Payload
from support.cases import each
from support.models.comparison import assert_equal
from support.models.oracle_pairs import Pair
from support.models.oracles import Array, random_state
from support.models.robots import SHIPPED, joint, link, load, robot

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


MASS, COM = 2.0, (0.1, -0.05, 0.2)
MOMENTS = (0.02, 0.003, -0.001, 0.03, 0.002, 0.04)


def arm(*more: str) -> RobotModel:
    return load(robot(
        link('base', 1.0), link('upper', 3.0, (0.2, 0.0, 0.0)),
        link('lower', 2.0, (0.1, 0.0, 0.0)), link('flange'),
        joint('shoulder', 'revolute', 'base', 'upper', axis=(0.0, 1.0, 0.0)),
        joint('elbow', 'revolute', 'upper', 'lower', xyz=(0.4, 0.0, 0.1), axis=(1.0, 0.0, 0.0)),
        joint('mount', 'fixed', 'lower', 'flange', xyz=(0.3, 0.0, 0.0), rpy=(0.3, 0.4, 0.5)),
        *more,
    ))


@each('carrier', ['base', 'upper', 'lower', 'flange'])
def test_a_payload_counts_as_a_link_that_is_fixed_there(carrier: str) -> None:
    loaded = arm().with_payload(carrier, MASS, COM, MOMENTS)
    expected = arm(link('load', MASS, COM, MOMENTS), joint('grasp', 'fixed', carrier, 'load'))
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 2))

    def results(model: RobotModel) -> list[Any]:
        wrench = model.internal_wrench(q, qd, qdd, 'flange')
        return [
            model.inverse_dynamics(q, qd, qdd), model.mass_matrix(q), model.centre_of_mass(q),
            np.asarray(wrench.force), np.asarray(wrench.torque),
        ]

    for ours, theirs in zip(results(loaded), results(expected), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_payloads_add_up_and_keep_gravity_and_limits() -> None:
    tilted = load(SHIPPED[1]).with_gravity((1.0, 2.0, -9.0))
    before = tilted.gravity_torques(np.full(7, 0.3))
    twice = tilted.with_payload('fer_link7', 1.0, COM).with_payload('fer_link8', 2.0)
    once = tilted.with_payload('fer_link8', 2.0).with_payload('fer_link7', 1.0, COM)
    q = np.full(7, 0.3)
    np.testing.assert_array_equal(tilted.gravity_torques(q), before)
    np.testing.assert_allclose(twice.gravity_torques(q), once.gravity_torques(q), atol=1e-12)
    np.testing.assert_array_equal(twice.gravity, tilted.gravity)
    np.testing.assert_array_equal(twice.effort_limits, tilted.effort_limits)
    assert twice.tree.bodies['mass'].sum() == pytest.approx(tilted.tree.bodies['mass'].sum() + 3.0)


@each(('mass', 'com', 'inertia', 'said'), [
    (-1.0, (0, 0, 0), (0,) * 6, '^payload mass: -1.0 is negative'),
    (1.0, (0, 0, 0), (-1, 0, 0, 1, 0, 1), 'payload inertia: has a negative principal moment'),
    (1.0, (0, 0, 0), (1, 0, 0, 1, 0, 2.1), 'payload inertia: breaks the triangle inequality'),
    (1.0, (0, 0, 0), (0, 0, 0, 0, 0, 1), 'payload inertia: breaks the triangle inequality'),
    (0.0, (0, 0, 0), (1, 0, 0, 1, 0, 1), 'payload inertia: is not zero, but the mass is zero'),
    (1.0, (0, 0, 0), (1e308,) * 6, 'payload inertia: is too large'),
    (1.0, (1e308, 0, 0), (0,) * 6, 'payload com: .* too far away'),
])
def test_bad_payload_is_rejected(mass: Any, com: ArrayLike, inertia: ArrayLike, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Payload('flange', mass, com, inertia)
