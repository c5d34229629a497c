# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Robots small enough for paper: what a textbook derives by hand comes out."""

from __future__ import annotations

import numpy as np
import pytest

from rnea_ros import RobotModel
from support.models.oracles import Array, random_state
from support.models.robots import joint, link, load, robot

G = 9.81
SEEDS = range(5)


def assert_equal(actual: Array, expected: Array) -> None:
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize('seed', SEEDS)
@pytest.mark.parametrize('kind', ['revolute', 'continuous'])
def test_a_pendulum(kind: str, seed: int) -> None:
    m, length, J = 2.0, 0.7, 0.05
    model = load(robot(
        link('base'),
        link('bob', m, (0.0, 0.0, -length), (0.2, 0.0, 0.0, J, 0.0, 0.3)),
        joint('hinge', kind, 'base', 'bob', xyz=(0.1, 0.2, 3.0), axis=(0.0, 1.0, 0.0)),
    ))
    q, qd, qdd = random_state(seed, 1)
    expected = (J + m * length**2) * qdd + m * G * length * np.sin(q)
    assert_equal(model.inverse_dynamics(q, qd, qdd), expected)
    assert_equal(model.coriolis_torques(q, qd), np.zeros(1))


def test_a_pendulum_about_the_opposite_axis_needs_the_opposite_torque() -> None:
    def pendulum(y: float) -> RobotModel:
        return load(robot(
            link('base'), link('bob', 2.0, (0.3, 0.1, -0.7), (0.1, 0.02, 0.03, 0.2, 0.01, 0.15)),
            joint('hinge', 'revolute', 'base', 'bob', axis=(0.0, y, 0.0)),
        ))

    q, qd, qdd = random_state(0, 1)
    assert_equal(
        pendulum(-1.0).inverse_dynamics(-q, -qd, -qdd), -pendulum(1.0).inverse_dynamics(q, qd, qdd)
    )


@pytest.mark.parametrize('slope', [0.0, 0.4, np.pi / 2, -np.pi / 2, 2.5])
def test_a_slide_on_a_slope(slope: float) -> None:
    m = 3.0
    model = load(robot(
        link('base'), link('cart', m, (0.3, -0.2, 0.1)),
        joint('rail', 'prismatic', 'base', 'cart', axis=(np.cos(slope), 0.0, np.sin(slope))),
    ))
    q, qd, qdd = random_state(0, 1)
    assert_equal(model.inverse_dynamics(q, qd, qdd), m * (qdd + G * np.sin(slope)))


@pytest.mark.parametrize('seed', SEEDS)
def test_a_planar_arm_of_two_links(seed: int) -> None:
    m1, m2, l1, c1, c2, J1, J2 = 3.0, 2.0, 0.5, 0.2, 0.3, 0.04, 0.02
    model = load(robot(
        link('base'),
        link('upper', m1, (c1, 0.0, 0.0), (0.03, 0.0, 0.0, J1, 0.0, 0.05)),
        link('fore', m2, (c2, 0.0, 0.0), (0.01, 0.0, 0.0, J2, 0.0, 0.025)),
        # About -y, a positive angle lifts an arm that lies along x.
        joint('shoulder', 'revolute', 'base', 'upper', axis=(0.0, -1.0, 0.0)),
        joint('elbow', 'revolute', 'upper', 'fore', xyz=(l1, 0.0, 0.0), axis=(0.0, -1.0, 0.0)),
    ))
    q, qd, qdd = random_state(seed, 2)
    h = m2 * l1 * c2
    M11 = J1 + J2 + m1 * c1**2 + m2 * (l1**2 + c2**2) + 2.0 * h * np.cos(q[1])
    M12 = J2 + m2 * c2**2 + h * np.cos(q[1])
    M22 = J2 + m2 * c2**2
    coriolis = h * np.sin(q[1]) * np.array([-qd[1] * (2.0 * qd[0] + qd[1]), qd[0] ** 2])
    fore = m2 * c2 * G * np.cos(q[0] + q[1])
    gravity = np.array([(m1 * c1 + m2 * l1) * G * np.cos(q[0]) + fore, fore])
    inertia = np.array([[M11, M12], [M12, M22]]) @ qdd
    assert_equal(model.gravity_torques(q), gravity)
    assert_equal(model.coriolis_torques(q, qd), coriolis)
    assert_equal(model.inverse_dynamics(q, qd, qdd), inertia + coriolis + gravity)


@pytest.mark.parametrize('seed', SEEDS)
def test_a_turning_slide_feels_coriolis_and_centrifugal_force(seed: int) -> None:
    m, J = 2.0, 0.1
    model = load(robot(
        link('base'), link('arm', 1.0, inertia=(1.0, 0.0, 0.0, J, 0.0, 1.0)),
        link('bead', m, inertia=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)),
        joint('turn', 'continuous', 'base', 'arm', axis=(0.0, -1.0, 0.0)),
        joint('reach', 'prismatic', 'arm', 'bead', axis=(1.0, 0.0, 0.0)),
    ))
    (angle, r), (w, speed), (w_rate, thrust) = q, qd, qdd = random_state(seed, 2)
    expected = np.array([
        (J + m * r**2) * w_rate + 2.0 * m * r * speed * w + m * G * r * np.cos(angle),
        m * (thrust - r * w**2 + G * np.sin(angle)),
    ])
    assert_equal(model.inverse_dynamics(q, qd, qdd), expected)


def test_a_spinning_wheel_resists_being_turned_sideways() -> None:
    J_spin, J_side, yaw_rate, spin = 0.3, 0.2, 1.5, 40.0
    model = load(robot(
        link('base'), link('yaw'), link('tilt'),
        link('wheel', 1.0, inertia=(J_spin, 0.0, 0.0, J_side, 0.0, J_side)),
        joint('yaw', 'continuous', 'base', 'yaw', axis=(0.0, 0.0, 1.0)),
        joint('tilt', 'continuous', 'yaw', 'tilt', axis=(0.0, 1.0, 0.0)),
        joint('spin', 'continuous', 'tilt', 'wheel', axis=(1.0, 0.0, 0.0)),
    ))
    efforts = model.inverse_dynamics(np.zeros(3), [yaw_rate, 0.0, spin], np.zeros(3))
    # The angular momentum, J_spin spin along x, is turned by the yaw: its rate points along y.
    assert_equal(efforts, np.array([0.0, J_spin * spin * yaw_rate, 0.0]))


@pytest.mark.parametrize('seed', SEEDS)
def test_joints_in_a_row_about_one_axis_add_up(seed: int) -> None:
    J, n = 0.5, 4
    names = [f'link_{i}' for i in range(n)]
    model = load(robot(
        link('base'), *(link(name, 1.0, inertia=(J, 0.0, 0.0, J, 0.0, J)) for name in names),
        *(
            joint(name, 'continuous', parent, name, axis=(0.0, 0.0, 1.0))
            for parent, name in zip(['base', *names], names, strict=False)
        ),
    ))
    q, qd, qdd = random_state(seed, n)
    # Link i turns with the sum of joints 0 to i; joint i carries links i to the last.
    spins = np.cumsum(qdd)
    assert_equal(model.inverse_dynamics(q, qd, qdd), J * np.cumsum(spins[::-1])[::-1])


@pytest.mark.parametrize('seed', SEEDS)
def test_a_balanced_arm_needs_nothing_against_gravity(seed: int) -> None:
    model = load(robot(
        link('base'), link('beam', 1.0, (1.0, 0.0, 0.0)), link('weight', 2.0),
        joint('hinge', 'continuous', 'base', 'beam', axis=(0.0, 1.0, 0.0)),
        joint('weld', 'fixed', 'beam', 'weight', xyz=(-0.5, 0.0, 0.0), rpy=(1.0, 2.0, 3.0)),
    ))
    q, _, _ = random_state(seed, 1)
    assert_equal(model.gravity_torques(q), np.zeros(1))
