# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A recording with the joint names of the robot's model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array
from ..recordings import Recording, Sample, clean, match_joints, recording_from
from ..robot import RobotModel


@dataclass(frozen=True)
class RecordedRobot:
    """Recorded, cleaned joint states with the model's names; joints without a model get others."""

    model: RobotModel
    joints: Mapping[str, str]  # recorded names by the model's, in its order
    samples: Sequence[Sample]
    recording: Recording  # the samples as arrays, for the model's joints, in their order
    cleaned: Recording  # the usable samples, with notes on the removed ones

    @property
    def absent(self) -> tuple[str, ...]:
        """Names of the model's joints without a recording, as of a gripper."""
        return tuple(name for name in self.model.joint_names if name not in self.joints)

    @property
    def rest(self) -> Array:
        """Positions of joints without a recording: zero or the nearest limit, shape (n,)."""
        rest: Array = np.clip(0.0, self.model.position_lower, self.model.position_upper)
        return rest

    def in_newton_metres(self, effort_scale: Array) -> RecordedRobot:
        """Return it with efforts in N m or N, by scales, shape (n,); ``samples`` stay."""
        scale = effort_scale[[self.model.joint_names.index(name) for name in self.joints]]
        return replace(
            self, recording=self.recording.with_scaled_effort(scale),
            cleaned=self.cleaned.with_scaled_effort(scale)
        )

    @property
    def interval(self) -> float:
        """Median interval of the samples, s."""
        return float(np.median(np.diff(self.cleaned.time)))


def recorded_robot(
    model: RobotModel, samples: Sequence[Sample], joints: Mapping[str, str] | None = None
) -> RecordedRobot:
    """
    Return a recording with the joint names of a model.

    :param samples: joint states in the order of their receipt
    :param joints: recorded joint names by the model's, if automatic matching fails
    :raises RecordingError: no joint of the model, no effort, or too few samples
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
    recorded = replace(recorded, names=tuple(matched))
    samples = [replace(sample, names=renamed[sample.names]) for sample in samples]
    return RecordedRobot(model, matched, samples, recorded, clean(recorded))
