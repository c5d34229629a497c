# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Filtered motion on a uniform grid: zero-phase low-pass filter, derivatives, decimation.

Positions and efforts pass the same filter, so equations between them stay true. Its phase is zero
because it runs forward and backward. Preflight has a filter of its own (:mod:`.filtering`): its
figures and thresholds belong to that wider filter, and it needs no scipy.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
import math

import numpy as np

from ..arrays import Array, Indices
from ..errors import InputError
from .cleaning import CleanRecording
from .clock import with_better_clock
from .joint_states import RecordingError

CUTOFF = 10.0
"""Usual cut-off frequency, Hz: above an arm's motion, below gear ringing and noise."""

MIN_CUTOFF = 0.1
"""Least cut-off frequency, Hz: every motion of an arm is above it."""

ORDER = 4
"""Order of the Butterworth filter."""

MARGIN = 0.5
"""Time that is cut off at both ends of a segment, s; there the filter is one-sided."""

RATE = 50.0
"""Rate of the results, Hz. At lower rates too few samples lie near changes of direction."""

MIN_OVERSAMPLING = 2.2
"""Least ratio of sample rate and cut-off frequency."""


@dataclass(frozen=True)
class Motion:
    """
    Filtered samples of n joints.

    :param time: shape (N,), s
    :param position: shape (N, n), rad or m
    :param velocity: shape (N, n), rad/s or m/s
    :param acceleration: shape (N, n), rad/s^2 or m/s^2
    :param effort: shape (N, n), N m or N; NaN for joints without effort
    :param segment: number of the part without gaps of each sample, shape (N,)
    :param notes: flaws of the recording, one sentence each
    """

    time: Array
    position: Array
    velocity: Array
    acceleration: Array
    effort: Array
    segment: Indices
    notes: tuple[str, ...] = ()


def filtered_motion(cleaned: CleanRecording, cutoff: float = CUTOFF) -> Motion:
    """
    Return the filtered motion of a recording.

    Times are those of the better clock. Beside the recording, memory is that of a few columns.

    :param cleaned: the recording
    :param cutoff: cut-off frequency, Hz
    :raises InputError: the cut-off frequency is too low, or not finite
    :raises RecordingError: samples are too few, or too slow for the cut-off frequency
    """
    if not MIN_CUTOFF <= cutoff < math.inf:
        raise InputError('cutoff', f'{cutoff:g} Hz is not at least {MIN_CUTOFF:g} Hz')
    recording = with_better_clock(cleaned.recording, cleaned.segment)
    cleaned = CleanRecording(recording, cleaned.segment)
    time = recording.time
    interval = float(np.median(np.diff(time)))
    if 1.0 / interval < MIN_OVERSAMPLING * cutoff:
        raise RecordingError(
            f'the joint states have a rate of {1.0 / interval:.1f} Hz; a low-pass filter of '
            f'{cutoff:g} Hz needs at least {MIN_OVERSAMPLING * cutoff:.0f} Hz'
        )
    edges = np.flatnonzero(np.diff(cleaned.segment)) + 1
    parts = [
        _segment(cleaned, slice(start, stop), interval, cutoff)
        for start, stop in pairwise([0, *edges.tolist(), len(time)])
        if time[stop - 1] - time[start] > 2.0 * MARGIN + 4.0 * interval
    ]
    if not parts:
        raise RecordingError(
            f'no part without gaps is longer than {2.0 * MARGIN:g} s, which the filter needs'
        )
    return Motion(
        np.concatenate([part.time for part in parts]),
        np.concatenate([part.position for part in parts]),
        np.concatenate([part.velocity for part in parts]),
        np.concatenate([part.acceleration for part in parts]),
        np.concatenate([part.effort for part in parts]),
        np.concatenate([part.segment for part in parts]),
        recording.notes,
    )


def _segment(cleaned: CleanRecording, which: slice, interval: float, cutoff: float) -> Motion:
    """Return the filtered motion of a part without gaps."""
    from scipy.interpolate import CubicSpline
    from scipy.signal import butter, sosfiltfilt

    recorded = cleaned.recording
    time = recorded.time[which]
    grid = time[0] + interval * np.arange(int((time[-1] - time[0]) / interval + 1e-6) + 1)
    even = len(grid) == len(time) and np.abs(grid - time).max() < 1e-3 * interval
    sections = butter(ORDER, cutoff, fs=1.0 / interval, output='sos')
    cut = max(math.ceil(MARGIN / interval), 1)
    kept = np.arange(cut, len(grid) - cut, max(1, round(1.0 / (RATE * interval))))

    def smooth(column: Array) -> Array:
        values = column if even else CubicSpline(time, column)(grid)
        filtered: Array = sosfiltfilt(sections, values)
        return filtered

    n = len(recorded.names)
    q, qd, qdd, effort = np.empty((4, len(kept), n))
    for joint in range(n):
        values = smooth(recorded.position[which, joint])
        before, at, after = values[kept - 1], values[kept], values[kept + 1]
        q[:, joint] = at
        qd[:, joint] = (after - before) / (2.0 * interval)
        qdd[:, joint] = (after - 2.0 * at + before) / interval**2
        measured = recorded.effort[which, joint]
        finite = np.isfinite(measured).all()
        effort[:, joint] = smooth(measured)[kept] if finite else np.nan
    segment = np.full(len(kept), cleaned.segment[which][0])
    return Motion(grid[kept], q, qd, qdd, effort, segment)
