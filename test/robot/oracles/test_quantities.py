# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Pinocchio agrees on every quantity that the model computes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from rnea_ros import Wrench
from rnea_ros.errors import SingularityError
from support.cases import each
from support.models.comparison import assert_equal
from support.models.oracle_pairs import RANDOM_TREES, SHIPPED_PAIRS, Pair, random_pair, vendor_pair
from support.models.oracles import random_wrenches
from support.models.robots import joint, link, robot, vendor_robots

pytestmark = pytest.mark.oracle

Row: TypeAlias = tuple[str, Any, Any]


def quantities(pair: Pair) -> Iterator[Row]:
    """Return the name of every quantity, and its value here and in Pinocchio."""
    model, pinocchio = pair.model, pair.pinocchio
    q, qd, _ = motion = pair.motion(0)
    loads = random_wrenches(0, model.link_names)
    rng = np.random.default_rng(0)
    # Pinocchio's wrenches are constant in the frames of joints, so that they act on bodies here.
    on_bodies = {name: [Wrench(*rng.normal(size=(2, 3)))] for name in model.body_names}
    same_name: dict[str, tuple[Any, ...]] = {
        'inverse_dynamics': (*motion, loads), 'gravity_torques': (q,), 'bias_torques': (q, qd),
        'mass_matrix': (q,), 'coriolis_matrix': (q, qd), 'kinetic_energy': (q, qd),
        'inverse_dynamics_derivatives': (*motion, on_bodies),
    }
    for name, given in same_name.items():
        yield name, getattr(model, name)(*given), getattr(pinocchio, name)(*given)
    yield 'efforts', model.inverse_dynamics(*motion), pinocchio.inverse_dynamics(*motion)
    C_qd = pinocchio.bias_torques(q, qd) - pinocchio.gravity_torques(q)
    yield 'coriolis_torques', model.coriolis_torques(q, qd), C_qd
    C = pinocchio.coriolis_matrix(q, qd)
    yield 'mass_matrix_rate', model.mass_matrix_rate(q, qd), C + C.T
    # The root link counts, which Pinocchio leaves out where it does not move.
    free, free_q = pair.free_pinocchio, q if pair.floating else np.array([*np.zeros(6), 1.0, *q])
    yield 'potential_energy', model.potential_energy(q), free.potential_energy(free_q)
    yield 'centre_of_mass', model.centre_of_mass(q), free.centre_of_mass(free_q)
    phi = pinocchio.inertial_parameters(model.body_names)
    yield 'inertial_parameters', model.inertial_parameters, phi
    poses = pinocchio.link_poses(q, model.link_names)
    for name, pose in zip(model.link_names, poses, strict=True):
        v, a = pinocchio.link_motion(*motion, name)
        _, bias = pinocchio.link_motion(q, qd, np.zeros(model.nv), name)
        yield name, model.forward_kinematics(q, name), pose
        yield name, model.jacobian(q, name), pinocchio.jacobian(q, name)
        yield name, model.link_velocity(q, qd, name), v
        yield name, model.link_acceleration(*motion, name), a
        yield name, model.bias_acceleration(q, qd, name), bias
    cuts = model.body_names[:: 1 + len(model.body_names) // 4]  # a humanoid has many
    for name, carried in zip(cuts, pinocchio.joint_wrenches(*motion, cuts, loads), strict=True):
        wrench = model.internal_wrench(*motion, name, loads)
        yield name, [*np.asarray(wrench.torque), *np.asarray(wrench.force)], carried


def assert_is_pinocchios(pair: Pair) -> None:
    for name, found, expected in quantities(pair):
        # Elements are differences of products of all masses behind a joint.
        atol = 1e-10 + 1e-12 * float(np.abs(expected).max(initial=0.0))
        assert_equal(found, expected, f'{pair.label}: {name}', atol)
    assert_accelerates_as_pinocchios(pair)


def assert_accelerates_as_pinocchios(pair: Pair) -> None:
    """Compare forward dynamics; joints without inertia are named."""
    model, motion = pair.model, pair.motion(0)
    M = pair.pinocchio.mass_matrix(motion[0])
    idle = {
        f'joint {name!r}' for name in model.joint_names
        if not np.diag(M)[model.velocity_indices(name)].all()
    }
    if idle:
        for compute in (model.forward_dynamics, model.forward_dynamics_derivatives):
            with pytest.raises(SingularityError, match='no inertia to accelerate') as caught:
                compute(*motion)
            assert caught.value.element in idle, pair.label
        return
    expected = pair.pinocchio.forward_dynamics(*motion)
    # Each joint's acceleration follows from all others': the largest is the measure of errors.
    atol = 1e-9 * float(np.abs(expected).max(initial=0.0))
    assert_equal(model.forward_dynamics(*motion), expected, pair.label, atol)


@pytest.mark.parametrize('path', vendor_robots())
def test_vendors_robots_are_pinocchios(path: Path) -> None:
    assert_is_pinocchios(vendor_pair(path))


@pytest.mark.parametrize(
    'path', vendor_robots('solo12', 'anymal', 'hyq', 'talos_reduced', 'romeo', 'ur5_robot')
)
def test_vendors_robots_on_a_floating_base_are_pinocchios(path: Path) -> None:
    assert_is_pinocchios(vendor_pair(path, floating=True))


@pytest.mark.parametrize('seeds', RANDOM_TREES, ids=str)
def test_random_trees_are_pinocchios(seeds: range) -> None:
    for seed in seeds:
        assert_is_pinocchios(random_pair(seed, floating=bool(seed % 2)))


@each('pair', SHIPPED_PAIRS)
def test_shipped_robots_are_pinocchios(pair: Pair) -> None:
    assert_is_pinocchios(pair)


def follow(leader: str, multiplier: float, offset: float) -> str:
    return f'<mimic joint="{leader}" multiplier="{multiplier!r}" offset="{offset!r}"/>'


def chain(*rules: str) -> Pair:
    """Return a chain of hinges about general axes, each with a rule that it follows, or none."""
    rng, elements = np.random.default_rng(7), [link('base')]
    for i, rule in enumerate(rules):
        xyz, rpy, axis, com = rng.normal(size=(4, 3))
        parent, name = f'link_{i - 1}' if i else 'base', f'link_{i}'
        elements += [
            link(name, rng.uniform(1, 2), com),
            joint(f'j{i}', 'revolute', parent, name, xyz=xyz, rpy=rpy, axis=axis, more=rule),
        ]
    return Pair(str(rules), robot(*elements))


@each('pair', [
    chain('', follow('j0', -2.0, 0.5), '', follow('j2', 1.0, 0)),
    chain(follow('j2', 2.0, 0.1), '', ''), chain('', follow('j0', 0.0, 0.7)),
    chain('', follow('j0', 1.5, 1.0), follow('j0', 2.5, 2.0)),
])
def test_joints_that_follow_others_are_pinocchios(pair: Pair) -> None:
    assert_is_pinocchios(pair)


def test_a_chain_of_mimic_joints_moves_as_if_each_followed_the_first() -> None:
    # -3 (2 q + 0.25) + 0.5 = -6 q - 0.25
    first = follow('j0', 2.0, 0.25)
    chained = chain('', first, follow('j1', -3.0, 0.5))
    direct = chain('', first, follow('j0', -6.0, -0.25))
    tau, expected = (
        pair.model.inverse_dynamics([0.3], [0.7], [-0.4]) for pair in (chained, direct)
    )
    np.testing.assert_allclose(tau, expected, rtol=1e-12)
