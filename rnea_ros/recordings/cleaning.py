# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Clean recordings: remove repeated, non-finite and ringing samples, find gaps, choose the clock.

No sample is filled in. In a clean recording times increase, positions and efforts are finite, and
no gap lies between two samples with the same segment number. Columns are handled one by one: an
hour at 1 kHz fills much of the memory.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, Indices
from .joint_states import Recording, RecordingError

Mask: TypeAlias = NDArray[np.bool_]

# An arm is at rest while every joint is slower, rad/s or m/s: half a degree per second. Encoder
# noise over 0.1 s is below it, an intended motion above it.
STILL_SPEED = 0.01

CLOCK_GAIN = 0.7  # even samples replace the stamps if a joint's mismatch falls below this share
RINGING_SEARCH = 1.0  # time from the start in which efforts may ring, s; controllers settle in it
RINGING_FACTOR = 2.0  # a start whose jerk exceeds its later maximum by this factor rings

# Relative difference between recorded and differentiated velocity that is reported. Delays and
# filters of drivers cause a few percent.
MISMATCH = 0.1

MIN_TRAVEL = 1e-3  # A joint that moves less, rad or m, is held: its positions are noise


def clean(recording: Recording) -> Recording:
    """
    Remove unusable samples and find gaps. Joints without any recorded effort keep NaN.

    :raises RecordingError: fewer than two samples remain, or no joint has an effort
    """
    measured = np.isfinite(recording.effort).any(axis=0)
    if not measured.any():
        raise RecordingError(f'no effort is recorded for any of {", ".join(recording.names)}')
    finite = np.isfinite(recording.time)
    for column in (*recording.position.T, *recording.effort.T[measured]):
        finite &= np.isfinite(column)
    recording = _keep(recording, finite, 'with non-finite or too large positions or efforts')
    increasing = np.diff(np.maximum.accumulate(recording.time), prepend=-np.inf) > 0.0
    recording = _keep(recording, increasing, 'with a stamp not after the previous one')
    again = _repeats(recording)
    recording = _keep(recording, ~again, 'that repeat the previous one during motion')
    recording = _keep(recording, ~_ringing(recording), 'with ringing efforts at the start')
    if len(recording.time) < 2:
        raise RecordingError(f'{len(recording.time)} usable joint states; at least 2 are needed')
    segment, longest = recording.segment, np.diff(recording.time).max()
    notes = [f'gaps: {segment[-1]}, the longest {longest:.2f} s'] if segment[-1] else []
    notes += _velocity_notes(recording)
    return recording.part(slice(None), *notes)


def _keep(recording: Recording, which: Mask, reason: str) -> Recording:
    """Return the selected samples, with a note on the number of removed ones."""
    if which.all():
        return recording
    return recording.part(which, f'{np.sum(~which)} samples {reason} were removed')


def _repeats(recording: Recording) -> Mask:
    """Return which samples repeat the previous one although the arm moves, shape (N,)."""
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


def _velocity_notes(recording: Recording) -> list[str]:
    """Return a note on joints whose recorded velocity contradicts their positions."""
    if np.isnan(recording.velocity).any():
        return []
    ratios = zip(recording.names, _velocity_mismatch(recording, recording.segment), strict=True)
    wrong = [f'{name} by {100.0 * ratio:.0f} %' for name, ratio in ratios if ratio > MISMATCH]
    text = f'velocities contradict the positions, positions are used: {", ".join(wrong)}'
    return [text] if wrong else []


def with_better_clock(recording: Recording) -> Recording:
    """
    Return a clean recording, with evenly spaced samples if they agree better with velocities.

    Stamps jitter where a driver stamps late what the robot sampled at a fixed rate, or where a bag
    has only times of receipt. The velocity, the derivative of the position, shows the right clock.
    """
    if np.isnan(recording.velocity).any():
        return recording
    time = recording.time.copy()
    for part in recording.parts():
        time[part] = np.linspace(time[part][0], time[part][-1], part.stop - part.start)
    even = replace(recording, time=time)
    before = _velocity_mismatch(recording, recording.segment)
    after = _velocity_mismatch(even, recording.segment)
    if not (after < CLOCK_GAIN * before).any() or (after > before).any():
        return recording
    return even.part(slice(None), 'the stamps jitter; the samples are evenly spaced instead')


def _velocity_mismatch(recording: Recording, segment: Indices) -> Array:
    """Return the relative mismatch of velocities within segments, (n,); 0 for held joints."""
    within = segment[2:] == segment[:-2]
    interval = recording.time[2:] - recording.time[:-2]
    mismatch = np.zeros(len(recording.names))
    for joint in range(len(recording.names)):
        q = recording.position[:, joint]
        change = ((q[2:] - q[:-2]) / interval)[within]
        if not len(change) or np.ptp(q) < MIN_TRAVEL:
            continue
        difference = change - recording.velocity[1:-1, joint][within]
        size = max(float(np.sqrt(np.mean(change**2))), STILL_SPEED)
        mismatch[joint] = np.sqrt(np.mean(difference**2)) / size
    return mismatch
