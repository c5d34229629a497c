# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The clock of a recording: its stamps, or evenly spaced samples.

Stamps jitter where a driver stamps late what the robot sampled at a fixed rate, or where a bag has
only times of receipt. The recorded velocity shows which clock is right: it is the derivative of
the position.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from ..arrays import Array, Indices
from .joint_states import Recording

STILL_SPEED = 0.01
"""
An arm is at rest while every joint is slower, rad/s or m/s.

0.01 rad/s is half a degree per second. Encoder noise over 0.1 s is below it, an intended motion
above it.
"""

CLOCK_GAIN = 0.7
"""Evenly spaced samples replace the stamps if some joint's mismatch falls below this share."""


def with_better_clock(recording: Recording, segment: Indices) -> Recording:
    """
    Return the recording with evenly spaced samples if they agree better with the velocities.

    :param recording: clean joint states
    :param segment: number of the part without gaps of each sample, shape (N,)
    """
    if np.isnan(recording.velocity).any():
        return recording
    even = replace(recording, time=_evenly_spaced(recording.time, segment))
    of_stamps, of_even = (velocity_mismatch(each, segment) for each in (recording, even))
    if not (of_even < CLOCK_GAIN * of_stamps).any() or (of_even > of_stamps).any():
        return recording
    return even.part(slice(None), 'the stamps jitter; the samples are evenly spaced instead')


def _evenly_spaced(time: Array, segment: Indices) -> Array:
    """Return evenly spaced times with the same first and last time of each segment."""
    even = time.copy()
    bounds = [0, *(np.flatnonzero(np.diff(segment)) + 1).tolist(), len(time)]
    for start, stop in pairwise(bounds):
        even[start:stop] = np.linspace(time[start], time[stop - 1], stop - start)
    return even


def velocity_mismatch(recording: Recording, segment: Indices) -> Array:
    """
    Return the difference between recorded and differentiated velocity of each joint, shape (n,).

    Relative to the velocity, or to the speed of a joint at rest if that is greater.

    :param recording: clean joint states with velocities
    :param segment: number of the part without gaps of each sample, shape (N,)
    """
    within = segment[2:] == segment[:-2]
    interval = recording.time[2:] - recording.time[:-2]
    mismatch = np.zeros(len(recording.names))
    for joint in range(len(recording.names)):
        q = recording.position[:, joint]
        change = ((q[2:] - q[:-2]) / interval)[within]
        if not len(change):
            continue
        difference = change - recording.velocity[1:-1, joint][within]
        size = max(float(np.sqrt(np.mean(change**2))), STILL_SPEED)
        mismatch[joint] = np.sqrt(np.mean(difference**2)) / size
    return mismatch
