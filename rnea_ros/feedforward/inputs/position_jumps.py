# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Rejection of positions that a joint cannot have reached since its last valid sample.

Velocities beyond the maximum plausible speed are rejected by :func:`.judge_sample`.
After lost samples a joint may have moved further: the permitted distance grows with the time. A
jump stays rejected all the same: samples that are nearer to the rejected position than to the
expected one are rejected too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, Indices
from ...robot import RobotModel
from ..angles import shortest
from ..settings import ResolvedSettings
from .joint_table import FOREVER

ALLOWANCE = 0.01
"""Permitted step of a position, rad or m: coarse encoders have steps of 0.006 rad."""

VELOCITY_ALLOWANCE = 1.0
"""
Permitted excess of a velocity over the maximum plausible speed, rad/s or m/s.

A coarse encoder's step of 0.006 rad, differentiated at 100 Hz, is 0.6 rad/s of noise: more than
the speed of slow joints.
"""

MEMORY = 2.0
"""
Number of timeouts, after ``hold_duration``, until the last valid position no longer counts.

By then the control has ended. A control that waits for joint states then accepts new positions.
"""


MIN_PERSISTENT = 3
"""Number of rejected positions in a row that are not a glitch."""


class PositionJumps:
    """
    Compares positions with the last valid ones.

    :param speeds: maximum plausible speeds, shape (n,), rad/s or m/s; inf for no check
    :param continuous: which joints are continuous, shape (n,); they may jump by whole turns
    :param timeouts: timeouts of the joints' states, shape (n,), s
    :param hold_duration: time for which the control may return after a timeout, s
    :ivar speeds: as given, but 0 for joints without a check
    :ivar allowances: permitted steps of positions, shape (n,), rad or m; inf for no check
    :ivar velocity_limits: maximum valid velocities, shape (n,), rad/s or m/s; inf for no check
    :ivar any_rejected: whether a joint's last position was rejected
    """

    def __init__(
        self, speeds: Array, continuous: NDArray[np.bool_], timeouts: Array, hold_duration: float
    ) -> None:
        checked = np.isfinite(speeds)
        self.speeds = np.where(checked, speeds, 0.0)
        self.allowances = np.where(checked, ALLOWANCE, np.inf)
        self.velocity_limits = speeds + VELOCITY_ALLOWANCE
        self._continuous = continuous
        self._memory = MEMORY * timeouts + hold_duration
        self._rejected = np.full(speeds.shape, np.nan)
        self._in_a_row = np.zeros(speeds.shape, dtype=np.intp)
        self.any_rejected = False

    @property
    def persistent(self) -> bool:
        """Whether a joint's last positions were all rejected: more than a glitch."""
        return bool((self._in_a_row >= MIN_PERSISTENT).any())

    @classmethod
    def of_robot(cls, model: RobotModel, settings: ResolvedSettings) -> PositionJumps:
        """Return the check of a robot's joints, with the velocity limits of its URDF."""
        factor, limits = settings.parameters.velocity_limit_factor, model.velocity_limits
        # Many URDFs have a limit of 0 for an unknown limit.
        checked = (limits > 0.0) & (factor > 0.0)
        speeds = np.where(checked, limits, np.inf) * max(factor, 1.0)
        timeouts = np.full(model.nv, settings.uncommanded_timeout)
        timeouts[settings.joint_indices] = settings.joint_states_timeout
        return cls(speeds, model.continuous, timeouts, settings.parameters.hold_duration)

    def check(
        self, joints: Indices, q: Array, valid: Array, velocity: Array, elapsed: Array
    ) -> bool:
        """
        Return whether a joint jumped, and keep its position; arrays have shape (k,).

        :param joints: indices of the sample's joints
        :param q: their positions, rad or m
        :param valid: their last valid positions, rad or m; NaN for none
        :param velocity: their last valid velocities, rad/s or m/s
        :param elapsed: time since the last valid sample, s
        """
        elapsed = np.clip(elapsed, 0.0, FOREVER)
        continuous = self._continuous[joints]
        difference = shortest(q - valid, continuous)
        reach = self.speeds[joints] * elapsed + self.allowances[joints]
        jumped = np.abs(difference) > reach
        expected = np.clip(velocity * elapsed, -reach, reach)
        from_valid = np.abs(shortest(difference - expected, continuous))
        from_rejected = np.abs(shortest(q - self._rejected[joints], continuous))
        jumped |= from_rejected < from_valid
        jumped &= elapsed <= self._memory[joints]
        self._rejected[joints] = np.where(jumped, q, np.nan)
        self._in_a_row[joints] = np.where(jumped, self._in_a_row[joints] + 1, 0)
        self.any_rejected = bool(np.isfinite(self._rejected).any())
        return bool(jumped.any())
