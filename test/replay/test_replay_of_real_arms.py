# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The residuals of real arms, against those that Pinocchio has on the same recordings."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.feedforward import State
from rnea_ros.feedforward.settings import Settings
from rnea_ros.recordings import read_joint_states
from rnea_ros.replay import Review, recorded_robot, review
from rnea_ros.replay.recorded_robot import RecordedRobot
from rnea_ros.replay.review import gravity_residual
from support.models.robots import ROOT, load, vendor_robots
from support.recorded.real_arms import recording

pytest.importorskip('rosbags', reason='rosbags is not installed')

# RMS of the difference over RMS of the effort, %, measured with Pinocchio: the README of the
# recordings. It is rounded to what is written here.
PANDA_GRAVITY = (100.0, 6.1, 5.3, 8.6, 57.0, 38.0, 101.0)
PANDA_INVERSE_DYNAMICS = (69.0, 2.0, 2.9, 3.1, 52.0, 30.0, 100.0)
UR10_GRAVITY = (100.0, 35.0, 52.0, 99.0, 100.0, 100.0)


def robot_of(name: str, model: RobotModel) -> RecordedRobot:
    return recorded_robot(model, list(read_joint_states(recording(name))))


@cache
def panda(urdf: str = 'panda_arm') -> Review:
    model = load(ROOT / f'urdf/{urdf}.urdf')
    return review(robot_of('panda_exciting_trajectory.db3', model), Settings(joints=()))


@pytest.mark.oracle
def test_the_residuals_of_the_panda_are_those_of_pinocchio() -> None:
    # The figures are of all samples, repeats and ringing too: nothing but rounding is between.
    arm = load(ROOT / 'urdf/panda_arm.urdf')
    whole = robot_of('panda_exciting_trajectory.db3', arm).recording
    percent = gravity_residual(arm, whole).percent
    np.testing.assert_allclose(percent[1:4], PANDA_GRAVITY[1:4], atol=0.06)
    np.testing.assert_allclose(percent, PANDA_GRAVITY, atol=0.6)
    # Another low-pass filter accounts for what joint 1 differs in, which accelerates more than it
    # carries, and joint 6, which hardly carries anything.
    percent = panda().inverse_dynamics.percent
    np.testing.assert_allclose(percent[1:4], PANDA_INVERSE_DYNAMICS[1:4], atol=0.4)
    np.testing.assert_allclose(percent, PANDA_INVERSE_DYNAMICS, atol=1.0, rtol=0.2)


@pytest.mark.oracle
@pytest.mark.parametrize('urdf', vendor_robots('ur10_robot'))
def test_the_residuals_of_the_ur10_are_those_of_pinocchio(urdf: Path) -> None:
    played = review(robot_of('ur10_exciting_trajectory.db3', load(urdf)), Settings(joints=()))
    np.testing.assert_allclose(played.gravity.percent, UR10_GRAVITY, atol=0.6)
    np.testing.assert_allclose(played.commanded.percent, UR10_GRAVITY, atol=1.5)
    assert played.playback.states[0].state is State.RAMPING
    assert played.completed
    assert not played.playback.rejections
    assert not played.playback.saturated.any()
    (flaw,) = played.flaws
    assert flaw.startswith('current-based effort')


def test_a_hand_missing_on_the_real_panda_shows_in_the_residuals() -> None:
    more = panda('panda').inverse_dynamics.percent / panda().inverse_dynamics.percent
    assert (more[1:4] > 3.0).all()
    assert 'fer_hand' in ' '.join(panda('panda').flaws)
