# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Default start positions of simulated joints."""

from __future__ import annotations

from collections.abc import Mapping
import math

from ..urdf import Joint

USUAL: Mapping[str, float] = {
    'fer_joint1': 0.0,
    'fer_joint2': -math.pi / 4,
    'fer_joint3': 0.0,
    'fer_joint4': -3 * math.pi / 4,
    'fer_joint5': 0.0,
    'fer_joint6': math.pi / 2,
    'fer_joint7': math.pi / 4,
    'shoulder_pan_joint': 0.0,
    'shoulder_lift_joint': -math.pi / 2,
    'elbow_joint': math.pi / 2,
    'wrist_1_joint': -math.pi / 2,
    'wrist_2_joint': -math.pi / 2,
    'wrist_3_joint': 0.0,
}
"""Usual start positions of the joints of the shipped robots, rad."""


def start_position(joint: Joint) -> float:
    """
    Return the start position of a commanded joint, rad or m.

    It is the usual position if the limits allow it, else the middle of the limits, else zero.
    """
    limits = joint.limits
    usual = USUAL.get(joint.name)
    if usual is not None and is_within(joint, usual):
        return usual
    middle = 0.5 * (limits.lower + limits.upper)
    return middle if math.isfinite(middle) else nearest_to_zero(joint)


def nearest_to_zero(joint: Joint) -> float:
    """Return zero or the limit nearest to it, rad or m: the position of a held joint."""
    return min(max(0.0, joint.limits.lower), joint.limits.upper)


def is_within(joint: Joint, position: float) -> bool:
    """Return whether a position is within a joint's limits."""
    # Some URDFs write equal limits for no limits.
    lower, upper = joint.limits.lower, joint.limits.upper
    return lower >= upper or lower <= position <= upper
