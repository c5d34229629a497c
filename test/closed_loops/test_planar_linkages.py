# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Planar linkages: a four-bar worked by hand, a palletising arm as loops and as mimic joints."""

import math

import numpy as np

from rnea_ros import RobotModel, Wrench
from rnea_ros.closed_loops import ClosedLoopModel
from support.cases import each
from support.models.linkages import (
    CROSSED,
    LENGTHS,
    MOTORS,
    OPEN,
    PALLETISER_LOOPS,
    four_bar,
    palletiser,
)


def angles(theta_2: float, mode: float) -> tuple[float, float]:
    """
    Return the angles of coupler and rocker by Freudenstein's equation.

    Vectors from crank pivot: a e^(i t2) + b e^(i t3) = d + c e^(i t4). Without t3:
    K1 cos t4 - K2 cos t2 + K3 = cos(t2 - t4), with K1 = d/a, K2 = d/c,
    K3 = (a^2 - b^2 + c^2 + d^2) / (2 a c). With tan(t4/2) it is a quadratic equation, whose roots
    are the open (mode -1) and the crossed (mode 1) assembly.
    """
    a, b, c, d = LENGTHS
    K1, K2, K3 = d / a, d / c, (a**2 - b**2 + c**2 + d**2) / (2.0 * a * c)
    A = math.cos(theta_2) - K1 - K2 * math.cos(theta_2) + K3
    B, C = -2.0 * math.sin(theta_2), K1 - (K2 + 1.0) * math.cos(theta_2) + K3
    theta_4 = 2.0 * math.atan2(-B + mode * math.sqrt(B * B - 4.0 * A * C), 2.0 * A)
    x = d + c * math.cos(theta_4) - a * math.cos(theta_2)
    y = c * math.sin(theta_4) - a * math.sin(theta_2)
    return math.atan2(y, x), theta_4


def turned_to(angle: float) -> float:
    """Return an angle between -pi and pi."""
    return math.remainder(angle, math.tau)


def test_a_published_four_bar_has_its_published_angles() -> None:
    """R. L. Norton, Design of Machinery: d = 100, a = 40, b = 120, c = 80 mm, theta_2 = 40 deg."""
    for guess, published in ((OPEN, (20.30, 57.33)), (CROSSED, (-60.98, -98.01))):
        model = four_bar(LENGTHS, (1.0, 1.0, 1.0), guess)
        q = model.positions([math.radians(40.0)])
        found = [math.degrees(turned_to(angle)) for angle in (q[0] + q[1], q[2])]
        np.testing.assert_allclose(found, published, atol=0.01)


@each('guess, mode', [(OPEN, -1.0), (CROSSED, 1.0)])
def test_a_whole_turn_stays_in_its_assembly_mode(guess: tuple[float, ...], mode: float) -> None:
    model = four_bar(LENGTHS, (1.0, 1.0, 1.0), guess)
    for theta_2 in np.linspace(-math.pi, math.pi, 15):
        q = model.positions([theta_2])
        expected = angles(theta_2, mode)
        for found, by_hand in zip((q[0] + q[1], q[2]), expected, strict=True):
            assert abs(turned_to(found - by_hand)) < 1e-9


def test_loops_and_mimic_joints_of_a_palletiser_are_the_same_robot() -> None:
    mimic = RobotModel.from_urdf(palletiser(loops=False))
    assert set(mimic.joint_names) == set(MOTORS)
    tree = RobotModel.from_urdf(palletiser(loops=True))
    loops = ClosedLoopModel(tree, PALLETISER_LOOPS, mimic.joint_names)
    push = {'tool': Wrench((30.0, -20.0, 50.0), (4.0, 5.0, 6.0))}
    # Within half a quarter turn, where no parallelogram is flat
    states = np.random.default_rng(8).uniform(-1.0, 1.0, (4, 3, 4)) * [[0.6], [2.0], [5.0]]
    for y, yd, ydd in states:
        q = loops.positions(y)
        qd, qdd = loops.velocities(q, yd), loops.accelerations(q, yd, ydd)
        tau = mimic.inverse_dynamics(y, yd, ydd, push)
        compared = [
            (loops.inverse_dynamics(q, yd, ydd, push), tau),
            (loops.forward_dynamics(q, yd, tau, push), ydd),
            (loops.gravity_torques(q), mimic.gravity_torques(y)),
            (loops.mass_matrix(q), mimic.mass_matrix(y)),
        ]
        # The pin is fixed to the crank in the one, level in the other.
        for name in set(mimic.link_names) - {'pin'}:
            compared += [
                (tree.forward_kinematics(q, name), mimic.forward_kinematics(y, name)),
                (tree.link_velocity(q, qd, name), mimic.link_velocity(y, yd, name)),
                (
                    tree.link_acceleration(q, qd, qdd, name),
                    mimic.link_acceleration(y, yd, ydd, name),
                ),
            ]
        for found, expected in compared:
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-8)
