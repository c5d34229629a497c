# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
What joints lose between motor and link: friction, and the inertia of rotors behind their gears.

::

    tau_f = B qd + s(qd) (C + k |load|),   s(qd) = tanh(qd / v_s)
    tau_r = (armature + rotor_inertia gear_ratio^2) qdd

B and C may differ between the two directions. Near zero velocity the Coulomb part is a slope
instead of a step, so that noise on a velocity of zero makes no noise of its full size.
"""

from __future__ import annotations

from dataclasses import dataclass
import enum

import numpy as np

from ...arrays import Array


class FrictionModel(enum.Enum):
    """Where the friction that is compensated is known from."""

    NONE = 'none'
    URDF = 'urdf'
    PARAMETERS = 'parameters'


class VelocitySource(enum.Enum):
    """Which velocity friction is computed from."""

    MEASURED = 'measured'
    DESIRED = 'desired'


@dataclass(frozen=True)
class JointFriction:
    """
    Losses of joints; arrays of shape (n,), N m and rad or N and m.

    :param viscous: B for motion in the positive direction, and in the negative, shape (2, n)
    :param coulomb: C, the same way, shape (2, n)
    :param load: k, Coulomb friction for each newton metre that the joint carries
    :param smoothing_velocity: v_s, rad/s or m/s
    :param armature: what rotors add to the joints' inertia, kg m^2 or kg
    """

    viscous: Array
    coulomb: Array
    load: Array
    smoothing_velocity: Array
    armature: Array

    @classmethod
    def none(cls, n: int) -> JointFriction:
        """Return the losses of n ideal joints."""
        zero = np.zeros(n)
        return cls(np.zeros((2, n)), np.zeros((2, n)), zero, np.ones(n), zero)

    @property
    def has_friction(self) -> bool:
        """Whether any joint has friction."""
        return bool(self.viscous.any() or self.coulomb.any() or self.load.any())

    @property
    def has_armature(self) -> bool:
        """Whether any joint has a rotor."""
        return bool(self.armature.any())

    def friction(self, qd: Array, load: Array) -> Array:
        """
        Return tau_f, the efforts that friction takes.

        :param qd: joint velocities, shape (n,)
        :param load: the efforts that the joints carry, shape (n,), N m or N
        """
        forwards, backwards = np.maximum(qd, 0.0), np.minimum(qd, 0.0)
        sign = np.tanh(qd / self.smoothing_velocity)
        of_load = self.load * np.abs(load)
        efforts: Array = self.viscous[0] * forwards + self.viscous[1] * backwards
        efforts += (self.coulomb[0] + of_load) * np.maximum(sign, 0.0)
        efforts += (self.coulomb[1] + of_load) * np.minimum(sign, 0.0)
        return efforts
