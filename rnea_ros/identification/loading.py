# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""From a bag or a recording to a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ..recordings import (
    CUTOFF,
    Recording,
    clean,
    filtered_motion,
    match_joints,
    read_joint_states,
    recording_from,
)
from ..robot import RobotModel
from .run import IdentificationError, Run


def load(
    bag: Path | str,
    model: RobotModel,
    *,
    joints: Mapping[str, str] | None = None,
    topic: str | None = None,
    effort_scale: ArrayLike = 1.0,
    cutoff: float = CUTOFF,
) -> Run:
    """
    Return the run of a bag.

    :param bag: directory of a ROS 2 bag, or a file: ``.db3``, ``.mcap``, or ``.bag`` of ROS 1
    :param model: the robot
    :param joints: recorded joint names by the model's, if automatic matching fails
    :param topic: the recorded topic; None for the only one with joint states
    :param effort_scale: factor of the recorded efforts, one number or one for each model joint
    :param cutoff: of the low-pass filter, Hz
    :raises RneaError: the bag cannot be read, or lacks what is needed
    """
    path = Path(bag)
    recording = recording_from(read_joint_states(path, topic))
    return run_from(
        recording,
        model,
        name=path.name,
        joints=joints,
        effort_scale=effort_scale,
        cutoff=cutoff,
    )


def run_from(
    recording: Recording,
    model: RobotModel,
    *,
    name: str = 'recording',
    joints: Mapping[str, str] | None = None,
    effort_scale: ArrayLike = 1.0,
    cutoff: float = CUTOFF,
) -> Run:
    """
    Return the run of a recording.

    :param recording: joint states with efforts
    :param model: the robot
    :param name: of the recording, for reports
    :param joints: recorded joint names by the model's, if automatic matching fails
    :param effort_scale: factor of the recorded efforts, one number or one for each model joint
    :param cutoff: of the low-pass filter, Hz
    :raises RneaError: the recording lacks what is needed
    """
    check_model(model)
    names = match_joints(model.joint_names, recording.names, joints)
    cleaned = clean(recording.of_joints(list(names.values())))
    motion = filtered_motion(cleaned, cutoff)
    notes = list(cleaned.recording.notes)
    if absent := [joint for joint in model.joint_names if joint not in names]:
        notes.append(f'not recorded, assumed at rest at zero: {", ".join(absent)}')
    rows = [model.velocity_indices(joint).start for joint in names]

    def of_all_joints(values: np.ndarray, missing: float = 0.0) -> np.ndarray:
        expanded = np.full((len(values), model.nv), missing)
        expanded[:, rows] = values
        return expanded

    effort = of_all_joints(motion.effort, np.nan)
    try:
        scale = np.broadcast_to(np.asarray(effort_scale, dtype=np.float64), (model.nv,))
    except ValueError:
        raise IdentificationError(
            f'effort_scale has {np.size(effort_scale)} values; give one, or one for each of '
            f'{model.nv} joints'
        ) from None
    dead = [
        joint
        for joint, row in zip(names, rows, strict=True)
        if not np.isfinite(effort[:, row]).all() or np.ptp(effort[:, row]) == 0.0
    ]
    for joint in dead:
        effort[:, model.velocity_indices(joint)] = np.nan
    if dead:
        notes.append(f'no effort, or a constant one, left out: {", ".join(dead)}')
    return Run(
        name,
        motion.time,
        of_all_joints(motion.position),
        of_all_joints(motion.velocity),
        of_all_joints(motion.acceleration),
        effort * scale,
        motion.segment,
        tuple(notes),
    )


def check_model(model: RobotModel) -> None:
    """
    Check that a model can be identified: a fixed base, and joints with one axis each.

    :raises IdentificationError: another kind of robot
    """
    several = [
        joint
        for joint in model.joint_names
        if (place := model.velocity_indices(joint)).stop - place.start != 1
    ]
    if several:
        raise IdentificationError(
            f'joint {several[0]!r} has several coordinates; only robots with a fixed base and '
            'joints of one axis can be identified'
        )
