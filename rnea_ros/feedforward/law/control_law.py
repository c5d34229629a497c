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

To all but ``feedback`` is added what joints lose, -J^T f for what pushes on the robot, and the
inertia of rotors where accelerations count; what the hardware compensates is taken off.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
import enum
import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from .friction import JointFriction, VelocitySource
from .loaded_model import LoadedModel

Motion: TypeAlias = tuple[Array, Array, Array]


class Mode(enum.Enum):
    """What is commanded."""

    GRAVITY = 'gravity'
    FEEDFORWARD = 'feedforward'
    COMPUTED_TORQUE = 'computed_torque'
    FEEDBACK = 'feedback'
    GRAVITY_FEEDBACK = 'gravity_feedback'


@dataclass(frozen=True)
class Terms:
    """
    The wanted effort's parts, each of shape (n,); their sum is the wanted effort.

    :param gravity: less what the hardware compensates of it
    :param coriolis: Coriolis and centrifugal efforts
    :param inertia: for the wanted acceleration, rotors included
    :param friction: what joints lose
    :param external: -J^T f, against what pushes on the robot
    :param feedback: for position and velocity errors
    :param trajectory: what the wanted motion itself asks for; whoever samples it adds this
    """

    gravity: Array
    coriolis: Array
    inertia: Array
    friction: Array
    external: Array
    feedback: Array
    trajectory: Array

    def total(self) -> Array:
        """Return the wanted effort, shape (n,)."""
        parts = np.array([getattr(self, part.name) for part in fields(self)])
        return np.asarray(parts.sum(axis=0))

    def of(self, joints: NDArray[np.intp]) -> Terms:
        """Return the parts of some joints."""
        return Terms(*(getattr(self, part.name)[joints] for part in fields(self)))


class ControlLaw:
    """
    Computes wanted efforts; arrays are of shape (n,) in the order of the model's joints.

    :param robot: the robot with what it carries
    :param kp: proportional gains
    :param kd: derivative gains
    :param compensate_coriolis: whether ``gravity`` includes Coriolis and centrifugal efforts
    :param friction: of the joints
    :param friction_velocity: which velocity friction is computed from
    """

    def __init__(
        self,
        robot: LoadedModel,
        kp: Array,
        kd: Array,
        *,
        compensate_coriolis: bool = False,
        friction: JointFriction | None = None,
        friction_velocity: VelocitySource = VelocitySource.MEASURED,
    ) -> None:
        n = robot.model.nv
        self._robot = robot
        self._continuous = robot.model.continuous
        self._any_continuous = bool(self._continuous.any())
        self._coriolis = compensate_coriolis
        self._friction = friction or JointFriction.none(n)
        self._friction_velocity = friction_velocity
        self.kp, self.kd = kp, kd
        self._has_friction = self._friction.has_friction
        self._has_armature = self._friction.has_armature
        self._still = np.zeros(n)
        self._error = np.zeros(n)
        self._error_rate = np.zeros(n)
        self._feedback = np.zeros(n)
        self._acceleration = np.zeros(n)
        self._total = np.zeros(n)

    def gravity(self, q: Array) -> Array:
        """
        Return the efforts that hold the robot, less what the hardware compensates.

        Overwritten by the next call.

        :param q: joint positions, rad or m
        """
        self._total[:] = self._robot.gravity(q)
        return self._less_compensated(q)

    def effort(
        self,
        mode: Mode,
        q: Array,
        qd: Array,
        wanted: Motion | None,
        external: Array | None = None,
    ) -> Array:
        """
        Return the wanted effort; overwritten by the next call.

        :param mode: the control law
        :param q: measured positions, rad or m
        :param qd: measured velocities, rad/s or m/s
        :param wanted: position, velocity and acceleration, or None where nothing is wanted
        :param external: -J^T f for what pushes on the robot, None for nothing
        """
        robot, total = self._robot, self._total
        if mode is Mode.GRAVITY:
            wanted = None
        if wanted is None:
            total[:] = robot.bias(q, qd) if self._coriolis else robot.gravity(q)
        else:
            q_d, qd_d, qdd_d = wanted
            feedback = self._feedback_of(q, qd, q_d, qd_d)
            if mode is Mode.FEEDBACK:
                return feedback
            if mode is Mode.COMPUTED_TORQUE:
                np.add(qdd_d, feedback, out=self._acceleration)
                total[:] = robot.inverse_dynamics(q, qd, self._acceleration)
            elif mode is Mode.FEEDFORWARD:
                total[:] = robot.inverse_dynamics(q_d, qd_d, qdd_d)
            else:
                total[:] = robot.gravity(q)
        if self._has_friction:
            total += self._friction.friction(self._friction_at(qd, wanted), total)
        if wanted is not None:
            if mode is Mode.COMPUTED_TORQUE:
                total += self._friction.armature * self._acceleration
            else:
                total += feedback
                if mode is Mode.FEEDFORWARD:
                    total += self._friction.armature * qdd_d
        if external is not None:
            total += external
        return self._less_compensated(q)

    def terms(
        self,
        mode: Mode,
        q: Array,
        qd: Array,
        wanted: Motion | None,
        external: Array | None = None,
    ) -> Terms:
        """Return the parts of :meth:`effort`; allocates, so only made while somebody looks."""
        robot, armature, zero = self._robot, self._friction.armature, self._still
        inertia = feedback = in_acceleration = zero
        at = (q, qd)
        if mode is Mode.GRAVITY:
            wanted = None
        if wanted is not None:
            q_d, qd_d, qdd_d = wanted
            feedback = self._feedback_of(q, qd, q_d, qd_d).copy()
            if mode is Mode.FEEDBACK:
                return Terms(zero, zero, zero, zero, zero, feedback, zero)
            if mode is Mode.FEEDFORWARD:
                at = (q_d, qd_d)
        gravity, bias = robot.gravity(at[0]).copy(), robot.bias(*at).copy()
        coriolis = bias - gravity
        if not (self._coriolis if wanted is None else mode is not Mode.GRAVITY_FEEDBACK):
            coriolis = zero
        if wanted is not None and mode in (Mode.FEEDFORWARD, Mode.COMPUTED_TORQUE):
            inertia = robot.inverse_dynamics(*at, qdd_d) - bias
            if mode is Mode.COMPUTED_TORQUE:
                in_acceleration = robot.inverse_dynamics(*at, feedback) - bias
        carried = gravity + coriolis + inertia + in_acceleration
        friction = self._friction.friction(self._friction_at(qd, wanted), carried)
        if wanted is not None and mode in (Mode.FEEDFORWARD, Mode.COMPUTED_TORQUE):
            inertia = inertia + armature * qdd_d
            if mode is Mode.COMPUTED_TORQUE:
                feedback = in_acceleration + armature * feedback
        compensated = robot.compensated(q)
        if compensated is not None:
            gravity -= compensated
        pushed = zero if external is None else external.copy()
        return Terms(gravity, coriolis, inertia, friction, pushed, feedback, zero)

    def _friction_at(self, qd: Array, wanted: Motion | None) -> Array:
        """Return the velocity that friction is computed from."""
        if self._friction_velocity is VelocitySource.MEASURED:
            return qd
        return self._still if wanted is None else wanted[1]

    def _less_compensated(self, q: Array) -> Array:
        compensated = self._robot.compensated(q)
        if compensated is not None:
            self._total -= compensated
        return self._total

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
