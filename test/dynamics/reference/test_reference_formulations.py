# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Every formulation gives the kernels' efforts, on trees and chains; other trees are rejected."""

from dataclasses import replace
import re

import numpy as np
import pytest

from rnea_ros import BaseMotion, InputError, RobotModel, Wrench
from rnea_ros.dynamics import tree as trees
from rnea_ros.errors import TreeError
from rnea_ros.textbook import closed_form, newton_euler, nonrecursive, recursion, screw
from rnea_ros.textbook.screw import ScrewChain, chain_of_lists, screw_chain
from rnea_ros.textbook.textbook_tree import bodies_of, chain_of
from support.cases import each
from support.models.joint_trees import GRAVITY, model_of, random_motion, random_parts
from support.models.oracles import Array, Formulation, random_moments, random_state, random_tree
from support.models.robots import joint, link, load, robot

CHAIN_FORMULATIONS = (screw.inverse_dynamics, closed_form.inverse_dynamics)
RANDOM_CHAINS = range(10)


def assert_equal(actual: Array, expected: Array) -> None:
    # A small effort is what is left of large terms: it is rounded as the largest is, and where all
    # cancel, as the forces of some newtons are that these robots bear.
    scale = np.abs(expected).max(initial=1.0)
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12 * scale)


def chain_model(seed: int) -> RobotModel:
    """Return a random serial chain with fixed joints in between, its tip the last link."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice(['continuous', 'prismatic', 'fixed'], size=rng.integers(1, 12)).tolist()
    elements = [link('link_0', 1.0)]
    for i, kind in enumerate([*kinds, 'continuous', 'fixed'], start=1):
        inertia = tuple(random_moments(rng)[np.triu_indices(3)])
        com, rpy, xyz, turn, axis = rng.normal(scale=0.3, size=(5, 3))
        name = f'link_{i}' if i < len(kinds) + 2 else 'tip'
        elements += [
            link(name, rng.uniform(0.1, 5.0), com, inertia, rpy),
            joint(f'joint_{i}', kind, f'link_{i - 1}', name, xyz=xyz, rpy=turn, axis=axis),
        ]
    return load(robot(*elements), rng.normal(scale=10.0, size=3))


def screw_form(model: RobotModel) -> ScrewChain:
    """Return a model's chain up to its last link."""
    tip = model.tree.frames[model.link_names[-1]]
    return screw_chain(chain_of(model.tree), tip.placement)


def random_loads(model: RobotModel, seed: int) -> tuple[dict[str, Wrench], Array]:
    """Return a wrench on every link, and the same as the references take it."""
    rng = np.random.default_rng(seed)
    wrenches, external = {}, np.zeros((len(model.tree.bodies), 6))
    for name, frame in model.tree.frames.items():
        torque, force = rng.normal(scale=10.0, size=(2, 3))
        wrenches[name] = Wrench(force=force, torque=torque)
        R, p = frame.placement.rotation, frame.placement.translation
        external[frame.body] += [*(R @ torque + np.cross(p, R @ force)), *(R @ force)]
    return wrenches, external


@each('seed', range(12))
def test_formulations_and_terms_of_trees_are_the_kernels(seed: int) -> None:
    urdf = re.sub(r'<mimic [^>]*/>', '', random_tree(seed))
    model = load(urdf, np.random.default_rng(seed).normal(scale=10.0, size=3))
    q, qd, _ = state = random_state(seed, model.nv)
    bodies, tau = bodies_of(model.tree), model.inverse_dynamics(*state)
    wrenches, external = random_loads(model, seed)
    for unloaded in (recursion.inverse_dynamics, recursion.inverse_dynamics_without_recursion):
        assert_equal(unloaded(bodies, *state, model.gravity), tau)
    for formulation in (newton_euler.inverse_dynamics, nonrecursive.inverse_dynamics):
        assert_equal(formulation(bodies, *state, model.gravity), tau)
        efforts = formulation(bodies, *state, model.gravity, external)
        assert_equal(efforts, model.inverse_dynamics(*state, wrenches))
    assert_equal(newton_euler.mass_matrix(bodies, q), model.mass_matrix(q))
    assert_equal(newton_euler.coriolis_torques(bodies, q, qd), model.coriolis_torques(q, qd))
    assert_equal(newton_euler.gravity_torques(bodies, q, model.gravity), model.gravity_torques(q))


@each('seed', RANDOM_CHAINS)
def test_formulations_and_terms_of_chains_are_the_kernels(seed: int) -> None:
    model = chain_model(seed)
    chain, (q, qd, qdd) = screw_form(model), random_state(seed, model.nv)
    F_tip = np.random.default_rng(seed).normal(scale=10.0, size=6)
    # F_tip is what the robot exerts on the environment; a Wrench, what the environment does on it.
    on_robot = {'tip': Wrench(torque=-F_tip[:3], force=-F_tip[3:])}
    base = BaseMotion(*np.random.default_rng(seed).normal(scale=2.0, size=(4, 3)))
    on_base = model.with_base_motion(base)
    for formulation in CHAIN_FORMULATIONS:
        efforts = formulation(chain, q, qd, qdd, model.gravity, F_tip)
        assert_equal(efforts, model.inverse_dynamics(q, qd, qdd, on_robot))
        efforts = formulation(chain, q, qd, qdd, model.gravity, np.zeros(6), *base.spatial())
        assert_equal(efforts, on_base.inverse_dynamics(q, qd, qdd))
    assert_equal(closed_form.mass_matrix(chain, q), model.mass_matrix(q))
    assert_equal(closed_form.coriolis_torques(chain, q, qd), model.coriolis_torques(q, qd))
    assert_equal(closed_form.gravity_torques(chain, q, model.gravity), model.gravity_torques(q))
    wrenches, external = random_loads(model, seed)
    found = newton_euler.forward_dynamics(
        bodies_of(model.tree), q, qd, qdd, model.gravity, external
    )
    # Solving M qdd = tau - h leaves a residual in proportion to M and qdd, not to tau.
    scale = float((np.abs(model.mass_matrix(q)) @ np.abs(found)).max())
    np.testing.assert_allclose(
        model.inverse_dynamics(q, qd, found, wrenches), qdd, rtol=0.0, atol=1e-12 * scale
    )


def lists_of(chain: ScrewChain) -> tuple[Array, Array, Array]:
    """Return Mlist, Slist and Glist of the book's code."""
    steps = np.linalg.inv(chain.M)  # frame {i} in frame {i - 1}
    S, pose = [], np.eye(4)
    for step, A_i in zip(steps[:-1], chain.A, strict=True):
        pose = pose @ step
        R, p = pose[:3, :3], pose[:3, 3]
        S.append([*(R @ A_i[:3]), *(np.cross(p, R @ A_i[:3]) + R @ A_i[3:])])
    return np.asarray(steps), np.array(S).T, chain.G


@pytest.mark.oracle
def test_the_textbooks_code_reads_chains_alike() -> None:
    modern_robotics = pytest.importorskip('modern_robotics')
    for seed in RANDOM_CHAINS:
        model, rng = chain_model(seed), np.random.default_rng(seed)
        state, F_tip = random_state(seed, model.nv), rng.normal(size=6)
        expected = screw_form(model)
        Mlist, Slist, Glist = lists_of(expected)
        found = chain_of_lists(Mlist, Slist, Glist)
        for part in ('M', 'A', 'G'):
            assert_equal(getattr(found, part), getattr(expected, part))
        # Axes of another length count the joint's position in other units.
        Slist = Slist * rng.uniform(0.5, 2.0, size=model.nv)
        lists = (Mlist, Glist, Slist)
        efforts = modern_robotics.InverseDynamics(*state, model.gravity, F_tip, *lists)
        chain = chain_of_lists(Mlist, Slist, Glist)
        for formulation in CHAIN_FORMULATIONS:
            assert_equal(formulation(chain, *state, model.gravity, F_tip), efforts)


def test_lists_of_other_shapes_are_rejected_by_name() -> None:
    Mlist, Slist, Glist = lists_of(screw_form(chain_model(0)))
    for bad, name in (
        ((Mlist[1:], Slist, Glist), 'Mlist'), ((Mlist, Slist[:5], Glist), 'Slist'),
        ((Mlist, Slist, Glist[1:]), 'Glist'), ((Mlist, Slist * np.nan, Glist), 'Slist'),
    ):
        with pytest.raises(InputError) as caught:
            chain_of_lists(*bad)
        assert caught.value.argument == name


PARTS = random_parts(0, ['revolute', 'cylindrical', 'prismatic', 'planar'])
REVOLUTE = random_parts(0, ['revolute'] * 3, branches=False)
BRANCHES = [*REVOLUTE[:2], replace(REVOLUTE[2], parent='revolute_0')]


def one_after_another(*kinds: str) -> trees.KinematicTree:
    return model_of(random_parts(0, kinds, branches=False)).tree


def following(numbers: str) -> trees.KinematicTree:
    follower = joint('b', 'revolute', 'a', 'b', more=f'<mimic joint="a" {numbers}/>')
    links = (link('base'), link('a', 1.0), link('b', 1.0))
    return load(robot(*links, joint('a', 'revolute', 'base', 'a'), follower)).tree


def without_mass(*h: float) -> trees.KinematicTree:
    builder = trees.TreeBuilder('base')
    inertia = trees.RigidBodyInertia(0.0, np.array(h), np.diag([0.1, 0.2, 0.3]))
    builder.add_link('a', 'base', trees.Placement.identity(), trees.revolute('x'), inertia)
    return builder.build()


@pytest.mark.parametrize('formulation', [
    newton_euler.inverse_dynamics, nonrecursive.inverse_dynamics
])
def test_any_order_and_joints_of_several_movements(formulation: Formulation) -> None:
    model = model_of(PARTS, order=[part.name for part in reversed(PARTS)])
    state = random_motion(0, PARTS[::-1])
    expected, atol = model.inverse_dynamics(*state), 1e-11
    efforts = formulation(bodies_of(model.tree), *state, np.array(GRAVITY))
    np.testing.assert_allclose(efforts, expected, rtol=1e-12, atol=atol)


@each(('tree', 'message'), [
    (one_after_another('revolute', 'spherical'),
     "body 2, of link 'spherical_1': its joint is spherical, not revolute or prismatic"),
    (trees.with_separate_bodies(one_after_another('revolute', 'fixed'), ['fixed_1']),
     "body 2, of link 'fixed_1': its joint is fixed"),
    *((following(f'multiplier="{ratio}" offset="{offset}"'),
       f"body 2, of link 'b': it has no coordinate of its own: {ratio} q[0] + {offset}")
      for ratio, offset in ((-2.0, 0.0), (1.0, 0.5), (1.0, 0.0))),
    (one_after_another('helical'), "body 2, of link 'helical_0': it has no coordinate of its own"),
    (without_mass(1.0, 0.0, 0.0), "body 1, of link 'a': it has no mass but the"),
    (model_of(BRANCHES).tree, "body 3, of link 'revolute_2': it branches off"),
    (model_of(REVOLUTE[:2], order=['revolute_1', 'revolute_0']).tree,
     "'revolute_0': it is number 1 of the chain, and moves by q[1]"),
])
def test_other_trees_are_rejected_by_link(tree: trees.KinematicTree, message: str) -> None:
    with pytest.raises(TreeError, match=re.escape(message)):
        chain_of(tree)


def test_a_body_without_mass_has_no_centre_of_mass_to_divide_for() -> None:
    (body,) = bodies_of(without_mass(0.0, 0.0, 0.0))
    assert (body.mass, *body.com) == (0.0, 0.0, 0.0, 0.0)
    np.testing.assert_array_equal(body.inertia, np.diag([0.1, 0.2, 0.3]))
