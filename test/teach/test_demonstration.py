# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Recordings: what is cut, and what is rejected in one sentence."""

from collections.abc import Callable
import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
import pytest

from rnea_ros import RobotModel
from rnea_ros.recordings import Recording, Sample, recording_from
from rnea_ros.teach import Demonstration, TeachError, demonstration
from rnea_ros.trajectory_check import TrajectoryLimits
from support.models.robots import joint, link, robot

Array: TypeAlias = NDArray[np.float64]
Change = Callable[[Array], Array]

ARM = robot(
    link('base'), link('upper', 2.0, (0.2, 0.0, 0.0)), link('lower', 1.0, (0.1, 0.0, 0.0)),
    link('tool', 0.5), joint('shoulder', 'revolute', 'base', 'upper', axis=(0, 1, 0)),
    joint('slide', 'prismatic', 'upper', 'lower', axis=(1, 0, 0)),
    joint('roll', 'continuous', 'lower', 'tool', axis=(1, 0, 0)),
)
JOINTS = ('shoulder', 'slide', 'roll')
LIMITS = TrajectoryLimits.of_model(RobotModel.from_urdf(ARM))
BEGIN, END, STOP = 1.5, 4.5, 6.0
"""Times of start and end of the motion, and of the end of the recording, s."""


def path(time: Array) -> Array:
    """Return a motion from rest to rest, between rests."""
    s = np.clip((time - BEGIN) / (END - BEGIN), 0.0, 1.0)
    shape = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    return np.outer(shape, (0.8, 0.2, 4.0))


def recorded(time: Array, position: Array, names: tuple[str, ...] = JOINTS) -> Recording:
    return recording_from(
        Sample(at, names, row, (), ())
        for at, row in zip(time.tolist(), position.tolist(), strict=True)
    )


def shown(recording: Recording) -> Demonstration:
    return demonstration(recording, LIMITS, JOINTS)


def times(rate: float) -> Array:
    return np.arange(0.0, STOP, 1.0 / rate)


CHANGES: dict[str, Change] = {
    'as it is': lambda q: q,
    'noisy': lambda q: q + 3e-4 * np.random.default_rng(1).standard_normal(q.shape),
    'coarse': lambda q: np.round(q / 0.0015) * 0.0015,
    'wrapped': lambda q: np.column_stack((q[:, :2], (q[:, 2] + np.pi) % math.tau - np.pi)),
}


@pytest.mark.parametrize('rate', [30.0, 1000.0])
@pytest.mark.parametrize('change', CHANGES.values(), ids=CHANGES)
def test_only_rest_at_both_ends_is_cut(rate: float, change: Change) -> None:
    time = times(rate)
    found = shown(recorded(time + 1.7e9, change(path(time))))
    cut, left = found.trimmed
    assert BEGIN - 0.4 < cut < BEGIN + 0.25
    assert STOP - END - 0.3 < left < STOP - END + 0.4
    kept = path(found.time + cut)
    assert found.time[0] == 0.0
    np.testing.assert_allclose(found.position, kept, atol=2e-3)
    np.testing.assert_allclose(kept[[0, -1]], path(np.array([0.0, STOP])), atol=0.02)


Spoil = Callable[[Array, Array], tuple[Array, Array]]


def stall(duration: float) -> Spoil:
    def leave_out(time: Array, position: Array) -> tuple[Array, Array]:
        kept = (time <= 2.0) | (time > 1.995 + duration)
        return time[kept], position[kept]
    return leave_out


def changed(rows: slice, joint: int, change: float) -> Spoil:
    def add(time: Array, position: Array) -> tuple[Array, Array]:
        position[rows, joint] += change
        return time, position
    return add


@pytest.mark.parametrize(('spoil', 'reason'), [
    (stall(0.35), r'no joint states for 0\.35 s, 2\.00 s after the start, .* again'),
    (stall(0.12), r'no joint states for 0\.12 s'),
    (changed(slice(230, 240), 0, np.nan),
     r'joint shoulder is NaN 2\.30 s after the start, and in 10 of 600 .*--omit'),
    (changed(slice(301, None), 1, 0.15),
     r'joint slide jumps by 0\.15\d? m, 3\.0[01] s after the start: record again'),
    (changed(slice(301, None), 1, 0.033), 'joint slide jumps by 0.03'),
    (changed(slice(321, 322), 0, -0.5), r'joint shoulder jumps by -0\.49\d? rad, 3\.21 s'),
    (lambda t, q: (t[:30], q[:30]), r'the recording is 0\.29 s long: guide'),
    (lambda t, q: (t[:1], q[:1]), r'the recording is 0 s long'),
    (lambda t, q: (t, 0.0 * q), r'no joint moved, shoulder most, by 0 rad: guide'),
    (lambda t, q: (0.1 * t, q[:1] + 0.0 * q), 'no joint moved'),
    (lambda t, q: (t, 0.2 * path(BEGIN + 12.0 * (t - BEGIN))), r'moved for 0\.\d+ s only'),
    (lambda t, q: (np.where(t > 3.0, t - 2.5, t), q), r'run backwards by 2\.49 s: record'),
    (lambda t, q: (np.where(t == t[7], np.nan, t), q), 'a stamp is not finite'),
    (lambda t, q: (t[:9].repeat(99)[:600], q), r'the recording is 0\.0[0-9]+ s long'),
])  # fmt: skip
def test_what_is_not_a_guided_motion_is_rejected_in_one_sentence(
    spoil: Spoil, reason: str
) -> None:
    time = times(100.0)
    with pytest.raises(TeachError, match=reason) as caught:
        shown(recorded(*spoil(time, path(time))))
    assert '\n' not in str(caught.value)


@pytest.mark.parametrize('spoil', [
    stall(0.09), changed(slice(301, None), 1, 0.027), changed(slice(321, 322), 0, 0.012),
])
def test_small_faults_are_accepted(spoil: Spoil) -> None:
    time = times(100.0)
    assert shown(recorded(*spoil(time, path(time)))).joint_names == JOINTS


def test_a_joint_that_is_not_recorded_is_named() -> None:
    time = times(100.0)
    recording = recorded(time, path(time)[:, :2], JOINTS[:2])
    with pytest.raises(TeachError, match='joint roll is not recorded; recorded are shoulder'):
        shown(recording)
    assert demonstration(recording, LIMITS, JOINTS[:2]).joint_names == JOINTS[:2]
