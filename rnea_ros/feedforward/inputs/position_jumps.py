# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Positions that no joint can have reached since its last valid sample.

The further back that sample lies, the further a joint may have moved: lost samples are no jump.
But a jump that stays where it is does not become true by waiting: as long as samples go on from
the position that was refused, rather than from the valid one, they are refused too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, Indices
from ...robot import RobotModel
from ..settings import ResolvedSettings
from .joint_table import FOREVER

ALLOWANCE = 0.01
"""How far a position may move in no time, rad or m: coarse encoders have steps of 0.006 rad."""

MEMORY = 2.0
"""
A position is no measure any more once it is older than so many timeouts.

By then a control has ended over it; one that waits for joint states takes them as they come.
"""


def shortest(way: Array, continuous: NDArray[np.bool_]) -> Array:
    """
    Return ways between positions, without whole turns where a joint turns without end.

    :param way: differences of positions, shape (k,), rad or m
    :param continuous: which joints turn without end, shape (k,)
    """
    if not continuous.any():
        return way
    with np.errstate(invalid='ignore'):  # numpy 1.21 warns of NaN here
        turned = np.remainder(way + np.pi, 2.0 * np.pi) - np.pi
    return np.where(continuous, turned, way)


class PositionJumps:
    """
    Compares positions with the last valid ones.

    :param speeds: how fast each joint can be believed to move, shape (n,), rad/s or m/s; inf
        where its positions are not judged
    :param continuous: which joints turn without end, shape (n,); whole turns are no jump there
    :param timeouts: of the joints' states, shape (n,), s
    :ivar speeds: as given, but 0 where positions are not judged
    :ivar allowances: how far a position may move in no time, shape (n,), rad or m
    :ivar any_refused: whether a position was refused and no valid one of its joint came since
    """

    def __init__(self, speeds: Array, continuous: NDArray[np.bool_], timeouts: Array) -> None:
        judged = np.isfinite(speeds)
        self.speeds = np.where(judged, speeds, 0.0)
        self.allowances = np.where(judged, ALLOWANCE, np.inf)
        self._continuous = continuous
        self._memory = MEMORY * timeouts
        self._refused = np.full(speeds.shape, np.nan)
        self.any_refused = False

    @classmethod
    def unjudged(cls, n: int) -> PositionJumps:
        """Return a check that lets every position pass."""
        return cls(np.full(n, np.inf), np.zeros(n, dtype=bool), np.zeros(n))

    @classmethod
    def of_robot(cls, model: RobotModel, settings: ResolvedSettings) -> PositionJumps:
        """Return the check of a robot's joints, by the velocity limits of its URDF."""
        margin, limits = settings.settings.velocity_limit_factor, model.velocity_limits
        # Many URDFs have a limit of 0 where nobody knew it.
        judged = (limits > 0.0) & (margin > 0.0)
        speeds = np.where(judged, limits, np.inf) * max(margin, 1.0)
        timeouts = np.full(model.nv, settings.uncommanded_timeout)
        timeouts[settings.in_model] = settings.joint_states_timeout
        return cls(speeds, model.continuous, timeouts)

    def check(
        self, joints: Indices, q: Array, valid: Array, velocity: Array, elapsed: Array
    ) -> bool:
        """
        Return whether some joint jumped, and remember where to; arrays are of shape (k,).

        :param joints: numbers of the sample's joints
        :param q: their positions, rad or m
        :param valid: their last valid positions, NaN where there is none
        :param velocity: measured there, rad/s or m/s
        :param elapsed: time since then, s
        """
        elapsed = np.clip(elapsed, 0.0, FOREVER)
        continuous = self._continuous[joints]
        way = shortest(q - valid, continuous)
        reach = self.speeds[joints] * elapsed + self.allowances[joints]
        jumped = np.abs(way) > reach
        expected = np.clip(velocity * elapsed, -reach, reach)
        from_valid = np.abs(shortest(way - expected, continuous))
        from_refused = np.abs(shortest(q - self._refused[joints], continuous))
        jumped |= from_refused < from_valid
        jumped &= elapsed <= self._memory[joints]
        self._refused[joints] = np.where(jumped, q, np.nan)
        self.any_refused = bool(np.isfinite(self._refused).any())
        return bool(jumped.any())
