# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Robots small enough for paper: what a textbook derives by hand comes out."""

from __future__ import annotations

import numpy as np
import pytest

from support.models.oracles import Array, random_state
from support.models.robots import joint, link, load, robot

G = 9.81
SEEDS = range(5)


def assert_equal(actual: Array, expected: Array) -> None:
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-10)


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
def test_coriolis_and_centrifugal_force_on_a_turning_slide(seed: int) -> None:
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
