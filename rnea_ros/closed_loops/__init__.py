# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Robots with closed kinematic loops: four-bars, parallelograms, other linkages. No ROS."""

from .closed_loop_model import ClosedLoopModel
from .loop_joint import LoopJoint, LoopJointType

__all__ = ['ClosedLoopModel', 'LoopJoint', 'LoopJointType']
