# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What the reference formulations take of a tree, and what they reject by name."""

from dataclasses import replace
import re

import numpy as np
import pytest

from rnea_ros.dynamics import tree as trees
from rnea_ros.dynamics.reference import newton_euler, nonrecursive
from rnea_ros.dynamics.reference.textbook_tree import bodies_of, chain_of
from rnea_ros.errors import TreeError
from support.cases import each
from support.models.joint_trees import GRAVITY, model_of, random_motion, random_parts
from support.models.oracles import Formulation
from support.models.robots import joint, link, load, robot

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
