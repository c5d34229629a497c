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
from support.models.joint_trees import MOVING, model_of, random_motion, random_parts
from support.models.oracle_pairs import random_pair
from support.models.oracles import Array, random_state
from support.models.robots import SHIPPED, load, robot

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


def assert_traced_as_general(model: RobotModel, q: Array, qd: Array, qdd: Array) -> None:
    """Compare every traced kernel with the general one at a motion."""
    workspace, given = model.workspace(), {'q': q, 'qd': qd, 'qdd': qdd}
    for method, names in tracing.ARGUMENTS.items():
        arguments = {name: given[name] for name in names}
        traced = evaluated(getattr(tracing.TracedTree(workspace.bodies), method)(), **arguments)
        expected = getattr(workspace, method)(*arguments.values())
        scale = 1e-12 * max(1.0, np.abs(expected).max(initial=0.0))
        np.testing.assert_allclose(traced, expected, rtol=0.0, atol=scale)


def test_traced_kernels_equal_the_general_ones_on_random_robots() -> None:
    for seed in range(20):
        pair = random_pair(seed)
        assert_traced_as_general(pair.model, *pair.motion(seed))
    for seed in range(3):
        parts = random_parts(seed, MOVING)
        assert_traced_as_general(model_of(parts), *random_motion(seed, parts))


def test_traced_poses_and_jacobians_equal_the_general_ones() -> None:
    for model in map(load, SHIPPED):
        q = random_state(0, model.nv)[0]
        traced = tracing.TracedTree(model.workspace().bodies)
        for link, (body, frame) in model.tree.link_frames.items():
            for values, expected in (
                (traced.pose(body, frame), model.forward_kinematics(q, link)),
                (traced.jacobian(body, frame), model.jacobian(q, link)),
            ):
                found = evaluated(values, q=q)
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_constants_fold_and_equal_expressions_are_one() -> None:
    x, y = tracing.Trace().inputs('x', 2)
    assert 0.0 * x == 0.0
    assert 1.0 * x is x + 0.0 is x
    assert x - x == 0.0
    assert x * y is y * x
    negative = -x
    assert -negative is x
    assert negative * y is -(x * y)
    assert x - (-y) is x + y
    assert 2.0 * (3.0 * x) is 6.0 * x


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
            found, expected = (
                getattr(each, method)(*motion[: len(names)]) for each in (specialised, general)
            )
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@compiled
def test_a_specialised_workspace_equals_the_general_one() -> None:
    for urdf in (SHIPPED[0], SHIPPED[2]):
        model = load(urdf).with_base_motion(MOTION)
        assert_equal(model.specialise(), model.workspace(), model.nv)
        assert model.specialise().specialised


@compiled
def test_payload_wrench_and_base_motion_stay_inputs() -> None:
    model, rng = load(SHIPPED[2]), np.random.default_rng(0)
    link, payload = 'tool0', RigidBodyInertia.from_centre_of_mass(
        1.5, np.array([0.1, 0.0, 0.2]), 0.01 * np.eye(3)
    )
    specialised = model.specialise(payloads=[link], wrenches=[link], moving_base=True)
    loaded = model.with_payload(link, 1.5, payload.com, [0.01, 0.0, 0.0, 0.01, 0.0, 0.01])
    general, body = loaded.workspace(), model.tree.frames[link].body
    base, force = rng.normal(size=(3, 6)), rng.normal(size=(2, 3))
    specialised.set_payload(link, payload)
    for workspace in (general, specialised):
        workspace.set_base_motion(base[0, :3], base[1], base[2])
        workspace.add_external_force(body, *force)
    assert_equal(specialised, general, model.nv)
    specialised.clear_external_forces()
    assert not specialised.external_forces.any()


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
@pytest.mark.parametrize('bad', [math.nan, math.inf, 2e6], ids=str)
def test_numbers_that_are_not_valid_give_nan(bad: float) -> None:
    workspace = load(SHIPPED[2]).specialise()
    q, qd, qdd = random_state(0, 6)
    expected = workspace.inverse_dynamics(q, qd, qdd).copy()
    for j in range(6):
        wrong = q.copy()
        wrong[j] = bad
        assert np.isnan(workspace.inverse_dynamics(wrong, qd, qdd)).all()
        assert np.isnan(workspace.gravity_torques(wrong)).all()
    np.testing.assert_array_equal(workspace.inverse_dynamics(q, qd, qdd), expected)
    assert np.isnan(workspace.inverse_dynamics(q[:5], qd, qdd)).all()
    assert np.isnan(workspace.gravity_torques(q[:5])).all()


@compiled
def test_a_robot_without_moving_joints_can_be_specialised() -> None:
    workspace = load(robot('<link name="base"/>')).specialise()
    none = np.zeros(0)
    assert workspace.inverse_dynamics(none, none, none).shape == (0,)
    assert workspace.gravity_torques(none).shape == (0,)


@compiled
def test_a_specialised_batch_equals_the_general_one() -> None:
    model = load(SHIPPED[1])
    Q, QD, QDD = np.random.default_rng(0).normal(size=(3, 100, model.nv))
    Q[50, 3] = 2e6
    specialised = model.inverse_dynamics_batch(Q, QD, QDD, specialised=True)
    general = model.inverse_dynamics_batch(Q, QD, QDD)
    np.testing.assert_allclose(specialised, general, rtol=1e-12, atol=1e-12)
    QD[70, 0] = math.nan
    with pytest.raises(InputError, match=r'qd\[70\]'):
        model.inverse_dynamics_batch(Q, QD, QDD, specialised=True)


def test_a_tree_too_large_to_specialise_is_computed_by_general_kernels() -> None:
    parts = random_parts(0, ['revolute'] * 30)
    model, motion = model_of(parts), random_motion(0, parts)
    with pytest.warns(SpecialisationWarning, match='general kernels'):
        workspace = model.specialise()
    expected = model.inverse_dynamics(*motion)
    np.testing.assert_array_equal(workspace.inverse_dynamics(*motion), expected)
