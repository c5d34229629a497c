# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Traced kernels: straight-line code of one tree computes what the general kernels compute."""

from collections.abc import Callable
import math
import operator
from typing import Any

import numpy as np
import pytest

from rnea_ros import BaseMotion, InputError, RobotModel
from rnea_ros.compilation import COMPILED
from rnea_ros.dynamics import tracing
from rnea_ros.dynamics.tree import RigidBodyInertia
from rnea_ros.errors import SpecialisationWarning
from support.cases import each
from support.models.joint_trees import MOVING, model_of, random_parts
from support.models.oracle_pairs import random_motion, random_pair
from support.models.oracles import Array, random_state
from support.models.robots import SHIPPED, load

MOTION = BaseMotion((0.3, 0.2, 0.1), (0.1, -0.4, 0.2), (1.0, 0.5, -0.5), (0.2, 0.1, -0.3))
FUNCTIONS: dict[str, Callable[..., float]] = {
    '+': operator.add, '-': operator.sub, '*': operator.mul, 'negative': operator.neg,
    'cos': math.cos, 'sin': math.sin, 'tanh': math.tanh, 'absolute': abs,
}

compiled = pytest.mark.skipif(not COMPILED, reason='specialised kernels need numba')


def evaluated(results: tracing.Values, **inputs: Array) -> Array:
    """Return the numbers of expressions for these inputs."""
    numbers: dict[object, float] = {}
    for step in tracing.needed(results.flat):
        if step.operation == 'input':
            name, *index = step.arguments
            numbers[step] = inputs[name][tuple(index)]
        else:
            values = [numbers.get(value, value) for value in step.arguments]
            numbers[step] = FUNCTIONS[step.operation](*values)
    found = [numbers[x] if isinstance(x, tracing.Expression) else x for x in results.flat]
    return np.array(found, dtype=float).reshape(results.shape)


def assert_near(found: Any, expected: Any) -> None:
    atol = 1e-12 * max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=atol)


@each('model', [
    *(random_pair(seed).model for seed in range(12)),
    *(model_of(random_parts(seed, MOVING)) for seed in range(3)), load(SHIPPED[0]),
])
def test_traced_kernels_poses_and_jacobians_equal_the_general_ones(model: RobotModel) -> None:
    q, qd, qdd = random_motion(model, 0)
    workspace, given = model.workspace(), {'q': q, 'qd': qd, 'qdd': qdd}
    traced = tracing.TracedTree(workspace.bodies)
    for method, names in tracing.ARGUMENTS.items():
        arguments = {name: given[name] for name in names}
        found = evaluated(getattr(tracing.TracedTree(workspace.bodies), method)(), **arguments)
        assert_near(found, getattr(workspace, method)(*arguments.values()))
    for link, (body, frame) in model.tree.link_frames.items():
        assert_near(evaluated(traced.pose(body, frame), q=q), model.forward_kinematics(q, link))
        assert_near(evaluated(traced.jacobian(body, frame), q=q), model.jacobian(q, link))


def test_straight_line_code_needs_fewer_operations_than_the_formula() -> None:
    # Featherstone 2008, table 10.1: 130 n - 68 multiplications, 101 n - 56 additions
    traced = tracing.TracedTree(load(SHIPPED[1]).workspace().bodies)
    multiplications, additions, _ = tracing.operations(traced.inverse_dynamics().flat)
    assert multiplications <= 500 < 130 * 7 - 68
    assert additions <= 400 < 101 * 7 - 56


def assert_equal(specialised: Any, general: Any, nv: int) -> None:
    """Compare two workspaces at random motions."""
    for seed in range(3):
        motion = random_state(seed, nv)
        for method, names in tracing.ARGUMENTS.items():
            given = motion[: len(names)]
            assert_near(getattr(specialised, method)(*given), getattr(general, method)(*given))


@compiled
def test_payload_wrench_and_base_motion_stay_inputs() -> None:
    model, rng = load(SHIPPED[2]), np.random.default_rng(0)
    link, payload = 'tool0', RigidBodyInertia.from_centre_of_mass(
        1.5, np.array([0.1, 0.0, 0.2]), 0.01 * np.eye(3)
    )
    specialised = model.specialise(payloads=[link], wrenches=[link], moving_base=True)
    loaded = model.with_payload(link, 1.5, payload.com, [0.01, 0.0, 0.0, 0.01, 0.0, 0.01])
    general, body = loaded.workspace(), model.tree.frames[link].body
    gravity, v, a = rng.normal(size=(3, 6))
    force = rng.normal(size=(2, 3))
    specialised.set_payload(link, payload)
    for workspace in (general, specialised):
        workspace.set_base_motion(gravity[:3], v, a)
        workspace.add_external_force(body, *force)
    assert_equal(specialised, general, model.nv)
    specialised.clear_external_forces()
    assert not specialised.external_forces.any()
    # With what it has as constants, too
    fixed = model.with_base_motion(MOTION)
    assert fixed.specialise().specialised
    assert_equal(fixed.specialise(), fixed.workspace(), model.nv)


@compiled
def test_what_is_a_constant_of_a_specialised_workspace_cannot_be_set() -> None:
    workspace = load(SHIPPED[2]).specialise()
    with pytest.raises(InputError, match='constant'):
        workspace.set_base_motion(np.zeros(3), np.zeros(6), np.zeros(6))
    with pytest.raises(InputError, match='tool0'):
        workspace.set_payload('tool0', RigidBodyInertia.zero())
    with pytest.raises(InputError, match='zero here'):
        workspace.add_external_force(1, np.zeros(3), np.zeros(3))
    with pytest.raises(ValueError, match='read-only'):
        workspace.external_forces[1, 0] = 1.0


@compiled
def test_numbers_that_are_not_valid_give_nan() -> None:
    workspace = load(SHIPPED[2]).specialise()
    q, qd, qdd = random_state(0, 6)
    expected = workspace.inverse_dynamics(q, qd, qdd).copy()
    for bad in (math.nan, math.inf, 2e6):
        for j in range(6):
            wrong = q.copy()
            wrong[j] = bad
            assert np.isnan(workspace.inverse_dynamics(wrong, qd, qdd)).all()
            assert np.isnan(workspace.gravity_torques(wrong)).all()
    np.testing.assert_array_equal(workspace.inverse_dynamics(q, qd, qdd), expected)
    assert np.isnan(workspace.inverse_dynamics(q[:5], qd, qdd)).all()
    assert np.isnan(workspace.gravity_torques(q[:5])).all()


@compiled
def test_a_specialised_batch_equals_the_general_one() -> None:
    model = load(SHIPPED[1])
    Q, QD, QDD = np.random.default_rng(0).normal(size=(3, 100, model.nv))
    Q[50, 3] = 2e6
    specialised = model.inverse_dynamics_batch(Q, QD, QDD, specialised=True)
    general = model.inverse_dynamics_batch(Q, QD, QDD)
    assert_near(specialised, general)
    QD[70, 0] = math.nan
    with pytest.raises(InputError, match=r'qd\[70\]'):
        model.inverse_dynamics_batch(Q, QD, QDD, specialised=True)


def test_a_tree_too_large_to_specialise_is_computed_by_general_kernels() -> None:
    model = model_of(random_parts(0, ['revolute'] * 30))
    motion = random_motion(model, 0)
    with pytest.warns(SpecialisationWarning, match='general kernels'):
        workspace = model.specialise()
    expected = model.inverse_dynamics(*motion)
    np.testing.assert_array_equal(workspace.inverse_dynamics(*motion), expected)
