# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Bounds of measured joint states, and the joints that affect the commands.

A joint without a URDF limit is not checked against it. A joint that no commanded joint carries,
and that carries no commanded joint, such as the other arm, has no effect on the commands.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..dynamics.kernels import BASE
from ..dynamics.tree import KinematicTree
from ..robot import RobotModel
from .settings import ResolvedSettings

COMMANDED, UNCOMMANDED, UNRELATED = range(3)
"""Roles of a joint; an unrelated one does not change the efforts of the commanded joints."""

JUMP_TOLERANCE = 0.01  # permitted step of a position, rad or m: encoders have steps of 0.006 rad

# Permitted excess of a velocity over the maximum plausible speed, rad/s or m/s. A coarse encoder's
# step of 0.006 rad, differentiated at 100 Hz, is 0.6 rad/s of noise: faster than slow joints.
VELOCITY_TOLERANCE = 1.0

# Timeouts, plus ``hold_duration``, after which the last valid position is forgotten: by then the
# control has ended. A control that waits for joint states then accepts new positions.
FORGET_TIMEOUTS = 2.0

MAX_JOINT_VALUE = 1e6  # greatest position and velocity of any joint, rad or m, rad/s or m/s
EFFORT_FACTOR = 2.0  # permitted multiple of the URDF's effort limit, or of ``effort_limits``

(
    ROLE, CONTINUOUS, MAX_SPEED, MAX_STEP, MAX_MEASURED_VELOCITY, LOWER, UPPER, FORGET_AFTER,
    MAX_EFFORT, SCALE,
) = range(10)
"""
Rows of the bounds. MAX_SPEED: maximum plausible speed; MAX_STEP: permitted step of a position;
FORGET_AFTER: age at which the last valid position no longer counts, s; SCALE: N m or N per unit of
a sample's efforts.
"""


@dataclass(frozen=True)
class JointBounds:
    """The bounds of n joints: ``table`` has a row per bound, as above, shape (rows, n)."""

    table: Array

    @classmethod
    def none(cls, n: int) -> JointBounds:
        """Return the bounds of n commanded joints that may measure any finite number."""
        return cls.of_speeds(np.full(n, np.inf))

    @classmethod
    def of_speeds(
        cls, speeds: Array, continuous: NDArray[np.bool_] | bool = False,
        timeouts: Array | float = np.inf, hold_duration: float = 0.0,
    ) -> JointBounds:
        """
        Return bounds of speed alone.

        :param speeds: maximum plausible speeds, shape (n,), rad/s or m/s; inf for no check
        :param continuous: which joints may jump by whole turns, shape (n,)
        :param timeouts: timeouts of the joints' states, s; after it, ``hold_duration`` begins
        """
        table, checked = np.zeros((SCALE + 1, speeds.size)), np.isfinite(speeds)
        table[LOWER], table[[UPPER, MAX_EFFORT]], table[SCALE] = -np.inf, np.inf, 1.0
        table[CONTINUOUS] = continuous
        table[MAX_SPEED] = np.where(checked, speeds, 0.0)
        table[MAX_STEP] = np.where(checked, JUMP_TOLERANCE, np.inf)
        table[MAX_MEASURED_VELOCITY] = speeds + VELOCITY_TOLERANCE
        table[FORGET_AFTER] = FORGET_TIMEOUTS * np.asarray(timeouts) + hold_duration
        return cls(table)

    @classmethod
    def of_robot(cls, model: RobotModel, settings: ResolvedSettings) -> JointBounds:
        """Return the bounds of a robot's joints, from the limits of its URDF."""
        factor, limits = settings.velocity_limit_factor, model.velocity_limits
        # Many URDFs have a limit of 0 for an unknown limit.
        checked = (limits > 0.0) & (factor > 0.0)
        bounds = cls.of_speeds(
            np.where(checked, limits, np.inf) * max(factor, 1.0), model.continuous,
            settings.joint_states_timeout, settings.hold_duration,
        )
        table, commanded = bounds.table, settings.joint_indices
        table[MAX_MEASURED_VELOCITY] = np.minimum(table[MAX_MEASURED_VELOCITY], MAX_JOINT_VALUE)
        lower, upper = model.position_lower, model.position_upper
        # Zeros and limits of URDFs may be off, but hardly by more than the joint's whole range.
        limited = np.isfinite(upper - lower) & (upper > lower) & ~model.continuous
        span = np.where(limited, upper - lower, 0.0)
        table[LOWER] = np.where(limited, lower - span, -MAX_JOINT_VALUE)
        table[UPPER] = np.where(limited, upper + span, MAX_JOINT_VALUE)
        urdf_limits = np.nan_to_num(model.effort_limits[commanded], posinf=0.0)
        largest = np.maximum(urdf_limits, settings.effort_limits)
        table[MAX_EFFORT, commanded] = EFFORT_FACTOR * largest
        table[SCALE] = settings.effort_scale
        table[ROLE] = _roles(model.tree, commanded)
        return bounds


def _roles(tree: KinematicTree, commanded: NDArray[np.intp]) -> Array:
    """Return the roles of all joints; joints on one chain with a commanded one are related."""
    roles = np.full(tree.nv, float(UNRELATED))
    moved_by: list[set[int]] = [set()]
    for record in tree.bodies[BASE + 1 :]:
        first, size = int(record['qd_index']), int(record['qd_size'])
        moved_by.append(moved_by[record['parent']] | set(range(first, first + size)))
    for joints in moved_by:
        if not joints.isdisjoint(commanded.tolist()):
            roles[list(joints)] = UNCOMMANDED
    roles[commanded] = COMMANDED
    return roles
