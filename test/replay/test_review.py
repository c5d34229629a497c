# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Residuals of recordings that are known exactly, and their reported flaws."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.feedforward.law import Feedback, FrictionModel, HardwareCompensation
from rnea_ros.feedforward.settings import (
    EffortUnits,
    FrictionSettings,
    Settings,
    WrenchInputSettings,
)
from rnea_ros.recordings import Kind, Recording, RecordingError
from rnea_ros.replay import Review, recorded_robot, report, review
from rnea_ros.robot import Payload
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


@cache
def of_motion() -> Review:
    """Return the review of the arm that is right, with default settings."""
    return reviewed(MOTION)


@cache
def of_exact(*payloads: Payload) -> Review:
    """Return the review of the arm without dry friction and noise."""
    return reviewed(EXACT, payloads=payloads)


def flaws(recorded: Recording, **changes: Any) -> str:
    return ' '.join(reviewed(recorded, **changes).flaws)


def test_of_an_arm_at_rest_commands_meet_the_efforts_but_for_noise() -> None:
    poses = record(Robot(ARM, coulomb=0.0, noise=0.05), Kind.STILL, 1)
    # The synthetic arm goes from pose to pose at the speed that takes half a second.
    played = reviewed(poses, velocity_limit_factor=0.0)
    held = np.isin(poses.time, poses.time[np.abs(poses.velocity).max(axis=1) < 0.01])
    still = np.isin(played.commanded.time, poses.time[held])
    missed = played.commanded.computed[still] - played.commanded.measured[still]
    assert np.sqrt(np.mean(missed**2)) < 0.2  # 0.1 of dry friction beside the noise


def test_inverse_dynamics_explain_what_gravity_does_not_and_ramps_do_not_count() -> None:
    played = of_exact()
    # What the synthetic arm has beside its inverse dynamics: 0.1 N m and 0.1 N m s/rad.
    assert (played.inverse_dynamics.rms < 0.25).all()
    assert (played.inverse_dynamics.rms[:4] < 0.5 * played.gravity.rms[:4]).all()
    assert played.commanded.time[0] == pytest.approx(1.0, abs=0.03)
    assert played.gravity.time[0] == 0.0


def test_a_sample_is_compared_with_the_first_command_after_it() -> None:
    # Another publisher, of joints that the arm does not have, was the first to be recorded.
    samples = [replace(sample, time=sample.time + 0.5) for sample in samples_of(EXACT)]
    stranger = replace(samples[0], time=0.0, names=tuple('abcdef'), position=[0.0] * 6,
                       velocity=[0.0] * 6, effort=[0.0] * 6)
    robot = recorded_robot(ARM, [stranger, *samples])
    commanded = review(robot, Settings(joints=(), rate=130.0)).commanded
    assert len(commanded.time) > 400
    for time, command in list(zip(commanded.time, commanded.computed, strict=True))[::100]:
        newest = EXACT.position[np.argmin(np.abs(EXACT.time + 0.5 - time))]
        np.testing.assert_allclose(command, ARM.gravity_torques(newest), atol=1e-9)


def test_repeats_are_left_out_of_the_comparison_and_reported() -> None:
    again = MOTION.position.copy()
    places = np.arange(100, 450, 45)
    again[places] = again[places - 1]
    played = reviewed(replace(MOTION, position=again))
    assert f'{len(places)} samples that repeat' in ' '.join(played.flaws)
    for residual in (played.commanded, played.gravity):
        assert not set(residual.time) & set(MOTION.time[places])


def test_flaws_of_the_recording_are_reported() -> None:
    """A gap, a stamp that runs backwards, a start that rings, velocities of 0."""
    kept = (MOTION.time < 6.0) | (MOTION.time > 8.0)
    time, effort = MOTION.time.copy(), MOTION.effort.copy()
    time[250] = time[249] - 1.0
    effort[:8:2] += 30.0
    bad = replace(MOTION, time=time, effort=effort, velocity=0.0 * MOTION.velocity).part(kept)
    said = flaws(bad)
    for words in (
        'gaps: 1, the longest 2.0', 'stamp not after the previous one', 'fer_joint1 by 100 %',
        'ringing efforts at the start',
    ):
        assert words in said


@pytest.mark.parametrize(
    ('scale', 'word'), [(-1.0, 'inverted effort'), (50.0, 'gear ratio, unit or current')]
)
def test_wrong_signs_and_scales_are_reported_and_can_be_corrected(scale: float, word: str) -> None:
    wrong = MOTION.with_scaled_effort(scale)
    assert word in flaws(wrong)
    assert word not in flaws(wrong, units=EffortUnits(effort_scale=(1.0 / scale,)))


def test_friction_that_the_parameters_have_is_not_a_flaw() -> None:
    recorded = of_10_seconds(Robot(ARM, coulomb=0.3))
    load = np.sqrt(np.mean(ARM.inverse_dynamics_batch(
        recorded.position, 0.0 * recorded.velocity, 0.0 * recorded.velocity
    ) ** 2, axis=0))
    friction = FrictionSettings(
        FrictionModel.PARAMETERS, viscous=(0.1,), coulomb=tuple((0.1 + 0.3 * load).tolist()),
        smoothing_velocity=(0.02,),
    )
    assert 'current-based effort' in flaws(recorded)
    assert 'current-based effort' not in flaws(recorded, friction=friction)


def test_a_recording_too_short_to_judge_is_played_one_without_effort_is_not() -> None:
    played = reviewed(MOTION.part(MOTION.time < 2.5))
    assert 'could not be judged' in ' '.join(played.flaws)
    assert played.completed
    with pytest.raises(RecordingError, match='no effort'):
        reviewed(MOTION.with_scaled_effort(np.nan))


def test_a_joint_without_effort_is_commanded_but_not_compared() -> None:
    effort = MOTION.effort.copy()
    effort[:, 6] = np.nan
    played = reviewed(replace(MOTION, effort=effort))
    assert np.isfinite(played.playback.command[-1]).all()
    assert np.isnan(played.commanded.rms[6])
    (row,) = [line for line in report(played).splitlines() if line.startswith('fer_joint7')]
    assert row.split()[1:5] == ['-', '-', '-', '-']


def test_where_no_timeout_is_set_it_is_that_of_the_recordings_own_interval() -> None:
    thin = MOTION.part(slice(None, None, 10))  # at 5 Hz
    played = reviewed(thin, rate=250.0)
    assert played.settings.joint_states_timeout == pytest.approx(20 * 0.2)
    assert played.completed
    assert not reviewed(thin, rate=250.0, joint_states_timeout=0.1).completed


def test_the_report_says_what_limits_the_comparison() -> None:
    text = report(reviewed(
        MOTION, HAND, mode=Feedback, hardware_compensates=tuple(HardwareCompensation),
        wrench_inputs=(WrenchInputSettings('flange', '/wrench'),),
    ))
    assert 'not recorded, assumed at rest: fer_finger_joint1' in text
    assert 'mode feedback acts as gravity' in text
    assert 'compared with the measured effort' in text
    assert 'friction is not comparable' in text
    assert 'ignored, not in joint states: wrench_inputs.flange' in text
    assert '* tool' not in text
    assert 'extra tool in the model' in text


def test_the_report_says_how_it_ended() -> None:
    text = report(of_motion())
    assert text.startswith('the control ran through the whole recording\n')
    assert 'RobotModel' not in text
    assert of_motion().flaws == ()
    gap = MOTION.part((MOTION.time < 6.0) | (MOTION.time > 8.0))
    ended = report(reviewed(gap, joint_states_timeout=0.1))
    assert 'holding at 6.0' in ended
    assert ended.splitlines()[0].startswith('the control ended at 6.0')
    assert ended.splitlines()[0].endswith('joint_states_stale')
    bare = replace(MOTION, velocity=np.full_like(MOTION.velocity, np.nan))
    silent = report(reviewed(bare))
    assert f'joint states rejected: not_finite {len(bare.time)}' in silent
    assert silent.startswith('nothing was commanded: no valid state of all joints\n')


PAYLOAD = Payload('fer_link7', 2.0, (0.0, 0.0, 0.1))


@pytest.mark.parametrize('hardware', [
    (HardwareCompensation.GRAVITY,), (HardwareCompensation.GRAVITY, HardwareCompensation.PAYLOAD),
])
def test_hardware_compensation_is_an_effort(hardware: tuple[HardwareCompensation, ...]) -> None:
    alone = of_exact(PAYLOAD)
    held = reviewed(EXACT, payloads=(PAYLOAD,), hardware_compensates=hardware)
    np.testing.assert_allclose(held.commanded.percent, alone.commanded.percent, rtol=1e-6)
    assert not np.allclose(held.playback.command, alone.playback.command, equal_nan=True)
    assert 'commanded + hardware' in report(held)
    assert 'commanded + hardware' not in report(alone)
