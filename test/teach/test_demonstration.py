# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Recordings: what is cut, and what is rejected in one sentence."""

from collections.abc import Callable
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


def _noisy(position: Array) -> Array:
    noisy: Array = position + 3e-4 * np.random.default_rng(1).standard_normal(position.shape)
    return noisy


def _coarse(position: Array) -> Array:
    coarse: Array = np.round(position / 0.0015) * 0.0015
    return coarse


def _wrapped(position: Array) -> Array:
    wrapped = position.copy()
    wrapped[:, 2] = (wrapped[:, 2] + np.pi) % (2.0 * np.pi) - np.pi
    return wrapped


@pytest.mark.parametrize('rate', [30.0, 100.0, 1000.0])
@pytest.mark.parametrize('change', [np.array, _noisy, _coarse, _wrapped])
def test_only_rest_at_both_ends_is_cut(rate: float, change: Callable[[Array], Array]) -> None:
    time = times(rate)
    found = shown(recorded(time + 1.7e9, change(path(time))))
    cut, left = found.trimmed
    assert BEGIN - 0.4 < cut < BEGIN + 0.25
    assert STOP - END - 0.3 < left < STOP - END + 0.4
    kept = path(found.time + cut)
    assert found.time[0] == 0.0
    np.testing.assert_allclose(found.position, kept, atol=2e-3)
    np.testing.assert_allclose(kept[[0, -1]], path(np.array([0.0, STOP])), atol=0.02)


def _stall(time: Array, position: Array) -> tuple[Array, Array]:
    kept = (time < 2.0) | (time > 2.35)
    return time[kept], position[kept]


def _nan(time: Array, position: Array) -> tuple[Array, Array]:
    position[230:240, 0] = np.nan
    return time, position


def _jump(time: Array, position: Array) -> tuple[Array, Array]:
    position[time > 3.0, 1] += 0.15
    return time, position


def _spike(time: Array, position: Array) -> tuple[Array, Array]:
    position[321, 0] -= 0.5
    return time, position


@pytest.mark.parametrize(('spoil', 'reason'), [
    (_stall, r'no joint states for 0\.3[5-7] s, (1\.99|2\.00) s after the start, .* again'),
    (_nan, r'joint shoulder is NaN 2\.30 s after the start, and in 10 of 600 .*--omit'),
    (_jump, r'joint slide jumps by 0\.15\d? m, 3\.0[01] s after the start: record again'),
    (_spike, r'joint shoulder jumps by -0\.49\d? rad, 3\.21 s'),
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
    spoil: Callable[[Array, Array], tuple[Array, Array]], reason: str
) -> None:
    time = times(100.0)
    with pytest.raises(TeachError, match=reason) as caught:
        shown(recorded(*spoil(time, path(time))))
    assert '\n' not in str(caught.value)


def test_a_joint_that_is_not_recorded_is_named() -> None:
    time = times(100.0)
    recording = recorded(time, path(time)[:, :2], JOINTS[:2])
    with pytest.raises(TeachError, match='joint roll is not recorded; recorded are shoulder'):
        shown(recording)
    assert demonstration(recording, LIMITS, JOINTS[:2]).joint_names == JOINTS[:2]
