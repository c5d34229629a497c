# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What the reference formulations take of a tree, and what they reject by name."""

from collections.abc import Callable
import dataclasses
import re

import numpy as np
import pytest

from rnea_ros.dynamics import Workspace
from rnea_ros.dynamics import tree as trees
from rnea_ros.dynamics.kernels import JointKind
from rnea_ros.dynamics.reference import newton_euler, nonrecursive
from rnea_ros.dynamics.reference.textbook_tree import bodies_of, chain_of
from rnea_ros.dynamics.tree import JointType, planar
from rnea_ros.dynamics.tree.joint_types import cylindrical, helical, spherical
from rnea_ros.errors import TreeError
from support.cases import each
from support.models.oracles import random_moments, random_rotation, random_state

GRAVITY = np.array([1.0, -2.0, -9.0])
X, Y = trees.revolute('x'), trees.revolute('y')


def tree_of(
    *links: tuple[str, str, JointType], order: tuple[str, ...] | None = None
) -> trees.KinematicTree:
    """Return a tree of links by name, parent and joint, with any placements and inertias."""
    rng = np.random.default_rng(0)
    builder = trees.TreeBuilder('base', order)
    for name, parent, joint in links:
        inertia = trees.RigidBodyInertia.from_centre_of_mass(
            rng.uniform(0.1, 5.0), rng.normal(size=3), random_moments(rng)
        )
        placement = trees.Placement(random_rotation(rng), rng.normal(size=3))
        builder.add_link(name, parent, placement, joint, inertia)
    return builder.build()


@each(('tree', 'coordinates'), [
    (tree_of(('a', 'base', X), ('b', 'a', trees.prismatic('y')), ('c', 'a', trees.revolute('z')),
             order=('z', 'x', 'y')), [1, 2, 0]),
    (tree_of(('a', 'base', X), ('b', 'a', cylindrical('y'))), [0, 1, 2]),
    (tree_of(('a', 'base', X), ('b', 'a', planar('y'))), [0, 1, 2, 3]),
])
def test_any_order_and_joints_of_several_movements(
    tree: trees.KinematicTree, coordinates: list[int]
) -> None:
    bodies, state = bodies_of(tree), random_state(0, tree.nv)
    assert [body.coordinate for body in bodies] == coordinates
    expected = Workspace(tree, GRAVITY).inverse_dynamics(*state)
    for formulation in (newton_euler.inverse_dynamics, nonrecursive.inverse_dynamics):
        atol = 1e-12 * np.abs(expected).max()
        np.testing.assert_allclose(
            formulation(bodies, *state, GRAVITY), expected, rtol=1e-12, atol=atol
        )


def with_a_fixed_body() -> trees.KinematicTree:
    tree = two(Y)
    records = tree.bodies.copy()
    records[2]['kind'] = JointKind.FIXED
    return dataclasses.replace(tree, bodies=records)


def without_mass(h: tuple[float, float, float]) -> trees.KinematicTree:
    builder = trees.TreeBuilder('base')
    inertia = trees.RigidBodyInertia(0.0, np.array(h), np.diag([0.1, 0.2, 0.3]))
    builder.add_link('a', 'base', trees.Placement.identity(), X, inertia)
    return builder.build()


def two(joint: JointType) -> trees.KinematicTree:
    return tree_of(('a', 'base', X), ('b', 'a', joint))


@each(('make', 'tree', 'message'), [
    (bodies_of, two(spherical('y')),
     "body 2, of link 'b': its joint is spherical, not revolute or prismatic"),
    (bodies_of, two(trees.revolute(trees.Coordinate('x', ratio=-2.0, offset=0.5))),
     "body 2, of link 'b': it has no coordinate of its own: -2.0 q[0] + 0.5"),
    (bodies_of, two(trees.revolute(trees.Coordinate('x'))),
     "body 2, of link 'b': it has no coordinate of its own: 1.0 q[0] + 0.0"),
    (bodies_of, two(helical('y', 0.1)),
     "body 3, of link 'b': it has no coordinate of its own: 0.1 q[1] + 0.0"),
    (bodies_of, with_a_fixed_body(), "body 2, of link 'b': its joint is fixed"),
    (bodies_of, without_mass((1.0, 0.0, 0.0)), "body 1, of link 'a': it has no mass but the"),
    (chain_of, tree_of(('a', 'base', X), ('b', 'a', Y), ('c', 'a', trees.revolute('z'))),
     "body 3, of link 'c': it branches off"),
    (chain_of, tree_of(('a', 'base', X), ('b', 'a', Y), order=('y', 'x')),
     "'a': it is number 1 of the chain, and moves by q[1]"),
])
def test_other_trees_are_rejected_by_link(
    make: Callable[[trees.KinematicTree], object], tree: trees.KinematicTree, message: str
) -> None:
    with pytest.raises(TreeError, match=re.escape(message)):
        make(tree)


def test_a_body_without_mass_has_no_centre_of_mass_to_divide_for() -> None:
    (body,) = bodies_of(without_mass((0.0, 0.0, 0.0)))
    assert (body.mass, *body.com) == (0.0, 0.0, 0.0, 0.0)
    np.testing.assert_array_equal(body.inertia, np.diag([0.1, 0.2, 0.3]))
