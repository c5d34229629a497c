# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Names, shapes and rejections of the model; its arrays are not shared."""

from concurrent.futures import ThreadPoolExecutor
import contextlib
import copy
import dataclasses
import inspect
import pickle
import sys
import threading
from typing import Any

import numpy as np
import pytest

from rnea_ros import InputError, RobotModel, SingularityError, UnknownNameError, Wrench
from rnea_ros.dynamics import Workspace
from rnea_ros.dynamics.tree import TreeBuilder
from support.cases import each
from support.models.oracles import Array, random_state, random_wrenches
from support.models.robots import SHIPPED, description, joint, link, load, robot
from support.python_process import threads_that_switch_often

pytest_plugins = ('support.models.model_fixtures',)

METHODS = (
    'inverse_dynamics', 'gravity_torques', 'bias_torques', 'coriolis_torques', 'mass_matrix',
    'forward_dynamics', 'kinetic_energy', 'potential_energy', 'regressor', 'internal_wrench',
    'forward_kinematics', 'jacobian', 'link_velocity', 'link_acceleration', 'bias_acceleration',
    'centre_of_mass', 'integrate', 'difference',
)
MOTION = ('q', 'q0', 'q1', 'qd', 'qdd', 'tau', 'v')


def motion_of(method: str) -> list[str]:
    """Return the names of a method's arrays of joints."""
    names = inspect.signature(getattr(RobotModel, method)).parameters
    return [name for name in names if name in MOTION]


def call(model: RobotModel, method: str, **given: Any) -> Array:
    """Call a method at a random state, with some of its arguments replaced."""
    values = np.random.default_rng(0).normal(size=(len(MOTION), model.nv))
    usual = {**dict(zip(MOTION, values, strict=True)), 'link': model.link_names[-1], 'dt': 0.1}
    names = inspect.signature(getattr(model, method)).parameters
    arguments = {name: {**usual, **given}[name] for name in names if name in usual}
    result = getattr(model, method)(**arguments)
    if isinstance(result, Wrench):
        return np.concatenate([np.asarray(result.torque), np.asarray(result.force)])
    if dataclasses.is_dataclass(result):
        return np.concatenate([np.ravel(part) for part in vars(result).values()])
    return np.asarray(result)


def test_names_are_in_the_order_of_the_chain_and_the_root_is_first(panda: RobotModel) -> None:
    assert panda.name == 'panda'
    assert panda.joint_names == (*(f'fer_joint{i}' for i in range(1, 8)), 'fer_finger_joint1')
    assert panda.nq == panda.nv == 8
    assert panda.link_names[0] == description(panda).root == 'fer_link0'
    assert set(panda.link_names) == set(description(panda).links)


def test_limits_and_losses_are_those_of_the_independent_joints_in_order() -> None:
    limit = '<limit lower="{}" upper="{}" velocity="{}" effort="{}"/>'
    rows = {
        'a': ('revolute', limit.format(-1, 2, 3, 4)),
        'b': ('continuous', '<dynamics damping="0.5" friction="0.25"/>'),
        'c': ('revolute', limit.format(-5, 6, 7, 8) + '<mimic joint="a"/>'),
        'd': ('prismatic', limit.format(-0.1, 0.2, 0.3, 0.4)), 'e': ('fixed', ''),
    }
    model = load(robot(link('base'), *(link(name, 1.0) for name in rows), *(
        f'<joint name="{name}" type="{kind}"><parent link="base"/><child link="{name}"/>'
        f'{more}</joint>' for name, (kind, more) in rows.items()
    )))
    assert model.joint_names == ('a', 'b', 'd')
    assert model.position_lower.tolist() == [-1.0, -np.inf, -0.1]
    assert model.position_upper.tolist() == [2.0, np.inf, 0.2]
    assert model.velocity_limits.tolist() == [3.0, np.inf, 0.3]
    assert model.effort_limits.tolist() == [4.0, np.inf, 0.4]
    assert model.damping.tolist() == [0.0, 0.5, 0.0]
    assert model.friction.tolist() == [0.0, 0.25, 0.0]
    assert model.continuous.tolist() == [False, True, False]


@each('method', [
    *METHODS, 'inverse_dynamics_derivatives', 'forward_dynamics_derivatives', 'coriolis_matrix',
    'mass_matrix_rate', 'jacobian_rate', 'link_dynamics', 'operational_space_dynamics',
])
def test_only_finite_results_are_returned(panda: RobotModel, method: str) -> None:
    for argument in motion_of(method):
        huge = {argument: np.full(8, 1.7e308), 'q0': np.full(8, -1.7e308), 'dt': 10.0}
        with contextlib.suppress(InputError, SingularityError):
            assert np.isfinite(call(panda, method, **huge)).all()


def test_an_unknown_name_is_named_with_those_that_are_known(panda: RobotModel) -> None:
    for names, name, look in (
        (panda.link_names, 'fer_link9', lambda: call(panda, 'jacobian', link='fer_link9')),
        (panda.link_names[1:], 'fer_link0',  # the root link stands on no joint
         lambda: call(panda, 'internal_wrench', link='fer_link0')),
        (panda.joint_names, 'fer_link1', lambda: panda.position_indices('fer_link1')),
        (panda.joint_names, 'fer_finger_joint2',  # it follows another
         lambda: panda.velocity_indices('fer_finger_joint2')),
    ):
        with pytest.raises(UnknownNameError, match=f"unknown .*'{name}'; known are") as caught:
            look()
        assert isinstance(caught.value, KeyError)
        assert (caught.value.name, caught.value.known) == (name, names)


@each('method', METHODS)
def test_results_are_float64_of_the_right_shape_and_the_callers_own(
    model: RobotModel, method: str
) -> None:
    n, first = model.nv, call(model, method)
    shapes = {
        'mass_matrix': (n, n), 'kinetic_energy': (), 'potential_energy': (),
        'regressor': (n, 10 * len(model.body_names)), 'internal_wrench': (6,),
        'forward_kinematics': (4, 4), 'jacobian': (6, n), 'link_velocity': (6,),
        'link_acceleration': (6,), 'bias_acceleration': (6,), 'centre_of_mass': (3,),
    }
    assert first.dtype == np.float64
    assert first.shape == shapes.get(method, (n,))
    assert np.isfinite(first).all()
    kept = first.copy()
    other = call(model, method, **dict.fromkeys(motion_of(method), np.zeros(n)))
    np.testing.assert_array_equal(first, kept)
    assert not np.shares_memory(first, other)
    first[...] = 7.0
    np.testing.assert_array_equal(call(model, method), kept)


def test_with_gravity_gives_a_changed_copy(panda: RobotModel) -> None:
    at_rest = {'q': np.ones(8), 'qd': np.zeros(8), 'qdd': np.zeros(8)}
    given = np.array([0.0, 0.0, -1.62])
    before = {method: call(panda, method, **at_rest) for method in METHODS[1:4]}
    moon = panda.with_gravity(given)
    given[:] = 0.0
    assert moon.gravity.tolist() == [0.0, 0.0, -1.62]
    with pytest.raises(AttributeError, match='does not change'):
        moon.gravity = given
    for method in ('gravity_torques', 'internal_wrench'):
        earth, light = (call(model, method, **at_rest) for model in (panda, moon))
        np.testing.assert_allclose(light, earth * 1.62 / 9.81, rtol=1e-9, atol=1e-10)
    assert panda.gravity.tolist() == [0.0, 0.0, -9.81]
    for method, expected in before.items():
        np.testing.assert_array_equal(call(panda, method, **at_rest), expected)


@each('copied', [lambda model: pickle.loads(pickle.dumps(model)), copy.copy, copy.deepcopy])
def test_a_copy_gives_the_same_answers(model: RobotModel, copied: Any) -> None:
    original = model.with_gravity([1.0, 2.0, 3.0])
    for method in METHODS:
        call(original, method)  # with the memory that the answers leave behind
    other = copied(original)
    assert other.joint_names == original.joint_names
    assert other.link_names == original.link_names
    np.testing.assert_array_equal(other.gravity, original.gravity)
    assert not other.gravity.flags.writeable
    for method in METHODS:
        np.testing.assert_array_equal(call(other, method), call(original, method))


def test_threads_at_once_get_the_answers_of_one_alone(panda: RobotModel) -> None:
    workers, rounds = 4, 5
    together = threading.Barrier(workers)

    def answers(i: int) -> list[Array]:
        motion = random_state(i, panda.nv)
        loads = random_wrenches(i, panda.link_names)
        results = [call(panda, name, q=motion[0], qd=motion[1]) for name in METHODS]
        return [panda.inverse_dynamics(*motion, loads), *results]

    def work(i: int) -> bool:
        together.wait()
        return all(
            np.array_equal(answer, expected)
            for _ in range(rounds)
            for answer, expected in zip(answers(i), alone[i], strict=True)
        )

    alone = [answers(i) for i in range(workers)]
    with threads_that_switch_often(), ThreadPoolExecutor(workers) as pool:
        assert list(pool.map(work, range(workers))) == [True] * workers


def test_without_interpreter_lock_threads_share_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = load(SHIPPED[0])
    monkeypatch.setattr(sys, '_is_gil_enabled', lambda: False, raising=False)
    model = expected.with_gravity(expected.gravity)
    assert not isinstance(model.shared, Workspace)
    for method in METHODS:
        np.testing.assert_array_equal(call(model, method), call(expected, method))


@each('model', [
    RobotModel.from_tree(TreeBuilder().build()),
    load(robot(link('base', 1.0), link('a', 1.0, (1, 2, 3)), joint('j', 'fixed', 'base', 'a'))),
])
def test_a_robot_without_joints_has_empty_results(model: RobotModel) -> None:
    q = np.zeros(0)
    push = {name: Wrench((1.0, 2.0, 3.0), point=(0.1, 0.0, 0.0)) for name in model.link_names}
    for efforts in (
        model.inverse_dynamics(q, q, q, push), model.gravity_torques([]),
        model.bias_torques(q, q), model.coriolis_torques(q, q),
        model.forward_dynamics(q, q, q, push), model.integrate(q, q, 1.0), model.difference(q, q),
        model.neutral_position, model.inertial_parameters, model.effort_limits,
    ):
        assert efforts.shape == (0,)
    for matrix in (
        model.mass_matrix(q), model.regressor(q, q, q),
        *model.inverse_dynamics_derivatives(q, q, q, push),
    ):
        assert matrix.shape == (0, 0)
    assert model.kinetic_energy(q, q) == 0.0
    weight = 9.81 * model.tree.bodies['mass'].sum()
    assert model.potential_energy(q) == pytest.approx(weight * model.centre_of_mass(q)[2])
    for count in (0, 9):
        rows = np.zeros((count, 0))
        assert model.inverse_dynamics_batch(rows, rows, rows).shape == (count, 0)
        assert model.forward_dynamics_batch(rows, rows, rows).shape == (count, 0)
        assert model.mass_matrix_batch(rows).shape == (count, 0, 0)
