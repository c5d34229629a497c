# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Mechanics itself as the oracle: energy, symmetry, and the equation of motion's own structure."""

import dataclasses
from xml.etree import ElementTree

import numpy as np

from rnea_ros import BaseMotion, RobotModel
from support.cases import each
from support.models.comparison import assert_equal
from support.models.oracle_pairs import Pair, rate
from support.models.oracles import Array, random_wrenches

pytest_plugins = ('support.models.model_fixtures',)

SEEDS = range(3)


def assert_near(actual: Array | float, expected: Array | float) -> None:
    """Compare with finite differences."""
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-6)


def assert_accelerations_equal(actual: Array, expected: Array) -> None:
    # Each follows from all others': the largest is the measure of errors.
    atol = 1e-9 * np.abs(expected).max()
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=atol)


@each('seed', SEEDS)
def test_the_mass_matrix_is_symmetric_and_positive(pair: Pair, seed: int) -> None:
    M = pair.model.mass_matrix(pair.motion(seed)[0])
    np.testing.assert_array_equal(M, M.T)
    assert np.linalg.eigvalsh(M).min() > 0.0


@each('seed', SEEDS)
def test_mass_matrix_rate_minus_twice_coriolis_is_skew(pair: Pair, seed: int) -> None:
    model, (q, qd, _) = pair.model, pair.motion(seed)
    N = model.mass_matrix_rate(q, qd) - 2.0 * model.coriolis_matrix(q, qd)
    assert_equal(N, -N.T)


@each('seed', SEEDS)
def test_a_moving_base_leaves_the_rates_alone(pair: Pair, seed: int) -> None:
    model, (q, qd, _) = pair.model, pair.motion(seed)
    moving = model.with_base_motion(BaseMotion((1.0, 2.0, 3.0), (3.0, -2.0, 1.0), (0, 0, 5.0)))
    np.testing.assert_array_equal(moving.coriolis_matrix(q, qd), model.coriolis_matrix(q, qd))
    for name in model.link_names[::3]:
        assert_equal(moving.jacobian_rate(q, qd, name), model.jacobian_rate(q, qd, name))


@each('seed', SEEDS)
def test_the_joints_power_is_the_rate_of_the_energy(pair: Pair, seed: int) -> None:
    model, (q, qd, qdd) = pair.model, pair.motion(seed)
    power = qd @ model.inverse_dynamics(q, qd, qdd)
    assert_near(power, energy_rate(model, q, qd, qdd))


def energy_rate(model: RobotModel, q: Array, qd: Array, qdd: Array) -> Array:
    def energy(t: float) -> float:
        at = model.integrate(q, qd, t)
        return model.kinetic_energy(at, qd + t * qdd) + model.potential_energy(at)

    return rate(energy)


@each('seed', SEEDS)
def test_forward_dynamics_undo_inverse_dynamics(pair: Pair, seed: int) -> None:
    model, (q, qd, qdd) = pair.model, pair.motion(seed)
    wrenches = random_wrenches(seed, model.link_names)
    for given in (None, wrenches):
        tau = model.inverse_dynamics(q, qd, qdd, given)
        assert_accelerations_equal(model.forward_dynamics(q, qd, tau, given), qdd)


def shuffled(urdf: str, seed: int) -> str:
    """Return the same robot with its links and joints stated in another order."""
    root = ElementTree.fromstring(urdf)
    elements = list(root)
    order = np.random.default_rng(seed).permutation(len(elements))
    root[:] = [elements[i] for i in order]
    return ElementTree.tostring(root, 'unicode')


@each('seed', SEEDS)
def test_the_order_of_links_and_joints_does_not_matter(pair: Pair, seed: int) -> None:
    model = pair.model
    other = dataclasses.replace(pair, urdf=shuffled(pair.urdf, seed)).model
    q, qd, qdd = pair.motion(seed)
    positions = np.concatenate(
        [np.arange(model.nq)[model.position_indices(name)] for name in other.joint_names]
    )
    velocities = np.concatenate(
        [np.arange(model.nv)[model.velocity_indices(name)] for name in other.joint_names]
    )
    state = (q[positions], qd[velocities])
    wrenches = random_wrenches(seed, model.link_names)
    assert_equal(
        other.inverse_dynamics(*state, qdd[velocities], wrenches),
        model.inverse_dynamics(q, qd, qdd, wrenches)[velocities],
    )
    assert_equal(other.mass_matrix(state[0]), model.mass_matrix(q)[np.ix_(velocities, velocities)])
    assert_accelerations_equal(
        other.forward_dynamics(*state, qdd[velocities], wrenches),
        model.forward_dynamics(q, qd, qdd, wrenches)[velocities],
    )


@each('seed', SEEDS)
def test_efforts_stay_when_robot_and_gravity_turn_together(floating_pair: Pair, seed: int) -> None:
    model, (q, qd, qdd) = floating_pair.model, floating_pair.motion(seed)
    turn = np.random.default_rng(seed).normal(size=4)
    turn /= np.linalg.norm(turn)
    upright = model.neutral_position
    upright[3:7] = turn
    R = model.forward_kinematics(upright, model.link_names[0])[:3, :3]
    elsewhere = np.concatenate([R @ q[:3] + (1.0, 2.0, 3.0), product(turn, q[3:7]), q[7:]])
    there = model.with_gravity(R @ model.gravity)
    assert_equal(there.inverse_dynamics(elsewhere, qd, qdd), model.inverse_dynamics(q, qd, qdd))
    assert_equal(there.mass_matrix(elsewhere), model.mass_matrix(q))
    assert_accelerations_equal(
        there.forward_dynamics(elsewhere, qd, qdd), model.forward_dynamics(q, qd, qdd)
    )


def product(a: Array, b: Array) -> Array:
    """Return the quaternion a b, each x, y, z, w."""
    vector = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.append(vector, a[3] * b[3] - a[:3] @ b[:3])
