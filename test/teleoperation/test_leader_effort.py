# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Motion of the leader, and efforts on it: no delay of the velocity, no energy from the link."""

from collections import deque

import numpy as np
import pytest

from rnea_ros.teleoperation import FeedbackSettings
from rnea_ros.teleoperation.feedback import LeaderEffort
from rnea_ros.teleoperation.leader_motion import LeaderMotion

PERIOD = 0.002
INERTIA = np.diag([0.8, 0.3])


def simulate(delay: float, damping_rate: float, seed: int) -> tuple[list[float], list[float]]:
    """Let a leader swing on a spring that it feels late: energy taken from it, and kinetic, J."""
    feedback = LeaderEffort(
        FeedbackSettings(limits=(50.0, 50.0), cutoff=1000.0, damping_rate=damping_rate)
    )
    random = np.random.default_rng(seed)
    q, qd = np.zeros(2), random.normal(0.0, 0.3, 2)
    stiffness = random.uniform(20.0, 80.0, 2)
    late = deque([np.zeros(2)] * (1 + round(delay / PERIOD)))
    taken, energies, kinetic = 0.0, [], []
    for _ in range(5000):
        late.append(-stiffness * q)
        feedback.update(late.popleft(), qd, INERTIA, 1.0, PERIOD)
        middle = qd + 0.5 * PERIOD * np.linalg.solve(INERTIA, feedback.effort)
        taken -= PERIOD * float(feedback.effort @ middle)
        qd = 2.0 * middle - qd
        q = q + PERIOD * qd
        energies.append(taken)
        kinetic.append(0.5 * float(qd @ INERTIA @ qd))
    return energies, kinetic


@pytest.mark.parametrize(('delay', 'seed'), [(0.0, 0), (0.02, 0), (0.1, 1)])
def test_a_late_spring_gives_the_leader_no_energy(delay: float, seed: int) -> None:
    energies, damped = simulate(delay, 200.0, seed)
    assert min(energies) > -0.01  # the explicit steps of this simulation
    assert max(damped) <= damped[0] + 0.01
    if delay:
        _, free = simulate(delay, 0.0, seed)
        assert max(free[-500:]) > 2.0 * max(damped)  # without it the oscillation grows


def test_energy_that_was_taken_long_ago_is_not_given_back() -> None:
    feedback, wanted = LeaderEffort(FeedbackSettings(limits=(10.0, 5.0))), np.array([-8.0, 0.0])
    for speed, duration in ((0.3, 0.5), (0.0, 1.0)):
        for _ in range(round(duration / PERIOD)):
            feedback.update(wanted, np.array([speed, 0.0]), INERTIA, 1.0, PERIOD)
        assert (feedback.energy > 0.2) is (speed > 0.0)
    assert 0.0 < feedback.energy < 0.01


def test_efforts_at_rest_are_exact_and_limited() -> None:
    feedback = LeaderEffort(FeedbackSettings(limits=(10.0, 5.0)))
    for _ in range(500):
        feedback.update(np.array([3.0, -9.0]), np.zeros(2), INERTIA, 1.0, PERIOD)
    np.testing.assert_allclose(feedback.effort, [3.0, -5.0], rtol=1e-9)


def test_velocity_has_no_delay_and_the_acceleration_is_found() -> None:
    motion, random = LeaderMotion(1, 20.0), np.random.default_rng(1)
    t = 0.0
    while t < 2.0:
        t += random.uniform(0.0005, 0.008)
        motion.update(np.array([1.5 * t * t]), np.array([3.0 * t]), t, 0.1)
    q, qd, qdd = motion.at(t + 0.005, 0.1)
    np.testing.assert_allclose(q, 1.5 * (t + 0.005) ** 2, rtol=1e-6)
    np.testing.assert_allclose(qd, 3.0 * (t + 0.005), rtol=1e-3)
    np.testing.assert_allclose(qdd, 3.0, rtol=1e-3)


def test_a_pause_starts_the_filter_anew() -> None:
    motion = LeaderMotion(1, 20.0)
    for k in range(100):
        motion.update(np.zeros(1), np.array([0.1 * k]), 0.002 * k, 0.1)
    motion.update(np.ones(1), np.zeros(1), 1.0, 0.1)
    for value, expected in zip(motion.at(1.0, 0.1), (1.0, 0.0, 0.0), strict=True):
        np.testing.assert_array_equal(value, expected)
