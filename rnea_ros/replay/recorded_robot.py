# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The recording of a robot as its model sees it: names of the model, and what is not recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array
from ..recordings import (
    CleanRecording,
    Recording,
    Sample,
    clean,
    match_joints,
    recording_from,
)
from ..robot import RobotModel


@dataclass(frozen=True)
class RecordedRobot:
    """
    Joint states of one robot, as they came and as they can be compared.

    :param model: the robot
    :param joints: recorded name of every recorded joint, by the model's name, in its order
    :param samples: as they came, under the model's names; of joints that it lacks under others
    :param recording: the same as arrays of the recorded joints, under the model's names
    :param cleaned: what is left of it that can be compared, with notes of what is not
    """

    model: RobotModel
    joints: Mapping[str, str]
    samples: Sequence[Sample]
    recording: Recording
    cleaned: CleanRecording

    @property
    def absent(self) -> tuple[str, ...]:
        """Joints of the model that are not recorded, as those of a gripper."""
        return tuple(name for name in self.model.joint_names if name not in self.joints)

    @property
    def rest(self) -> Array:
        """Positions of joints that are not recorded: zero, or the limit next to it, shape (n,)."""
        rest: Array = np.clip(0.0, self.model.position_lower, self.model.position_upper)
        return rest

    @property
    def interval(self) -> float:
        """The usual time between two samples, s."""
        return float(np.median(np.diff(self.cleaned.recording.time)))


def recorded_robot(
    model: RobotModel,
    samples: Sequence[Sample],
    joints: Mapping[str, str] | None = None,
    effort_scale: float = 1.0,
) -> RecordedRobot:
    """
    Return a recording with the names of a model.

    :param model: the robot
    :param samples: joint states in the order of their receipt
    :param joints: recorded joint names by the model's, where they are not found by themselves
    :param effort_scale: measured efforts are multiplied by it
    :raises RecordingError: no joint of the model is recorded, none has an effort, or too little is
    """
    recording = recording_from(samples)
    matched = match_joints(model.joint_names, recording.names, joints)
    names = {other: name for name, other in matched.items()}
    renamed: dict[tuple[str, ...], tuple[str, ...]] = {}
    for sample in samples:
        if sample.names not in renamed:
            renamed[sample.names] = tuple(
                names.get(name, f'recorded {name}') for name in sample.names
            )
    recorded = recording.of_joints(list(matched.values()))
    recorded = replace(recorded, names=tuple(matched)).with_scaled_effort(effort_scale)
    return RecordedRobot(
        model,
        matched,
        [
            Sample(
                sample.time,
                renamed[sample.names],
                sample.position,
                sample.velocity,
                [effort_scale * effort for effort in sample.effort],
            )
            for sample in samples
        ],
        recorded,
        clean(recorded),
    )
