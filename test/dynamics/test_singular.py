# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A joint that nothing resists has no defined acceleration: the error names the joint."""

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros import RobotModel, SingularityError
from rnea_ros.dynamics import tree as trees
from rnea_ros.dynamics.tree.joint_types import spherical
from support.cases import each
from support.models.oracle_pairs import Pair
from support.models.robots import joint, link, robot

HERE = trees.Placement.identity()
NOTHING = trees.RigidBodyInertia.zero()
X = np.array([1.0, 0.0, 0.0])

# Elsewhere on the robot, where it makes forward dynamics take the way over the mass matrix.
MIMIC = (
    link('leader', 1.0) + link('follower', 1.0) + joint('leads', 'revolute', 'root', 'leader')
    + joint('follows', 'revolute', 'leader', 'follower', more='<mimic joint="leads"/>')
)


def assert_rejected(model: RobotModel, q: ArrayLike, idle: set[str]) -> None:
    """Assert that one sample and a batch with one such row are rejected by a joint's name."""
    rest, tau, elements = np.zeros(model.nv), np.ones(model.nv), {f'joint {x!r}' for x in idle}
    rows = [np.tile(row, (9, 1)) for row in (q, rest, tau)]
    for compute, state in (
        (model.forward_dynamics, (q, rest, tau)), (model.forward_dynamics_batch, rows),
    ):
        with pytest.raises(SingularityError, match='no inertia to accelerate') as caught:
            compute(*state)
        assert caught.value.element in elements


@pytest.mark.parametrize('mimic', [False, True], ids=['articulated bodies', 'mass matrix'])
def test_only_a_position_where_nothing_resists_is_rejected(mimic: bool) -> None:
    # A point mass slides on a beam without mass: at the pivot nothing resists.
    builder = trees.TreeBuilder('base')
    builder.add_link('beam', 'base', HERE, trees.revolute('pivot'), NOTHING)
    at_offset = trees.Placement(np.eye(3), 0.5 * X)
    point = trees.RigidBodyInertia(2.0, np.zeros(3), np.zeros((3, 3)))
    builder.add_link('load', 'beam', at_offset, trees.prismatic('trolley', X), point)
    if mimic:
        body = trees.RigidBodyInertia.from_centre_of_mass(1.0, np.zeros(3), 0.1 * np.eye(3))
        builder.add_link('leader', 'base', HERE, trees.revolute('leader'), body)
        twice = trees.revolute(trees.Coordinate('leader', 2.0))
        builder.add_link('follower', 'base', HERE, twice, body)
    model = RobotModel.from_tree(builder.build())
    good, bad = np.zeros((2, model.nv))
    bad[1] = -0.5
    rest, tau = np.zeros(model.nv), np.ones(model.nv)
    rows = [np.tile(row, (20, 1)) for row in (good, rest, tau)]
    for _ in range(2):
        for qdd in (model.forward_dynamics(good, rest, tau), *model.forward_dynamics_batch(*rows)):
            np.testing.assert_allclose(qdd[:2], [2.0, 0.5])
        assert_rejected(model, bad, {'pivot'})
    rows[0][13] = bad
    with pytest.raises(SingularityError, match="joint 'pivot'"):
        model.forward_dynamics_batch(*rows)


def test_a_ball_joint_that_carries_nothing_is_named() -> None:
    builder = trees.TreeBuilder('base')
    body = trees.RigidBodyInertia.from_centre_of_mass(1.0, X, np.eye(3))
    builder.add_link('arm', 'base', HERE, trees.revolute('shoulder', X), body)
    builder.add_link('tip', 'arm', HERE, spherical('leaf'), NOTHING)
    model = RobotModel.from_tree(builder.build())
    assert_rejected(model, model.neutral_position, {'leaf'})


AXIS = np.array([0.48, -0.6, 0.64])
BETWEEN = np.array([0.48, -0.6, 1.64]) / np.sqrt(3.28)
BODY = link('body', 2.3, (0.1, -0.2, 0.3), (0.3, 0.02, -0.01, 0.4, 0.03, 0.25))
PLACE, TILT = (0.3, -0.2, 0.5), (0.4, -0.9, 1.3)


def first(kind: str, child: str) -> str:
    return link('root') + joint('first', kind, 'root', child, xyz=PLACE, rpy=TILT, axis=AXIS)


def two(kind: str, xyz: ArrayLike = (0.0, 0.0, 0.0)) -> str:
    """Return a body on two joints of one axis."""
    second = joint('second', kind, 'between', 'body', xyz=xyz, axis=AXIS)
    return first(kind, 'between') + link('between') + BODY + second


SINGULAR = [
    two('revolute', 0.7 * AXIS), two('prismatic'),
    # Three slides in a plane
    first('prismatic', 'one') + link('one') + link('two') + BODY
    + joint('second', 'prismatic', 'one', 'two')
    + joint('third', 'prismatic', 'two', 'body', axis=BETWEEN),
]


@each('pair', [
    *(Pair('singular', robot(text + more)) for text in SINGULAR for more in ('', MIMIC)),
    *(Pair(f'{kind} on a floating root', robot(first(kind, 'body') + BODY), floating=True)
      for kind in ('revolute', 'prismatic')),
])
def test_what_moves_no_inertia_cannot_be_accelerated(pair: Pair) -> None:
    idle = {'first', 'floating_base'} if pair.floating else {'first', 'second', 'third'}
    for seed in range(8):
        q, qd, _ = pair.motion(seed)
        assert_rejected(pair.model, q, idle)
    with pytest.raises(SingularityError, match='no inertia to accelerate'):
        pair.model.operational_space_dynamics(q, qd, 'body', coordinates=(5,))


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
        first('revolute', 'body').replace(link('root'), HUSK) + BODY), floating=True),
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
