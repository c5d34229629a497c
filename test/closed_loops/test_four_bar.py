# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Planar linkages with one motor, worked by hand."""

from __future__ import annotations

import math

import numpy as np

from support.cases import each
from support.models.linkages import CROSSED, LENGTHS, OPEN, four_bar
from support.models.oracles import Array

G = 9.81
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
def test_positions_of_a_whole_turn_stay_on_their_assembly_mode(
    guess: tuple[float, ...], mode: float
) -> None:
    model = four_bar(LENGTHS, (1.0, 1.0, 1.0), guess)
    for theta_2 in np.linspace(-math.pi, math.pi, 15):
        q = model.positions([theta_2])
        expected = angles(theta_2, mode)
        for found, by_hand in zip((q[0] + q[1], q[2]), expected, strict=True):
            assert abs(turned_to(found - by_hand)) < 1e-9


def by_virtual_work(
    theta_2: float, w2: float, a2: float, masses: tuple[float, ...], mode: float
) -> float:
    """
    Return the torque of the crank's motor.

    Velocities: differentiate a e^(i t2) + b e^(i t3) = d + c e^(i t4), and multiply by e^(-i t4)
    or e^(-i t3) to eliminate one unknown:
        w3 = -w2 a sin(t2 - t4) / (b sin(t3 - t4)),  w4 = w2 a sin(t2 - t3) / (c sin(t4 - t3)).
    Accelerations likewise from -a w2^2 e^(i t2) + i a a2 e^(i t2) + ... :
        b a3 sin(t3 - t4) = -a a2 sin(t2 - t4) - a w2^2 cos(t2 - t4) - b w3^2 cos(t3 - t4) + c w4^2
        c a4 sin(t4 - t3) = a a2 sin(t2 - t3) + a w2^2 cos(t2 - t3) + b w3^2 - c w4^2 cos(t4 - t3)
    A rod whose ends have the velocities and accelerations u, v and s, t (complex numbers) has its
    centre at the mean. Virtual work: T w2 = sum of m (acceleration + i g) . velocity + J a w.
    """
    (a, b, c, _), (m2, m3, m4) = LENGTHS, masses
    t2, (t3, t4) = theta_2, angles(theta_2, mode)
    sin, cos = math.sin, math.cos
    w3 = -w2 * a * sin(t2 - t4) / (b * sin(t3 - t4))
    w4 = w2 * a * sin(t2 - t3) / (c * sin(t4 - t3))
    a3 = (
        -a * a2 * sin(t2 - t4) - a * w2**2 * cos(t2 - t4) - b * w3**2 * cos(t3 - t4) + c * w4**2
    ) / (b * sin(t3 - t4))
    a4 = (
        a * a2 * sin(t2 - t3) + a * w2**2 * cos(t2 - t3) + b * w3**2 - c * w4**2 * cos(t4 - t3)
    ) / (c * sin(t4 - t3))

    def end(length: float, t: float, w: float, alpha: float) -> Array:
        """Return velocity and acceleration of a rod's end relative to its start."""
        turn = length * np.exp(1j * t)
        return np.array([1j * w * turn, (1j * alpha - w**2) * turn])

    crank, coupler, rocker = end(a, t2, w2, a2), end(b, t3, w3, a3), end(c, t4, w4, a4)
    np.testing.assert_allclose(crank + coupler, rocker, atol=1e-12)  # the hand's own check
    power = 0.0
    for mass, (velocity, acceleration) in (
        (m2, 0.5 * crank), (m3, crank + 0.5 * coupler), (m4, 0.5 * rocker)
    ):
        power += mass * ((acceleration + 1j * G) * np.conj(velocity)).real
    for mass, length, w, alpha in ((m2, a, w2, a2), (m3, b, w3, a3), (m4, c, w4, a4)):
        power += mass * length**2 / 12.0 * w * alpha
    return power / w2


@each('guess, mode', [(OPEN, -1.0), (CROSSED, 1.0)])
def test_the_motors_torque_is_that_of_virtual_work(guess: tuple[float, ...], mode: float) -> None:
    masses = (0.7, 1.3, 0.9)
    model = four_bar(LENGTHS, masses, guess)
    random = np.random.default_rng(2)
    for theta_2, w2, a2 in random.uniform(-1.0, 1.0, (20, 3)) * [math.pi, 10.0, 50.0]:
        q = model.positions([theta_2])
        expected = by_virtual_work(theta_2, w2, a2, masses, mode)
        torque = model.inverse_dynamics(q, [w2], [a2])
        np.testing.assert_allclose(torque, expected, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(model.forward_dynamics(q, [w2], torque), [a2], rtol=1e-9)
        slow = by_virtual_work(theta_2, 1e-5, 0.0, masses, mode)  # gravity alone
        np.testing.assert_allclose(model.gravity_torques(q), slow, atol=1e-8)


def test_a_parallelogram_moves_as_one_pendulum() -> None:
    """
    Crank and rocker turn alike, the coupler does not turn and its points move as the crank's end.

    So the inertia is that of two rods about their ends and of the coupler's mass at the crank's
    end, (m2 + m4) a^2 / 3 + m3 a^2, and the weight acts as (m2 / 2 + m4 / 2 + m3) g at the arm
    a cos(t2). The inertia is constant: velocities need no torque.
    """
    a, (m2, m3, m4) = 0.3, (0.7, 1.3, 0.9)
    model = four_bar((a, 0.5, a, 0.5), (m2, m3, m4), (1.0, -1.0, 1.0))
    inertia = (m2 + m4) * a**2 / 3.0 + m3 * a**2
    for theta, w, alpha in np.random.default_rng(3).uniform(0.2, 2.9, (10, 3)):
        q = model.positions([theta])
        np.testing.assert_allclose(q, [theta, -theta, theta], atol=1e-9)
        weight = (0.5 * m2 + 0.5 * m4 + m3) * G * a * math.cos(theta)
        torque = model.inverse_dynamics(q, [5.0 * w], [alpha])
        np.testing.assert_allclose(torque, [inertia * alpha + weight], rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(model.mass_matrix(q), [[inertia]], rtol=1e-9)
        np.testing.assert_allclose(model.gravity_torques(q), [weight], rtol=1e-9, atol=1e-10)


def test_velocities_and_accelerations_are_the_rates_of_positions() -> None:
    model = four_bar(LENGTHS, (1.0, 1.0, 1.0), OPEN)
    y, yd, ydd, h = 0.9, 2.0, 3.0, 1e-4
    q = model.positions([y])
    before, after = (
        model.positions([y + yd * t + 0.5 * ydd * t**2], guess=q) for t in (-h, h)
    )
    np.testing.assert_allclose(
        model.velocities(q, [yd]), (after - before) / (2.0 * h), rtol=1e-6
    )
    np.testing.assert_allclose(
        model.accelerations(q, [yd], [ydd]), (after - 2.0 * q + before) / h**2, rtol=1e-5
    )


def test_energy_is_conserved_in_free_motion() -> None:
    """Runge-Kutta of order 4 on the crank's angle; a linkage without motor torque or friction."""
    model = four_bar((0.2, 0.5, 0.4, 0.5), (1.0, 1.0, 1.0), (0.7, -0.3, 1.0))

    def rates(state: Array) -> Array:
        q = model.positions(state[:1], guess=known)
        return np.append(state[1:], model.forward_dynamics(q, state[1:], [0.0]))

    def energy(state: Array) -> float:
        q = model.positions(state[:1], guess=known)
        qd = model.velocities(q, state[1:])
        return model.model.kinetic_energy(q, qd) + model.model.potential_energy(q)

    state, known, h = np.array([0.7, 40.0]), model.reference, 1e-3
    first = energy(state)
    kinetic = model.model.kinetic_energy(known, model.velocities(known, [40.0]))
    for _ in range(50):
        k1 = rates(state)
        k2 = rates(state + 0.5 * h * k1)
        k3 = rates(state + 0.5 * h * k2)
        k4 = rates(state + h * k3)
        state = state + h * (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 6.0
        known = model.positions(state[:1], guess=known)
    lost = abs(energy(state) - first)
    print(f'turned by {state[0] - 0.7:.2f} rad, lost {lost:.2g} of {kinetic:.3g} J')
    assert abs(state[0] - 0.7) > 1.0
    assert lost < 1e-6 * kinetic
