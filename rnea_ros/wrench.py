# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A force and a torque with their frame named, so that no order of six numbers can be mistaken."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Wrench:
    """
    What the environment exerts on the robot at one link.

    :param force: shape (3,), N
    :param torque: shape (3,), N m
    :param frame: the link in whose coordinates force, torque and point are given; by default the
        link that the wrench is given for
    :param point: where the force acts, shape (3,), m, in that frame; by default its origin
    """

    force: ArrayLike = (0.0, 0.0, 0.0)
    torque: ArrayLike = (0.0, 0.0, 0.0)
    frame: str | None = None
    point: ArrayLike = (0.0, 0.0, 0.0)
