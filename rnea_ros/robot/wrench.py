# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A force and a torque with their frame named, so that no order of six numbers can be mistaken."""

from __future__ import annotations

from dataclasses import dataclass
import enum

from numpy.typing import ArrayLike


class ReferenceFrame(enum.Enum):
    """
    Frames that no link's name stands for.

    Both are the root link's frame where that link does not move. Under a floating base, ``BASE``
    moves with the root link, and ``WORLD`` is the frame that it floats in.
    """

    BASE = 'base'
    WORLD = 'world'


@dataclass(frozen=True)
class Wrench:
    """
    What the environment exerts on the robot at one link.

    :param force: shape (3,), N
    :param torque: shape (3,), N m
    :param frame: in whose axes force, torque and point are given: a link, or a
        :class:`ReferenceFrame`; by default the link that the wrench is given for
    :param point: where the force acts, shape (3,), m, from the origin of ``frame``; by default
        the origin of the link that the wrench is given for
    """

    force: ArrayLike = (0.0, 0.0, 0.0)
    torque: ArrayLike = (0.0, 0.0, 0.0)
    frame: str | ReferenceFrame | None = None
    point: ArrayLike | None = None
