# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Where simulated joints start when nobody says so."""

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
"""Where the joints of the shipped robots usually start, rad."""


def start_position(joint: Joint) -> float:
    """
    Return where a commanded joint starts, rad or m.

    That is its usual position where its limits allow that, else the middle of its limits, zero
    where it has none.
    """
    limits = joint.limits
    usual = USUAL.get(joint.name)
    if usual is not None and is_within(joint, usual):
        return usual
    middle = 0.5 * (limits.lower + limits.upper)
    return middle if math.isfinite(middle) else nearest_to_zero(joint)


def nearest_to_zero(joint: Joint) -> float:
    """Return zero, or the limit that is nearest to it, rad or m: where a held joint is."""
    return min(max(0.0, joint.limits.lower), joint.limits.upper)


def is_within(joint: Joint, position: float) -> bool:
    """Tell whether a position is within a joint's limits."""
    # Limits without width are the way of careless files to give none.
    lower, upper = joint.limits.lower, joint.limits.upper
    return lower >= upper or lower <= position <= upper
