# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The builder rejects what is no tree, lumps what is fixed and turns every axis to z."""

from collections.abc import Sequence
import pickle

import numpy as np
import pytest

from rnea_ros.dynamics import tree as trees
from rnea_ros.dynamics.kernels import BASE, JointKind
from rnea_ros.dynamics.tree.joint_types import cylindrical, helical, spherical
from rnea_ros.dynamics.tree.kinematic_tree import JointCoordinates
from rnea_ros.errors import TreeError
from support.cases import each
from support.models.oracles import random_moments

HERE = trees.Placement.identity()
NOTHING = trees.RigidBodyInertia.zero()
BODY = trees.RigidBodyInertia.from_centre_of_mass(
    2.0, np.array([0.1, 0.2, 0.3]), random_moments(np.random.default_rng(0))
)


@each(('name', 'parent', 'joint', 'reason'), [
    ('a', 'base', trees.FIXED, 'the tree has a link of this name already'),
    ('b', 'a', trees.revolute('y'), "the tree has no joint 'y'"),
    ('b', 'c', trees.FIXED, "the tree has no parent link 'c'"),
    *(('b', 'a', trees.revolute('x', axis), 'is not a unit vector') for axis in (
        (0.0, 0.0, 0.0), (0.0, 0.0, 1.0 + 1e-8), (0.0, np.nan, 1.0), (np.inf, 0.0, 0.0))),
])
def test_a_rejection_has_element_and_reason_and_leaves_nothing_behind(
    name: str, parent: str, joint: trees.JointType, reason: str
) -> None:
    builder = trees.TreeBuilder('base', ['x'])
    builder.add_link('a', 'base', HERE, trees.FIXED, NOTHING)
    with pytest.raises(TreeError, match=f'{reason}$') as caught:
        builder.add_link(name, parent, HERE, joint, BODY)
    assert caught.value.element == f'link {name!r}'
    builder.add_link('b', 'a', HERE, trees.revolute('x'), NOTHING)
    assert builder.build().bodies['mass'].tolist() == [0.0, 0.0]


def test_a_tree_of_nothing_but_its_root_is_a_tree_and_cannot_be_changed() -> None:
    tree = trees.TreeBuilder('base', []).build()
    assert (len(tree.bodies), tree.nq, tree.nv, len(tree.joints)) == (1, 0, 0, 0)
    assert {name: frame.body for name, frame in tree.frames.items()} == {'base': BASE}
    with pytest.raises(ValueError, match='read-only'):
        tree.bodies['mass'] = 1.0
    with pytest.raises(TypeError):
        tree.frames['a'] = tree.frames['base']  # type: ignore[index]


def mixed_tree(
    joints: Sequence[str] | None = None, inertia: trees.RigidBodyInertia = NOTHING
) -> trees.KinematicTree:
    builder = trees.TreeBuilder(joints=joints)
    parent = ''
    for name, joint in (
        ('f', trees.floating('f')), ('r', trees.revolute('r')), ('s', spherical('s')),
        ('pl', trees.planar('pl', (0.0, 1.0, 0.0))), ('c', cylindrical('c')),
        ('p', trees.prismatic('p')), ('h', helical('h', 0.25)),
    ):
        builder.add_link(name, parent, HERE, joint, inertia)
        parent = name
    return builder.build()


def test_coordinates_are_in_the_order_of_the_links_or_of_the_announcement() -> None:
    tree = mixed_tree()
    assert (tree.nq, tree.nv) == (19, 17)
    sizes = {
        'f': (7, 6), 'r': (1, 1), 's': (4, 3), 'pl': (3, 3), 'c': (2, 2), 'p': (1, 1), 'h': (1, 1)
    }
    assert [*tree.joints.items()] == [*mixed_tree([*sizes]).joints.items()]
    for order in ([*sizes], ['h', 's', 'r', 'f', 'p', 'c', 'pl']):
        places = mixed_tree(order).joints
        assert [*places] == order
        i = j = 0
        for name in order:
            nq, nv = sizes[name]
            assert places[name] == JointCoordinates(slice(i, i + nq), slice(j, j + nv))
            i, j = i + nq, j + nv


def test_a_joint_of_several_movements_is_a_row_of_bodies() -> None:
    tree = mixed_tree(inertia=BODY)
    kinds = [JointKind(kind).name[0] for kind in tree.bodies['kind'][1:]]
    assert ''.join(kinds) == 'FRS' + 'PPR' + 'RP' + 'P' + 'RP'
    assert tree.bodies['parent'].tolist() == [0, *range(len(kinds))]
    # The link has the mass, not the bodies between.
    assert (tree.bodies['mass'] > 0.0).tolist() == [False, *(x == '1' for x in '11100101101')]
    # planar: x, y, angle; cylindrical: angle, distance; helical: angle, angle times pitch
    assert tree.bodies['qd_index'][4:7].tolist() == [10, 11, 12]
    assert tree.bodies['qd_index'][7:9].tolist() == [13, 14]
    assert tree.bodies['qd_index'][10:12].tolist() == [16, 16]
    assert tree.bodies['ratio'][10:12].tolist() == [1.0, 0.25]
    assert {name: frame.body for name, frame in tree.frames.items()} == {
        '': 0, 'f': 1, 'r': 2, 's': 3, 'pl': 6, 'c': 8, 'p': 9, 'h': 11
    }


def test_a_tree_comes_back_from_a_file_as_it_was() -> None:
    tree = trees.with_separate_bodies(mixed_tree(['h', 's', 'r', 'f', 'p', 'c', 'pl']), ['r'])
    again = pickle.loads(pickle.dumps(tree))
    np.testing.assert_array_equal(again.bodies, tree.bodies)
    assert not again.bodies.flags.writeable
    assert dict(again.joints) == dict(tree.joints)
    assert list(again.joints) == list(tree.joints)
    assert again.separate_bodies == tree.separate_bodies
    assert list(again.frames) == list(tree.frames)
