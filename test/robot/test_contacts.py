# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Inverse dynamics in contact: motion, efforts and contact forces fit the equation of motion."""

import numpy as np
import pytest

from rnea_ros import BaseMotion, InputError, RobotModel, SingularityError
from rnea_ros.robot.builder import FLOATING_BASE
from support.cases import each
from support.models.oracle_pairs import Motion, Pair, random_motion
from support.models.oracles import Array, random_wrenches
from support.models.robots import joint, link, robot

BOX = (0.02, 0.0, 0.0, 0.03, 0.0, 0.04)
FEET = ('left_foot', 'right_foot')
ALL, TIP = slice(0, 6), slice(3, 6)


def leg(side: str, y: float) -> str:
    hip, knee, ankle = (f'{side}_{name}' for name in ('hip', 'knee', 'ankle'))
    thigh, shank, foot = (f'{side}_{name}' for name in ('thigh', 'shank', 'foot'))
    return ''.join((
        link(thigh, 2.0, (0.0, 0.0, -0.15), BOX), link(shank, 1.0, (0.0, 0.0, -0.15), BOX),
        link(foot), joint(hip, 'continuous', 'trunk', thigh, xyz=(0.0, y, 0.0)),
        joint(knee, 'continuous', thigh, shank, xyz=(0, 0, -0.3), axis=(0.0, 1.0, 0.0)),
        joint(ankle, 'fixed', shank, foot, xyz=(0.0, 0.0, -0.3)),
    ))


# A trunk with two legs of hip and knee, and feet without mass
URDF = robot(link('trunk', 10.0, (0.02, 0.0, 0.1), BOX), leg('left', 0.2), leg('right', -0.2))
WALKER = RobotModel.from_urdf(URDF, floating_base=True)


def allowed(seed: int, *contacts: tuple[str, slice]) -> tuple[Motion, Array, Array]:
    """Return a random motion that contacts of feet in some rows allow, with J and Jdot qd."""
    q, qd, qdd = random_motion(WALKER, seed)
    J = np.concatenate([WALKER.jacobian(q, foot)[rows] for foot, rows in contacts])
    qd -= np.linalg.pinv(J) @ J @ qd
    Jdot_qd = np.concatenate([
        WALKER.bias_acceleration(q, qd, foot)[rows] for foot, rows in contacts
    ])
    qdd -= np.linalg.pinv(J) @ (J @ qdd + Jdot_qd)
    return (q, qd, qdd), J, Jdot_qd


@each('seed', range(5))
@each('feet', [FEET[:1], FEET])
def test_a_second_foot_that_holds_leaves_six_forces_open_and_smallest(
    feet: tuple[str, ...], seed: int
) -> None:
    (q, qd, qdd), J, Jdot_qd = allowed(seed, *((foot, ALL) for foot in feet))
    assert len(feet) == 2 or np.abs(qd).max() > 0.1
    found = WALKER.constrained_inverse_dynamics(
        q, qd, qdd, J, [FLOATING_BASE], contact_bias=Jdot_qd
    )
    assert found.determined is (len(feet) == 1)
    assert found.free_forces == 6 * (len(feet) - 1)
    assert not found.efforts[WALKER.velocity_indices(FLOATING_BASE)].any()
    # M qdd + C qd + g = tau + J^T lambda
    np.testing.assert_allclose(
        found.efforts + J.T @ found.contact_forces,
        WALKER.mass_matrix(q) @ qdd + WALKER.bias_torques(q, qd), rtol=1e-9, atol=1e-9,
    )
    # What is of least norm has no part in what leaves the base's motion alone.
    on_the_base = J[:, WALKER.velocity_indices(FLOATING_BASE)].T
    for idle in np.linalg.svd(on_the_base)[2][6:]:
        np.testing.assert_allclose(on_the_base @ idle, np.zeros(6), atol=1e-12)
        assert abs(idle @ found.contact_forces) < 1e-9


def test_feet_that_only_push_along_one_line_cannot_make_every_motion() -> None:
    motion, J, Jdot_qd = allowed(0, *((foot, slice(5, 6)) for foot in FEET))
    with pytest.raises(SingularityError, match=r'forces \[.*\] are missing') as caught:
        WALKER.constrained_inverse_dynamics(*motion, J, [FLOATING_BASE], contact_bias=Jdot_qd)
    assert caught.value.element == 'contacts'


@pytest.mark.oracle
@each('pushed', [False, True])
@each('seed', range(4))
def test_motion_and_forces_are_pinocchios(seed: int, pushed: bool) -> None:
    """[M -J^T; J 0] [qdd; lambda] = [tau - h + J_p^T f; -Jdot qd], all by Pinocchio but tau."""
    # One foot holds in all directions, the other at its tip alone.
    (q, qd, qdd), _, _ = allowed(seed, (FEET[0], ALL), (FEET[1], TIP))
    rest = np.zeros(WALKER.nv)
    oracle = Pair('walker', URDF, floating=True).pinocchio
    J = np.concatenate([oracle.jacobian(q, FEET[0]), oracle.jacobian(q, FEET[1])[TIP]])
    left, right = (oracle.link_motion(q, qd, rest, foot)[1] for foot in FEET)
    Jdot_qd = np.concatenate([left, right[TIP]])
    wrenches = random_wrenches(seed, WALKER.link_names) if pushed else None
    found = WALKER.constrained_inverse_dynamics(
        q, qd, qdd, J, [FLOATING_BASE], contact_bias=Jdot_qd, external_wrenches=wrenches
    )
    h = oracle.inverse_dynamics(q, qd, rest, wrenches)
    equations = np.block([[oracle.mass_matrix(q), -J.T], [J, np.zeros((len(J), len(J)))]])
    solution = np.linalg.solve(equations, np.concatenate([found.efforts - h, -Jdot_qd]))
    size = max(1.0, float(np.abs(solution).max()))
    expected = np.concatenate([qdd, found.contact_forces])
    np.testing.assert_allclose(solution, expected, rtol=1e-7, atol=1e-8 * size)


@each('row', [0, 2, 3, 5])
def test_a_contact_that_would_accelerate_is_rejected_with_the_way_out(row: int) -> None:
    (q, qd, qdd), J, Jdot_qd = allowed(row, *((foot, slice(row, row + 1)) for foot in FEET))
    slip = 1e-4 * J[0] / (J[0] @ J[0])
    with pytest.raises(InputError, match=r'^qdd: contradicts the contacts') as caught:
        WALKER.constrained_inverse_dynamics(q, qd, qdd + slip, J, contact_bias=Jdot_qd)
    assert str(caught.value).endswith('qdd - pinv(J) (J qdd + Jdot qd)')
    nearest = qdd + slip - np.linalg.pinv(J) @ (J @ (qdd + slip) + Jdot_qd)
    for good in (nearest, qdd + 1e-3 * slip):
        WALKER.constrained_inverse_dynamics(q, qd, good, J, contact_bias=Jdot_qd)


def test_only_contacts_of_a_moving_robot_need_their_bias() -> None:
    q, rest = random_motion(WALKER, 0)[0], np.zeros(WALKER.nv)
    J = np.concatenate([WALKER.jacobian(q, foot) for foot in FEET])
    without = WALKER.constrained_inverse_dynamics(q, rest, rest, J)
    with_zeros = WALKER.constrained_inverse_dynamics(q, rest, rest, J, contact_bias=np.zeros(12))
    np.testing.assert_array_equal(without.efforts, with_zeros.efforts)
    moving = WALKER.with_base_motion(BaseMotion(linear_acceleration=(0.0, 0.0, 1.0)))
    for model, qd in ((WALKER, rest + 0.1), (moving, rest)):
        with pytest.raises(InputError, match=r'^contact_bias: is required .* bias_acceleration'):
            model.constrained_inverse_dynamics(q, qd, rest, J)
