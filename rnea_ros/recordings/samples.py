# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Samples of a clean recording: poses at rest, or a filtered motion with its derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import pairwise
import math

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, Indices
from ..errors import InputError, RneaError
from .cleaning import STILL_SPEED, with_better_clock
from .joint_states import Recording, RecordingError

CUTOFF = 10.0  # usual cut-off frequency, Hz: above an arm's motion, below gear ringing and noise
MIN_CUTOFF = 0.1  # least cut-off frequency, Hz: every motion of an arm is above it
ORDER = 4  # order of the Butterworth filter
MARGIN = 0.5  # time that is cut off at both ends of a segment, s; there the filter is one-sided
RATE = 50.0  # of the results, Hz; at lower rates too few samples lie near changes of direction
MIN_OVERSAMPLING = 2.2  # least ratio of sample rate and cut-off frequency
MIN_LENGTH = 16  # least number of samples without gaps; the filter extends both ends by 15

COMPARISON_CUTOFF, COMPARISON_RATE = 5.0, 20.0
"""Cut-off frequency and rate for a comparison with a model, Hz: a URDF has larger errors."""

DWELL = 0.5  # least duration of a pose, s: gears settle, noise averages out
DISTINCT = 0.05  # poses are equal if no joint differs by more, rad or m: at most 5 % of gravity

# Least number of poses: twice the unknowns of a load, mass and three first moments. Every joint
# gives one equation per pose.
MIN_POSES = 8

# Number of blocks of a motion, which count as independent: many, but each outlasts the correlation
# of model errors, which vary with the pose.
BLOCKS = 24

MIN_BLOCK = 0.5  # least duration of a block, s: about the correlation time of an arm's motion
MIN_BLOCKS = 8  # least number of blocks, equal to the least number of poses


class MissingPackageError(RneaError):
    """A Python package is not installed."""


def require_scipy() -> None:
    """Check that scipy is installed; raise MissingPackageError if not."""
    try:
        import scipy  # noqa: F401
    except ImportError as error:
        raise MissingPackageError('scipy is needed: pip install scipy') from error


class Kind(str, Enum):
    """The source of the samples."""

    STILL = 'poses at rest'
    MOTION = 'motion'


@dataclass(frozen=True)
class Samples:
    """Filtered samples of n joints."""

    kind: Kind  # their source; poses at rest have zero velocity and acceleration
    names: tuple[str, ...]  # of the recorded joints
    time: Array  # shape (N,), s
    position: Array  # shape (N, n), rad or m
    velocity: Array  # shape (N, n), rad/s or m/s
    acceleration: Array  # shape (N, n), rad/s^2 or m/s^2
    effort: Array  # shape (N, n), N m or N; NaN for joints without effort
    segment: Indices  # number of the part without gaps, or of the pose, of each sample, shape (N,)
    notes: tuple[str, ...] = ()  # flaws and removed samples, one sentence each

    @cached_property
    def block(self) -> Indices:
        """Number of the block of each sample, shape (N,): the pose, or a part of the motion."""
        if self.kind is Kind.STILL or not len(self.time):
            return self.segment
        count = len(self.time)
        step = float(np.median(np.diff(self.time)))
        length = max(count * step / BLOCKS, MIN_BLOCK)
        return (np.arange(count) * step // length).astype(np.intp)


def take_samples(recording: Recording, kind: Kind | None = None) -> Samples:
    """
    Return the samples of a clean recording.

    :param kind: their source; None for poses at rest if there are enough, else the motion
    :raises RecordingError: too few poses, or too short a motion
    """
    poses = still_poses(recording)
    if kind is Kind.STILL or (kind is None and len(poses.time) >= MIN_POSES):
        if len(poses.time) < MIN_POSES:
            raise RecordingError(_too_few(poses))
        return poses
    samples = motion_samples(recording)
    blocks = len(np.unique(samples.block))
    if blocks < MIN_BLOCKS:
        raise RecordingError(
            f'{_too_few(poses)}; a motion needs {MIN_BLOCKS * MIN_BLOCK:g} s without gaps, '
            f'this one has {blocks * MIN_BLOCK:g} s'
        )
    return samples


def _too_few(poses: Samples) -> str:
    count = len(poses.time)
    return f'only {count} different poses at rest; at least {MIN_POSES} of {DWELL:g} s are needed'


def still_poses(recording: Recording) -> Samples:
    """
    Return the poses at rest, one sample each: means over the time at rest.

    Repeated visits of a pose are averaged, so that friction of opposite directions cancels.
    """
    visits: list[list[tuple[float, Array, Array]]] = []  # time, position and effort, by pose
    label = np.where(_still(recording), recording.segment, -1)
    edges = np.flatnonzero(np.diff(label)) + 1
    for start, stop in pairwise([0, *edges.tolist(), len(label)]):
        t = recording.time[start:stop]
        if label[start] < 0 or t[-1] - t[0] < DWELL:
            continue
        # The first half of DWELL is left out: gears ring after a stop.
        settled = slice(start + int(np.searchsorted(t, t[0] + 0.5 * DWELL)), stop)
        q = recording.position[settled].mean(axis=0)
        same = (held for held in visits if np.abs(held[0][1] - q).max() < DISTINCT)
        if (known := next(same, None)) is None:
            visits.append(known := [])
        known.append((float(t[0]), q, recording.effort[settled].mean(axis=0)))
    shape = (len(visits), len(recording.names))
    times = np.array([held[0][0] for held in visits])
    position = np.array([np.mean([q for _, q, _ in held], axis=0) for held in visits])
    effort = np.array([np.mean([tau for _, _, tau in held], axis=0) for held in visits])
    rest = np.zeros(shape)
    return Samples(
        Kind.STILL, recording.names, times, position.reshape(shape), rest, rest,
        effort.reshape(shape), np.arange(len(visits)), recording.notes
    )


def _still(recording: Recording) -> NDArray[np.bool_]:
    """Return the samples at which no joint has moved in the last tenth of DWELL, shape (N,)."""
    t, q = recording.time, recording.position
    before = np.searchsorted(t, t - 0.1 * DWELL, side='right') - 1
    before = np.clip(before, 0, np.maximum(np.arange(len(t)) - 1, 0))
    interval = np.maximum(t - t[before], np.finfo(float).tiny)
    speed = np.abs(q - q[before]).max(axis=1) / interval
    speed[0] = speed[1]
    return np.asarray(speed < STILL_SPEED)


def motion_samples(recording: Recording) -> Samples:
    """
    Return the motion of a clean recording, of few Hz too, for a comparison with a model.

    It has no samples if no part without gaps is long enough for the filter.
    """
    rate = 1.0 / float(np.median(np.diff(recording.time)))
    cutoff = min(COMPARISON_CUTOFF, rate / MIN_OVERSAMPLING)
    try:
        return filtered_motion(recording, cutoff, rate=COMPARISON_RATE)
    except RecordingError:
        names, none = recording.names, np.zeros((0, len(recording.names)))
        segment = np.zeros(0, dtype=np.intp)
        return Samples(
            Kind.MOTION, names, np.zeros(0), none, none, none, none, segment, recording.notes
        )


def filtered_motion(
    recording: Recording, cutoff: float = CUTOFF, effort_delay: float = 0.0, rate: float = RATE
) -> Samples:
    """
    Return the motion of a clean recording on a uniform grid, with derivatives.

    Positions and efforts pass the same low-pass filter, so equations between them stay true. Its
    phase is zero because it runs forward and backward.

    Times are those of the better clock. Beside the recording, memory is that of a few columns.

    :param cutoff: cut-off frequency, Hz
    :param effort_delay: time by which the efforts are later than the positions, s
    :param rate: of the result, Hz, if the recording has more
    :raises InputError: the cut-off frequency is too low or not finite, or the delay too long
    :raises RecordingError: samples are too few, or too slow for the cut-off frequency
    """
    require_scipy()
    if not MIN_CUTOFF <= cutoff < math.inf:
        raise InputError('cutoff', f'{cutoff:g} Hz is not at least {MIN_CUTOFF:g} Hz')
    if not abs(effort_delay) <= MARGIN / 2.0:
        raise InputError('effort_delay', f'{effort_delay:g} s is longer than {MARGIN / 2.0:g} s')
    parts = [*recording.parts()]  # before the clock changes
    recording = with_better_clock(recording)
    time = recording.time
    interval = float(np.median(np.diff(time)))
    if 1.0 / interval < MIN_OVERSAMPLING * cutoff:
        raise RecordingError(
            f'the joint states have a rate of {1.0 / interval:.1f} Hz; a low-pass filter of '
            f'{cutoff:g} Hz needs at least {MIN_OVERSAMPLING * cutoff:.0f} Hz'
        )
    filtered = [
        _filtered(recording, part, interval, cutoff, effort_delay, rate, number)
        for number, part in enumerate(parts)
        if part.stop - part.start >= MIN_LENGTH
        and time[part.stop - 1] - time[part.start] > 2.0 * MARGIN + 4.0 * interval
    ]
    if not filtered:
        raise RecordingError(
            f'no part without gaps is longer than {2.0 * MARGIN:g} s and {MIN_LENGTH} samples, '
            'which the filter needs'
        )
    t, q, qd, qdd, effort, segment = map(np.concatenate, zip(*filtered, strict=True))
    return Samples(Kind.MOTION, recording.names, t, q, qd, qdd, effort, segment, recording.notes)


def _filtered(
    recording: Recording, part: slice, interval: float, cutoff: float, effort_delay: float,
    rate: float, number: int,
) -> tuple[Array, Array, Array, Array, Array, Indices]:
    """Return time, position, velocity, acceleration, effort and number of a part without gaps."""
    from scipy.interpolate import CubicSpline
    from scipy.signal import butter, sosfiltfilt

    time = recording.time[part]
    grid = time[0] + interval * np.arange(int((time[-1] - time[0]) / interval + 1e-6) + 1)
    even = len(grid) == len(time) and np.abs(grid - time).max() < 1e-3 * interval
    sections = butter(ORDER, cutoff, fs=1.0 / interval, output='sos')
    cut = max(math.ceil(MARGIN / interval), 1)
    kept = np.arange(cut, len(grid) - cut, max(1, round(1.0 / (rate * interval))))

    def smooth(column: Array, delay: float = 0.0) -> Array:
        as_is = even and not delay
        values = column if as_is else CubicSpline(time - delay, column)(grid)
        return np.asarray(sosfiltfilt(sections, values))

    n = len(recording.names)
    q, qd, qdd, effort = np.empty((4, len(kept), n))
    for joint in range(n):
        values = smooth(recording.position[part, joint])
        before, at, after = values[kept - 1], values[kept], values[kept + 1]
        q[:, joint] = at
        qd[:, joint] = (after - before) / (2.0 * interval)
        qdd[:, joint] = (after - 2.0 * at + before) / interval**2
        measured = recording.effort[part, joint]
        finite = np.isfinite(measured).all()
        effort[:, joint] = smooth(measured, effort_delay)[kept] if finite else np.nan
    return grid[kept], q, qd, qdd, effort, np.full(len(kept), number)
