# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of inverse and forward dynamics: finite differences, Pinocchio, and identities."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnea_ros import BaseMotion, InputError, ReferenceFrame, RobotModel, SingularityError, Wrench
from rnea_ros.dynamics.tree import TreeBuilder
from support.cases import each
from support.models.joint_trees import MOVING, model_of, random_kinds, random_parts
from support.models.oracle_pairs import (
    RANDOM_TREES,
    STEP,
    Motion,
    Pair,
    random_motion,
    random_pair,
    vendor_pair,
)
from support.models.oracles import Array, random_wrenches
from support.models.robots import SHIPPED, joint, link, load, robot, vendor_robots

pytest_plugins = ('support.models.model_fixtures',)

SEEDS = range(2)
ON_A_SHIP = BaseMotion((1, 2, 3), (0.3, -0.2, 0.1), (0.5, 1, -1), (1, -2, 0.3))
METHODS = ('inverse_dynamics', 'forward_dynamics')

Wrenches = Mapping[str, Sequence[Wrench]]
Derivatives = Sequence[Array]


def differences(
    model: RobotModel, method: str, motion: Motion, wrenches: Wrenches | None = None
) -> list[Array]:
    """Return the derivatives of a method by its three arguments, by central differences."""
    n = model.nv
    # Ahead along each coordinate, then behind, of each argument; as rows of one batch
    steps = STEP * np.concatenate([np.eye(n), -np.eye(n)])
    rows = [np.tile(array, (3 * len(steps), 1)) for array in motion]
    by_q, by_qd, by_third = np.split(np.arange(3 * len(steps)), 3)
    for row, step in zip(by_q, steps, strict=True):
        rows[0][row] = model.integrate(motion[0], step, 1.0)
    rows[1][by_qd] += steps
    rows[2][by_third] += steps
    results = getattr(model, f'{method}_batch')(*rows, external_wrenches=wrenches)
    return [
        (of_argument[:n] - of_argument[n:]).T / (2.0 * STEP)
        for of_argument in np.split(results, 3)
    ]


def assert_near(
    actual: Derivatives, expected: Derivatives, label: str, error: float, beside: float = 0.0
) -> None:
    """
    Assert that derivatives are equal but for an error relative to the largest of each.

    :param beside: absolute error beside it
    """
    for found, other in zip(actual, expected, strict=True):
        atol = error * np.abs(other).max(initial=1e-300) + beside
        np.testing.assert_allclose(found, other, rtol=0.0, atol=atol, err_msg=label)


def assert_are_differences(
    model: RobotModel, method: str, motion: Motion, label: str, wrenches: Wrenches | None = None
) -> None:
    try:
        result = getattr(model, method)(*motion, wrenches)
    except SingularityError:
        with pytest.raises(SingularityError):
            getattr(model, f'{method}_derivatives')(*motion, wrenches)
        return
    found = getattr(model, f'{method}_derivatives')(*motion, wrenches)
    expected = differences(model, method, motion, wrenches)
    # Rounding errors of a result, which differences divide by their step
    rounding = 1e-9 * np.abs(result).max(initial=0.0)
    if method == 'forward_dynamics':
        rounding *= condition(model.mass_matrix(motion[0]))
    assert_near(found, expected, label, 1e-6, rounding)


def condition(M: Array) -> float:
    """Return the condition number of a mass matrix with coordinates scaled to inertias of 1."""
    scale = np.sqrt(np.diag(M))
    return float(np.linalg.cond(M / np.outer(scale, scale))) if M.size else 1.0


# Finite differences


@each('seed', SEEDS)
@each('method', METHODS)
def test_derivatives_are_rates_along_each_coordinate(pair: Pair, method: str, seed: int) -> None:
    assert_are_differences(pair.model, method, pair.motion(seed), pair.label)


@each('seed', range(12))
@each('method', METHODS)
def test_of_every_type_of_joint(method: str, seed: int) -> None:
    kinds = MOVING if seed == 0 else random_kinds(seed)
    model = model_of(random_parts(seed, kinds))
    assert_are_differences(model, method, random_motion(model, seed), str(kinds))


@each('seed', range(6))
@each('method', METHODS)
def test_with_coordinates_in_an_order_that_is_not_the_trees(method: str, seed: int) -> None:
    kinds = [kind for kind in MOVING if kind != 'helical']
    root, *others = model_of(random_parts(seed, kinds)).tree.links
    joints = np.random.default_rng(seed).permutation([link.name for link in others])
    builder = TreeBuilder(root.name, [str(name) for name in joints])
    for one in others:
        builder.add_link(one.name, one.parent, one.placement, one.joint, one.inertia)
    model = RobotModel.from_tree(builder.build())
    motion = random_motion(model, seed)
    assert_are_differences(model, method, motion, str(joints))
    compute = getattr(model, f'{method}_derivatives')
    many = getattr(model, f'{method}_derivatives_batch')(*(np.tile(row, (9, 1)) for row in motion))
    assert_near([part[8] for part in many], compute(*motion), str(joints), 1e-9)


@each('method', METHODS)
def test_on_a_base_that_turns_and_accelerates(pair: Pair, method: str) -> None:
    model = pair.model.with_base_motion(ON_A_SHIP)
    assert_are_differences(model, method, pair.motion(0), pair.label)


@each('kind', ['random', 'all frames'])
@each('method', METHODS)
def test_each_wrench_is_constant_in_its_own_frame(pair: Pair, method: str, kind: str) -> None:
    model, links = pair.model, pair.model.link_names
    wrenches: Wrenches = random_wrenches(1, links)
    if kind == 'all frames':
        frames = (None, links[0], links[-1], *ReferenceFrame)
        wrenches = {
            links[len(links) // 2]: [
                Wrench((1, -2, 3), (0.3, 0.2, -0.1), frame, point)
                for frame in frames for point in (None, (0.1, 0.2, -0.3))
            ]
        }
    assert_are_differences(model, method, pair.motion(0), pair.label, wrenches)


@each('method', METHODS)
def test_wrenches_on_every_type_of_joint(method: str) -> None:
    model = model_of(random_parts(3, MOVING))
    wrenches = random_wrenches(3, model.link_names)
    assert_are_differences(model, method, random_motion(model, 3), 'all joints', wrenches)


def assert_are_pinocchios(pair: Pair) -> None:
    motion = pair.motion(0)
    expected = pair.pinocchio.inverse_dynamics_derivatives(*motion)
    found = pair.model.inverse_dynamics_derivatives(*motion)
    assert_near(found, expected, pair.label, 1e-11, 1e-13)
    M = expected[2]
    if not np.diag(M).all():
        with pytest.raises(SingularityError):
            pair.model.forward_dynamics_derivatives(*motion)
    elif M.size and not pair.pinocchio.has_followers:
        expected = pair.pinocchio.forward_dynamics_derivatives(*motion)
        error = min(1e-11 + 1e-14 * float(np.linalg.cond(M)), 1e-6)
        found = pair.model.forward_dynamics_derivatives(*motion)
        assert_near(found, expected, pair.label, error, error)


@pytest.mark.oracle
@pytest.mark.parametrize('floating', [False, True], ids=['fixed', 'floating'])
@pytest.mark.parametrize('path', vendor_robots())
def test_of_vendors_robots_are_pinocchios(path: Path, floating: bool) -> None:
    assert_are_pinocchios(vendor_pair(path, floating=floating))


@pytest.mark.oracle
@pytest.mark.parametrize('seeds', RANDOM_TREES[:4], ids=str)
def test_of_random_trees_are_pinocchios(seeds: range) -> None:
    for seed in seeds:
        assert_are_pinocchios(random_pair(seed, floating=bool(seed % 2)))


@pytest.mark.oracle
def test_wrenches_in_the_frames_of_links_are_pinocchios_in_those_of_joints(pair: Pair) -> None:
    q, qd, qdd = pair.motion(0)
    rng = np.random.default_rng(0)
    moving = pair.model.body_names
    wrenches = {name: [Wrench(*rng.normal(size=(2, 3)))] for name in moving}
    expected = pair.pinocchio.inverse_dynamics_derivatives(q, qd, qdd, wrenches)
    found = pair.model.inverse_dynamics_derivatives(q, qd, qdd, wrenches)
    assert_near(found, expected, pair.label, 1e-10)


def test_derivatives_are_exact_1000_km_from_the_origin(floating_pair: Pair) -> None:
    model, (q, qd, qdd) = floating_pair.model, floating_pair.motion(0)
    away = q.copy()
    away[:3] += 1e6
    for method in METHODS:
        derivatives = getattr(model, f'{method}_derivatives')
        near, far = derivatives(q, qd, qdd), derivatives(away, qd, qdd)
        assert_near(far, near, f'{floating_pair.label}, {method}', 1e-9)


# Arguments


def test_every_way_to_give_the_numbers_has_the_same_result() -> None:
    arm = load(SHIPPED[2])
    motion = random_motion(arm, 0)
    for method in METHODS:
        derivatives = getattr(arm, f'{method}_derivatives')
        at_once = derivatives(*motion)
        for other in (
            derivatives(*(array.tolist() for array in motion)),
            derivatives(*(np.repeat(array, 2)[::2] for array in motion)), derivatives(*motion, {}),
            [array.copy() for array in getattr(arm.workspace(), f'{method}_derivatives')(*motion)],
        ):
            assert_near(other, at_once, method, 1e-12)


PENDULUM = robot(
    link('base'), link('arm', 1.0, (0.1, 0.2, 0.3)), joint('turn', 'continuous', 'base', 'arm')
)


@each('bad', [np.nan, np.inf, -np.inf])
@each('place', range(3))
@each('method', METHODS)
def test_numbers_without_a_derivative_are_checked_too(method: str, place: int, bad: float) -> None:
    model = load(PENDULUM)
    given = [np.ones(1), np.ones(1), np.ones(1)]
    given[place] = np.array([bad])
    name = ('q', 'qd', 'qdd' if method == 'inverse_dynamics' else 'tau')[place]
    with pytest.raises(InputError, match='not finite') as caught:
        getattr(model, f'{method}_derivatives')(*given)
    assert caught.value.argument == name
    rows = [np.tile(array, (9, 1)) for array in (np.ones(1), np.ones(1), np.ones(1))]
    rows[place][5] = bad
    with pytest.raises(InputError, match='not finite') as caught:
        getattr(model, f'{method}_derivatives_batch')(*rows)
    assert caught.value.argument == f'{name}[5]'


def test_a_motion_so_large_that_the_derivatives_overflow_is_rejected() -> None:
    arm = load(SHIPPED[2])
    with pytest.raises(InputError, match='not finite'):
        arm.inverse_dynamics_derivatives(np.ones(6), np.full(6, 1e200), np.ones(6))


@each('mimics', [False, True])
def test_a_joint_without_inertia_is_named(mimics: bool) -> None:
    follows = '<mimic joint="turn" multiplier="2.0"/>'
    elements = [
        link('base'), link('arm', 1.0, (0.1, 0.2, 0.3)), link('idle'),
        joint('turn', 'continuous', 'base', 'arm'),
        joint('idle', 'continuous', 'arm', 'idle', axis=(1, 0, 0)),
    ]
    if mimics:
        elements += [
            link('follower', 1.0, (0.1, 0.0, 0.0)),
            joint('follows', 'revolute', 'base', 'follower', more=follows),
        ]
    model = load(robot(*elements))
    state = np.ones((3, 2))
    with pytest.raises(SingularityError, match='no inertia') as caught:
        model.forward_dynamics_derivatives(*state)
    assert caught.value.element == "joint 'idle'"
    with pytest.raises(SingularityError, match='no inertia') as caught:
        model.forward_dynamics_derivatives_batch(*(np.tile(row, (9, 1)) for row in state))
    assert caught.value.element == "joint 'idle'"
    inverse: Any = model.inverse_dynamics_derivatives(*state)
    expected = differences(model, 'inverse_dynamics', (state[0], state[1], state[2]))
    assert_near(inverse, expected, 'idle', 1e-6)
