# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Tasks of a robot: their equation of motion in operational space, and motions in contact."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest

from rnea_ros import BaseMotion, InputError, RobotModel, SingularityError
from rnea_ros.robot.builder import FLOATING_BASE
from support.cases import each
from support.models.oracle_pairs import Motion, Pair, random_motion
from support.models.oracles import Array, random_wrenches
from support.models.robots import SHIPPED, joint, link, load, robot

pytest_plugins = ('support.models.model_fixtures',)

POINT = np.array([0.1, -0.2, 0.3])
ON_A_SHIP = BaseMotion((1, 2, 3), (0.3, -2, 1), (2, -1, 3), (1, 3, -2))


def assert_equal(actual: NDArray[Any], expected: NDArray[Any]) -> None:
    # Inverting mixes all entries: the largest is the measure of errors.
    atol = 1e-9 * max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=atol)


def tasks(pair: Pair) -> list[tuple[str, list[int]]]:
    """Return links and which of their coordinates at POINT can move independently."""
    model, (q, _, _), chosen = pair.model, pair.motion(0), []
    for name in model.link_names[:: 1 + len(model.link_names) // 8]:
        rows: list[int] = []
        for row in range(6):
            tried = model.jacobian(q, name, POINT)[[*rows, row]]
            lengths = np.linalg.norm(tried, axis=1, keepdims=True)
            if (lengths > 0.1).all() and np.linalg.cond(tried / lengths) < 20.0:
                rows.append(row)
        if rows:
            chosen.append((name, rows))
    assert chosen
    return chosen


def at_point(a: NDArray[Any]) -> NDArray[Any]:
    """Return a spatial acceleration about a point of the link, from that about its origin."""
    return np.concatenate([a[:3], a[3:] + np.cross(a[:3], POINT)])


@pytest.mark.oracle
def test_task_dynamics_are_those_of_pinocchios_matrices(pair: Pair) -> None:
    q, qd, _ = pair.motion(0)
    M, g = pair.pinocchio.mass_matrix(q), pair.pinocchio.gravity_torques(q)
    coriolis = pair.pinocchio.bias_torques(q, qd) - g
    for name, rows in tasks(pair):
        J = np.array([at_point(column) for column in pair.pinocchio.jacobian(q, name).T]).T[rows]
        inertia = np.linalg.inv(J @ np.linalg.inv(M) @ J.T)
        inverse = np.linalg.inv(M) @ J.T @ inertia
        _, bias = pair.pinocchio.link_motion(q, qd, np.zeros(pair.model.nv), name)
        task = pair.model.operational_space_dynamics(q, qd, name, coordinates=rows, point=POINT)
        assert_equal(task.jacobian, J)
        assert_equal(task.inertia, inertia)
        assert_equal(task.inverse, inverse)
        assert_equal(task.gravity, inverse.T @ g)
        assert_equal(task.bias, inverse.T @ coriolis - inertia @ at_point(bias)[rows])


def test_a_robot_on_a_moving_base_moves_as_the_task_dynamics_say(pair: Pair) -> None:
    model, (q, qd, efforts) = pair.model.with_base_motion(ON_A_SHIP), pair.motion(0)
    for name, rows in tasks(pair):
        task = model.operational_space_dynamics(q, qd, name, coordinates=rows, point=POINT)
        F = np.random.default_rng(1).normal(size=len(rows))
        # Whatever else the joints do beside the task
        idle = efforts - task.jacobian.T @ (task.inverse.T @ efforts)
        qdd = model.forward_dynamics(q, qd, task.jacobian.T @ F + idle)
        a = at_point(model.link_acceleration(q, qd, qdd, name))[rows]
        forces = task.inertia @ a + task.bias + task.gravity
        scale = np.abs(task.inertia) @ np.abs(a) + np.abs(task.bias) + np.abs(task.gravity)
        np.testing.assert_allclose(forces, F, rtol=1e-9, atol=1e-9 * scale.max())


def test_coordinates_come_in_the_order_asked_for_and_are_six_by_default() -> None:
    model, q, qd = load(SHIPPED[2]), np.array([0.3, -1.2, 1.5, -0.8, 1.1, 0.4]), np.full(6, 0.1)
    whole, rows = model.operational_space_dynamics(q, qd, 'tool0'), [5, 3]
    np.testing.assert_array_equal(whole.jacobian, model.jacobian(q, 'tool0'))
    task = model.operational_space_dynamics(q, qd, 'tool0', coordinates=rows)
    np.testing.assert_array_equal(task.jacobian, whole.jacobian[rows])
    # A task of fewer coordinates leaves the others free: it is no part of the whole inertia.
    mobility = np.linalg.inv(whole.inertia)
    assert_equal(np.linalg.inv(task.inertia), mobility[np.ix_(rows, rows)])


def planar_arm(length: float = 1.0, tilt: Sequence[float] = (0.0, 0.0, 0.0)) -> RobotModel:
    """Return two equal rods in the plane y z of the mount, hinges about its x."""
    moment = length**2 / 12.0
    rod = (1.0, (0.0, 0.5 * length, 0.0), (moment, 0.0, 0.0, moment, 0.0, moment))
    place = (0.0, length, 0.0)
    return load(robot(
        link('base'), link('upper', *rod), link('lower', *rod), link('tip'), link('turned_tip'),
        joint('shoulder', 'continuous', 'base', 'upper', rpy=tilt, axis=(1.0, 0.0, 0.0)),
        joint('elbow', 'continuous', 'upper', 'lower', xyz=place, axis=(1.0, 0.0, 0.0)),
        joint('tip', 'fixed', 'lower', 'tip', xyz=place),
        joint('turned_tip', 'fixed', 'tip', 'turned_tip', rpy=(0.5, 0.0, 0.0)),
    ))


@each(('length', 'name'), [(1e-3, 'tip'), (1.0, 'turned_tip'), (1e3, 'tip')])
def test_a_stretched_arm_is_rejected_and_a_bent_one_is_not(length: float, name: str) -> None:
    model = planar_arm(length)
    for bend in (1e-8, 1e-10):
        with pytest.raises(SingularityError, match=f'link {name!r} is at or near'):
            model.operational_space_dynamics([0.3, bend], [0.0, 0.0], name, coordinates=(4, 5))
    for rows in ((4, 5), (0, 4)):
        task = model.operational_space_dynamics([0.3, 0.02], [0, 0], name, coordinates=rows)
        assert_equal(task.jacobian @ task.inverse, np.eye(2))
    with pytest.raises(SingularityError, match=f'link {name!r} .* its 3 coordinates'):
        model.operational_space_dynamics([0.3, 1.0], [0, 0], name, coordinates=(0, 4, 5))


@each('tilt', [(0.0, 0.0, 0.0), (0.3, 0.4, 0.5)])
@each('row', [1, 2, 3])
def test_a_coordinate_that_no_joint_moves_is_named(tilt: Sequence[float], row: int) -> None:
    # Exactly, or but for rounding errors where the mount is tilted
    model = planar_arm(tilt=tilt)
    with pytest.raises(SingularityError, match=f"link 'tip' cannot move .* coordinate {row}"):
        model.operational_space_dynamics([0.3, 1.0], [0.0, 0.0], 'tip', coordinates=(4, row))
    with pytest.raises(SingularityError, match="link 'base' cannot move in its coordinate 0"):
        model.operational_space_dynamics([0.3, 1.0], [0.0, 0.0], 'base')


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
