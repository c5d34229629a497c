# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Distances of a robot's links from each other and from walls, by MuJoCo; no ROS."""

from .model import REACH, CollisionModel, CollisionsNotCheckedError, Nearest, Wall, collision_model

__all__ = [
    'REACH', 'CollisionModel', 'CollisionsNotCheckedError', 'Nearest', 'Wall', 'collision_model'
]
