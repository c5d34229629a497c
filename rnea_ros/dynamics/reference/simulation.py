# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Motion from accelerations, by steps of equal length h.

With the state x = (q, qd) and its rate f(t, x) = (qd, qdd(t, q, qd)), Euler's step (K. M. Lynch
and F. C. Park, *Modern Robotics*, 2017, section 8.5)::

    x(t + h) = x + h f(t, x)

whose error is of order h, and the classical Runge-Kutta step (E. Hairer, S. P. Norsett and
G. Wanner, *Solving Ordinary Differential Equations I*, 2nd ed., section II.1)::

    k_1 = f(t, x)
    k_2 = f(t + h/2, x + h/2 k_1)
    k_3 = f(t + h/2, x + h/2 k_2)
    k_4 = f(t + h, x + h k_3)
    x(t + h) = x + h/6 (k_1 + 2 k_2 + 2 k_3 + k_4)

whose error is of order h^4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ...arrays import Array

Acceleration: TypeAlias = Callable[[float, Array, Array], Array]
"""The joint accelerations at a time, joint positions and joint velocities."""

Step: TypeAlias = Callable[[Acceleration, float, Array, float], Array]
"""The state a step later, from the accelerations, the time, the state and the step's length."""


def simulate(
    step: Step, acceleration: Acceleration, q: Array, qd: Array, h: float, steps: int
) -> tuple[Array, Array]:
    """
    Return the motion that starts at time 0.

    :param step: :func:`euler_step` or :func:`runge_kutta_step`
    :param acceleration: joint accelerations, usually by forward dynamics
    :param q: joint positions at time 0, shape (n,), rad or m
    :param qd: joint velocities at time 0, shape (n,)
    :param h: length of a step, s
    :param steps: number of steps
    :return: joint positions and velocities at the times 0, h, 2 h and so on, shape (steps + 1, n)
    """
    states = [np.stack([q, qd])]
    for i in range(steps):
        states.append(step(acceleration, i * h, states[-1], h))
    positions, velocities = np.stack(states, axis=1)
    return positions, velocities


def euler_step(acceleration: Acceleration, t: float, x: Array, h: float) -> Array:
    """
    Return the state a step later, by Euler's method.

    :param acceleration: joint accelerations
    :param t: time, s
    :param x: joint positions and velocities, shape (2, n)
    :param h: length of the step, s
    """
    return x + h * _rate(acceleration, t, x)


def runge_kutta_step(acceleration: Acceleration, t: float, x: Array, h: float) -> Array:
    """
    Return the state a step later, by the classical Runge-Kutta method of fourth order.

    :param acceleration: joint accelerations
    :param t: time, s
    :param x: joint positions and velocities, shape (2, n)
    :param h: length of the step, s
    """
    k_1 = _rate(acceleration, t, x)
    k_2 = _rate(acceleration, t + h / 2.0, x + h / 2.0 * k_1)
    k_3 = _rate(acceleration, t + h / 2.0, x + h / 2.0 * k_2)
    k_4 = _rate(acceleration, t + h, x + h * k_3)
    return x + h / 6.0 * (k_1 + 2.0 * k_2 + 2.0 * k_3 + k_4)


def _rate(acceleration: Acceleration, t: float, x: Array) -> Array:
    q, qd = x
    return np.stack([qd, acceleration(t, q, qd)])
