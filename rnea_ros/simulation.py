# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Simulation: the motion of a robot under given efforts and wrenches, in steps of equal length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import enum
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Array, finite_number, finite_vector, whole_number
from .errors import InputError, brief
from .robot import ExternalWrenches, RobotModel

EffortsInTime: TypeAlias = Callable[[float], ArrayLike]
WrenchesInTime: TypeAlias = Callable[[float], ExternalWrenches]


class Method(enum.Enum):
    """
    The integration method.

    ``EULER`` steps the position with the old velocity: order 1, a pendulum swings higher and
    higher. ``SEMI_IMPLICIT_EULER`` steps the position with the new velocity: also order 1, but the
    height of a pendulum's swing stays constant. ``RK4`` is the classical Runge-Kutta method of
    order 4, with four times the computation per step.
    """

    EULER = 'euler'
    SEMI_IMPLICIT_EULER = 'semi_implicit_euler'
    RK4 = 'rk4'


@dataclass(frozen=True)
class SimulatedMotion:
    """A simulated motion; row k belongs to time k dt."""

    time: Array  # shape (steps + 1,), s
    positions: Array  # shape (steps + 1, nq)
    velocities: Array  # shape (steps + 1, nv)


def simulate(
    model: RobotModel, q0: ArrayLike, qd0: ArrayLike, tau: EffortsInTime | None = None,
    wrenches: WrenchesInTime | None = None, *, dt: float, steps: int,
    method: Method | str = Method.RK4,
) -> SimulatedMotion:
    """
    Return the motion from an initial state: qdd = FD(q, qd, tau(t), wrenches(t)).

    :param q0: joint positions at time 0, shape (nq,); ``qd0``: velocities, shape (nv,)
    :param tau: function of time, s, that returns joint efforts, shape (nv,); None for no efforts
    :param wrenches: function of time, s, that returns external wrenches by link; None for none
    :param dt: length of a step, s
    :raises InputError: a step that is not positive, an unknown method, an invalid state; also a
        state later on, for example if ``dt`` is too long
    :raises SingularityError: a joint without inertia to accelerate
    """
    if not isinstance(model, RobotModel):
        raise InputError('model', f'expected a RobotModel, got {brief(model)}')
    method = _method(method)
    dt = finite_number('dt', dt)
    if not dt > 0.0:
        raise InputError('dt', f'is {dt} s, not above 0')
    steps = whole_number('steps', steps, 0)
    for argument, function in (('tau', tau), ('wrenches', wrenches)):
        if function is not None and not callable(function):
            raise InputError(
                argument, f'expected a function of time, such as lambda t: ..., got '
                f'{brief(function)}'
            )
    no_effort = np.zeros(model.nv)

    def acceleration(t: float, q: Array, qd: Array) -> Array:
        efforts = no_effort if tau is None else tau(t)
        return model.forward_dynamics(q, qd, efforts, None if wrenches is None else wrenches(t))

    try:
        time = dt * np.arange(steps + 1, dtype=np.float64)
        positions, velocities = np.empty((steps + 1, model.nq)), np.empty((steps + 1, model.nv))
    except (MemoryError, OverflowError, ValueError) as error:
        raise InputError('steps', f'{brief(steps)} are too many for the memory') from error
    velocities[0] = finite_vector('qd0', qd0, model.nv)
    model.difference(q0, q0)  # raises the error of a bad q0
    positions[0] = model.integrate(q0, no_effort, 0.0)  # scales quaternions to unit length
    for k in range(steps):
        positions[k + 1], velocities[k + 1] = _step(
            method, model, acceleration, time[k], positions[k], velocities[k], dt
        )
    return SimulatedMotion(time, positions, velocities)


def _step(
    method: Method, model: RobotModel, acceleration: Callable[[float, Array, Array], Array],
    t: float, q: Array, qd: Array, h: float
) -> tuple[Array, Array]:
    """Return position and velocity after a step of length h."""
    if method is Method.EULER:
        return model.integrate(q, qd, h), qd + h * acceleration(t, q, qd)
    if method is Method.SEMI_IMPLICIT_EULER:
        qd = qd + h * acceleration(t, q, qd)
        return model.integrate(q, qd, h), qd

    # k_i = (rate of q, rate of qd) at four points. Quaternions move along straight lines and are
    # then scaled to unit length: an error of the same order as that of the method.
    def rates(at: float, q: Array, qd: Array) -> tuple[Array, Array]:
        return model.position_rate(q, qd), acceleration(at, q, qd)

    def moved(by: float, k: tuple[Array, Array]) -> tuple[Array, Array]:
        return model.normalised(q + by * k[0]), qd + by * k[1]

    k1 = rates(t, q, qd)
    k2 = rates(t + 0.5 * h, *moved(0.5 * h, k1))
    k3 = rates(t + 0.5 * h, *moved(0.5 * h, k2))
    k4 = rates(t + h, *moved(h, k3))
    q_rate, qd_rate = (
        (first + 2.0 * second + 2.0 * third + fourth) / 6.0
        for first, second, third, fourth in zip(k1, k2, k3, k4, strict=True)
    )
    return moved(h, (q_rate, qd_rate))


def _method(given: Method | str) -> Method:
    try:
        return Method(given)
    except Exception as error:  # a foreign object's comparison may raise anything
        known = ', '.join(method.value for method in Method)
        raise InputError('method', f'is {brief(given)}; known are {known}') from error
