# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Pinocchio agrees on every quantity that the model computes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from rnea_ros import RobotModel, UrdfError, Wrench
from rnea_ros.errors import SingularityError
from support.cases import each
from support.models.comparison import assert_equal
from support.models.oracle_pairs import (
    RANDOM_TREES,
    SHIPPED_PAIRS,
    Motion,
    Pair,
    random_pair,
    vendor_pair,
)
from support.models.oracles import Array, Pinocchio, random_wrenches
from support.models.robots import empty_vendor_robot, joint, link, robot, vendor_robots

pytestmark = pytest.mark.oracle

Wrenches: TypeAlias = Mapping[str, Sequence[Wrench]]


@dataclass
class Case:
    """A robot in motion and under load, here and in Pinocchio."""

    pair: Pair
    seed: int = 0

    def __post_init__(self) -> None:
        self.model: RobotModel = self.pair.model
        self.pinocchio: Pinocchio = self.pair.pinocchio
        self.motion: Motion = self.pair.motion(self.seed)
        self.q, self.qd, _ = self.motion
        # The root link counts, which Pinocchio leaves out where it does not move.
        self.free = self.pair.free_pinocchio
        self.free_q = self.q if self.pair.floating else np.array([*np.zeros(6), 1.0, *self.q])
        self.links = self.model.link_names
        self.bodies = self.model.body_names
        self.cuts = self.bodies[:: 1 + len(self.bodies) // 4]  # a humanoid has many
        self.loads: Wrenches = random_wrenches(self.seed, self.links)
        rng = np.random.default_rng(self.seed)
        self.on_bodies: Wrenches = {
            name: [Wrench(*rng.normal(size=(2, 3)))] for name in self.bodies
        }


def of_links(compute: Callable[[str], Any], names: Sequence[str]) -> Array:
    return np.array([compute(name) for name in names])


def internal_wrench(case: Case, name: str) -> Array:
    wrench = case.model.internal_wrench(*case.motion, name, case.loads)
    return np.concatenate([np.asarray(wrench.torque), np.asarray(wrench.force)])


def mass_matrix_rate(case: Case) -> Array:
    C = case.pinocchio.coriolis_matrix(case.q, case.qd)
    return C + C.T


Quantity: TypeAlias = Callable[[Case], Any]

QUANTITIES: dict[str, tuple[Quantity, Quantity]] = {
    'efforts under loads': (
        lambda c: c.model.inverse_dynamics(*c.motion, c.loads),
        lambda c: c.pinocchio.inverse_dynamics(*c.motion, c.loads),
    ),
    'efforts': (
        lambda c: c.model.inverse_dynamics(*c.motion),
        lambda c: c.pinocchio.inverse_dynamics(*c.motion),
    ),
    'gravity torques': (
        lambda c: c.model.gravity_torques(c.q), lambda c: c.pinocchio.gravity_torques(c.q),
    ),
    'bias torques': (
        lambda c: c.model.bias_torques(c.q, c.qd), lambda c: c.pinocchio.bias_torques(c.q, c.qd),
    ),
    'coriolis torques': (
        lambda c: c.model.coriolis_torques(c.q, c.qd),
        lambda c: c.pinocchio.bias_torques(c.q, c.qd) - c.pinocchio.gravity_torques(c.q),
    ),
    'M': (lambda c: c.model.mass_matrix(c.q), lambda c: c.pinocchio.mass_matrix(c.q)),
    'C': (
        lambda c: c.model.coriolis_matrix(c.q, c.qd),
        lambda c: c.pinocchio.coriolis_matrix(c.q, c.qd),
    ),
    'rate of M': (lambda c: c.model.mass_matrix_rate(c.q, c.qd), mass_matrix_rate),
    'poses': (
        lambda c: of_links(lambda name: c.model.forward_kinematics(c.q, name), c.links),
        lambda c: np.array(c.pinocchio.link_poses(c.q, c.links)),
    ),
    'motions of links': (
        lambda c: of_links(
            lambda name: (
                c.model.link_velocity(c.q, c.qd, name), c.model.link_acceleration(*c.motion, name),
            ),
            c.links,
        ),
        lambda c: of_links(lambda name: c.pinocchio.link_motion(*c.motion, name), c.links),
    ),
    'bias accelerations': (
        lambda c: of_links(lambda name: c.model.bias_acceleration(c.q, c.qd, name), c.links),
        lambda c: of_links(
            lambda name: c.pinocchio.link_motion(c.q, c.qd, 0.0 * c.qd, name)[1], c.links
        ),
    ),
    'Jacobians': (
        lambda c: of_links(lambda name: c.model.jacobian(c.q, name), c.links),
        lambda c: of_links(lambda name: c.pinocchio.jacobian(c.q, name), c.links),
    ),
    'internal wrenches': (
        lambda c: of_links(lambda name: internal_wrench(c, name), c.cuts),
        lambda c: np.array(c.pinocchio.joint_wrenches(*c.motion, c.cuts, c.loads)),
    ),
    'kinetic energy': (
        lambda c: c.model.kinetic_energy(c.q, c.qd),
        lambda c: c.pinocchio.kinetic_energy(c.q, c.qd),
    ),
    'potential energy': (
        lambda c: c.model.potential_energy(c.q), lambda c: c.free.potential_energy(c.free_q),
    ),
    'centre of mass': (
        lambda c: c.model.centre_of_mass(c.q), lambda c: c.free.centre_of_mass(c.free_q),
    ),
    'inertial parameters': (
        lambda c: c.model.inertial_parameters, lambda c: c.pinocchio.inertial_parameters(c.bodies),
    ),
    # Pinocchio's wrenches are constant in the frames of joints, so they act on bodies here.
    'derivatives of efforts': (
        lambda c: np.array(c.model.inverse_dynamics_derivatives(*c.motion, c.on_bodies)),
        lambda c: np.array(c.pinocchio.inverse_dynamics_derivatives(*c.motion, c.on_bodies)),
    ),
}


def assert_is_pinocchios(pair: Pair) -> None:
    case = Case(pair)
    for name, (ours, theirs) in QUANTITIES.items():
        expected = np.asarray(theirs(case), dtype=np.float64)
        # Elements are differences of products of all masses behind a joint.
        atol = 1e-10 + 1e-12 * float(np.abs(expected).max(initial=0.0))
        assert_equal(ours(case), expected, f'{pair.label}: {name}', atol)
    assert_accelerates_as_pinocchios(case)


def assert_accelerates_as_pinocchios(case: Case) -> None:
    """Compare forward dynamics; joints without inertia are named."""
    model, pinocchio, label = case.model, case.pinocchio, case.pair.label
    M = pinocchio.mass_matrix(case.q)
    idle = {
        f'joint {name!r}' for name in model.joint_names
        if not np.diag(M)[model.velocity_indices(name)].all()
    }
    if idle:
        for compute in (model.forward_dynamics, model.forward_dynamics_derivatives):
            with pytest.raises(SingularityError, match='no inertia to accelerate') as caught:
                compute(*case.motion)
            assert caught.value.element in idle, label
        return
    expected = pinocchio.forward_dynamics(*case.motion)
    # Each joint's acceleration follows from all others': the largest is the measure of errors.
    atol = 1e-9 * float(np.abs(expected).max(initial=0.0))
    assert_equal(model.forward_dynamics(*case.motion), expected, label, atol)


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


def chain(*joints: tuple[str, str]) -> Pair:
    """Return a chain of joints about general axes, each with a type and a rule that it follows."""
    rng = np.random.default_rng(7)
    elements = [link('base')]
    for i, (kind, rule) in enumerate(joints):
        parent = f'link_{i - 1}' if i else 'base'
        xyz, rpy, axis, com = rng.normal(size=(4, 3))
        elements += [
            link(f'link_{i}', rng.uniform(1, 2), com),
            joint(f'j{i}', kind, parent, f'link_{i}', xyz=xyz, rpy=rpy, axis=axis, more=rule),
        ]
    return Pair(str(joints), robot(*elements))


TURN, SLIDE = ('revolute', ''), ('prismatic', '')


@each('pair', [
    chain(TURN, ('revolute', follow('j0', -2.0, 0.5)), TURN, ('revolute', follow('j2', 1.0, 0))),
    chain(TURN, ('prismatic', follow('j0', 0.3, -1.0))),
    chain(SLIDE, ('revolute', follow('j0', 3.0, 1.0))),
    chain(('revolute', follow('j2', 2.0, 0.1)), TURN, TURN),
    chain(TURN, ('revolute', follow('j0', 1.5, 1.0)), ('revolute', follow('j0', 2.5, 2.0))),
    chain(TURN, ('revolute', follow('j0', 0.0, 0.7))),
])
def test_joints_that_follow_others_are_pinocchios(pair: Pair) -> None:
    assert_is_pinocchios(pair)


def test_a_chain_of_mimic_joints_moves_as_if_each_followed_the_first() -> None:
    # -3 (2 q + 0.25) + 0.5 = -6 q - 0.25
    first = ('revolute', follow('j0', 2.0, 0.25))
    chained = chain(TURN, first, ('revolute', follow('j1', -3.0, 0.5)))
    direct = chain(TURN, first, ('revolute', follow('j0', -6.0, -0.25)))
    tau, expected = (
        pair.model.inverse_dynamics([0.3], [0.7], [-0.4]) for pair in (chained, direct)
    )
    np.testing.assert_allclose(tau, expected, rtol=1e-12)


def test_a_robot_without_links_is_rejected_as_pinocchio_rejects_it() -> None:
    path = empty_vendor_robot()
    pinocchio = pytest.importorskip('pinocchio')
    with pytest.raises(UrdfError, match='has no link'):
        RobotModel.from_urdf(path)
    with pytest.raises(ValueError, match='ur3'):
        pinocchio.buildModelFromUrdf(str(path))


def test_no_other_vendors_robot_is_left_out() -> None:
    empty_vendor_robot()  # skips where there are none
    assert len(vendor_robots()) >= 68
