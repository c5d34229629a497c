# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A demonstration: recorded joint positions of one motion, checked, without the rest at its ends.

No sample is repaired. What cannot be a guided motion is rejected, with joint, value and way out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import RneaError
from ..recordings import STILL_SPEED, Recording
from ..trajectory_check import Quantity, TrajectoryLimits

MIN_MOTION = 0.5  # shortest motion, s
MAX_GAP = 0.1  # longest time between joint states, s: a fast hand moves a joint by 0.2 rad in it
WINDOW = 0.1  # a joint moves if its positions at both ends of this time differ, s
NOISE_FACTOR = 6.0  # differences that noise does not reach, in standard deviations
KEPT_REST = 0.1  # rest that is kept before and after the motion, s

# A step beyond the path so far is a jump if it is longer than this, rad or m, and longer than at
# this acceleration, rad/s^2 or m/s^2: ten times that of a fast hand.
JUMP, JUMP_ACCELERATION = 0.02, 100.0

# Differences beyond an encoder's resolution, in its steps; its coarsest step, rad or m.
STEP_FACTOR, MAX_STEP = 2.5, 0.002

AGAIN = 'record again'


class TeachError(RneaError):
    """A recording, or poses, of which no motion can be made."""


@dataclass(frozen=True, eq=False)
class Demonstration:
    """One guided motion."""

    joint_names: tuple[str, ...]  # n joints
    time: Array  # shape (N,), s, from 0 on
    position: Array  # shape (N, n), rad or m
    trimmed: tuple[float, float]  # durations of the rest that was cut at both ends, s


def demonstration(
    recording: Recording, limits: TrajectoryLimits, joints: Sequence[str]
) -> Demonstration:
    """
    Check a recording and cut the rest at both ends.

    Repeated and late stamps are left out. Continuous joints may be recorded with jumps by a turn.

    :param recording: recorded joint states, before any cleaning
    :raises UnknownNameError: the robot has no such joint
    :raises TeachError: a missing joint, NaN, a stall, a jump, a position beyond its limit, no
        motion, or too short a motion
    """
    indices = [limits.index(name) for name in joints]
    missing = [name for name in joints if name not in recording.names]
    if missing:
        raise TeachError(
            f'joint {missing[0]} is not recorded; recorded are {", ".join(recording.names)}: '
            'leave it out with --omit'
        )
    recording = recording.of_joints(joints)
    _check_finite(recording)
    newest = np.maximum.accumulate(recording.time)
    if (newest - recording.time).max() > MAX_GAP:
        raise TeachError(
            f'the stamps run backwards by {(newest - recording.time).max():.3g} s: {AGAIN}, '
            'without a reset of the simulation or the clock'
        )
    recording = recording.part(np.append(True, recording.time[1:] > newest[:-1]))
    time, position = recording.time - recording.time[0], recording.position.copy()
    for column in np.flatnonzero(limits.continuous[indices]):
        position[:, column] = np.unwrap(position[:, column])
    if time[-1] < MIN_MOTION:
        raise TeachError(
            f'the recording is {time[-1]:.2g} s long: guide the robot for {MIN_MOTION:g} s or more'
        )
    _check_steps(joints, time, position, limits)
    first, last = _moving(joints, time, position, limits)
    if time[last] - time[first] < MIN_MOTION:
        raise TeachError(
            f'the robot moved for {time[last] - time[first]:.2g} s only, from '
            f'{time[first]:.2f} s on: guide it for {MIN_MOTION:g} s or more'
        )
    start, end = (
        int(np.searchsorted(time, time[first] - KEPT_REST)),
        int(np.searchsorted(time, time[last] + KEPT_REST, side='right')) - 1,
    )
    return Demonstration(
        tuple(joints), time[start : end + 1] - time[start], position[start : end + 1],
        (float(time[start]), float(time[-1] - time[end])),
    )


def _check_finite(recording: Recording) -> None:
    unknown = ~np.isfinite(recording.position)
    if not np.isfinite(recording.time).all():
        raise TeachError(f'a stamp is not finite: {AGAIN}, and check the driver')
    if unknown.any():
        row, joint = np.argwhere(unknown)[0]
        raise TeachError(
            f'the position of joint {recording.names[joint]} is NaN '
            f'{recording.time[row] - recording.time[0]:.2f} s after the start, and in '
            f'{unknown[:, joint].sum()} of {len(unknown)} joint states: {AGAIN}, or leave the '
            'joint out with --omit'
        )


def _check_steps(
    joints: Sequence[str], time: Array, position: Array, limits: TrajectoryLimits
) -> None:
    """Reject stalls and jumps."""
    h = np.diff(time)
    if h.max() > MAX_GAP:
        row = int(h.argmax())
        raise TeachError(
            f'no joint states for {h[row]:.2f} s, {time[row]:.2f} s after the start, and at most '
            f'{MAX_GAP:g} s can be bridged: {AGAIN}, with joint states at 20 Hz or more'
        )
    steps = np.diff(position, axis=0)
    beyond = np.abs(steps[1:] - steps[:-1] * (h[1:] / h[:-1])[:, np.newaxis])
    jumps = beyond > JUMP + JUMP_ACCELERATION * (np.maximum(h[1:], h[:-1]) ** 2)[:, np.newaxis]
    if jumps.any():
        row, joint = np.argwhere(jumps)[0]
        name = joints[joint]
        raise TeachError(
            f'joint {name} jumps by {steps[row + 1, joint]:.3g} '
            f'{limits.unit(name, Quantity.POSITION)}, {time[row + 2]:.2f} s after the start: '
            f'{AGAIN}, and check the encoder'
        )


def _moving(
    joints: Sequence[str], time: Array, position: Array, limits: TrajectoryLimits
) -> tuple[int, int]:
    """Return the first and the last sample of the motion."""
    before = np.searchsorted(time, time - WINDOW, side='right') - 1
    inside = np.flatnonzero(before >= 0)
    moved = np.abs(position[inside] - position[before[inside]])
    threshold = np.maximum(
        STILL_SPEED * WINDOW,
        np.maximum(NOISE_FACTOR * _noise(position), STEP_FACTOR * _resolution(position)),
    )
    moving: NDArray[np.intp] = inside[(moved > threshold).any(axis=1)]
    if not moving.size:
        most = int(np.ptp(position, axis=0).argmax())
        raise TeachError(
            f'no joint moved, {joints[most]} most, by {np.ptp(position[:, most]):.2g} '
            f'{limits.unit(joints[most], Quantity.POSITION)}: guide the robot while it is '
            'recorded; is it weightless, with open brakes?'
        )
    return int(before[moving[0]]), int(moving[-1])


def _noise(position: Array) -> Array:
    """Return the standard deviation of white noise of each joint, by 4th differences."""
    # The squares of 1, -4, 6, -4, 1 add up to 70. Motions have small 4th differences.
    spread = np.median(np.abs(np.diff(position, 4, axis=0)), axis=0)
    noise: Array = 1.4826 * spread / np.sqrt(70.0)
    return noise


def _resolution(position: Array) -> Array:
    """Return the least step of each joint: that of its encoder if it is coarse."""
    steps = np.abs(np.diff(position, axis=0))
    least: Array = np.where(steps > 1e-9, steps, MAX_STEP).min(axis=0)
    return least
