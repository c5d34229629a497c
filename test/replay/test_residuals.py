# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Residuals of arms that are known exactly, and of real ones against those of Pinocchio."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.feedforward import State
from rnea_ros.feedforward.law import Feedback, FrictionModel, HardwareCompensation
from rnea_ros.feedforward.settings import (
    EffortUnits,
    FrictionSettings,
    Settings,
    WrenchInputSettings,
)
from rnea_ros.recordings import Kind, Recording, read_joint_states
from rnea_ros.replay import Review, recorded_robot, report, review
from rnea_ros.replay.recorded_robot import RecordedRobot
from rnea_ros.replay.review import gravity_residual
from rnea_ros.robot import Payload
from support.models.robots import ROOT, load, vendor_robots
from support.recorded.real_arms import recording
from support.recorded.synthetic_recordings import ARM, HAND, Robot, record, samples_of


def of_10_seconds(robot: Robot) -> Recording:
    recorded = record(robot, Kind.MOTION, 1)
    return recorded.part(recorded.time < 10.0)


MOTION = of_10_seconds(Robot(ARM))
EXACT = of_10_seconds(Robot(ARM, coulomb=0.0, noise=0.0))


def reviewed(recorded: Recording, model: RobotModel = ARM, **settings: Any) -> Review:
    robot = recorded_robot(model, samples_of(recorded))
    given: dict[str, Any] = {'joints': (), 'rate': 50.0}
    return review(robot, Settings(**(given | settings)))


def flaws(recorded: Recording, **settings: Any) -> str:
    return ' '.join(reviewed(recorded, **settings).flaws)


def test_inverse_dynamics_explain_what_gravity_does_not_and_ramps_do_not_count() -> None:
    played = reviewed(EXACT)
    # What the synthetic arm has beside its inverse dynamics: 0.1 N m and 0.1 N m s/rad.
    assert (played.inverse_dynamics.rms < 0.25).all()
    assert (played.inverse_dynamics.rms[:4] < 0.5 * played.gravity.rms[:4]).all()
    assert played.commanded.time[0] == pytest.approx(1.0, abs=0.03)
    assert played.gravity.time[0] == 0.0


def test_a_sample_is_compared_with_the_first_command_after_it() -> None:
    # The first sample is of another publisher.
    samples = [replace(sample, time=sample.time + 0.5) for sample in samples_of(EXACT)]
    stranger = replace(samples[0], time=0.0, names=tuple('abcdef'), position=[0.0] * 6,
                       velocity=[0.0] * 6, effort=[0.0] * 6)
    robot = recorded_robot(ARM, [stranger, *samples])
    commanded = review(robot, Settings(joints=(), rate=130.0)).commanded
    assert len(commanded.time) > 400
    for time, command in list(zip(commanded.time, commanded.computed, strict=True))[::100]:
        newest = EXACT.position[np.argmin(np.abs(EXACT.time + 0.5 - time))]
        np.testing.assert_allclose(command, ARM.gravity_torques(newest), atol=1e-9)


def test_flaws_are_left_out_of_the_comparison_and_reported() -> None:
    again, places = MOTION.position.copy(), np.arange(100, 450, 45)
    again[places] = again[places - 1]
    played = reviewed(replace(MOTION, position=again, velocity=0.0 * MOTION.velocity))
    said = ' '.join(played.flaws)
    assert f'{len(places)} samples that repeat' in said
    assert 'fer_joint1 by 100 %' in said
    for residual in (played.commanded, played.gravity):
        assert not set(residual.time) & set(MOTION.time[places])


def test_a_wrong_sign_is_reported_and_can_be_corrected() -> None:
    wrong = MOTION.with_scaled_effort(-1.0)
    assert 'inverted effort' in flaws(wrong)
    assert 'inverted effort' not in flaws(wrong, units=EffortUnits(effort_scale=(-1.0,)))


def test_friction_that_the_parameters_have_is_not_a_flaw() -> None:
    recorded = of_10_seconds(Robot(ARM, coulomb=0.3))
    held = np.sqrt((ARM.gravity_torques_batch(recorded.position) ** 2).mean(axis=0))
    friction = FrictionSettings(
        FrictionModel.PARAMETERS, viscous=(0.1,), coulomb=tuple((0.1 + 0.3 * held).tolist()),
        smoothing_velocity=(0.02,),
    )
    assert 'current-based effort' in flaws(recorded)
    assert 'current-based effort' not in flaws(recorded, friction=friction)


def test_a_timeout_that_is_not_set_is_that_of_the_recordings_own_interval() -> None:
    thin = MOTION.part(slice(None, None, 10))  # at 5 Hz
    played = reviewed(thin, rate=250.0)
    assert played.settings.joint_states_timeout == pytest.approx(20 * 0.2)
    assert played.completed


def test_the_report_says_what_limits_the_comparison() -> None:
    text = report(reviewed(
        MOTION, HAND, mode=Feedback, hardware_compensates=tuple(HardwareCompensation),
        wrench_inputs=(WrenchInputSettings('flange', '/wrench'),),
    ))
    for words in (
        'not recorded, assumed at rest: fer_finger_joint1', 'mode feedback acts as gravity',
        'friction is not comparable', 'ignored, not in joint states: wrench_inputs.flange',
        'extra tool in the model',
    ):
        assert words in text


def test_the_report_says_how_it_ended() -> None:
    sound = reviewed(MOTION)
    assert report(sound).startswith('the control ran through the whole recording\n')
    assert sound.flaws == ()
    gap = MOTION.part((MOTION.time < 6.0) | (MOTION.time > 8.0))
    played = reviewed(gap, joint_states_timeout=0.1)
    assert 'gaps: 1, the longest 2.0' in ' '.join(played.flaws)
    first = report(played).splitlines()[0]
    assert first.startswith('the control ended at 6.0')
    assert first.endswith('joint_states_stale')
    silent = report(reviewed(replace(MOTION, velocity=np.full_like(MOTION.velocity, np.nan))))
    assert f'joint states rejected: not_finite {len(MOTION.time)}' in silent
    assert silent.startswith('nothing was commanded: no valid state of all joints\n')


def test_hardware_compensation_is_an_effort() -> None:
    hardware = (HardwareCompensation.GRAVITY, HardwareCompensation.PAYLOAD)
    payloads = (Payload('fer_link7', 2.0, (0.0, 0.0, 0.1)),)
    alone = reviewed(EXACT, payloads=payloads)
    held = reviewed(EXACT, payloads=payloads, hardware_compensates=hardware)
    np.testing.assert_allclose(held.commanded.percent, alone.commanded.percent, rtol=1e-6)
    assert not np.allclose(held.playback.command, alone.playback.command, equal_nan=True)
    assert 'commanded + hardware' in report(held)
    assert 'commanded + hardware' not in report(alone)


# RMS of the difference over RMS of the effort, %, measured with Pinocchio: the README of the
# recordings. It is rounded to what is written here.
PANDA_GRAVITY = (100.0, 6.1, 5.3, 8.6, 57.0, 38.0, 101.0)
PANDA_INVERSE_DYNAMICS = (69.0, 2.0, 2.9, 3.1, 52.0, 30.0, 100.0)
UR10_GRAVITY = (100.0, 35.0, 52.0, 99.0, 100.0, 100.0)


def robot_of(name: str, model: RobotModel) -> RecordedRobot:
    pytest.importorskip('rosbags', reason='rosbags is not installed')
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
