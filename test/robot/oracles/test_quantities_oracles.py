# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Pinocchio agrees on every other quantity that the model computes; MuJoCo on the dynamics."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from rnea_ros.errors import SingularityError
from support.cases import each
from support.models import oracle_pairs
from support.models.comparison import assert_equal
from support.models.oracles import STATES, Array, MuJoCo, Pinocchio
from support.models.robots import vendor_robots

pytestmark = pytest.mark.oracle

Check: TypeAlias = Callable[[oracle_pairs.Pair], None]


def mass_matrices(pair: oracle_pairs.Pair) -> None:
    q, _, _ = pair.motion(0)
    assert_equal(pair.model.mass_matrix(q), pair.pinocchio.mass_matrix(q), pair.label)


def gravity_torques(pair: oracle_pairs.Pair) -> None:
    q, _, _ = pair.motion(0)
    assert_equal(pair.model.gravity_torques(q), pair.pinocchio.gravity_torques(q), pair.label)


def bias_torques(pair: oracle_pairs.Pair) -> None:
    q, qd, _ = pair.motion(0)
    assert_equal(pair.model.bias_torques(q, qd), pair.pinocchio.bias_torques(q, qd), pair.label)


def coriolis_torques(pair: oracle_pairs.Pair) -> None:
    q, qd, _ = pair.motion(0)
    expected = pair.pinocchio.bias_torques(q, qd) - pair.pinocchio.gravity_torques(q)
    assert_equal(pair.model.coriolis_torques(q, qd), expected, pair.label)


def accelerations(pair: oracle_pairs.Pair) -> None:
    assert_accelerations_agree(pair, pair.pinocchio)


def assert_accelerations_agree(pair: oracle_pairs.Pair, oracle: Pinocchio | MuJoCo) -> None:
    q, qd, tau = pair.motion(0)
    idle = joints_without_inertia(pair, oracle.mass_matrix(q))
    if idle:
        with pytest.raises(SingularityError, match='no inertia to accelerate') as caught:
            pair.model.forward_dynamics(q, qd, tau)
        assert caught.value.element in idle, pair.label
        return
    expected = oracle.forward_dynamics(q, qd, tau)
    # Each joint's acceleration follows from all others': the largest is the measure of errors.
    atol = 1e-9 * np.abs(expected).max(initial=0.0)
    assert_equal(pair.model.forward_dynamics(q, qd, tau), expected, pair.label, atol)


def joints_without_inertia(pair: oracle_pairs.Pair, M: Array) -> set[str]:
    """Return the joints, as errors name them, that move nothing that has an inertia."""
    return {
        f'joint {name!r}'
        for name in pair.model.joint_names
        if not np.diag(M)[pair.model.velocity_indices(name)].all()
    }


def velocities_and_accelerations_of_links(pair: oracle_pairs.Pair) -> None:
    motion = pair.motion(0)
    found = [
        (pair.model.link_velocity(*motion[:2], name), pair.model.link_acceleration(*motion, name))
        for name in pair.model.link_names
    ]
    expected = [pair.pinocchio.link_motion(*motion, name) for name in pair.model.link_names]
    assert_equal(np.array(found), np.array(expected), pair.label)


def jacobians_of_links(pair: oracle_pairs.Pair) -> None:
    q, _, _ = pair.motion(0)
    found = [pair.model.jacobian(q, name) for name in pair.model.link_names]
    expected = [pair.pinocchio.jacobian(q, name) for name in pair.model.link_names]
    assert_equal(np.array(found), np.array(expected), pair.label)


def rates_are_wrong() -> bool:
    """Return whether Pinocchio is before 3: its rates contradict differences of its Jacobians."""
    version = str(pytest.importorskip('pinocchio').__version__)
    return int(version.split('.')[0]) < 3


def test_pinocchios_rates_are_those_of_its_jacobians() -> None:
    if rates_are_wrong():
        pytest.skip('Pinocchio before 3 has wrong rates of Jacobians')
    pair: Any = oracle_pairs.SHIPPED_PAIRS[2].values[0]
    (q, qd, _), link, h = pair.motion(0), pair.model.link_names[-1], 1e-6
    behind, ahead = (pair.pinocchio.jacobian(q + step * qd, link) for step in (-h, h))
    rate = pair.pinocchio.jacobian_rate(q, qd, link)
    np.testing.assert_allclose(rate, (ahead - behind) / (2.0 * h), atol=1e-7)


def rates_of_jacobians(pair: oracle_pairs.Pair) -> None:
    if rates_are_wrong():
        return
    q, qd, _ = pair.motion(0)
    names = pair.model.link_names
    expected = np.array([pair.pinocchio.jacobian_rate(q, qd, name) for name in names])
    rates = np.array([pair.model.jacobian_rate(q, qd, name) for name in names])
    assert_equal(rates, expected, pair.label)
    biases = np.array([pair.model.bias_acceleration(q, qd, name) for name in names])
    assert_equal(biases, expected @ qd, pair.label)


def coriolis_matrices(pair: oracle_pairs.Pair) -> None:
    q, qd, _ = pair.motion(0)
    C = pair.pinocchio.coriolis_matrix(q, qd)
    # Its elements are differences of products of all masses behind a joint.
    atol = 1e-12 * np.abs(pair.model.mass_matrix(q)).max(initial=100.0)
    assert_equal(pair.model.coriolis_matrix(q, qd), C, pair.label, atol)
    assert_equal(pair.model.mass_matrix_rate(q, qd), C + C.T, pair.label, atol)


def kinetic_energies(pair: oracle_pairs.Pair) -> None:
    q, qd, _ = pair.motion(0)
    expected = pair.pinocchio.kinetic_energy(q, qd)
    assert_equal(pair.model.kinetic_energy(q, qd), expected, pair.label)


def potential_energies_and_centres_of_mass(pair: oracle_pairs.Pair) -> None:
    q, _, _ = pair.motion(0)
    # The root link counts, which Pinocchio leaves out where it does not move.
    free = pair.free_pinocchio
    q_free = q if pair.floating else np.concatenate([np.zeros(6), [1.0], q])
    assert_equal(pair.model.potential_energy(q), free.potential_energy(q_free), pair.label)
    assert_equal(pair.model.centre_of_mass(q), free.centre_of_mass(q_free), pair.label)


def regressors_and_inertial_parameters(pair: oracle_pairs.Pair) -> None:
    motion, bodies = pair.motion(0), pair.model.body_names
    expected = pair.pinocchio.regressor(*motion, bodies)
    assert_equal(pair.model.regressor(*motion), expected, pair.label)
    parameters = pair.pinocchio.inertial_parameters(bodies)
    assert_equal(pair.model.inertial_parameters, parameters, pair.label)


CHECKS: tuple[Check, ...] = (
    mass_matrices, gravity_torques, bias_torques, coriolis_torques, coriolis_matrices,
    accelerations, velocities_and_accelerations_of_links, jacobians_of_links, rates_of_jacobians,
    kinetic_energies, potential_energies_and_centres_of_mass, regressors_and_inertial_parameters,
)


@oracle_pairs.BASES
@pytest.mark.parametrize('path', vendor_robots())
@each('check', CHECKS)
def test_vendors_robots_are_pinocchios(check: Check, path: Path, floating: bool) -> None:
    check(oracle_pairs.vendor_pair(path, floating=floating))


@oracle_pairs.BASES
@pytest.mark.parametrize('seeds', oracle_pairs.RANDOM_TREES, ids=str)
def test_random_trees_are_pinocchios(seeds: range, floating: bool) -> None:
    for seed in seeds[int(floating) :: 2]:
        pair = oracle_pairs.random_pair(seed, floating=floating)
        for check in CHECKS:
            check(pair)


@each('pair', oracle_pairs.SHIPPED_PAIRS)
@each('check', CHECKS)
def test_shipped_robots_are_pinocchios(check: Check, pair: oracle_pairs.Pair) -> None:
    check(pair)


def assert_mujoco_agrees(pair: oracle_pairs.Pair) -> None:
    for seed in STATES:
        motion = pair.motion(seed)
        expected = pair.mujoco.inverse_dynamics(*motion)
        assert_equal(pair.model.inverse_dynamics(*motion), expected, pair.label)
    q, _, _ = pair.motion(0)
    assert_equal(pair.model.mass_matrix(q), pair.mujoco.mass_matrix(q), pair.label)
    assert_accelerations_agree(pair, pair.mujoco)


@pytest.mark.parametrize('path', vendor_robots())
def test_vendors_robots_are_mujocos(path: Path) -> None:
    assert_mujoco_agrees(oracle_pairs.mujoco_pair(path))


@pytest.mark.parametrize('seeds', oracle_pairs.RANDOM_TREES, ids=str)
def test_random_trees_are_mujocos(seeds: range) -> None:
    for seed in seeds:
        assert_mujoco_agrees(oracle_pairs.mujoco_pair(seed))


@each('pair', oracle_pairs.SHIPPED_PAIRS)
def test_shipped_robots_are_mujocos(pair: oracle_pairs.Pair) -> None:
    assert_mujoco_agrees(pair)


WITHOUT_INERTIA = {
    'romeo': {'LHand', 'RHand'}, 'romeo_laas_small': {'l_gripper_joint', 'r_gripper_joint'},
}
"""Vendors' robots with joints that move massless links alone."""


@pytest.mark.parametrize('path', vendor_robots())
def test_vendors_joints_that_move_nothing_are_known(path: Path) -> None:
    pair = oracle_pairs.vendor_pair(path)
    found = joints_without_inertia(pair, pair.pinocchio.mass_matrix(pair.motion(0)[0]))
    assert found == {f'joint {name!r}' for name in WITHOUT_INERTIA.get(path.stem, set())}
