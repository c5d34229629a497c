# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Filtered motion on a uniform grid: zero-phase low-pass filter, derivatives, decimation.

Positions and efforts pass the same filter, so equations between them stay true. Its phase is zero
because it runs forward and backward. Preflight has another filter (:func:`.samples.smooth`): its
figures and thresholds belong to that wider filter, and it needs no scipy.
"""

from __future__ import annotations

import math

import numpy as np

from ..arrays import Array, Indices
from ..errors import InputError
from .cleaning import with_better_clock
from .joint_states import Recording, RecordingError
from .samples import Kind, Samples

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
    Return the filtered motion of a clean recording.

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
