# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Two simulated arms under teleoperation with a delayed link: free motion, and a wall."""

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='mujoco is not installed')

from rnea_ros.sim.demo import teleoperation
from rnea_ros.sim.demo.arm import DemoArm
from rnea_ros.sim.demo.teleoperation import Trial, record, table
from rnea_ros.sim.demo.two_arms import PERIOD, Record


def test_the_follower_follows_and_the_hand_feels_the_wall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teleoperation, 'CONTACT', 4.0)
    trial = record(DemoArm.load('panda_arm', None, 2.0), 0.05)
    assert trial.rms == pytest.approx(0.045, rel=0.1)  # by the delay of 50 ms
    contact, felt = trial.forces
    assert contact == pytest.approx(33.6, rel=0.1)
    assert felt == pytest.approx(contact, rel=0.02)
    assert 1.0 < trial.settling < 2.5
    last = trial.wall.contact[round(3.0 / PERIOD) :]
    assert np.ptp(last) < 0.1 * contact  # no oscillation remains
    assert table([trial]).split('\n')[-1].split()[:4] == ['50', 'ms', '1.74', 'rad/s']


def test_a_trial_judges_what_was_recorded() -> None:
    time = np.array([PERIOD * k for k in range(2000)], dtype=np.float64)
    force = np.where(time < 1.0, 0.0, np.where(time < 1.5, 50.0, 20.0))
    still = np.zeros((time.size, 2))
    free = Record(time, still + 0.003, still, time, 0.0 * time, 0.0 * time)
    trial = Trial(0.0, free, Record(time, still, still, time, force, 0.9 * force))
    assert trial.rms == pytest.approx(0.003)
    assert trial.forces == pytest.approx((20.0, 18.0))
    assert trial.settling == pytest.approx(0.5)
