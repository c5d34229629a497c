# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A joint that nothing resists has no defined acceleration: the error names the joint."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros import RobotModel, SingularityError
from rnea_ros.dynamics import tree as trees
from rnea_ros.dynamics.tree.joint_types import spherical
from support.cases import each
from support.models.oracle_pairs import Pair
from support.models.robots import joint, link, load, robot

HERE = trees.Placement.identity()
NOTHING = trees.RigidBodyInertia.zero()
X = np.array([1.0, 0.0, 0.0])


def ball(mass: float) -> trees.RigidBodyInertia:
    return trees.RigidBodyInertia.from_centre_of_mass(mass, np.zeros(3), 0.1 * mass * np.eye(3))


def as_it_is(builder: trees.TreeBuilder) -> RobotModel:
    return RobotModel.from_tree(builder.build())


def with_a_mimic_joint(builder: trees.TreeBuilder) -> RobotModel:
    """Add two bodies that move by one coordinate, so that the mass matrix has to be inverted."""
    builder.add_link('leader', 'base', HERE, trees.revolute('leader'), ball(1.0))
    twice = trees.revolute(trees.Coordinate('leader', 2.0))
    builder.add_link('follower', 'base', HERE, twice, ball(1.0))
    return as_it_is(builder)


Way = Callable[[trees.TreeBuilder], RobotModel]
WAYS = pytest.mark.parametrize('way', [
    pytest.param(as_it_is, id='articulated bodies'),
    pytest.param(with_a_mimic_joint, id='mass matrix'),
])


def test_a_joint_that_carries_nothing_needs_no_effort_and_has_no_mass() -> None:
    model = load(robot(
        link('base'), link('arm', 1.0, (0.3, 0.0, 0.0)), link('tip'),
        joint('shoulder', 'revolute', 'base', 'arm'),
        joint('wrist', 'revolute', 'arm', 'tip', xyz=(0.5, 0.0, 0.0), axis=(0.0, 1.0, 0.0)),
    ))
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 2))
    tau, M = model.inverse_dynamics(q, qd, qdd), model.mass_matrix(q)
    assert (tau != 0.0).tolist() == [True, False]
    assert (M != 0.0).tolist() == [[True, False], [False, False]]
    rows = [np.tile(row, (9, 1)) for row in (q, qd, qdd)]
    np.testing.assert_array_equal(model.inverse_dynamics_batch(*rows)[:, 1], np.zeros(9))


@WAYS
@pytest.mark.parametrize('leaf', [
    trees.revolute('leaf'), trees.prismatic('leaf'), spherical('leaf'),
], ids=['revolute', 'prismatic', 'spherical'])
def test_a_leaf_that_carries_nothing_is_named(leaf: trees.JointType, way: Way) -> None:
    builder = trees.TreeBuilder('base')
    builder.add_link('arm', 'base', HERE, trees.revolute('shoulder', X), ball(1.0))
    builder.add_link('tip', 'arm', HERE, leaf, NOTHING)
    model = way(builder)
    state = (model.neutral_position, np.zeros(model.nv), np.ones(model.nv))
    with pytest.raises(SingularityError) as one:
        model.forward_dynamics(*state)
    with pytest.raises(SingularityError) as many:
        model.forward_dynamics_batch(*(np.tile(row, (9, 1)) for row in state))
    assert one.value.element == many.value.element == "joint 'leaf'"


@WAYS
def test_only_a_position_where_nothing_resists_is_rejected(way: Way) -> None:
    # A point mass slides on a beam without mass: at the pivot nothing resists.
    builder = trees.TreeBuilder('base')
    builder.add_link('beam', 'base', HERE, trees.revolute('pivot'), NOTHING)
    at_offset = trees.Placement(np.eye(3), 0.5 * X)
    point = trees.RigidBodyInertia(2.0, np.zeros(3), np.zeros((3, 3)))
    builder.add_link('load', 'beam', at_offset, trees.prismatic('trolley', X), point)
    model = way(builder)
    good, bad = np.zeros((2, model.nv))
    bad[1] = -0.5
    rest, tau = np.zeros(model.nv), np.ones(model.nv)
    qdd = model.forward_dynamics(good, rest, tau)
    np.testing.assert_allclose(qdd[:2], [2.0, 0.5])
    with pytest.raises(SingularityError, match="joint 'pivot'"):
        model.forward_dynamics(bad, rest, tau)
    np.testing.assert_array_equal(model.forward_dynamics(good, rest, tau), qdd)
    Q, QD, TAU = (np.tile(row, (20, 1)) for row in (good, rest, tau))
    np.testing.assert_allclose(model.forward_dynamics_batch(Q, QD, TAU), np.tile(qdd, (20, 1)))
    Q[13] = bad
    with pytest.raises(SingularityError, match="joint 'pivot'"):
        model.forward_dynamics_batch(Q, QD, TAU)


# Masses of URDFs that leave some motion of several joints without inertia

AXIS = np.array([0.48, -0.6, 0.64])
BETWEEN = np.array([0.48, -0.6, 1.64]) / np.sqrt(3.28)
BODY = link('body', 2.3, (0.1, -0.2, 0.3), (0.3, 0.02, -0.01, 0.4, 0.03, 0.25))
PLACE, TILT = (0.3, -0.2, 0.5), (0.4, -0.9, 1.3)
# Elsewhere on the robot, where it makes forward dynamics take the way over the mass matrix.
MIMIC = (
    link('leader', 1.0)
    + link('follower', 1.0)
    + joint('leads', 'revolute', 'root', 'leader')
    + joint('follows', 'revolute', 'leader', 'follower', more='<mimic joint="leads"/>')
)


def two(kind: str, xyz: ArrayLike = (0.0, 0.0, 0.0)) -> str:
    """Return a body on two joints of one axis."""
    return (
        link('root') + link('between') + BODY
        + joint('first', kind, 'root', 'between', xyz=PLACE, rpy=TILT, axis=AXIS)
        + joint('second', kind, 'between', 'body', xyz=xyz, axis=AXIS)
    )


def one(kind: str) -> str:
    only = joint('only', kind, 'root', 'body', xyz=PLACE, rpy=TILT, axis=AXIS)
    return link('root') + BODY + only


SINGULAR = {
    'two hinges on one axis': (two('revolute', 0.7 * AXIS), {'first', 'second'}),
    'two slides in one direction': (two('prismatic'), {'first', 'second'}),
    'three slides in a plane': (
        link('root') + link('one') + link('two') + BODY
        + joint('first', 'prismatic', 'root', 'one', xyz=PLACE, rpy=TILT, axis=AXIS)
        + joint('second', 'prismatic', 'one', 'two')
        + joint('third', 'prismatic', 'two', 'body', axis=BETWEEN),
        {'first', 'second', 'third'},
    ),
}


@each(('pair', 'idle'), [
    *((Pair(label, robot(text)), idle) for label, (text, idle) in SINGULAR.items()),
    *((Pair(label, robot(text + MIMIC)), idle) for label, (text, idle) in SINGULAR.items()),
    *(
        (Pair(f'{kind} on a floating root', robot(one(kind)), floating=True),
         {'only', 'floating_base'})
        for kind in ('revolute', 'prismatic')
    ),
])
def test_what_moves_no_inertia_cannot_be_accelerated(pair: Pair, idle: set[str]) -> None:
    elements = {f'joint {name!r}' for name in idle}
    for seed in range(8):
        q, qd, tau = pair.motion(seed)
        with pytest.raises(SingularityError, match='no inertia to accelerate') as caught:
            pair.model.forward_dynamics(q, qd, tau)
        assert caught.value.element in elements, seed
    with pytest.raises(SingularityError, match='no inertia to accelerate') as caught:
        pair.model.operational_space_dynamics(q, qd, 'body', coordinates=(5,))
    assert caught.value.element in elements


LIGHT = (
    link('root') + link('body', 100.0, (0.1, 0.2, 0.3))
    + link('gnat', 1e-9, (1e-3, 0, 0), (1e-15, 0, 0, 1e-15, 0, 1e-15))
    + joint('first', 'revolute', 'root', 'body', axis=AXIS)
    + joint('second', 'revolute', 'body', 'gnat', xyz=PLACE)
)
HUSK = link('root', 1e-4, inertia=(1e-6, 0, 0, 1e-6, 0, 1e-6))


@each('pair', [
    Pair('a gnat on an elephant', robot(LIGHT)),
    Pair('a gnat, mimic joints elsewhere', robot(LIGHT + MIMIC)),
    Pair('a floating root of next to nothing', robot(
        one('revolute').replace(link('root'), HUSK)), floating=True),
    Pair('a link far along its axis', robot(
        link('root'), link('boom', 1.0), BODY, joint('first', 'prismatic', 'root', 'boom'),
        joint('second', 'revolute', 'boom', 'body', xyz=(0.0, 0.0, 1e3)),
    )),
])
def test_what_moves_a_little_inertia_can_be_accelerated(pair: Pair) -> None:
    for seed in range(8):
        q, qd, qdd = pair.motion(seed)
        tau = pair.model.inverse_dynamics(q, qd, qdd)
        # A husk of 1e-6 of the body's inertia costs as many digits.
        np.testing.assert_allclose(pair.model.forward_dynamics(q, qd, tau), qdd, rtol=1e-7)
