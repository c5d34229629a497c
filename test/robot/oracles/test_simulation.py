# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Simulated motion: each method's order, efforts and wrenches in time."""

from collections.abc import Callable

import numpy as np
import pytest

from rnea_ros import InputError, RobotModel, Wrench, simulate
from rnea_ros.arrays import Array
from rnea_ros.simulation import Method
from support.cases import each
from support.models.joint_trees import model_of, random_parts
from support.models.oracle_pairs import random_motion
from support.models.robots import ARM, SHIPPED, load


def arm() -> RobotModel:
    return load(SHIPPED[2])


def tumbling_robot() -> RobotModel:
    """Return a free body with a ball joint and a hinge: every curved coordinate in one tree."""
    return model_of(random_parts(0, ['floating', 'spherical', 'revolute'], branches=False))


@each('build', [arm, tumbling_robot])
def test_errors_shrink_by_the_methods_order(build: Callable[[], RobotModel]) -> None:
    model, duration = build(), 0.1
    q, qd, _ = random_motion(model, 3)
    exact = simulate(model, q, qd, dt=duration / 200, steps=200)

    def error(method: Method, n: int) -> float:
        motion = simulate(model, q, qd, dt=duration / n, steps=n, method=method)
        positions = model.difference(exact.positions[-1], motion.positions[-1])
        velocities = motion.velocities[-1] - exact.velocities[-1]
        return float(np.linalg.norm([*positions, *velocities]))

    for method, order in ((Method.EULER, 1), (Method.SEMI_IMPLICIT_EULER, 1), (Method.RK4, 4)):
        # Measured 0.93 to 1.05 and 3.9 to 4.2: higher orders of the step are still seen.
        found = np.log2(error(method, 20) / error(method, 40))
        np.testing.assert_allclose(found, order, atol=0.25)


def test_efforts_and_wrenches_are_asked_for_at_the_time_that_it_is() -> None:
    model = arm()
    q, qd, _ = random_motion(model, 3)
    efforts: list[float] = []
    wrenches: list[float] = []

    def tau(t: float) -> Array:
        efforts.append(t)
        return np.zeros(model.nv)

    def push(t: float) -> dict[str, Wrench]:
        wrenches.append(t)
        return {model.link_names[-1]: Wrench(force=(0.0, 0.0, 10.0 * t))}

    simulate(model, q, qd, tau, push, dt=0.5, steps=1)
    assert efforts == wrenches == [0.0, 0.25, 0.25, 0.5]


def test_row_zero_is_the_start_and_zero_steps_do_not_move() -> None:
    model = arm()
    q, qd, _ = random_motion(model, 3)
    motion = simulate(model, q, qd, dt=0.1, steps=0)
    np.testing.assert_array_equal(motion.positions, [q])
    np.testing.assert_array_equal(motion.velocities, [qd])
    np.testing.assert_array_equal(motion.time, [0.0])


@each(('change', 'message'), [
    ({'dt': 0.0}, r'dt: is 0\.0 s, not above 0'),
    ({'method': 'magic'}, "method: is 'magic'; known are euler, semi_implicit_euler, rk4"),
    ({'steps': 10**400}, 'steps: .* too many for the memory'),
    ({'tau': [0.0]}, r'tau: expected a function of time, .* got \[0.0\]'),
    ({'wrenches': lambda t: [Wrench()]}, 'external_wrenches: expected wrenches by link'),
    ({'tau': lambda t: [np.inf]}, 'tau: has a value that is not finite'),
])
def test_bad_input_is_named(change: dict[str, object], message: str) -> None:
    usual = {'model': load(ARM), 'q0': [0.0], 'qd0': [0.0], 'dt': 0.1, 'steps': 1}
    arguments: dict[str, object] = {**usual, **change}
    with pytest.raises(InputError, match=f'^{message}'):
        simulate(**arguments)  # type: ignore[arg-type]
