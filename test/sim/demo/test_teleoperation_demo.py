# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Two simulated arms under teleoperation with a delayed link: free motion, and a wall."""

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='mujoco is not installed')

from rnea_ros.sim.demo import teleoperation
from rnea_ros.sim.demo.arm import DemoArm
from rnea_ros.sim.demo.teleoperation import record, table
from rnea_ros.sim.demo.two_arms import PERIOD


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
