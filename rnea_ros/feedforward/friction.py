# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Joint friction.

::

    tau_f = B qd + s(qd) (C + k |load|) + o,   s(qd) = tanh(qd / v_s)

The offset o is not friction: it is what a joint's effort lacks or has too much at any velocity,
such as the offset of its sensor. B and C may differ between the two directions. The function s
replaces the sign of the velocity: near zero the Coulomb friction has a slope instead of a step, so
noise on a velocity of zero does not become noise of the full Coulomb friction.
"""

from __future__ import annotations

from dataclasses import dataclass
import enum

import numpy as np

from ..arrays import Array


class FrictionModel(enum.Enum):
    """Source of the friction parameters."""

    NONE = 'none'
    URDF = 'urdf'
    PARAMETERS = 'parameters'


class VelocitySource(enum.Enum):
    """Velocity for the friction model."""

    MEASURED = 'measured'
    DESIRED = 'desired'


@dataclass(frozen=True)
class JointFriction:
    """
    Friction of n joints, rotary or prismatic.

    :param viscous: B in positive and in negative direction, shape (2, n), N m s/rad or N s/m
    :param coulomb: C in positive and in negative direction, shape (2, n), N m or N
    :param load: k, Coulomb friction per N m or N of joint load, shape (n,)
    :param smoothing_velocity: v_s, shape (n,), rad/s or m/s
    :param offset: o, shape (n,), N m or N
    """

    viscous: Array
    coulomb: Array
    load: Array
    smoothing_velocity: Array
    offset: Array

    @classmethod
    def none(cls, n: int) -> JointFriction:
        """Return joints without friction."""
        return cls(np.zeros((2, n)), np.zeros((2, n)), np.zeros(n), np.ones(n), np.zeros(n))

    @property
    def has_friction(self) -> bool:
        """Whether any joint has friction or an offset."""
        return any(part.any() for part in (self.viscous, self.coulomb, self.load, self.offset))

    def friction(self, qd: Array, load: Array) -> Array:
        """Return tau_f, with the offsets, for the loads that the joints carry; shape (n,)."""
        forwards, backwards = np.maximum(qd, 0.0), np.minimum(qd, 0.0)
        sign = np.tanh(qd / self.smoothing_velocity)
        of_load = self.load * np.abs(load)
        efforts: Array = self.viscous[0] * forwards + self.viscous[1] * backwards
        efforts += (self.coulomb[0] + of_load) * np.maximum(sign, 0.0)
        efforts += (self.coulomb[1] + of_load) * np.minimum(sign, 0.0)
        efforts += self.offset
        return efforts
