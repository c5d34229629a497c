# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What is compared with the model: still poses, or samples of a motion."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from .cleaning import STILL_SPEED, CleanRecording
from .filtering import HALF_WINDOW, smooth
from .joint_states import RecordingError

DWELL = 0.5
"""A pose counts when it is held so long, s: gears have settled, and noise averages out."""

DISTINCT = 0.05
"""Poses that no joint tells apart by more are one pose, rad or m: 5 % of gravity at most."""

MIN_POSES = 8
"""
So many poses are needed: twice the unknowns of a load.

A load has four (its mass and three moments), a joint two (scale and offset), and every joint
contributes an equation at each pose.
"""

STEP = 0.05
"""Interval of the samples that are taken from a motion, s: a tenth of the filter's window."""

BLOCKS = 24
"""
A motion is cut into so many blocks, which count as independent of each other.

What a model misses varies with the pose, so that neighbouring samples err alike. A block must be
longer than that lasts, and there must be enough of them to see how much they differ.
"""

SHORTEST_BLOCK = 0.5
"""No block is shorter, s: an arm's motion forgets its past about so fast."""

MIN_BLOCKS = 8
"""A motion must be long enough for so many blocks, as many as poses are needed."""


class Kind(str, Enum):
    """What the samples were taken from."""

    STILL = 'still poses'
    MOTION = 'motion'


@dataclass(frozen=True)
class Samples:
    """
    Samples to compare, of n joints.

    :param kind: where they are from; still poses have no velocity and no acceleration
    :param names: the recorded joints
    :param time: shape (N,), s
    :param position: shape (N, n), rad or m
    :param velocity: shape (N, n), rad/s or m/s
    :param acceleration: shape (N, n), rad/s^2 or m/s^2
    :param effort: shape (N, n), N m or N; NaN where a joint has none
    :param block: samples with the same number may err alike, shape (N,)
    :param notes: what was left out on the way, one sentence each
    """

    kind: Kind
    names: tuple[str, ...]
    time: Array
    position: Array
    velocity: Array
    acceleration: Array
    effort: Array
    block: NDArray[np.intp]
    notes: tuple[str, ...]


def take_samples(cleaned: CleanRecording, kind: Kind | None = None) -> Samples:
    """
    Return what a recording gives to compare.

    :param cleaned: the recording
    :param kind: what to use; None for still poses where there are enough, else the motion
    :raises RecordingError: there is not enough of it
    """
    poses = still_poses(cleaned)
    if kind is Kind.STILL or (kind is None and len(poses.time) >= MIN_POSES):
        if len(poses.time) < MIN_POSES:
            raise RecordingError(_too_few(poses))
        return poses
    samples = motion(cleaned)
    blocks = len(np.unique(samples.block))
    if blocks < MIN_BLOCKS:
        raise RecordingError(
            f'{_too_few(poses)}, and of motion {MIN_BLOCKS * SHORTEST_BLOCK:g} s without a gap, '
            f'not {blocks * SHORTEST_BLOCK:g} s'
        )
    return samples


def _too_few(poses: Samples) -> str:
    held = f'held for {DWELL:g} s each'
    return f'{len(poses.time)} different still poses are too few; {MIN_POSES} are needed, {held}'


def still_poses(cleaned: CleanRecording) -> Samples:
    """
    Return the poses that were held, one sample each: means over the time of holding.

    A pose that was visited before is averaged with the first visit, for friction to cancel.
    """
    recording = cleaned.recording
    places: list[Array] = []
    visits: list[list[tuple[float, Array, Array]]] = []
    for start, stop in _stretches(_still(cleaned), cleaned.segment):
        t = recording.time[start:stop]
        # What rings after a stop is left out: half of the dwelling.
        settled = slice(start + int(np.searchsorted(t, t[0] + 0.5 * DWELL)), stop)
        if t[-1] - t[0] < DWELL:
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
        Kind.STILL,
        recording.names,
        times,
        position.reshape(-1, n),
        rest,
        rest,
        effort.reshape(-1, n),
        np.arange(len(visits)),
        recording.notes,
    )


def _still(cleaned: CleanRecording) -> NDArray[np.bool_]:
    """Return at which samples no joint has moved since a tenth of the dwelling before."""
    t, q = cleaned.recording.time, cleaned.recording.position
    before = np.searchsorted(t, t - 0.1 * DWELL, side='right') - 1
    before = np.clip(before, 0, np.maximum(np.arange(len(t)) - 1, 0))
    interval = np.maximum(t - t[before], np.finfo(float).tiny)
    speed = np.abs(q - q[before]).max(axis=1) / interval
    speed[0] = speed[1]
    still: NDArray[np.bool_] = speed < STILL_SPEED
    return still


def _stretches(
    still: NDArray[np.bool_], segment: NDArray[np.intp]
) -> list[tuple[int, int]]:
    """Return where runs of still samples without a gap start and stop."""
    label = np.where(still, segment, -1)
    edges = np.flatnonzero(np.diff(label)) + 1
    bounds = [0, *edges.tolist(), len(label)]
    return [
        (start, stop)
        for start, stop in pairwise(bounds)
        if label[start] >= 0
    ]


def motion(cleaned: CleanRecording) -> Samples:
    """
    Return samples along a motion: positions, their derivatives and efforts, low-passed alike.

    Half a window is left out at the ends of every unbroken stretch, where the filter sees but one
    side.
    """
    recording = cleaned.recording
    n = len(recording.names)
    parts: list[tuple[Array, ...]] = []
    for number in np.unique(cleaned.segment):
        which = cleaned.segment == number
        t = recording.time[which]
        at = np.arange(t[0] + HALF_WINDOW, t[-1] - HALF_WINDOW, STEP)
        if not at.size:
            continue
        q, qd, qdd = smooth(t, recording.position[which], at)
        parts.append((at, q, qd, qdd, smooth(t, recording.effort[which], at)[0]))
    if not parts:
        parts = [(np.zeros(0), *(np.zeros((0, n)),) * 4)]
    time, q, qd, qdd, effort = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    moved = np.arange(len(time)) * STEP
    length = max(len(time) * STEP / BLOCKS, SHORTEST_BLOCK)
    return Samples(
        Kind.MOTION,
        recording.names,
        time,
        q,
        qd,
        qdd,
        effort,
        (moved // length).astype(np.intp),
        recording.notes,
    )
