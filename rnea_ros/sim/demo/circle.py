# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The circle of identification: excite, record, identify, write, start again with the result."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...arrays import Array
from .arm import Arm
from .client import positions
from .motion import Motion
from .phase import Phase
from .robot import POOR_MODEL, realistic
from .session import Session

HOLD = 1.0
"""Duration of holding the arm by gravity compensation, s: with a poor model it falls."""

SEED = 1
"""Seed of the differences between robot and model."""

TOLERANCE = 0.15
"""Tolerance of the start pose, rad or m: with a poor model the arm stays away from it."""

NEEDED_TRACKING_GAIN, NEEDED_DRIFT_GAIN = 5.0, 10.0
"""Required ratios of RMS error and drift, before to after."""


@dataclass(frozen=True)
class Performance:
    """
    Performance of the control with one model.

    :param held: times and deviations of the joints under gravity compensation, shapes (N,), s, and
        (N, m), rad or m
    :param phase: the motion under computed torque
    """

    held: tuple[Array, Array]
    phase: Phase

    @property
    def drift(self) -> float:
        """Greatest deviation under gravity compensation, rad or m."""
        return float(np.abs(self.held[1]).max())


class Circle:
    """
    One run of the circle.

    :param arm: arm of the node's first model
    :param motion: motion to follow before and after
    :param rate: control rate, Hz
    :param output: directory of URDF, parameters, picture and logs
    :param show: whether to open a window with the picture
    """

    def __init__(
        self, arm: Arm, motion: Motion, rate: float, output: Path, *, show: bool = False
    ) -> None:
        self._arm = arm
        self._motion = motion
        self._rate = rate
        self._output = output
        self._show = show
        self._robot = realistic(arm.urdf, arm.model, arm.joints, POOR_MODEL, SEED)

    def run(self) -> int:
        """Run the circle; return the exit code."""
        print(f'{self._robot.difference} Time is simulated.')
        with Session.started(
            self._arm, self._robot, self._output / 'before', self._rate,
            tolerance=TOLERANCE, lockstep=True,
        ) as session:
            before = self._measure(session, 'before')
        print(before.drift, before.phase.rms(), before.phase.peak())
        return 0

    def _measure(self, session: Session, title: str) -> Performance:
        """Follow the motion, then hold; the arm may fall, so nothing comes after it."""
        phase = session.follow(self._motion, title)
        session.return_to_start()
        stamps, measured = positions(session.hold(HOLD).states, self._arm.joints)
        during = stamps <= stamps[0] + HOLD
        return Performance(
            (stamps[during] - stamps[0], measured[during] - measured[0]), phase
        )
