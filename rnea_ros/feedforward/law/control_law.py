# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The control laws: the effort of each mode for a measured state and a reference motion.

With e = q_d - q and e' = qd_d - qd:

===================  ============================================================
gravity              g(q), or g(q) + C(q, qd) qd with ``compensate_coriolis``
feedforward          ID(q_d, qd_d, qdd_d) + Kp e + Kd e'
computed_torque      ID(q, qd, qdd_d + Kp e + Kd e')
feedback             Kp e + Kd e'
gravity_feedback     g(q) + Kp e + Kd e'
===================  ============================================================

In computed_torque, Kp e + Kd e' is an acceleration (gains in 1/s^2 and 1/s), which the mass matrix
turns into an effort. In the other modes it is an effort (gains in N m/rad and N m s/rad). Without
a reference, every mode acts like ``gravity``.

All modes except ``feedback`` add joint friction and -J^T f for external forces f, and subtract the
part of gravity that the hardware compensates. The modes with qdd_d also add A qdd_d, with the
rotors' inertia A at the joints; computed_torque adds A (qdd_d + Kp e + Kd e').
"""

from __future__ import annotations

from dataclasses import dataclass, fields
import enum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...errors import InputError
from ..angles import shortest
from .friction import JointFriction, VelocitySource
from .loaded_model import LoadedModel

Motion: TypeAlias = tuple[Array, Array, Array]
"""Joint positions, velocities and accelerations, each of shape (n,)."""


class Mode(enum.Enum):
    """The control law."""

    GRAVITY = 'gravity'
    FEEDFORWARD = 'feedforward'
    COMPUTED_TORQUE = 'computed_torque'
    FEEDBACK = 'feedback'
    GRAVITY_FEEDBACK = 'gravity_feedback'


@dataclass(frozen=True)
class Terms:
    """
    The terms of an effort, each of shape (n,), N m or N; their sum is the effort.

    :param gravity: without the part that the hardware compensates
    :param coriolis: Coriolis and centrifugal efforts
    :param inertia: efforts for the reference's acceleration, including the rotors
    :param friction: joint friction
    :param external: -J^T f for external forces f
    :param feedback: efforts of the gains for position and velocity errors
    :param trajectory: efforts from the trajectory's own points
    """

    gravity: Array
    coriolis: Array
    inertia: Array
    friction: Array
    external: Array
    feedback: Array
    trajectory: Array

    def total(self) -> Array:
        """Return the sum, shape (n,)."""
        terms = np.array([getattr(self, term.name) for term in fields(self)])
        return np.asarray(terms.sum(axis=0))

    def of(self, joints: NDArray[np.intp]) -> Terms:
        """Return the terms of some joints."""
        return Terms(*(getattr(self, term.name)[joints] for term in fields(self)))


class ControlLaw:
    """
    Computes the efforts of all n joints of the model; arrays have shape (n,), in its order.

    :param robot: the robot with its payloads
    :param kp: proportional gains
    :param kd: derivative gains
    :param compensate_coriolis: whether mode gravity includes Coriolis and centrifugal efforts
    :param friction: joint friction, None for no friction
    :param friction_velocity: velocity for the friction model
    :param armature: rotor inertia at the joints, kg m^2 or kg; None for no rotors
    :ivar holding: effort that holds the robot at the positions of the last call
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
        armature: Array | None = None,
    ) -> None:
        n = robot.model.nv
        self._robot = robot
        self._continuous = robot.model.continuous
        self._any_continuous = bool(self._continuous.any())
        self._coriolis = compensate_coriolis
        self._friction = friction or JointFriction.none(n)
        self._friction_velocity = friction_velocity
        self._armature = np.zeros(n) if armature is None else armature
        self.kp, self.kd = kp, kd
        self._has_friction = self._friction.has_friction
        self.holding = np.zeros(n)
        self._zero = np.zeros(n)
        self._gravity = np.zeros(n)
        self._compensated: Array | None = None
        self._error = np.zeros(n)
        self._error_rate = np.zeros(n)
        self._feedback = np.zeros(n)
        self._acceleration = np.zeros(n)
        self._total = np.zeros(n)

    @property
    def compensated(self) -> Array | None:
        """The part of gravity that the hardware compensates at the last call; None for no part."""
        return self._compensated

    def holding_effort(self, q: Array) -> Array:
        """
        Return g(q) without the part that the hardware compensates; the next call overwrites it.

        :param q: joint positions, rad or m
        """
        self._gravity[:] = self._robot.gravity(q)
        self._compensated = self._robot.compensated(q, self._gravity)
        self.holding[:] = self._gravity
        if self._compensated is not None:
            self.holding -= self._compensated
        return self.holding

    def effort(
        self,
        mode: Mode,
        q: Array,
        qd: Array,
        reference: Motion | None,
        external: Array | None = None,
    ) -> Array:
        """
        Return the effort, and update ``holding``; the next call overwrites both.

        :param mode: the control law
        :param q: measured positions, rad or m
        :param qd: measured velocities, rad/s or m/s
        :param reference: the reference motion, None for none
        :param external: -J^T f for external forces f, None for no force
        """
        self.holding_effort(q)
        robot, total = self._robot, self._total
        if mode is Mode.GRAVITY:
            reference = None
        if reference is None:
            total[:] = robot.bias(q, qd) if self._coriolis else self._gravity
        else:
            q_d, qd_d, qdd_d = reference
            feedback = self._feedback_of(q, qd, q_d, qd_d)  # computed_torque: an acceleration
            if mode is Mode.FEEDBACK:
                return feedback
            if mode is Mode.COMPUTED_TORQUE:
                np.add(qdd_d, feedback, out=self._acceleration)
                total[:] = robot.inverse_dynamics(q, qd, self._acceleration)
            elif mode is Mode.FEEDFORWARD:
                total[:] = robot.inverse_dynamics(q_d, qd_d, qdd_d)
            elif mode is Mode.GRAVITY_FEEDBACK:
                total[:] = self._gravity
            else:
                raise _without_law(mode)
        if self._has_friction:
            total += self._friction.friction(self._velocity_for_friction(qd, reference), total)
        if reference is not None:
            if mode is Mode.COMPUTED_TORQUE:
                total += self._armature * self._acceleration
            else:
                total += feedback
                if mode is Mode.FEEDFORWARD:
                    total += self._armature * qdd_d
        if external is not None:
            total += external
        if self._compensated is not None:
            total -= self._compensated
        return total

    def terms(
        self,
        mode: Mode,
        q: Array,
        qd: Array,
        reference: Motion | None,
        external: Array | None = None,
    ) -> Terms:
        """Return the terms of :meth:`effort`; allocates, so call it only if terms are read."""
        self.holding_effort(q)
        robot, armature, zero = self._robot, self._armature, self._zero
        inertia = feedback = feedback_in_acceleration = zero
        state = (q, qd)
        if mode is Mode.GRAVITY:
            reference = None
        if reference is not None:
            q_d, qd_d, qdd_d = reference
            feedback = self._feedback_of(q, qd, q_d, qd_d).copy()
            if mode is Mode.FEEDBACK:
                return Terms(zero, zero, zero, zero, zero, feedback, zero)
            if mode is Mode.FEEDFORWARD:
                state = (q_d, qd_d)
            elif mode not in (Mode.COMPUTED_TORQUE, Mode.GRAVITY_FEEDBACK):
                raise _without_law(mode)
        gravity, bias = robot.gravity(state[0]).copy(), robot.bias(*state).copy()
        coriolis = bias - gravity
        if not (self._coriolis if reference is None else mode is not Mode.GRAVITY_FEEDBACK):
            coriolis = zero
        uses_acceleration = mode in (Mode.FEEDFORWARD, Mode.COMPUTED_TORQUE)
        if reference is not None and uses_acceleration:
            inertia = robot.inverse_dynamics(*state, qdd_d) - bias
            if mode is Mode.COMPUTED_TORQUE:
                feedback_in_acceleration = robot.inverse_dynamics(*state, feedback) - bias
        load = gravity + coriolis + inertia + feedback_in_acceleration
        friction = self._friction.friction(self._velocity_for_friction(qd, reference), load)
        if reference is not None and uses_acceleration:
            inertia = inertia + armature * qdd_d
            if mode is Mode.COMPUTED_TORQUE:
                feedback = feedback_in_acceleration + armature * feedback
        if self._compensated is not None:
            gravity -= self._compensated
        external_copy = zero if external is None else external.copy()
        return Terms(gravity, coriolis, inertia, friction, external_copy, feedback, zero)

    def _velocity_for_friction(self, qd: Array, reference: Motion | None) -> Array:
        if self._friction_velocity is VelocitySource.MEASURED:
            return qd
        return self._zero if reference is None else reference[1]

    def _feedback_of(self, q: Array, qd: Array, q_d: Array, qd_d: Array) -> Array:
        """Return Kp e + Kd e'; on continuous joints e is the smallest equivalent angle."""
        np.subtract(q_d, q, out=self._error)
        if self._any_continuous:
            self._error[:] = shortest(self._error, self._continuous)
        np.subtract(qd_d, qd, out=self._error_rate)
        np.multiply(self.kp, self._error, out=self._feedback)
        self._feedback += self.kd * self._error_rate
        return self._feedback


def _without_law(mode: object) -> InputError:
    return InputError('mode', f'{mode!r} has no control law')
