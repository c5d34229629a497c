# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The residuals of real arms, against those that Pinocchio has on the same recordings."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.arrays import Array
from rnea_ros.feedforward import State
from rnea_ros.feedforward.settings import Settings
from rnea_ros.recordings import read_joint_states
from rnea_ros.replay import Review, recorded_robot, review
from rnea_ros.replay.recorded_robot import RecordedRobot
from rnea_ros.replay.review import gravity_residual
from support.models.robots import ROOT, load, vendor_robots
from support.recorded.real_arms import recording

pytest.importorskip('rosbags', reason='rosbags is not installed')

UR10 = vendor_robots('ur10_robot')

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


@cache
def ur10(urdf: Path) -> Review:
    return review(robot_of('ur10_exciting_trajectory.db3', load(urdf)), Settings(joints=()))


def compare(percent: Array, figures: Sequence[float], *, atol: float, rtol: float = 0.0) -> None:
    np.testing.assert_allclose(percent, np.array(figures), rtol=rtol, atol=atol)


@pytest.mark.oracle
def test_gravity_of_the_panda_has_the_residual_of_pinocchio() -> None:
    # The figures are of all samples, repeats and ringing too: nothing but rounding is between.
    arm = load(ROOT / 'urdf/panda_arm.urdf')
    whole = robot_of('panda_exciting_trajectory.db3', arm).recording
    percent = gravity_residual(arm, whole).percent
    compare(percent[1:4], PANDA_GRAVITY[1:4], atol=0.06)
    compare(percent, PANDA_GRAVITY, atol=0.6)


@pytest.mark.oracle
def test_inverse_dynamics_of_the_panda_have_the_residual_of_pinocchio() -> None:
    # Another low-pass filter accounts for what joint 1 differs in, which accelerates more than it
    # carries, and joint 6, which hardly carries anything.
    percent = panda().inverse_dynamics.percent
    compare(percent[1:4], PANDA_INVERSE_DYNAMICS[1:4], atol=0.4)
    compare(percent, PANDA_INVERSE_DYNAMICS, atol=1.0, rtol=0.2)


@pytest.mark.oracle
@pytest.mark.parametrize('urdf', UR10)
def test_gravity_of_the_ur10_has_the_residual_of_pinocchio(urdf: Path) -> None:
    compare(ur10(urdf).gravity.percent, UR10_GRAVITY, atol=0.6)
    compare(ur10(urdf).commanded.percent, UR10_GRAVITY, atol=1.5)


def test_a_hand_missing_on_the_real_panda_shows_in_the_residuals() -> None:
    more = panda('panda').inverse_dynamics.percent / panda().inverse_dynamics.percent
    assert (more[1:4] > 3.0).all()
    assert 'fer_hand' in ' '.join(panda('panda').flaws)


@pytest.mark.parametrize('urdf', UR10)
def test_the_control_goes_through_the_ur10_whose_efforts_are_currents(urdf: Path) -> None:
    played = ur10(urdf)
    assert played.playback.states[0].state is State.RAMPING
    assert played.completed
    assert not played.playback.rejections
    assert not played.playback.saturated.any()
    (flaw,) = played.flaws
    assert flaw.startswith('current-based effort')
