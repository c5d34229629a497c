# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Samples for a comparison with a model: poses at rest, or samples of a motion.

The filter of a motion is a locally weighted cubic regression, for samples that lie far apart and
may come from a recording of few Hz. Identification needs all samples, a chosen cut-off frequency
and speed: :func:`filtered_motion`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import pairwise
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, Indices
from ..errors import InputError
from .cleaning import STILL_SPEED, with_better_clock
from .joint_states import Recording, RecordingError

# Half width of the window of a local cubic, s. Within 0.5 s the motion of an arm is close to a
# cubic. Gear ringing, quantisation and noise are not.
HALF_WINDOW = 0.25

MIN_POINTS = 8  # least number of samples for a cubic: twice its coefficients
DWELL = 0.5  # least duration of a pose, s: gears settle, noise averages out
DISTINCT = 0.05  # poses are equal if no joint differs by more, rad or m: at most 5 % of gravity

MIN_POSES = 8
"""
Least number of poses: twice the unknowns of a load.

A load has four unknowns (mass and three first moments), a joint two (scale and offset). Every
joint gives one equation per pose.
"""

STEP = 0.05  # interval of the samples of a motion, s: a tenth of the filter's window

# Number of blocks of a motion; blocks count as independent. Model errors vary with the pose, so
# neighbouring samples have similar errors. A block must outlast this correlation, and many blocks
# are needed to estimate their spread.
BLOCKS = 24

MIN_BLOCK = 0.5  # least duration of a block, s: about the correlation time of an arm's motion
MIN_BLOCKS = 8  # least number of blocks, equal to the least number of poses


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
        if self.kind is Kind.STILL:
            return self.segment
        count = len(self.time)
        length = max(count * STEP / BLOCKS, MIN_BLOCK)
        return (np.arange(count) * STEP // length).astype(np.intp)


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
    places: list[Array] = []
    visits: list[list[tuple[float, Array, Array]]] = []
    label = np.where(_still(recording), recording.segment, -1)
    edges = np.flatnonzero(np.diff(label)) + 1
    for start, stop in pairwise([0, *edges.tolist(), len(label)]):
        t = recording.time[start:stop]
        # The first half of DWELL is left out: gears ring after a stop.
        settled = slice(start + int(np.searchsorted(t, t[0] + 0.5 * DWELL)), stop)
        if label[start] < 0 or t[-1] - t[0] < DWELL:
            continue
        q = recording.position[settled].mean(axis=0)
        visit = (float(t[0]), q, recording.effort[settled].mean(axis=0))
        known = [k for k, place in enumerate(places) if np.abs(place - q).max() < DISTINCT]
        if known:
            visits[known[0]].append(visit)
        else:
            places.append(q)
            visits.append([visit])
    n = len(recording.names)
    times = np.array([held[0][0] for held in visits])
    position = np.array([np.mean([q for _, q, _ in held], axis=0) for held in visits])
    effort = np.array([np.mean([tau for _, _, tau in held], axis=0) for held in visits])
    rest = np.zeros((len(visits), n))
    return Samples(
        Kind.STILL, recording.names, times, position.reshape(-1, n), rest, rest,
        effort.reshape(-1, n), np.arange(len(visits)), recording.notes
    )


def _still(recording: Recording) -> NDArray[np.bool_]:
    """Return the samples at which no joint has moved in the last tenth of DWELL, shape (N,)."""
    t, q = recording.time, recording.position
    before = np.searchsorted(t, t - 0.1 * DWELL, side='right') - 1
    before = np.clip(before, 0, np.maximum(np.arange(len(t)) - 1, 0))
    interval = np.maximum(t - t[before], np.finfo(float).tiny)
    speed = np.abs(q - q[before]).max(axis=1) / interval
    speed[0] = speed[1]
    still: NDArray[np.bool_] = speed < STILL_SPEED
    return still


def motion_samples(recording: Recording) -> Samples:
    """
    Return samples along a motion: filtered positions, their derivatives, filtered efforts.

    Half a window is left out at both ends of every segment, where the window is one-sided.
    """
    n = len(recording.names)
    parts: list[tuple[Any, ...]] = []
    for number, part in enumerate(recording.parts()):
        t = recording.time[part]
        at = np.arange(t[0] + HALF_WINDOW, t[-1] - HALF_WINDOW, STEP)
        if not at.size:
            continue
        both = np.hstack([recording.position[part], recording.effort[part]])
        value, first, second = smooth(t, both, at)
        q, qd, qdd, effort = value[:, :n], first[:, :n], second[:, :n], value[:, n:]
        parts.append((at, q, qd, qdd, effort, np.full(len(at), number)))
    if not parts:
        parts = [(np.zeros(0), *(np.zeros((0, n)),) * 4, np.zeros(0, dtype=np.intp))]
    t, q, qd, qdd, effort, segment = map(np.concatenate, zip(*parts, strict=True))
    return Samples(Kind.MOTION, recording.names, t, q, qd, qdd, effort, segment, recording.notes)


def smooth(time: Array, values: Array, at: Array) -> tuple[Array, Array, Array]:
    """
    Return values, shape (N, n), filtered, and two derivatives, shape (M, n) each, at times.

    At each time a cubic is fitted to the neighbouring samples by least squares, with tricube
    weights that fall to zero at the end of the window. Samples may be unevenly spaced.
    """
    results = np.empty((3, len(at), values.shape[1]))
    least = min(MIN_POINTS, len(time))
    for i, t in enumerate(at):
        start, stop = np.searchsorted(time, (t - HALF_WINDOW, t + HALF_WINDOW))
        distance = np.abs(time[max(start - least, 0) : stop + least] - t)
        reach = max(HALF_WINDOW, float(np.partition(distance, least - 1)[least - 1]) * 1.01)
        near = slice(*np.searchsorted(time, (t - 0.999999 * reach, t + 0.999999 * reach)))
        u = (time[near] - t) / reach
        root = np.sqrt((1.0 - np.abs(u) ** 3) ** 3)[:, np.newaxis]
        powers = np.vander(u, min(4, len(u)), increasing=True)
        coefficients = np.zeros((4, values.shape[1]))
        coefficients[: powers.shape[1]] = np.linalg.lstsq(
            root * powers, root * values[near], rcond=None
        )[0]
        results[0, i] = coefficients[0]
        results[1, i] = coefficients[1] / reach
        results[2, i] = 2.0 * coefficients[2] / reach**2
    value, first, second = results
    return value, first, second


CUTOFF = 10.0
"""Usual cut-off frequency, Hz: above an arm's motion, below gear ringing and noise."""

MIN_CUTOFF = 0.1  # least cut-off frequency, Hz: every motion of an arm is above it
ORDER = 4  # order of the Butterworth filter
MARGIN = 0.5  # time that is cut off at both ends of a segment, s; there the filter is one-sided
RATE = 50.0  # of the results, Hz; at lower rates too few samples lie near changes of direction
MIN_OVERSAMPLING = 2.2  # least ratio of sample rate and cut-off frequency


def filtered_motion(
    recording: Recording, cutoff: float = CUTOFF, effort_delay: float = 0.0
) -> Samples:
    """
    Return the motion of a clean recording on a uniform grid, with derivatives.

    Positions and efforts pass the same low-pass filter, so equations between them stay true. Its
    phase is zero because it runs forward and backward.

    Times are those of the better clock. Beside the recording, memory is that of a few columns.

    :param cutoff: cut-off frequency, Hz
    :param effort_delay: time by which the efforts are later than the positions, s
    :raises InputError: the cut-off frequency is too low or not finite, or the delay too long
    :raises RecordingError: samples are too few, or too slow for the cut-off frequency
    """
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
        _filtered(recording, part, interval, cutoff, effort_delay, number)
        for number, part in enumerate(parts)
        if time[part.stop - 1] - time[part.start] > 2.0 * MARGIN + 4.0 * interval
    ]
    if not filtered:
        raise RecordingError(
            f'no part without gaps is longer than {2.0 * MARGIN:g} s, which the filter needs'
        )
    t, q, qd, qdd, effort, segment = map(np.concatenate, zip(*filtered, strict=True))
    return Samples(Kind.MOTION, recording.names, t, q, qd, qdd, effort, segment, recording.notes)


def _filtered(
    recording: Recording, part: slice, interval: float, cutoff: float, effort_delay: float,
    number: int,
) -> tuple[Array, Array, Array, Array, Array, Indices]:
    """Return time, position, velocity, acceleration, effort and number of a part without gaps."""
    from scipy.interpolate import CubicSpline
    from scipy.signal import butter, sosfiltfilt

    time = recording.time[part]
    grid = time[0] + interval * np.arange(int((time[-1] - time[0]) / interval + 1e-6) + 1)
    even = len(grid) == len(time) and np.abs(grid - time).max() < 1e-3 * interval
    sections = butter(ORDER, cutoff, fs=1.0 / interval, output='sos')
    cut = max(math.ceil(MARGIN / interval), 1)
    kept = np.arange(cut, len(grid) - cut, max(1, round(1.0 / (RATE * interval))))

    def smooth(column: Array, delay: float = 0.0) -> Array:
        as_is = even and not delay
        values = column if as_is else CubicSpline(time - delay, column)(grid)
        filtered: Array = sosfiltfilt(sections, values)
        return filtered

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
