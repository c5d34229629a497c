# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Trajectories whose joint names differ from those of the model in one prefix."""

from __future__ import annotations

from dataclasses import replace

from ..feedforward.trajectory import TrajectoryRequest
from ..recordings import RecordingError, match_joints
from ..robot import RobotModel


def with_model_names(
    model: RobotModel, request: TrajectoryRequest
) -> tuple[TrajectoryRequest, tuple[str, ...]]:
    """
    Return a trajectory with the joint names of a model, and remarks for the report.

    Names without a match stay as they are.

    :param model: model of the robot
    :param request: the trajectory
    """
    try:
        matched = match_joints(model.joint_names, request.joint_names)
    except RecordingError:
        return request, ()
    names = {given: name for name, given in matched.items()}
    renamed = tuple(names.get(name, name) for name in request.joint_names)
    if renamed == request.joint_names:
        return request, ()
    pairs = ', '.join(f'{given} is {name}' for given, name in names.items() if given != name)
    note = f'joint names differ from the URDF ({pairs}); a node with that URDF rejects them'
    return replace(request, joint_names=renamed), (note,)
