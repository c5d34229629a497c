# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Pairs of links that may touch: without those that are rigidly connected or adjacent."""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations

from ..urdf import RobotDescription

Pair = tuple[str, str]


def movable_pairs(description: RobotDescription, links: Collection[str]) -> list[Pair]:
    """
    Return the pairs of links that move relative to each other, without adjacent ones.

    Links without shape are skipped: their neighbours are adjacent.
    """
    body = {description.root: description.root}
    above: dict[str, str | None] = {description.root: None}  # next body with shapes, to the root
    for joint in description.joints.values():
        body[joint.child] = joint.child if joint.moves else body[joint.parent]
    has_shape = {body[name] for name in links}
    for joint in description.joints.values():
        if joint.moves:
            parent = body[joint.parent]
            above[joint.child] = parent if parent in has_shape else above[parent]
    found = []
    for one, other in combinations([name for name in body if name in links], 2):
        first, second = body[one], body[other]
        if first != second and above[first] != second and above[second] != first:
            found.append((one, other))
    return found
