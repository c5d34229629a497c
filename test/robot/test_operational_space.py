# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The equation of motion as a tool sees it: Lambda a + mu + p = F."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest

from rnea_ros import BaseMotion, RobotModel
from rnea_ros.errors import SingularityError
from support.cases import each
from support.models.oracle_pairs import Pair
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
