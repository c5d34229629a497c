# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A joint that nothing resists has no defined acceleration: the error names the joint."""

from collections.abc import Callable

import numpy as np
import pytest

from rnea_ros import RobotModel, SingularityError
from rnea_ros.dynamics import tree as trees
from rnea_ros.dynamics.tree.joint_types import spherical
from support.models.robots import joint, link, load, robot

HERE = trees.Placement.identity()
NOTHING = trees.RigidBodyInertia.zero()
X = np.array([1.0, 0.0, 0.0])


def ball(mass: float) -> trees.RigidBodyInertia:
    return trees.RigidBodyInertia.from_centre_of_mass(mass, np.zeros(3), 0.1 * mass * np.eye(3))


def point(mass: float) -> trees.RigidBodyInertia:
    return trees.RigidBodyInertia(mass, np.zeros(3), np.zeros((3, 3)))


def with_a_mimic_joint(builder: trees.TreeBuilder) -> trees.TreeBuilder:
    """Add two bodies that move by one coordinate, so that the mass matrix has to be inverted."""
    builder.add_link('leader', 'base', HERE, trees.revolute('leader'), ball(1.0))
    twice = trees.revolute(trees.Coordinate('leader', 2.0))
    builder.add_link('follower', 'base', HERE, twice, ball(1.0))
    return builder


def model_of(builder: trees.TreeBuilder) -> RobotModel:
    return RobotModel.from_tree(builder.build())


def as_it_is(builder: trees.TreeBuilder) -> trees.TreeBuilder:
    return builder


WAYS = [
    pytest.param(as_it_is, id='articulated bodies'),
    pytest.param(with_a_mimic_joint, id='mass matrix'),
]
Way = Callable[[trees.TreeBuilder], trees.TreeBuilder]


def rejections(model: RobotModel) -> list[SingularityError]:
    """Return what forward dynamics say of one sample, and of many."""
    q, rest, tau = model.neutral_position, np.zeros(model.nv), np.ones(model.nv)
    errors = []
    with pytest.raises(SingularityError) as caught:
        model.forward_dynamics(q, rest, tau)
    errors.append(caught.value)
    with pytest.raises(SingularityError) as caught:
        model.forward_dynamics_batch(*(np.tile(row, (9, 1)) for row in (q, rest, tau)))
    errors.append(caught.value)
    return errors


def arm_with_an_empty_tip() -> RobotModel:
    return load(robot(
        link('base'), link('arm', 1.0, (0.3, 0.0, 0.0)), link('tip'),
        joint('shoulder', 'revolute', 'base', 'arm'),
        joint('wrist', 'revolute', 'arm', 'tip', xyz=(0.5, 0.0, 0.0), axis=(0.0, 1.0, 0.0)),
    ))


def test_a_joint_that_carries_nothing_needs_no_effort_and_has_no_mass() -> None:
    model = arm_with_an_empty_tip()
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 2))
    tau = model.inverse_dynamics(q, qd, qdd)
    assert tau[0] != 0.0
    assert tau[1] == 0.0
    M = model.mass_matrix(q)
    assert M[0, 0] > 0.0
    assert not M[1].any()
    assert not M[:, 1].any()
    rows = [np.tile(row, (9, 1)) for row in (q, qd, qdd)]
    np.testing.assert_allclose(model.inverse_dynamics_batch(*rows)[:, 1], np.zeros(9))


@pytest.mark.parametrize('way', WAYS)
@pytest.mark.parametrize('kind', ['revolute', 'prismatic', 'spherical'])
def test_a_leaf_of_any_joint_that_carries_nothing_is_named(kind: str, way: Way) -> None:
    builder = trees.TreeBuilder('base')
    builder.add_link('arm', 'base', HERE, trees.revolute('shoulder', X), ball(1.0))
    leaf = {'revolute': trees.revolute('leaf'), 'prismatic': trees.prismatic('leaf')}
    builder.add_link('tip', 'arm', HERE, leaf.get(kind, spherical('leaf')), NOTHING)
    for error in rejections(model_of(way(builder))):
        assert error.element == "joint 'leaf'"


def crane(way: Way, offset: float = 0.0) -> RobotModel:
    """Return a point mass that slides on a beam without mass: at the pivot nothing resists."""
    builder = trees.TreeBuilder('base')
    builder.add_link('beam', 'base', HERE, trees.revolute('pivot'), NOTHING)
    at_offset = trees.Placement(np.eye(3), np.array([offset, 0.0, 0.0]))
    builder.add_link('load', 'beam', at_offset, trees.prismatic('trolley', X), point(2.0))
    return model_of(way(builder))


@pytest.mark.parametrize('way', WAYS)
def test_a_position_where_nothing_resists_is_rejected(way: Way) -> None:
    model = crane(way, offset=0.5)
    good, bad = np.zeros(model.nv), np.zeros(model.nv)
    bad[1] = -0.5
    rest, tau = np.zeros(model.nv), np.ones(model.nv)
    np.testing.assert_allclose(model.forward_dynamics(good, rest, tau)[:2], [2.0, 0.5])
    with pytest.raises(SingularityError, match="joint 'pivot'"):
        model.forward_dynamics(bad, rest, tau)
    Q = np.tile(good, (20, 1))
    Q[13] = bad
    with pytest.raises(SingularityError, match="joint 'pivot'"):
        model.forward_dynamics_batch(Q, np.tile(rest, (20, 1)), np.tile(tau, (20, 1)))


@pytest.mark.parametrize('way', WAYS)
def test_a_position_that_no_sample_has_rejects_none(way: Way) -> None:
    # At the neutral position nothing resists the pivot; half a metre out the load does.
    model = crane(way)
    q, rest, tau = np.zeros(model.nv), np.zeros(model.nv), np.ones(model.nv)
    q[1] = 0.5
    expected = model.forward_dynamics(q, rest, tau)
    np.testing.assert_allclose(expected[:2], [2.0, 0.5])
    rows = (np.tile(row, (9, 1)) for row in (q, rest, tau))
    np.testing.assert_allclose(model.forward_dynamics_batch(*rows), np.tile(expected, (9, 1)))


@pytest.mark.parametrize('way', WAYS)
@pytest.mark.parametrize('mass', [1e-3, 1e-9, 1e-15])
def test_a_light_tip_on_a_heavy_arm_is_not_singular(mass: float, way: Way) -> None:
    builder = trees.TreeBuilder('base')
    builder.add_link('arm', 'base', HERE, trees.revolute('shoulder', X), ball(100.0))
    builder.add_link('tip', 'arm', HERE, trees.prismatic('tip'), ball(mass))
    model = model_of(way(builder))
    rest, tau = np.zeros(model.nv), np.zeros(model.nv)
    tau[1] = 3.0 * mass + 9.81 * mass
    qdd = model.forward_dynamics(model.neutral_position, rest, tau)
    np.testing.assert_allclose(qdd[:2], [0.0, 3.0], rtol=1e-9, atol=1e-10)


def test_a_rejection_changes_no_later_answer() -> None:
    model = crane(as_it_is, offset=0.5)
    state = np.random.default_rng(0).normal(size=(3, 2))
    before = model.forward_dynamics(*state)
    with pytest.raises(SingularityError):
        model.forward_dynamics(np.array([0.0, -0.5]), np.zeros(2), np.ones(2))
    np.testing.assert_array_equal(model.forward_dynamics(*state), before)
