# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Poses joined by straight lines between joint positions, at rest at each pose."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise

import numpy as np

from ..arrays import Array
from ..identification.excitation import RestToRestMotion
from .demonstration import TeachError
from .timing import ROUNDING, MotionLimits

SAME = 0.005  # poses are equal if no joint differs by more, rad or m


def distinct(poses: Sequence[Array]) -> list[Array]:
    """Return poses, shape (n,) each, without repetitions; fewer than two raise a TeachError."""
    kept: list[Array] = []
    for pose in poses:
        if not kept or np.abs(pose - kept[-1]).max() > SAME:
            kept.append(pose)
    if len(kept) < 2:
        raise TeachError(
            f'{len(poses)} waypoints, {len(kept)} of them different: a motion needs two or more; '
            'move the robot, then press Enter'
        )
    return kept


def through(
    joint_names: tuple[str, ...], poses: Sequence[Array], limits: MotionLimits
) -> RestToRestMotion:
    """
    Return the fastest motion through two or more different poses, by quintics from rest to rest.

    :raises TeachError: a pose beyond the position limits, or gravity needs more effort than there
        is
    """
    inside = np.clip(poses, *limits.range_of(joint_names, np.array(poses), SAME))
    ways = [_way(joint_names, start, end, limits) for start, end in pairwise(inside)]
    return reduce(lambda motion, way: way.after(motion), ways)


def _way(
    joint_names: tuple[str, ...], start: Array, end: Array, limits: MotionLimits
) -> RestToRestMotion:
    rest = np.zeros((2, len(start)))
    way = RestToRestMotion(joint_names, np.array([0.0, 1.0]), np.vstack((start, end)), rest, rest)
    return way.slowed(1.0 / (limits.bound(way).stretch + ROUNDING))
