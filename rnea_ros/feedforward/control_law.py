# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The control laws: which effort a mode wants at a measured state for a wanted motion.

With e = q_d - q and e' = qd_d - qd:

===================  ============================================================
gravity              g(q), with C(q, qd) qd where asked
feedforward          ID(q_d, qd_d, qdd_d) + Kp e + Kd e'
computed_torque      ID(q, qd, qdd_d + Kp e + Kd e')
feedback             Kp e + Kd e'
gravity_feedback     g(q) + Kp e + Kd e'
===================  ============================================================

In computed_torque the gains are accelerations (1/s^2, 1/s), which the mass matrix turns into
efforts; elsewhere they are efforts (N m/rad, N m s/rad). While nothing is wanted, every mode is
``gravity``.
"""

from __future__ import annotations

from dataclasses import dataclass
import enum
import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..robot import RobotModel

Array: TypeAlias = NDArray[np.float64]


class Mode(enum.Enum):
    """What is commanded."""

    GRAVITY = 'gravity'
    FEEDFORWARD = 'feedforward'
    COMPUTED_TORQUE = 'computed_torque'
    FEEDBACK = 'feedback'
    GRAVITY_FEEDBACK = 'gravity_feedback'


@dataclass(frozen=True)
class Terms:
    """The wanted effort's parts, each of shape (n,); their sum is the wanted effort."""

    gravity: Array
    coriolis: Array
    inertia: Array
    feedback: Array


class ControlLaw:
    """
    Computes wanted efforts; arrays are of shape (n,) in the order of the model's joints.

    :param model: the robot
    :param kp: proportional gains
    :param kd: derivative gains
    :param compensate_coriolis: whether ``gravity`` includes Coriolis and centrifugal efforts
    """

    def __init__(
        self, model: RobotModel, kp: Array, kd: Array, *, compensate_coriolis: bool = False
    ) -> None:
        n = model.nv
        self._workspace = model.workspace()
        self._continuous = model.continuous
        self._any_continuous = bool(self._continuous.any())
        self._coriolis = compensate_coriolis
        self.kp, self.kd = kp, kd
        self._still = np.zeros(n)
        self._error = np.zeros(n)
        self._error_rate = np.zeros(n)
        self._feedback = np.zeros(n)
        self._acceleration = np.zeros(n)
        self._wanted = np.zeros(n)

    def gravity(self, q: Array) -> Array:
        """
        Return g(q); overwritten by the next call.

        :param q: joint positions, rad or m
        """
        return self._workspace.gravity_torques(q)

    def effort(
        self, mode: Mode, q: Array, qd: Array, wanted: tuple[Array, Array, Array] | None
    ) -> Array:
        """
        Return the wanted effort; overwritten by the next call.

        :param mode: the control law
        :param q: measured positions, rad or m
        :param qd: measured velocities, rad/s or m/s
        :param wanted: position, velocity and acceleration, or None where nothing is wanted
        """
        ws = self._workspace
        if wanted is None or mode is Mode.GRAVITY:
            return ws.bias_torques(q, qd) if self._coriolis else ws.gravity_torques(q)
        q_d, qd_d, qdd_d = wanted
        feedback = self._feedback_of(q, qd, q_d, qd_d)
        if mode is Mode.COMPUTED_TORQUE:
            np.add(qdd_d, feedback, out=self._acceleration)
            return ws.inverse_dynamics(q, qd, self._acceleration)
        if mode is Mode.FEEDFORWARD:
            return np.add(ws.inverse_dynamics(q_d, qd_d, qdd_d), feedback, out=self._wanted)
        if mode is Mode.GRAVITY_FEEDBACK:
            return np.add(ws.gravity_torques(q), feedback, out=self._wanted)
        return feedback

    def terms(
        self, mode: Mode, q: Array, qd: Array, wanted: tuple[Array, Array, Array] | None
    ) -> Terms:
        """Return the parts of :meth:`effort`; allocates, so only made while somebody looks."""
        zero = self._still
        if wanted is None or mode is Mode.GRAVITY:
            gravity = self._gravity_at(q)
            coriolis = self._bias_at(q, qd) - gravity if self._coriolis else zero
            return Terms(gravity, coriolis, zero, zero)
        q_d, qd_d, qdd_d = wanted
        feedback = self._feedback_of(q, qd, q_d, qd_d).copy()
        if mode is Mode.FEEDBACK:
            return Terms(zero, zero, zero, feedback)
        if mode is Mode.GRAVITY_FEEDBACK:
            return Terms(self._gravity_at(q), zero, zero, feedback)
        if mode is Mode.FEEDFORWARD:
            q, qd = q_d, qd_d
        gravity, bias = self._gravity_at(q), self._bias_at(q, qd)
        inertia = self._workspace.inverse_dynamics(q, qd, qdd_d) - bias
        if mode is Mode.COMPUTED_TORQUE:
            feedback = self._workspace.inverse_dynamics(q, qd, feedback) - bias
        return Terms(gravity, bias - gravity, inertia, feedback)

    def _gravity_at(self, q: Array) -> Array:
        return self._workspace.gravity_torques(q).copy()

    def _bias_at(self, q: Array, qd: Array) -> Array:
        return self._workspace.bias_torques(q, qd).copy()

    def _feedback_of(self, q: Array, qd: Array, q_d: Array, qd_d: Array) -> Array:
        """Return Kp e + Kd e', with the shortest way round on continuous joints."""
        np.subtract(q_d, q, out=self._error)
        if self._any_continuous:
            turned = self._error[self._continuous]
            self._error[self._continuous] = np.remainder(turned + math.pi, math.tau) - math.pi
        np.subtract(qd_d, qd, out=self._error_rate)
        np.multiply(self.kp, self._error, out=self._feedback)
        self._feedback += self.kd * self._error_rate
        return self._feedback
