# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What the reference formulations take of a tree, and what they reject by name."""

import dataclasses

import numpy as np
import pytest

from rnea_ros.dynamics import Workspace
from rnea_ros.dynamics import tree as trees
from rnea_ros.dynamics.kernels import JointKind
from rnea_ros.dynamics.reference import newton_euler, nonrecursive
from rnea_ros.dynamics.reference.textbook_tree import bodies_of, chain_of
from rnea_ros.dynamics.tree import JointType, floating, planar
from rnea_ros.dynamics.tree.joint_types import cylindrical, helical, spherical
from rnea_ros.errors import TreeError
from support.models.oracles import random_moments, random_rotation, random_state

GRAVITY = np.array([1.0, -2.0, -9.0])
X, Y = trees.revolute('x'), trees.revolute('y')
FORMULATIONS = (newton_euler.inverse_dynamics, nonrecursive.inverse_dynamics)


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


def assert_efforts_agree(tree: trees.KinematicTree) -> None:
    state = random_state(0, tree.nv)
    expected = Workspace(tree, GRAVITY).inverse_dynamics(*state)
    for formulation in FORMULATIONS:
        np.testing.assert_allclose(
            formulation(bodies_of(tree), *state, GRAVITY), expected, rtol=1e-12,
            atol=1e-12 * np.abs(expected).max(),
        )


def test_coordinates_come_in_any_order() -> None:
    tree = tree_of(
        ('a', 'base', X), ('b', 'a', trees.prismatic('y')), ('c', 'a', trees.revolute('z')),
        order=('z', 'x', 'y'),
    )
    assert [body.coordinate for body in bodies_of(tree)] == [1, 2, 0]
    assert_efforts_agree(tree)


@pytest.mark.parametrize('joint', [cylindrical('y'), planar('y')], ids=['cylindrical', 'planar'])
def test_a_compound_joint_is_a_row_of_bodies(joint: JointType) -> None:
    tree = tree_of(('a', 'base', X), ('b', 'a', joint))
    assert [body.mass > 0.0 for body in bodies_of(tree)] == [
        True, *[False for _ in joint[1:]], True
    ]
    assert_efforts_agree(tree)


@pytest.mark.parametrize(('joint', 'element', 'reason'), [
    (spherical('y'), "body 2, of link 'b'", 'its joint is spherical, not revolute or prismatic'),
    (floating('y'), "body 2, of link 'b'", 'its joint is floating, not revolute or prismatic'),
    (
        trees.revolute(trees.Coordinate('x', ratio=-2.0, offset=0.5)), "body 2, of link 'b'",
        'it has no coordinate of its own: -2.0 q[0] + 0.5',
    ),
    (
        trees.revolute(trees.Coordinate('x')), "body 2, of link 'b'",
        'it has no coordinate of its own: 1.0 q[0] + 0.0',
    ),
    (helical('y', 0.1), "body 3, of link 'b'", 'it has no coordinate of its own: 0.1 q[1] + 0.0'),
], ids=['spherical', 'floating', 'mimic', 'twin', 'helical'])
def test_other_joints_are_rejected_by_link(joint: JointType, element: str, reason: str) -> None:
    tree = tree_of(('a', 'base', X), ('b', 'a', joint))
    with pytest.raises(TreeError) as rejection:
        bodies_of(tree)
    assert (rejection.value.element, rejection.value.reason) == (element, reason)


def test_a_body_that_does_not_move_is_rejected_by_its_link() -> None:
    tree = tree_of(('a', 'base', X), ('b', 'a', Y))
    records = tree.bodies.copy()
    records[2]['kind'] = JointKind.FIXED
    with pytest.raises(TreeError, match="body 2, of link 'b': its joint is fixed"):
        bodies_of(dataclasses.replace(tree, bodies=records))


def test_a_first_moment_without_mass_is_rejected() -> None:
    builder = trees.TreeBuilder('base')
    moment = trees.RigidBodyInertia(0.0, np.array([1.0, 0.0, 0.0]), np.zeros((3, 3)))
    builder.add_link('a', 'base', trees.Placement.identity(), X, moment)
    with pytest.raises(TreeError, match="body 1, of link 'a': it has no mass but the first mom"):
        bodies_of(builder.build())


def test_a_body_without_mass_has_no_centre_of_mass_to_divide_for() -> None:
    builder = trees.TreeBuilder('base')
    spin = trees.RigidBodyInertia(0.0, np.zeros(3), np.diag([0.1, 0.2, 0.3]))
    builder.add_link('a', 'base', trees.Placement.identity(), X, spin)
    (body,) = bodies_of(builder.build())
    assert (body.mass, *body.com) == (0.0, 0.0, 0.0, 0.0)
    np.testing.assert_array_equal(body.inertia, spin.J)


def test_a_branched_tree_is_not_a_serial_chain() -> None:
    tree = tree_of(('a', 'base', X), ('b', 'a', Y), ('c', 'a', trees.revolute('z')))
    with pytest.raises(TreeError, match="body 3, of link 'c': it branches off"):
        chain_of(tree)


def test_a_serial_chain_counts_its_coordinates_from_the_base() -> None:
    tree = tree_of(('a', 'base', X), ('b', 'a', Y), order=('y', 'x'))
    with pytest.raises(TreeError, match=r"'a': it is number 1 of the chain, and moves by q\[1\]"):
        chain_of(tree)
