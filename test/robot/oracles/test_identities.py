# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Mechanics itself as the oracle: the equation of motion, energy, symmetry and rates of change."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from rnea_ros import BaseMotion, RobotModel
from support.cases import each
from support.models.joint_trees import MOVING, model_of, random_parts, tree_in_another_order
from support.models.oracle_pairs import PAIRS, STEP, along, random_motion, rate
from support.models.oracles import Array, random_wrenches

POINT = (0.3, -0.2, 0.5)
ON_A_SHIP = BaseMotion((1.0, 2.0, 3.0), (3.0, -2.0, 1.0), (0.0, 0.0, 5.0))

ROBOTS: dict[str, RobotModel] = {
    'joints in another order': tree_in_another_order(),
    **{label: pair.model for label, pair in PAIRS.items()},
    **{f'all joints {seed}': model_of(random_parts(seed, MOVING)) for seed in range(2)},
}

Law: TypeAlias = Callable[[RobotModel, Array, Array, Array], tuple[Any, Any]]


def assert_same(actual: Any, expected: Any, label: str = '', error: float = 1e-9) -> None:
    """Compare; inverting mixes all entries, so the largest is the measure of errors."""
    expected = np.asarray(expected, dtype=np.float64)
    atol = error * max(1.0, float(np.abs(expected).max(initial=0.0)))
    np.testing.assert_allclose(actual, expected, rtol=error, atol=atol, err_msg=label)


def motion_made(model: RobotModel, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array]:
    parts = model.mass_matrix(q) @ qdd, model.coriolis_matrix(q, qd) @ qd, model.gravity_torques(q)
    return model.inverse_dynamics(q, qd, qdd), sum(parts, np.zeros(model.nv))


def undone(model: RobotModel, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array]:
    loads = random_wrenches(1, model.link_names)
    tau = model.inverse_dynamics(q, qd, qdd, loads)
    return model.forward_dynamics(q, qd, tau, loads), qdd


def coriolis_is_skew(model: RobotModel, q: Array, qd: Array, _: Array) -> tuple[Array, Array]:
    N = model.mass_matrix_rate(q, qd) - 2.0 * model.coriolis_matrix(q, qd)
    return N, -N.T


def bias_of_points(model: RobotModel, q: Array, qd: Array, _: Array) -> tuple[Any, Any]:
    names = model.link_names
    return (
        np.array([model.jacobian_rate(q, qd, name, POINT) @ qd for name in names]),
        np.array([model.bias_acceleration(q, qd, name, POINT) for name in names]),
    )


def rates_on_a_ship(model: RobotModel, q: Array, qd: Array, _: Array) -> tuple[Any, Any]:
    name, loads = model.link_names[-1], random_wrenches(0, model.link_names)
    there, here = (
        np.concatenate([
            one.coriolis_matrix(q, qd), one.jacobian_rate(q, qd, name),
            [one.bias_torques(q, qd) - one.inverse_dynamics(q, qd, 0.0 * qd, loads)],
        ])
        for one in (model.with_base_motion(ON_A_SHIP), model)
    )
    return there, here


def forward_derivatives(model: RobotModel, q: Array, qd: Array, tau: Array) -> tuple[Any, Any]:
    # tau = ID(q, qd, FD(q, qd, tau))
    model, loads = model.with_base_motion(ON_A_SHIP), random_wrenches(1, model.link_names)
    qdd = model.forward_dynamics(q, qd, tau, loads)
    by_q, by_qd, M = model.inverse_dynamics_derivatives(q, qd, qdd, loads)
    found = model.forward_dynamics_derivatives(q, qd, tau, loads)
    expected = np.array([-np.linalg.solve(M, by_q), -np.linalg.solve(M, by_qd), np.linalg.inv(M)])
    return np.array(found), expected


EXACT: dict[str, Law] = {
    'dM/dt - 2 C is skew': coriolis_is_skew,
    'tau = M qdd + C qd + g': motion_made,
    'tau = Y phi': lambda model, q, qd, qdd: (
        model.inverse_dynamics(q, qd, qdd),
        model.regressor(q, qd, qdd) @ model.inertial_parameters,
    ),
    'forward dynamics undo inverse dynamics': undone,
    'derivatives of inverse functions': forward_derivatives,
    'dJ/dt qd is the bias acceleration': bias_of_points,
    'a moving base changes neither rates nor loads': rates_on_a_ship,
}


def energy_rate(model: RobotModel, q: Array, qd: Array, qdd: Array) -> tuple[Any, Any]:
    def energy(t: float) -> float:
        there = model.integrate(q, qd, t)
        return model.kinetic_energy(there, qd + t * qdd) + model.potential_energy(there)

    return qd @ model.inverse_dynamics(q, qd, qdd), rate(energy)


def jacobian_rates(model: RobotModel, q: Array, qd: Array, _: Array) -> tuple[Any, Any]:
    names = model.link_names
    return (
        np.array([model.jacobian_rate(q, qd, name, POINT) for name in names]),
        np.array([
            along(model, partial(model.jacobian, link=name, point=POINT), q, qd) for name in names
        ]),
    )


def link_velocity(model: RobotModel, q: Array, qd: Array, _: Array) -> tuple[Any, Any]:
    # Not only at the start: velocities are those in the body's own axes all the way.
    name, there = model.link_names[-1], model.integrate(q, qd, 0.7)

    def pose(t: float) -> Array:
        return model.forward_kinematics(model.integrate(q, qd, 0.7 + t), name)

    turn = np.linalg.inv(pose(0.0)) @ rate(pose)
    moved = np.array([turn[2, 1], turn[0, 2], turn[1, 0], *turn[:3, 3]])
    return model.link_velocity(there, qd, name), moved


def difference_growth(model: RobotModel, q: Array, qd: Array, _: Array) -> tuple[Any, Any]:
    way = 0.3 * qd

    def growth(start: float) -> Array:
        return rate(lambda t: model.difference(q, model.integrate(q, way, start + t)))

    # At the start, and away from it
    return np.array([growth(0.0), growth(1.0)]), np.array([way, way])


RATES: dict[str, Law] = {
    'power is the rate of the energy': energy_rate,
    'rate of M': lambda model, q, qd, _: (
        model.mass_matrix_rate(q, qd), along(model, model.mass_matrix, q, qd),
    ),
    'rates of Jacobians': jacobian_rates,
    'velocity is the rate of the pose': link_velocity,
    'the difference grows at the velocity': difference_growth,
}


@each('label', ROBOTS)
@each('law', [*EXACT, *RATES])
def test_identities_hold_and_rates_are_those_of_differences(label: str, law: str) -> None:
    model, error = ROBOTS[label], 1e-9 if law in EXACT else 1e-6
    assert_same(*{**EXACT, **RATES}[law](model, *random_motion(model, 0)), law, error)


@each('label', ROBOTS)
def test_the_mass_matrix_is_exactly_symmetric_and_positive(label: str) -> None:
    model = ROBOTS[label]
    M = model.mass_matrix(random_motion(model, 0)[0])
    np.testing.assert_array_equal(M, M.T)
    assert np.linalg.eigvalsh(M).min() > 0.0


@each('label', ROBOTS)
@each('loaded', [False, True])
def test_derivatives_of_efforts_are_differences(label: str, loaded: bool) -> None:
    model, loads = ROBOTS[label], None
    if loaded:
        model, loads = model.with_base_motion(ON_A_SHIP), random_wrenches(1, model.link_names)
    motion, n = random_motion(model, 1), model.nv
    # Ahead along each coordinate, then behind, of each argument; as rows of one batch
    steps = STEP * np.concatenate([np.eye(n), -np.eye(n)])
    rows = [np.tile(array, (6 * n, 1)) for array in motion]
    rows[0][: 2 * n] = [model.integrate(motion[0], step, 1.0) for step in steps]
    rows[1][2 * n : 4 * n] += steps
    rows[2][4 * n :] += steps
    efforts = model.inverse_dynamics_batch(*rows, external_wrenches=loads)
    expected = [(part[:n] - part[n:]).T / (2.0 * STEP) for part in np.split(efforts, 3)]
    # Rounding errors of a result, which differences divide by their step
    rounding = 1e-9 * float(np.abs(efforts).max())
    found = model.inverse_dynamics_derivatives(*motion, loads)
    for part, other in zip(found, expected, strict=True):
        atol = 1e-6 * np.abs(other).max() + rounding
        np.testing.assert_allclose(part, other, rtol=0.0, atol=atol)
