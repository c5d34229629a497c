# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A recorded run: joint motion and efforts, clean, filtered, on a uniform grid."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array, Indices, real_array
from ..errors import InputError, RneaError, UnknownNameError, brief
from ..preflight import check_units
from ..recordings import (
    CUTOFF,
    STILL_SPEED,
    Kind,
    Recording,
    RecordingError,
    clean,
    filtered_motion,
    match_joints,
    read_recording,
    take_samples,
    usable_factor,
)
from ..robot import RobotModel

CONSTANT = 1e-9  # greatest change of an effort that filters only round, N m or N
MIN_MASS = 1e-9  # mass below which a body has none, kg
SATURATED = 0.01  # least share of samples at the greatest or least value of a saturated effort

MORE_OFTEN = 5.0
"""
A saturated effort has its extreme value more often than the next one, by at least this factor.

A sine on the coarse digits of a sensor reaches 1 / (sqrt(2) - 1) = 2.4.
"""

POSE_GROUPS = 4  # number of groups of poses at rest; each is judged by a fit of the others


class IdentificationError(RneaError):
    """A model cannot be identified from these recordings."""


@dataclass(frozen=True)
class Run:
    """Motion and efforts of all n joints of a model, in the model's order."""

    name: str  #: name of the recording, for reports
    time: Array  #: shape (N,), s
    q: Array  #: joint positions, shape (N, n), rad or m; zero for joints that were not recorded
    qd: Array  #: joint velocities, shape (N, n), rad/s or m/s
    qdd: Array  #: joint accelerations, shape (N, n), rad/s^2 or m/s^2
    effort: Array  #: shape (N, n), N m or N; NaN for joints without usable effort
    segment: Indices  #: number of the part without gaps of each sample, shape (N,)
    joints: tuple[str, ...]  #: names of the model's joints that were recorded
    notes: tuple[str, ...] = ()  #: flaws of the recording, one sentence each

    def part(self, start: int, stop: int | None, step: int = 1) -> Run:
        """Return every ``step``-th sample from ``start`` up to ``stop``, None for the end."""
        columns = ('time', 'q', 'qd', 'qdd', 'effort', 'segment')
        which = slice(start, stop, step)
        return replace(self, **{name: getattr(self, name)[which] for name in columns})

    def split(self, share: float) -> tuple[Run, Run]:
        """Return the first part, a share of the time in motion from 0 to 1, and the rest."""
        moves = self._moves
        moved = np.cumsum(moves if moves.any() else ~moves)
        place = int(np.searchsorted(moved, share * moved[-1]))
        return self.part(0, place), self.part(place, len(self.time))

    @property
    def _moves(self) -> NDArray[np.bool_]:
        return np.asarray((np.abs(self.qd) >= STILL_SPEED).any(axis=1))

    @property
    def motion_time(self) -> float:
        """Duration of the motion of any joint, s."""
        return float(np.count_nonzero(self._moves) * np.median(np.diff(self.time)))

    def blocks(self, count: int) -> list[Run]:
        """Return parts with equal shares of the motion; a short run is judged part by part."""
        moved = np.cumsum(self._moves)
        places = np.searchsorted(moved, moved[-1] * np.arange(1, count) / count)
        return [
            replace(self.part(start, stop), name=f'{self.name}, part {number}',
                notes=self.notes if number == 1 else ())
            for number, (start, stop) in enumerate(pairwise([0, *places, len(moved)]), 1)
            if stop - start > 1
        ]


def groups_of_poses(runs: Sequence[Run]) -> list[Run]:
    """Return poses at rest in groups of similar size, with every fourth pose in a group."""
    columns = ('time', 'q', 'qd', 'qdd', 'effort')
    poses: dict[str, Any] = {
        name: np.concatenate([getattr(run, name) for run in runs]) for name in columns
    }
    every = replace(runs[0], segment=np.arange(len(poses['time'])), **poses)
    return [
        replace(
            every.part(first, None, POSE_GROUPS), notes=every.notes if first == 0 else (),
            name=f'{every.name}, poses {first + 1}, {first + 1 + POSE_GROUPS}, ...'
        )
        for first in range(POSE_GROUPS)
    ]


def load(
    bag: Path | str, model: RobotModel, *, joints: Mapping[str, str] | None = None,
    topic: str | None = None, table: Mapping[str, Any] | None = None,
    effort_scale: ArrayLike = 1.0, cutoff: float = CUTOFF, effort_delay: float = 0.0,
    without_effort: Collection[str] = (), poses: bool = False,
) -> Run:
    """
    Return the run of a bag or a table; the other arguments are those of :func:`run_from`.

    :param bag: a bag, ``.db3``, ``.mcap``, ``.bag`` of ROS 1, or its directory; a table,
        ``.csv``, ``.tsv``, ``.txt``, ``.npz``, ``.mat``, ``.parquet``; or a LeRobot data set
    :param topic: the recorded topic; None for the only one with joint states
    :param table: the columns of a table, such as ``{'position': 'q1..q7', 'rate': 100.0}``; keys
        are those of ``--table`` (docs/identify.md)
    :raises RneaError: the recording cannot be read, or lacks what is needed
    """
    recorded = read_recording(Path(bag), model, topic, table)
    return run_from(
        recorded.recording, model, name=recorded.name, joints=joints, effort_scale=effort_scale,
        cutoff=cutoff, effort_delay=effort_delay, without_effort=without_effort, poses=poses
    )


def run_from(
    recording: Recording, model: RobotModel, *, name: str = 'recording',
    joints: Mapping[str, str] | None = None, effort_scale: ArrayLike = 1.0, cutoff: float = CUTOFF,
    effort_delay: float = 0.0, without_effort: Collection[str] = (), poses: bool = False,
) -> Run:
    """
    Return the run of a recording.

    :param recording: joint states with efforts
    :param model: the robot
    :param name: of the recording, for reports
    :param joints: recorded joint names by the model's, if automatic matching fails
    :param effort_scale: factor of the recorded efforts, one number or one for each model joint
    :param cutoff: of the low-pass filter, Hz
    :param effort_delay: time by which the efforts are later than the positions, s
    :param without_effort: joints of the model whose efforts are left out
    :param poses: take the poses at rest instead of the motion
    :raises RneaError: the recording lacks what is needed
    """
    check_model(model)
    scale = _scale(effort_scale, model.nv)
    names = match_joints(model.joint_names, recording.names, joints)
    if unknown := [joint for joint in without_effort if joint not in names]:
        raise UnknownNameError('recorded joint', unknown[0], tuple(names))
    _check_proximal_joints(model, names)
    recording = recording.of_joints(list(names.values()))
    try:
        check_units(model, names, recording)
        _check_saturation(recording)
        cleaned = clean(recording)
        motion = (
            take_samples(cleaned, Kind.STILL) if poses
            else filtered_motion(cleaned, cutoff, effort_delay)
        )
    except RecordingError as error:
        raise IdentificationError(f'{name}: {error}') from error
    notes = list(motion.notes)
    if absent := [joint for joint in model.joint_names if joint not in names]:
        notes.append(f'not recorded, assumed at rest at zero: {", ".join(absent)}')
    rows = [model.velocity_indices(joint).start for joint in names]

    def in_model_order(values: Array, missing: float = 0.0) -> Array:
        expanded = np.full((len(values), model.nv), missing)
        expanded[:, rows] = values
        return expanded

    effort = in_model_order(motion.effort, np.nan)
    largest = np.maximum(1.0, np.abs(effort).max(axis=0))
    varies = np.ptp(effort, axis=0) > CONSTANT * largest  # False for NaN
    dead = [joint for joint, row in zip(names, rows, strict=True) if not varies[row]]
    for joint in {*dead, *without_effort}:
        effort[:, model.velocity_indices(joint)] = np.nan
    if dead:
        notes.append(f'no effort, or a constant one, left out: {", ".join(dead)}')
    if without_effort:
        notes.append(f'efforts left out as asked: {", ".join(without_effort)}')
    q, qd, qdd = map(in_model_order, (motion.position, motion.velocity, motion.acceleration))
    return Run(
        name, motion.time, q, qd, qdd, effort * scale, motion.segment, tuple(names), tuple(notes)
    )


def _scale(effort_scale: ArrayLike, n: int) -> Array:
    scale = real_array('effort_scale', effort_scale)
    if scale.shape not in ((), (1,), (n,)) or not all(map(usable_factor, scale.ravel())):
        raise IdentificationError(
            f'effort_scale is {brief(scale.tolist())}; give one factor, or one for each of the '
            f'{n} joints of the model, each of a size from 1e-6 to 1e6'
        )
    return np.broadcast_to(scale, (n,))


def _check_proximal_joints(model: RobotModel, names: Mapping[str, str]) -> None:
    """Raise an error if a recorded joint is moved by a joint that was not recorded."""
    description = model.description
    if description is None:
        return
    moved_by = {joint.child: joint for joint in description.joints.values()}
    for recorded in names:
        link = description.joints[recorded].parent
        while link in moved_by:
            joint = moved_by[link]
            moving = joint.name if joint.mimic is None else joint.mimic.joint
            if moving in model.joint_names and moving not in names:
                raise IdentificationError(
                    f'joint {moving!r} is not recorded, but it moves {recorded!r}; record it, '
                    f'or name it (joints), if one of {", ".join(names.values())} belongs to it'
                )
            link = joint.parent


def _check_saturation(recording: Recording) -> None:
    """Raise an error if an effort stays at its exact greatest or least value in motion."""
    if len(recording.time) < 2:
        return
    moves = np.zeros(len(recording.time), dtype=bool)
    moves[1:] = (np.diff(recording.position, axis=0) != 0.0).any(axis=1)
    for name, effort in zip(recording.names, recording.effort.T, strict=True):
        if not np.isfinite(effort).any() or np.nanmax(effort) == np.nanmin(effort):
            continue
        for sign in (1.0, -1.0):
            values = sign * effort
            limit = np.nanmax(values)
            at_limit = (values == limit) & moves
            held = at_limit[1:] & at_limit[:-1]
            beside = np.nanmax(values[values < limit])
            often = at_limit.sum() >= MORE_OFTEN * ((values == beside) & moves).sum()
            if often and held.mean() > SATURATED:
                raise RecordingError(
                    f'the effort of {name} is cut off at {sign * limit:g}, as recorded, in '
                    f'{100.0 * at_limit.mean():.0f} % of the samples; move slower or with less '
                    'load'
                )


def check_model(model: RobotModel) -> None:
    """Raise an error for a floating base, joints of several axes, or moving links without mass."""
    if model.inertial_parameters[::10].max(initial=0.0) < MIN_MASS:
        raise InputError(
            'URDF', 'no moving link has a mass; the fit begins with the masses of the URDF: give '
            'each link an <inertial> of about the right size'
        )
    for joint in model.joints_of_several_axes:
        raise IdentificationError(
            f'joint {joint!r} has several coordinates; only robots with a fixed base and joints '
            'of one axis can be identified'
        )
