# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A recording drives the control as a robot does: times, rejections, limits, missing joints."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from rnea_ros.feedforward import Reason, State
from rnea_ros.feedforward.settings import Settings, resolve
from rnea_ros.recordings import Kind, Recording, RecordingError, Sample
from rnea_ros.replay import recorded_robot
from rnea_ros.replay.playback import Playback, play
from support.recorded.synthetic_recordings import ARM, Robot, record, samples_of

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
