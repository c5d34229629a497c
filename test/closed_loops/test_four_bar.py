# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Planar linkages with one motor, worked by hand."""

from __future__ import annotations

import math

import numpy as np

from support.cases import each
from support.models.linkages import CROSSED, LENGTHS, OPEN, four_bar
from support.models.oracles import Array


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


def test_velocities_and_accelerations_are_the_rates_of_positions() -> None:
    model = four_bar(LENGTHS, (1.0, 1.0, 1.0), OPEN)
    y, yd, ydd, h = 0.9, 2.0, 3.0, 1e-4
    q = model.positions([y])
    before, after = (model.positions([y + yd * t + 0.5 * ydd * t**2], guess=q) for t in (-h, h))
    np.testing.assert_allclose(model.velocities(q, [yd]), (after - before) / (2.0 * h), rtol=1e-6)
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
