# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The collision model of a tool, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..collision import CollisionModel, CollisionsNotCheckedError, Wall, collision_model
from ..robot import RobotModel


def collisions_of(
    model: RobotModel, urdf: Path, srdf: Path | None, walls: Sequence[Wall],
    links: Sequence[str] = ()
) -> tuple[CollisionModel | None, list[str]]:
    """
    Return the collision model of a URDF; None, and the reason, if collisions cannot be checked.

    :param model: the robot
    :param urdf: path of the URDF
    :param srdf: path of an SRDF
    :param walls: planes that links must not cross
    :param links: links that must not cross them; empty for all
    """
    try:
        return collision_model(model, urdf, srdf, walls, links), []
    except CollisionsNotCheckedError as error:
        return None, [str(error)]
