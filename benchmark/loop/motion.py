# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The arm's motion and the wrench on it: each command identifies the state that it answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rnea_ros import RobotModel, Wrench

from ..robots import ROOT, Array

URDF = ROOT / 'urdf' / 'panda_arm.urdf'
JOINTS = tuple(f'fer_joint{number}' for number in range(1, 8))
POSE = (0.1, -0.4, 0.2, -1.9, 0.3, 1.7, 0.5)

LINK = 'fer_link7'
"""Link of the wrench; no fixed joint lies between it and the joint that moves it."""

FORCE = (3.0, -2.0, 5.0)
TORQUE = (0.1, 0.2, -0.1)

MOVING_JOINT = 1
"""Index of the moving joint, whose command identifies the state."""

SWEEP = 0.4
"""How far it moves, rad; to and fro within one round."""

STATES = 2000
"""States in a round: commands within this many periods differ."""


@dataclass(frozen=True)
class StateRound:
    """
    A round of states, sent again and again.

    :param urdf: the robot
    """

    urdf: str

    @cached_property
    def positions(self) -> Array:
        """Joint positions of each state, shape (states, 7), rad; no two are the same."""
        half = np.arange(0, STATES, 2)
        slots = np.concatenate([half, half[::-1] + 1])
        positions = np.tile(POSE, (STATES, 1))
        positions[:, MOVING_JOINT] += SWEEP * (slots / STATES - 0.5)
        return positions

    @cached_property
    def efforts(self) -> Array:
        """What gravity control commands in each state, shape (states, 7), N m."""
        model = RobotModel.from_urdf(self.urdf)
        still = np.zeros(len(JOINTS))
        wrench = {LINK: Wrench(FORCE, TORQUE)}
        return np.array([
            model.inverse_dynamics(q, still, still, wrench) for q in self.positions
        ])


def motion() -> StateRound:
    """Return the motion of the Panda arm that is shipped."""
    return StateRound(URDF.read_text(encoding='utf-8'))
