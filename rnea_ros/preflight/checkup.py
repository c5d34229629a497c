# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""From a recording and a model to the judgement: the steps in their order."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

import numpy as np

from ..recordings import Kind, Recording, RecordingError, clean, match_joints, take_samples
from ..robot import RobotModel
from .assessment import Assessment
from .causes import find_causes, verdict
from .columns import Prediction
from .dead_efforts import constant_efforts, no_effort
from .findings import Finding, Verdict
from .report import report


@dataclass(frozen=True)
class Checkup:
    """
    The judgement of a model by a recording.

    :param assessment: its figures
    :param findings: what was found
    :param verdict: whether the model may be used
    """

    assessment: Assessment
    findings: tuple[Finding, ...]
    verdict: Verdict

    def report(self) -> str:
        """Return it as text."""
        return report(self.assessment, list(self.findings), self.verdict)


def check(
    model: RobotModel,
    recording: Recording,
    joints: Mapping[str, str] | None = None,
    kind: Kind | None = None,
) -> Checkup:
    """
    Judge a model by a recording of its robot.

    Joints of the model that are not recorded, as those of a gripper, are taken to rest at zero.

    :param model: the robot's model
    :param recording: joint states with efforts
    :param joints: recorded joint names by the model's, where they are not found by themselves
    :param kind: what to compare; None for still poses where there are enough, else the motion
    :raises RecordingError: the recording has not what is needed
    """
    names = match_joints(model.joint_names, recording.names, joints)
    recorded = recording.of_joints(list(names.values()))
    silent = [
        name
        for name, effort in zip(recorded.names, recorded.effort.T, strict=True)
        if not np.isfinite(effort).any()
    ]
    absent = [name for name in model.joint_names if name not in names]
    notes = [f'without an effort, not compared: {", ".join(silent)}'] if silent else []
    notes += [f'not recorded, taken to rest at zero: {", ".join(absent)}'] if absent else []
    samples = take_samples(clean(recorded.part(slice(None), *notes)), kind)
    silent_joints, compared = _split(names, silent)
    prediction = Prediction(model, compared, samples, moved=silent_joints)
    if not np.isfinite(prediction.rigid).all():
        raise RecordingError('positions are so large that the model has no finite effort')
    constant = constant_efforts(recorded)
    findings = no_effort(prediction, constant)
    _, alive = _split(compared, constant)
    if alive:
        moved, _ = _split(names, {*silent, *constant})
        prediction = Prediction(model, alive, samples, moved=moved)
    assessment = Assessment(prediction)
    findings += find_causes(assessment) if alive else []
    return Checkup(assessment, tuple(findings), verdict(assessment, findings))


def _split(
    names: Mapping[str, str], recorded: Container[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return joints whose recorded name is among some, and the others."""
    return (
        {name: other for name, other in names.items() if other in recorded},
        {name: other for name, other in names.items() if other not in recorded},
    )
