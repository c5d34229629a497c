# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Clean recordings: remove repeated, non-finite and ringing samples, find gaps.

No sample is filled in. In a clean recording times increase, positions and efforts are finite, and
no gap lies between two samples with the same segment number. Columns are handled one by one: an
hour at 1 kHz fills much of the memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, Indices
from .clock import STILL_SPEED, velocity_mismatch
from .joint_states import Recording, RecordingError

Mask: TypeAlias = NDArray[np.bool_]

GAP_INTERVALS = 5.0
"""
Least length of a gap, in median sample intervals.

A repeated or lost sample makes an interval of two, a stalled recorder one of many.
"""

RINGING_SEARCH = 1.0
"""Ringing is searched for in this time from the start, s; controllers settle within it."""

RINGING_FACTOR = 2.0
"""The start rings if the jerk of an effort exceeds its later maximum by this factor."""

MISMATCH = 0.1
"""
Relative difference between recorded and differentiated velocity that is reported.

Delays and filters of drivers cause a few percent.
"""


@dataclass(frozen=True)
class CleanRecording:
    """
    A recording that can be differentiated.

    :param recording: the remaining samples, with notes on the removed ones
    :param segment: number of the segment without gaps of each sample, shape (N,)
    """

    recording: Recording
    segment: Indices


def clean(recording: Recording) -> CleanRecording:
    """
    Remove unusable samples and find gaps.

    Joints without any recorded effort keep NaN.

    :raises RecordingError: fewer than two samples remain, or no joint has an effort
    """
    measured = np.isfinite(recording.effort).any(axis=0)
    if not measured.any():
        raise RecordingError(f'no effort is recorded for any of {", ".join(recording.names)}')
    finite = np.isfinite(recording.time)
    for column in (*recording.position.T, *recording.effort.T[measured]):
        finite &= np.isfinite(column)
    recording = _keep(recording, finite, 'with non-finite or too large positions or efforts')
    increasing = _increasing(recording.time)
    recording = _keep(recording, increasing, 'with a stamp not after the previous one')
    recording = _keep(
        recording, ~_repeats(recording), 'that repeat the previous one during motion'
    )
    recording = _keep(recording, ~_ringing(recording), 'with ringing efforts at the start')
    if len(recording.time) < 2:
        raise RecordingError(f'{len(recording.time)} usable joint states; at least 2 are needed')
    interval = np.diff(recording.time)
    gaps = interval > GAP_INTERVALS * np.median(interval)
    segment = np.concatenate([[0], np.cumsum(gaps)])
    notes = [f'gaps: {gaps.sum()}, the longest {interval.max():.2f} s'] if gaps.any() else []
    notes += _velocity_notes(recording, segment)
    return CleanRecording(recording.part(slice(None), *notes), segment)


def _keep(recording: Recording, which: Mask, reason: str) -> Recording:
    """Return the selected samples, with a note on the number of removed ones."""
    if which.all():
        return recording
    return recording.part(which, f'{np.sum(~which)} samples {reason} were removed')


def _increasing(time: Array) -> Mask:
    """Return which stamps are later than all previous ones, shape (N,)."""
    if not time.size:
        return np.zeros(0, dtype=bool)
    newest = np.maximum.accumulate(time)
    return np.concatenate([[True], time[1:] > newest[:-1]])


def _repeats(recording: Recording) -> Mask:
    """
    Return which samples repeat the previous one while the arm moves, shape (N,).

    Whether it moves follows from the positions around; at rest repeats are expected.
    """
    q, t = recording.position, recording.time
    again = np.zeros(len(t), dtype=bool)
    if len(t) < 4:
        return again
    again[1:] = True
    for column in q.T:
        again[1:] &= column[1:] == column[:-1]
    repeats = np.flatnonzero(again)
    before, after = np.maximum(repeats - 2, 0), np.minimum(repeats + 2, len(t) - 1)
    speed = np.abs(q[after] - q[before]).max(axis=1) / (t[after] - t[before])
    again[repeats] = speed > STILL_SPEED
    return again


def _ringing(recording: Recording) -> Mask:
    """Return which samples at the start have ringing efforts, shape (N,)."""
    t, effort = recording.time, recording.effort
    ringing = np.zeros(len(t), dtype=bool)
    if len(t) < 8 or t[-1] - t[0] < 3.0 * RINGING_SEARCH:
        return ringing
    early = int(np.searchsorted(t[:-2] - t[0], RINGING_SEARCH))
    rings = np.zeros(early, dtype=bool)
    for column in effort.T:
        jerk = np.abs(np.diff(column, 2))
        if np.isfinite(jerk).all():
            rings |= jerk[:early] > RINGING_FACTOR * jerk[early:].max()
    if rings.any():
        ringing[: np.flatnonzero(rings)[-1] + 2] = True
    return ringing


def _velocity_notes(recording: Recording, segment: Indices) -> list[str]:
    """Return a note on joints whose recorded velocity contradicts their positions."""
    if np.isnan(recording.velocity).any():
        return []
    wrong = [
        f'{name} by {100.0 * ratio:.0f} %'
        for name, ratio in zip(
            recording.names, velocity_mismatch(recording, segment), strict=True
        )
        if ratio > MISMATCH
    ]
    if not wrong:
        return []
    return [f'velocities contradict the positions, positions are used: {", ".join(wrong)}']
