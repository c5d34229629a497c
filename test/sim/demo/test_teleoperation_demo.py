# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Two simulated arms under teleoperation: free motion, a wall, and a delayed link."""

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='mujoco is not installed')

from rnea_ros.sim.demo.arm import DemoArm
from rnea_ros.sim.demo.teleoperation import DEPTH, Trial, record, table, way_to_wall
from rnea_ros.sim.demo.two_arms import PERIOD, Record, TwoArms

NEAR = 0.002
"""Distance of a wall that the arm meets slowly, m."""


@pytest.fixture(scope='module')
def arm() -> DemoArm:
    return DemoArm.load('panda_arm', None, 3.0)


@pytest.mark.parametrize('delay', [0.0, 0.05])
def test_the_follower_follows_and_the_hand_feels_the_wall(arm: DemoArm, delay: float) -> None:
    trial = record(arm, delay)
    assert trial.free.speed.max() > 1.5
    assert trial.rms < 5e-3 + trial.free.speed.max() * delay
    contact, felt = trial.forces
    assert contact > 20.0
    assert felt == pytest.approx(contact, rel=0.1)
    assert trial.settling < 3.0
    seconds = trial.wall.contact[round(3.0 / PERIOD) :].reshape(3, -1)
    assert (np.ptp(seconds, axis=1) < 0.2 * contact).all()  # no oscillation remains
    shown = table([trial])
    assert f'{1e3 * delay:.0f} ms' in shown


def test_a_trial_judges_what_was_recorded() -> None:
    time = np.array([PERIOD * k for k in range(2000)], dtype=np.float64)
    force = np.where(time < 1.0, 0.0, np.where(time < 1.5, 50.0, 20.0))
    still = np.zeros((time.size, 2))
    free = Record(time, still + 0.003, still, time, 0.0 * time, 0.0 * time)
    trial = Trial(0.0, free, Record(time, still, still, time, force, 0.9 * force))
    assert trial.rms == pytest.approx(0.003)
    assert trial.forces == pytest.approx((20.0, 18.0))
    assert trial.settling == pytest.approx(0.5)


def test_arms_that_lean_on_a_wall_do_not_start_to_shake(arm: DemoArm) -> None:
    arms = TwoArms(arm, 0.01)
    arms.couple()
    arms.wall.position = arms.wall.place + NEAR
    arms.hand.guide(way_to_wall(arm, arms.link, NEAR + DEPTH).request(arm.joints))
    arms.run(9.0)  # until the energy of the impact has been dissipated
    contact = arms.run(5.0).contact
    assert contact.min() > 0.8 * contact.mean()
    assert contact.max() < 1.2 * contact.mean()
