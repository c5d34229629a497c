# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
What drivers and recorders do to joint states, undone or told: repeats, gaps, clocks, ringing.

Nothing is invented: samples are left out, never filled in. What follows can trust that times
increase, that positions and efforts are finite, and that between two samples with the same
segment number nothing is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from .joint_states import Recording, RecordingError

Mask: TypeAlias = NDArray[np.bool_]

STILL_SPEED = 0.01
"""
An arm is still where every joint is slower, rad/s or m/s.

Half a degree a second: encoders' noise over a tenth of a second is below it, and a joint that
moves on purpose is above it but for an instant.
"""

GAP_INTERVALS = 5.0
"""
So many usual intervals without a sample are a gap.

A repeated or lost sample makes two, a stalled recorder many.
"""

RINGING_SEARCH = 1.0
"""Ringing is looked for in so long a time from the start, s: controllers settle within it."""

RINGING_FACTOR = 2.0
"""A start rings where efforts jerk so many times as much as ever after; noise alone does not."""

MISMATCH = 0.1
"""
Velocities that differ from the change of position by more of their own size contradict it.

A delay or a filter of a driver makes a few hundredths.
"""


@dataclass(frozen=True)
class CleanRecording:
    """
    A recording that can be differentiated.

    :param recording: what is left, with notes of what was left out
    :param segment: number of the unbroken stretch that a sample belongs to, shape (N,)
    """

    recording: Recording
    segment: NDArray[np.intp]


def clean(recording: Recording) -> CleanRecording:
    """
    Leave out what cannot be used, and find the gaps.

    Efforts that are missing for some joints in every sample are left as they are: those joints
    have none.

    :raises RecordingError: fewer than two samples are left, or no joint has an effort
    """
    measured = np.isfinite(recording.effort).any(axis=0)
    if not measured.any():
        raise RecordingError(f'no effort is recorded for any of {", ".join(recording.names)}')
    finite = np.isfinite(recording.position).all(axis=1)
    finite &= np.isfinite(recording.effort[:, measured]).all(axis=1)
    finite &= np.isfinite(recording.time)
    recording = _keep(recording, finite, 'with a position or effort that is not finite')
    recording = _keep(recording, _increasing(recording.time), 'with a stamp that is not newer')
    recording = _keep(recording, ~_repeats(recording), 'that repeat the one before in motion')
    recording = _keep(recording, ~_ringing(recording), 'at the start, where efforts ring,')
    if len(recording.time) < 2:
        raise RecordingError(f'{len(recording.time)} usable joint states are too few')
    interval = np.diff(recording.time)
    gaps = interval > GAP_INTERVALS * np.median(interval)
    notes = [f'gaps: {gaps.sum()}, the longest of {interval.max():.2f} s'] if gaps.any() else []
    notes += _velocity_notes(recording)
    segment = np.concatenate([[0], np.cumsum(gaps)])
    return CleanRecording(recording.part(slice(None), *notes), segment)


def _keep(recording: Recording, which: Mask, reason: str) -> Recording:
    """Return some of the samples, with a note of how many were left out."""
    if which.all():
        return recording
    return recording.part(which, f'{np.sum(~which)} samples {reason} were left out')


def _increasing(time: Array) -> Mask:
    """Return which stamps are newer than every stamp before, shape (N,)."""
    if not time.size:
        return np.zeros(0, dtype=bool)
    newest = np.maximum.accumulate(time)
    return np.concatenate([[True], time[1:] > newest[:-1]])


def _repeats(recording: Recording) -> Mask:
    """
    Return which samples are those before once more although the arm moves, shape (N,).

    The positions around tell whether it moves; of an arm at rest a repeat is what it should be.
    """
    q, t = recording.position, recording.time
    again = np.zeros(len(t), dtype=bool)
    if len(t) < 4:
        return again
    again[1:] = (np.diff(q, axis=0) == 0.0).all(axis=1)
    before = np.maximum(np.arange(len(t)) - 2, 0)
    after = np.minimum(np.arange(len(t)) + 2, len(t) - 1)
    speed = np.abs(q[after] - q[before]).max(axis=1) / (t[after] - t[before])
    moving: Mask = again & (speed > STILL_SPEED)
    return moving


def _ringing(recording: Recording) -> Mask:
    """Return which samples at the start belong to ringing, shape (N,)."""
    t, effort = recording.time, recording.effort
    ringing = np.zeros(len(t), dtype=bool)
    if len(t) < 8 or t[-1] - t[0] < 3.0 * RINGING_SEARCH:
        return ringing
    jerk = np.abs(np.diff(effort[:, np.isfinite(effort).all(axis=0)], 2, axis=0))
    early = t[:-2] - t[0] < RINGING_SEARCH
    rings = (jerk[early] > RINGING_FACTOR * jerk[~early].max(axis=0)).any(axis=1)
    if rings.any():
        ringing[: np.flatnonzero(rings)[-1] + 2] = True
    return ringing


def _velocity_notes(recording: Recording) -> list[str]:
    """Return a sentence on the joints whose velocity is not the change of their position."""
    t, q, qd = recording.time, recording.position, recording.velocity
    if len(t) < 3 or np.isnan(qd).any():
        return []
    change = (q[2:] - q[:-2]) / (t[2:] - t[:-2])[:, np.newaxis]
    difference = np.sqrt(np.mean((change - qd[1:-1]) ** 2, axis=0))
    size = np.maximum(np.sqrt(np.mean(change**2, axis=0)), STILL_SPEED)
    wrong = [
        f'{name} by {100.0 * ratio:.0f} %'
        for name, ratio in zip(recording.names, difference / size, strict=True)
        if ratio > MISMATCH
    ]
    if not wrong:
        return []
    return [f'recorded velocities contradict the positions, which are used: {", ".join(wrong)}']
