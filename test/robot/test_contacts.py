# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Inverse dynamics in contact: motion, efforts and contact forces fit the equation of motion."""

import numpy as np
import pytest

from rnea_ros import BaseMotion, InputError, RobotModel, SingularityError
from rnea_ros.robot.builder import FLOATING_BASE
from support.cases import each
from support.models.oracle_pairs import Pair, random_pair
from support.models.oracles import Array, random_wrenches
from support.models.robots import joint, link, robot

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


def random_position(model: RobotModel, seed: int) -> Array:
    v = np.random.default_rng(seed).normal(size=model.nv)
    return model.integrate(model.neutral_position, v, 1.0)


def allowed(
    model: RobotModel, seed: int, feet: tuple[str, ...], rows: list[int]
) -> tuple[tuple[Array, Array, Array], Array, Array]:
    """Return a random motion that contacts of the feet allow, with J and Jdot qd."""
    q = random_position(model, seed)
    qd, qdd = np.random.default_rng([seed, 1]).normal(size=(2, model.nv))
    J = contacts(model, q, feet, rows)
    qd -= np.linalg.pinv(J) @ J @ qd
    Jdot_qd = np.concatenate([model.bias_acceleration(q, qd, foot)[rows] for foot in feet])
    qdd -= np.linalg.pinv(J) @ (J @ qdd + Jdot_qd)
    return (q, qd, qdd), J, Jdot_qd


@each('seed', range(5))
@each('feet', [FEET[:1], FEET])
def test_a_second_foot_that_holds_leaves_six_forces_open_and_smallest(
    walker: RobotModel, feet: tuple[str, ...], seed: int
) -> None:
    motion, J, Jdot_qd = allowed(walker, seed, feet, list(range(6)))
    assert len(feet) == 2 or np.abs(motion[1]).max() > 0.1
    found = walker.constrained_inverse_dynamics(*motion, J, [FLOATING_BASE], contact_bias=Jdot_qd)
    assert found.determined is (len(feet) == 1)
    assert found.free_forces == 6 * (len(feet) - 1)
    assert not found.efforts[walker.velocity_indices(FLOATING_BASE)].any()
    # M qdd + C qd + g = tau + J^T lambda
    q, qd, qdd = motion
    np.testing.assert_allclose(
        found.efforts + J.T @ found.contact_forces,
        walker.mass_matrix(q) @ qdd + walker.bias_torques(q, qd), rtol=1e-9, atol=1e-9,
    )
    on_the_base = J[:, walker.velocity_indices(FLOATING_BASE)].T
    # What is of least norm has no part in what leaves the base's motion alone.
    _, _, rows = np.linalg.svd(on_the_base)
    for idle in rows[6:]:
        np.testing.assert_allclose(on_the_base @ idle, np.zeros(6), atol=1e-12)
        assert abs(idle @ found.contact_forces) < 1e-9


def test_feet_that_only_push_along_one_line_cannot_make_every_motion(walker: RobotModel) -> None:
    motion, J, Jdot_qd = allowed(walker, 0, FEET, [5])
    with pytest.raises(SingularityError, match=r'forces \[.*\] are missing') as caught:
        walker.constrained_inverse_dynamics(*motion, J, [FLOATING_BASE], contact_bias=Jdot_qd)
    assert caught.value.element == 'contacts'


@each('seed', range(4))
def test_where_every_joint_is_driven_contacts_are_not_needed(seed: int) -> None:
    pair = random_pair(seed)
    q, qd, qdd = pair.motion(0)
    J = pair.model.jacobian(q, pair.model.link_names[-1])
    Jdot_qd = pair.model.bias_acceleration(q, qd, pair.model.link_names[-1])
    # The ground moves with the tip: what it accelerates by is taken off the bias.
    motion = (q, qd, qdd)
    found = pair.model.constrained_inverse_dynamics(
        *motion, J, contact_bias=Jdot_qd - (J @ qdd + Jdot_qd)
    )
    np.testing.assert_array_equal(found.contact_forces, np.zeros(6))
    assert found.free_forces == 6
    np.testing.assert_allclose(found.efforts, pair.model.inverse_dynamics(*motion), atol=1e-12)


@pytest.mark.oracle
@each('pushed', [False, True])
@each('seed', range(4))
def test_motion_and_forces_are_pinocchios(walker: RobotModel, seed: int, pushed: bool) -> None:
    """[M -J^T; J 0] [qdd; lambda] = [tau - h + J_p^T f; -Jdot qd], all by Pinocchio but tau."""
    # One foot holds in all directions, the other at its tip alone.
    q = random_position(walker, seed)
    qd, qdd = np.random.default_rng([seed, 1]).normal(size=(2, walker.nv))
    oracle = Pair('walker', walker_urdf(), floating=True).pinocchio
    J = np.concatenate([oracle.jacobian(q, FEET[0]), oracle.jacobian(q, FEET[1])[3:]])
    rest = np.zeros(walker.nv)
    qd = 10.0 * (qd - np.linalg.pinv(J) @ J @ qd)
    assert np.abs(qd).max() > 0.1
    left, right = (oracle.link_motion(q, qd, rest, foot)[1] for foot in FEET)
    Jdot_qd = np.concatenate([left, right[3:]])
    qdd -= np.linalg.pinv(J) @ (J @ qdd + Jdot_qd)
    wrenches = random_wrenches(seed, walker.link_names) if pushed else None
    found = walker.constrained_inverse_dynamics(
        q, qd, qdd, J, [FLOATING_BASE], contact_bias=Jdot_qd, external_wrenches=wrenches
    )
    h = oracle.inverse_dynamics(q, qd, rest, wrenches or {})
    M = oracle.mass_matrix(q)
    equations = np.block([[M, -J.T], [J, np.zeros((len(J), len(J)))]])
    solution = np.linalg.solve(equations, np.concatenate([found.efforts - h, -Jdot_qd]))
    size = max(1.0, float(np.abs(solution).max()))
    expected = np.concatenate([qdd, found.contact_forces])
    np.testing.assert_allclose(solution, expected, rtol=1e-7, atol=1e-8 * size)


@each('seed', range(3))
@each('feet', [FEET, FEET[:1]])
@each('row', [0, 2, 3, 5])
def test_a_contact_that_would_accelerate_is_rejected_with_its_acceleration(
    walker: RobotModel, seed: int, feet: tuple[str, ...], row: int
) -> None:
    (q, qd, qdd), J, Jdot_qd = allowed(walker, seed, feet, [row])
    slip = 1e-4 * J[0] / (J[0] @ J[0])
    with pytest.raises(InputError, match=r'^qdd: contradicts the contacts') as caught:
        walker.constrained_inverse_dynamics(q, qd, qdd + slip, J, contact_bias=Jdot_qd)
    assert caught.value.argument == 'qdd'
    assert '0.0001' in str(caught.value) or '9.99' in str(caught.value)
    # The way out that it names
    assert str(caught.value).endswith('qdd - pinv(J) (J qdd + Jdot qd)')
    nearest = qdd + slip - np.linalg.pinv(J) @ (J @ (qdd + slip) + Jdot_qd)
    for good in (nearest, qdd + 1e-3 * slip):
        walker.constrained_inverse_dynamics(q, qd, good, J, contact_bias=Jdot_qd)


def test_only_contacts_of_a_moving_robot_need_their_bias(walker: RobotModel) -> None:
    q, rest = random_position(walker, 0), np.zeros(walker.nv)
    J = contacts(walker, q, FEET, list(range(6)))
    without = walker.constrained_inverse_dynamics(q, rest, rest, J)
    with_zeros = walker.constrained_inverse_dynamics(q, rest, rest, J, contact_bias=np.zeros(12))
    np.testing.assert_array_equal(without.efforts, with_zeros.efforts)
    moving = walker.with_base_motion(BaseMotion(linear_acceleration=(0.0, 0.0, 1.0)))
    for model, qd in ((walker, rest + 0.1), (moving, rest)):
        with pytest.raises(InputError, match=r'^contact_bias: is required .* bias_acceleration'):
            model.constrained_inverse_dynamics(q, qd, rest, J)


@each('unit', [1e-3, 1.0, 1e3])
def test_whether_forces_are_determined_does_not_depend_on_the_weight(unit: float) -> None:
    model = RobotModel.from_urdf(
        robot(link('body', unit, (0.1, 0.0, 0.0), tuple(unit * np.array(BOX)))), floating_base=True
    )
    q, rest = model.neutral_position, np.zeros(6)
    J = np.concatenate([model.jacobian(q, 'body', place)[3:] for place in np.eye(3)])
    found = model.constrained_inverse_dynamics(q, rest, rest, J, [FLOATING_BASE])
    assert found.free_forces == 3
    np.testing.assert_allclose(
        J.T @ found.contact_forces, [0.0, -0.1 * unit * G, 0.0, 0.0, 0.0, unit * G],
        atol=1e-9 * unit,
    )
