# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The arm of the demo: what the node knows about it, and its start pose."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
import warnings

import numpy as np

from ...arrays import Array
from ...errors import UrdfWarning
from ...resources import share_path
from ...robot import RobotModel
from ...urdf import parse_urdf, read_urdf
from ..joint_roles import USUAL, start_position

ROBOTS = ('panda', 'panda_arm', 'ur5e')
"""The robots that come with the package."""


@dataclass(frozen=True)
class DemoArm:
    """
    An arm and its start pose.

    :param urdf: URDF text of the node's model
    :param model: the node's model
    :param joints: names of the commanded joints
    :param pose: their start positions, shape (m,), rad or m
    """

    urdf: str
    model: RobotModel
    joints: tuple[str, ...]
    pose: Array

    @classmethod
    def load(cls, robot: str, urdf: str | None = None) -> DemoArm:
        """
        Return the arm of a URDF.

        :param robot: name of a shipped robot
        :param urdf: path of the URDF of another robot; None for the shipped one
        :raises RneaError: no such file, or no such robot
        """
        text = read_urdf(Path(urdf).resolve() if urdf else share_path(f'urdf/{robot}.urdf'))
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', UrdfWarning)  # the node logs them
            model = RobotModel.from_urdf(text)
        # A hand has its own controller; the joints of the arms have usual positions.
        arm = tuple(name for name in model.joint_names if name in USUAL)
        joints = model.joint_names if urdf else arm
        description = parse_urdf(text)
        pose = np.array([start_position(description.joints[name]) for name in joints])
        return cls(text, model, joints, pose)
