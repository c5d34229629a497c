# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Finite differences: velocities, accelerations and Jacobians are the rates that they claim."""

from functools import partial

import numpy as np

from support.cases import each
from support.models.joint_trees import MOVING, model_of, random_parts
from support.models.joint_trees import random_motion as random_tree_motion
from support.models.oracle_pairs import Pair, along, rate
from support.models.oracles import Array

pytest_plugins = ('support.models.model_fixtures',)

SEEDS = range(2)


def assert_near(actual: Array, expected: Array, label: str) -> None:
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-6, err_msg=label)


def velocity_of(pose: Array, pose_rate: Array) -> Array:
    """Return [angular; linear] in the moving frame's axes, of a pose and its rate."""
    motion = np.linalg.inv(pose) @ pose_rate
    return np.array([motion[2, 1], motion[0, 2], motion[1, 0], *motion[:3, 3]])


@each('seed', SEEDS)
def test_the_rate_of_the_jacobian_is_that_of_its_numbers(pair: Pair, seed: int) -> None:
    model, (q, qd, _) = pair.model, pair.motion(seed)
    point = np.random.default_rng(seed).normal(size=3)
    for name in model.link_names:
        J_rate = along(model, partial(model.jacobian, link=name, point=point), q, qd)
        assert_near(model.jacobian_rate(q, qd, name, point), J_rate, name)
        np.testing.assert_allclose(
            model.jacobian_rate(q, qd, name, point) @ qd,
            model.bias_acceleration(q, qd, name, point), rtol=1e-9, atol=1e-9,
        )


@each('seed', SEEDS)
def test_the_rates_of_a_tree_of_all_joint_types_are_those_of_its_numbers(seed: int) -> None:
    parts = random_parts(seed, MOVING)
    q, qd, _ = random_tree_motion(seed, parts)
    model = model_of(parts)
    assert_near(model.mass_matrix_rate(q, qd), along(model, model.mass_matrix, q, qd), '')
    for part in parts:
        J_rate = along(model, partial(model.jacobian, link=part.name), q, qd)
        assert_near(model.jacobian_rate(q, qd, part.name), J_rate, part.name)


@each('seed', SEEDS)
def test_moving_for_a_time_moves_at_the_velocity_given(pair: Pair, seed: int) -> None:
    # Not only at the start: velocities are those in the body's own axes all the way.
    model, (q, qd, _) = pair.model, pair.motion(seed)
    start = 0.7
    there = model.integrate(q, qd, start)

    def pose_after(t: float, name: str) -> Array:
        return model.forward_kinematics(model.integrate(q, qd, start + t), name)

    for name in (model.link_names[0], model.link_names[-1]):
        velocity = velocity_of(pose_after(0.0, name), rate(partial(pose_after, name=name)))
        assert_near(model.link_velocity(there, qd, name), velocity, name)


@each('seed', SEEDS)
def test_the_difference_grows_at_the_velocity_of_the_motion(pair: Pair, seed: int) -> None:
    model, (q, qd, qdd) = pair.model, pair.motion(seed)
    growth = rate(lambda t: model.difference(q, model.integrate(q, qd, t)))
    assert_near(growth, qd, pair.label)
    # Away from q too: along the straight way the difference is the time times the velocity.
    way = 0.3 * qdd
    growth = rate(lambda t: model.difference(q, model.integrate(q, way, 1.0 + t)))
    assert_near(growth, way, pair.label)
