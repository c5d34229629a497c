# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Simulated motion: methods converge at their order, energy is kept, paper and pencil agree."""

from __future__ import annotations

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.dynamics.reference.linkage import bodies_of
from rnea_ros.dynamics.reference.mass_matrix import forward_dynamics
from rnea_ros.dynamics.reference.simulation import (
    Acceleration,
    Step,
    euler_step,
    runge_kutta_step,
    simulate,
)
from support.models.oracles import Array
from support.models.robots import joint, link, load, robot

COMS = {'upper': (0.2, 0.1, -0.1), 'slide': (0.0, 0.1, 0.3), 'fore': (0.1, 0.0, 0.2)}
MASSES = {'upper': 2.0, 'slide': 1.0, 'fore': 0.5}
START = np.array([0.3, -0.2, 0.5])
PUSH = np.array([0.4, -0.8, 1.2])
DURATION = 0.4


def swinging_robot() -> RobotModel:
    """Return a robot that turns, slides and turns again."""
    return load(robot(
        link('base'),
        *(link(name, MASSES[name], com, (0.03, 0.01, 0.0, 0.04, 0.0, 0.05))
          for name, com in COMS.items()),
        joint('shoulder', 'continuous', 'base', 'upper', axis=(0.0, 1.0, 0.0)),
        joint('rail', 'prismatic', 'upper', 'slide', xyz=(0.5, 0.0, 0.0), axis=(1.0, 0.0, 0.0)),
        joint('elbow', 'continuous', 'slide', 'fore', rpy=(0.4, 0.0, 0.0), axis=(0.0, 1.0, 1.0)),
    ))


def free_motion(model: RobotModel) -> Acceleration:
    """Return the accelerations of a robot whose joints bear no effort."""
    bodies, limp = bodies_of(model.tree), np.zeros(model.nv)
    return lambda t, q, qd: forward_dynamics(bodies, q, qd, limp, model.gravity)


def final_state(step: Step, acceleration: Acceleration, steps: int) -> Array:
    q, qd = simulate(step, acceleration, START, PUSH, DURATION / steps, steps)
    return np.concatenate([q[-1], qd[-1]])


def energy(model: RobotModel, q: Array, qd: Array) -> float:
    """Return kinetic and potential energy; the kernel's efforts give the first."""
    weightless = model.with_gravity(np.zeros(3))
    momenta = weightless.inverse_dynamics(q, np.zeros(model.nv), qd)
    lifted = sum(
        MASSES[name] * (model.forward_kinematics(q, name) @ [*com, 1.0])[:3]
        for name, com in COMS.items()
    )
    return float(0.5 * qd @ momenta - model.gravity @ lifted)


@pytest.mark.parametrize(('step', 'order', 'steps'), [
    pytest.param(euler_step, 1, 200, id='euler'),
    pytest.param(runge_kutta_step, 4, 20, id='runge_kutta'),
])
def test_half_the_step_leaves_an_error_by_the_methods_order_smaller(
    step: Step, order: int, steps: int
) -> None:
    acceleration = free_motion(swinging_robot())
    exact = final_state(runge_kutta_step, acceleration, 160)
    coarse, fine = (
        np.linalg.norm(final_state(step, acceleration, count) - exact)
        for count in (steps, 2 * steps)
    )
    # The order is that of the limit of small steps; these are not yet quite there.
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.1)


@pytest.mark.parametrize(('step', 'final'), [
    # Accelerations at the times 0 and 1 add to qd, those at the start of a step alone for Euler.
    pytest.param(euler_step, (0.0, 1.0), id='euler'),
    # qdd = t: qd = t^2 / 2, q = t^3 / 6, which a method of fourth order has exactly.
    pytest.param(runge_kutta_step, (8.0 / 6.0, 2.0), id='runge_kutta'),
])
def test_accelerations_are_asked_for_at_their_times(
    step: Step, final: tuple[float, float]
) -> None:
    q, qd = simulate(step, lambda t, q, qd: np.array([t]), np.zeros(1), np.zeros(1), 1.0, 2)
    assert (q[-1, 0], qd[-1, 0]) == pytest.approx(final)
