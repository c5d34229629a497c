# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Inverse dynamics in contact: motion, efforts and contact forces fit the equation of motion."""

from __future__ import annotations

from cases import each
import numpy as np
from oracles import Array
from pairs import Pair, random_pair
import pytest
from robots import joint, link, load, robot

from rnea_ros import RobotModel, SingularityError
from rnea_ros.dynamics import ContactSolution
from rnea_ros.robot.builder import FLOATING_BASE

G = 9.81
BOX = (0.02, 0.0, 0.0, 0.03, 0.0, 0.04)
FEET = ('left_foot', 'right_foot')
PLACES = {'left': 0.2, 'right': -0.2}


def walker_urdf() -> str:
    """Return a trunk with two legs of hip and knee, and feet without mass."""
    parts = link('trunk', 10.0, (0.02, 0.0, 0.1), BOX)
    for side, y in PLACES.items():
        parts += link(f'{side}_thigh', 2.0, (0.0, 0.0, -0.15), BOX)
        parts += link(f'{side}_shank', 1.0, (0.0, 0.0, -0.15), BOX)
        parts += link(f'{side}_foot')
        parts += joint(f'{side}_hip', 'continuous', 'trunk', f'{side}_thigh', xyz=(0.0, y, 0.0))
        parts += joint(
            f'{side}_knee', 'continuous', f'{side}_thigh', f'{side}_shank', xyz=(0, 0, -0.3),
            axis=(0.0, 1.0, 0.0),
        )
        parts += joint(
            f'{side}_ankle', 'fixed', f'{side}_shank', f'{side}_foot', xyz=(0.0, 0.0, -0.3)
        )
    return robot(parts)


@pytest.fixture(scope='module')
def walker() -> RobotModel:
    return RobotModel.from_urdf(walker_urdf(), floating_base=True)


def contacts(model: RobotModel, q: Array, feet: tuple[str, ...], rows: list[int]) -> Array:
    return np.concatenate([model.jacobian(q, foot)[rows] for foot in feet])


def assert_motion_is_made(
    model: RobotModel, motion: tuple[Array, Array, Array], J: Array, found: ContactSolution
) -> None:
    """Check M qdd + C qd + g = tau + J^T lambda, each part by itself."""
    q, qd, qdd = motion
    made = found.efforts + J.T @ found.contact_forces
    needed = model.mass_matrix(q) @ qdd + model.bias_torques(q, qd)
    np.testing.assert_allclose(made, needed, rtol=1e-9, atol=1e-9)


def standing(model: RobotModel, seed: int) -> tuple[Array, Array, Array]:
    """Return any position, at rest and without acceleration."""
    q = model.neutral_position
    q[model.nq - 4 :] = np.random.default_rng(seed).normal(size=4)
    return q, np.zeros(model.nv), np.zeros(model.nv)


def moving(model: RobotModel, seed: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    q = model.integrate(model.neutral_position, rng.normal(size=model.nv), 1.0)
    return q, *rng.normal(size=(2, model.nv))


@each('seed', range(20))
def test_one_foot_that_holds_in_all_directions_determines_everything(
    walker: RobotModel, seed: int
) -> None:
    motion = moving(walker, seed)
    J = contacts(walker, motion[0], FEET[:1], list(range(6)))
    found = walker.constrained_inverse_dynamics(*motion, J, [FLOATING_BASE])
    assert found.determined
    assert found.free_forces == 0
    assert not found.efforts[walker.velocity_indices(FLOATING_BASE)].any()
    assert_motion_is_made(walker, motion, J, found)


@each('seed', range(20))
def test_two_feet_that_hold_leave_six_forces_open_and_say_so(
    walker: RobotModel, seed: int
) -> None:
    motion = moving(walker, seed)
    J = contacts(walker, motion[0], FEET, list(range(6)))
    found = walker.constrained_inverse_dynamics(*motion, J, [FLOATING_BASE])
    assert not found.determined
    assert found.free_forces == 6
    assert not found.efforts[walker.velocity_indices(FLOATING_BASE)].any()
    assert_motion_is_made(walker, motion, J, found)


@each('seed', range(20))
def test_of_open_forces_those_of_least_norm_are_taken(walker: RobotModel, seed: int) -> None:
    motion = moving(walker, seed)
    J = contacts(walker, motion[0], FEET, list(range(6)))
    found = walker.constrained_inverse_dynamics(*motion, J, [FLOATING_BASE])
    on_the_base = J[:, walker.velocity_indices(FLOATING_BASE)].T
    # What is of least norm has no part in what leaves the base's motion alone.
    _, _, rows = np.linalg.svd(on_the_base)
    for idle in rows[6:]:
        np.testing.assert_allclose(on_the_base @ idle, np.zeros(6), atol=1e-12)
        assert abs(idle @ found.contact_forces) < 1e-9


@each('seed', range(20))
def test_standing_feet_carry_the_weight_about_the_centre_of_mass(
    walker: RobotModel, seed: int
) -> None:
    motion = standing(walker, seed)
    q = motion[0]
    J = contacts(walker, q, FEET, list(range(6)))
    found = walker.constrained_inverse_dynamics(*motion, J, [FLOATING_BASE])
    force, moment = np.zeros(3), np.zeros(3)
    for foot, wrench in zip(FEET, found.contact_forces.reshape(2, 6), strict=True):
        pose = walker.forward_kinematics(q, foot)
        turned = pose[:3, :3] @ wrench[3:]
        force += turned
        moment += pose[:3, :3] @ wrench[:3] + np.cross(pose[:3, 3], turned)
    weight = np.array([0.0, 0.0, 16.0 * G])
    np.testing.assert_allclose(force, weight, atol=1e-8)
    np.testing.assert_allclose(moment, np.cross(walker.centre_of_mass(q), weight), atol=1e-8)


def test_feet_that_only_push_along_one_line_cannot_make_every_motion(walker: RobotModel) -> None:
    motion = moving(walker, 0)
    J = contacts(walker, motion[0], FEET, [5])
    with pytest.raises(SingularityError, match=r'forces \[.*\] are missing') as caught:
        walker.constrained_inverse_dynamics(*motion, J, [FLOATING_BASE])
    assert caught.value.element == 'contacts'


def test_in_the_air_a_robot_falls_and_makes_no_other_motion(walker: RobotModel) -> None:
    q, rest, falling = standing(walker, 1)
    no_contact = np.zeros((0, walker.nv))
    with pytest.raises(SingularityError, match='contacts cannot make this motion'):
        walker.constrained_inverse_dynamics(q, rest, rest, no_contact, [FLOATING_BASE])
    # The base's orientation is neutral: its numbers are the world's.
    falling[5] = -G
    found = walker.constrained_inverse_dynamics(q, rest, falling, no_contact, [FLOATING_BASE])
    assert found.determined
    np.testing.assert_allclose(found.efforts, np.zeros(walker.nv), atol=1e-9)


@each('seed', range(10))
def test_where_every_joint_is_driven_contacts_are_not_needed(seed: int) -> None:
    pair = random_pair(seed)
    motion = pair.motion(0)
    J = pair.model.jacobian(motion[0], pair.model.link_names[-1])
    found = pair.model.constrained_inverse_dynamics(*motion, J)
    np.testing.assert_array_equal(found.contact_forces, np.zeros(6))
    assert found.free_forces == 6
    np.testing.assert_allclose(found.efforts, pair.model.inverse_dynamics(*motion), atol=1e-12)


@pytest.mark.parametrize('seed', range(10))
@pytest.mark.oracle
def test_the_motion_that_efforts_and_forces_make_is_pinocchios(
    walker: RobotModel, seed: int
) -> None:
    motion = moving(walker, seed)
    q, qd, qdd = motion
    J = contacts(walker, q, FEET, [3, 4, 5])
    J = np.vstack([J, contacts(walker, q, FEET[:1], [0, 1, 2])])
    found = walker.constrained_inverse_dynamics(*motion, J, [FLOATING_BASE])
    pair = Pair('walker', walker_urdf(), floating=True)
    tau = found.efforts + J.T @ found.contact_forces
    np.testing.assert_allclose(
        pair.pinocchio.forward_dynamics(q, qd, tau), qdd, rtol=1e-8, atol=1e-8
    )


@each('unit', [1e-3, 1.0, 1e3])
def test_whether_forces_are_determined_does_not_depend_on_the_weight(unit: float) -> None:
    model = RobotModel.from_urdf(
        robot(link('body', unit, (0.1, 0.0, 0.0), tuple(unit * np.array(BOX)))),
        floating_base=True,
    )
    q, rest = model.neutral_position, np.zeros(6)
    J = np.concatenate([model.jacobian(q, 'body', place)[3:] for place in np.eye(3)])
    found = model.constrained_inverse_dynamics(q, rest, rest, J, [FLOATING_BASE])
    assert found.free_forces == 3
    np.testing.assert_allclose(
        J.T @ found.contact_forces, [0.0, -0.1 * unit * G, 0.0, 0.0, 0.0, unit * G],
        atol=1e-9 * unit,
    )


def test_a_hinge_without_actuator_swings_as_it_must() -> None:
    model = load(robot(
        link('base'), link('arm', 2.0, (0.0, 0.0, -0.5)), link('bob', 1.0, (0.0, 0.0, -0.4)),
        joint('shoulder', 'continuous', 'base', 'arm', axis=(0.0, 1.0, 0.0)),
        joint('free', 'continuous', 'arm', 'bob', xyz=(0.0, 0.0, -1.0), axis=(0.0, 1.0, 0.0)),
    ))
    q, qd, tau = np.array([0.4, -0.9]), np.array([1.0, 2.0]), np.array([3.0, 0.0])
    qdd = model.forward_dynamics(q, qd, tau)
    found = model.constrained_inverse_dynamics(q, qd, qdd, np.zeros((0, 2)), ['free'])
    np.testing.assert_allclose(found.efforts, tau, atol=1e-9)
