# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Played recordings: commands of their samples, compared with measured efforts."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.feedforward import Reason, State
from rnea_ros.feedforward.laws import Feedback, FrictionModel
from rnea_ros.feedforward.loaded_model import HardwareCompensation
from rnea_ros.feedforward.settings import (
    EffortUnits,
    FrictionSettings,
    Settings,
    SpringSettings,
    WrenchInputSettings,
    resolve,
)
from rnea_ros.recordings import Kind, Recording, RecordingError, Sample, read_joint_states
from rnea_ros.replay import Review, recorded_robot, report, review
from rnea_ros.replay.playback import Playback, RecordedRobot, play
from rnea_ros.replay.review import gravity_residual
from rnea_ros.robot import Payload
from support.models.robots import ROOT, load, vendor_robots
from support.recorded.bags import recording
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


def test_factors_of_gravity_and_springs_are_commanded_and_leave_no_flaw() -> None:
    recorded = of_10_seconds(Robot(ARM.with_gravity((0.0, 0.0, -1.5 * 9.81))))
    assert 'gravity is 1.5' in flaws(recorded)
    held = 2.0 * (recorded.position - 0.3)
    sprung = replace(recorded, effort=recorded.effort + held)
    spring = SpringSettings((2.0,), (0.3,))
    plain, played = reviewed(recorded), reviewed(sprung, gravity_factor=(1.5,), spring=spring)
    assert 'gravity is' not in ' '.join(played.flaws)
    held = played.commanded.measured - plain.commanded.measured
    computed = 1.5 * plain.commanded.computed + held
    np.testing.assert_allclose(played.commanded.computed, computed, atol=1e-9)


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


STARTED = [State.RAMPING, State.ACTIVE]


@cache
def motion() -> Recording:
    recorded = record(Robot(ARM, coulomb=0.0, noise=0.0), Kind.MOTION, 3)
    return recorded.part(recorded.time <= 5.0)


def played(
    samples: Sequence[Sample], joints: dict[str, str] | None = None, *,
    differentiate_velocity: bool = False, **changes: Any,
) -> Playback:
    given: dict[str, Any] = {'rate': 200.0, 'joint_states_timeout': 0.2, **changes}
    settings = resolve(Settings(joints=ARM.joint_names, **given), ARM)
    robot = recorded_robot(ARM, samples, joints)
    return play(robot, settings, differentiate_velocity=differentiate_velocity)


def states(playback: Playback) -> list[State]:
    return [change.state for change in playback.states]


@pytest.mark.parametrize(('rate', 'coriolis'), [(200.0, False), (250.0, True)])
def test_commands_are_those_of_the_newest_state_at_the_rate(rate: float, coriolis: bool) -> None:
    recorded = motion()
    playback = played(samples_of(recorded), rate=rate, compensate_coriolis=coriolis)
    assert states(playback) == STARTED
    np.testing.assert_allclose(np.diff(playback.time), 1.0 / rate, rtol=1e-9)
    assert recorded.time[-1] <= playback.time[-1] <= recorded.time[-1] + 1.0 / rate + 1e-9
    # The ramp starts from the measured effort.
    np.testing.assert_allclose(playback.command[0], recorded.effort[0], atol=1.0)
    assert not playback.controlling[: round(0.99 * rate)].any()
    assert playback.controlling[round(1.02 * rate) :].all()
    for tick in np.flatnonzero(playback.controlling)[::50]:
        newest = np.flatnonzero(recorded.time <= playback.time[tick])[-1]
        q, qd = recorded.position[newest], recorded.velocity[newest] * coriolis
        expected = ARM.bias_torques(q, qd)
        np.testing.assert_allclose(playback.command[tick], expected, atol=1e-9)
        np.testing.assert_array_equal(playback.effort[tick], recorded.effort[newest])
        assert playback.state_of_ticks()[tick] is State.ACTIVE


def test_a_gap_ends_the_control_as_it_would_have() -> None:
    recorded = motion()
    gap = recorded.part((recorded.time < 3.0) | (recorded.time > 4.5))
    playback = played(samples_of(gap))
    ended = next(change for change in playback.states if change.reason is not None)
    assert ended.reason is Reason.JOINT_STATES_STALE
    assert ended.time == pytest.approx(2.98 + 0.2, abs=0.011)
    assert not playback.controlling[playback.time > ended.time].any()
    assert playback.states[-1].state in (State.RAMPING_DOWN, State.FAULT)


def test_what_the_control_rejects_is_counted_by_reason() -> None:
    samples = samples_of(motion())
    first, *others = samples[60].position
    changes: dict[int, dict[str, Any]] = {
        50: {'time': samples[49].time}, 60: {'position': [np.nan, *others]},
        70: {'velocity': samples[70].velocity[1:]}, 80: {'position': [first + 1.0, *others]},
    }
    for number, change in changes.items():
        samples[number] = replace(samples[number], **change)
    playback = played(samples)
    assert playback.rejections == {
        Reason.STAMP_NOT_NEWER: 1, Reason.NOT_FINITE: 1, Reason.WRONG_SIZE: 1,
        Reason.POSITION_JUMP: 1,
    }
    assert states(playback) == STARTED


def test_without_velocities_nothing_is_commanded_unless_they_are_derived() -> None:
    bare = [replace(sample, velocity=()) for sample in samples_of(motion())]
    playback = played(bare)
    assert states(playback) == [State.WAITING]
    assert np.isnan(playback.command).all()
    assert states(played(bare, differentiate_velocity=True)) == STARTED


def test_commands_at_limits_are_marked_for_their_joint() -> None:
    limits = (87.0, 5.0, 87.0, 87.0, 12.0, 12.0, 12.0)
    playback = played(samples_of(motion()), effort_limits=limits)
    assert set(np.flatnonzero(playback.saturated.any(axis=0))) == {1}
    assert np.nanmax(np.abs(playback.command[:, 1])) <= 5.0
    rates = (100.0, 100.0, 100.0, 0.5, 100.0, 100.0, 100.0)
    playback = played(samples_of(motion()), effort_rate_limit=rates)
    assert set(np.flatnonzero(playback.rate_limited[playback.controlling].any(axis=0))) == {3}


def test_stamps_that_reach_too_far_are_rejected_instead_of_played_for_ever() -> None:
    samples = samples_of(motion())
    samples[-1] = replace(samples[-1], time=1e9)
    with pytest.raises(RecordingError, match='1000000000 s'):
        played(samples)
