# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
What all control laws do: the effort for a measured state and a reference motion, and its terms.

A law states how it follows a motion (:mod:`.laws`). Without a reference, every law commands g(q),
or g(q) + C(q, qd) qd with ``compensate_coriolis``.

To the efforts of the model a law adds joint friction, A qdd for the rotors' inertia A at the
joints and the acceleration qdd that it commands, and -J^T f for external forces f. It subtracts
the part of gravity that the hardware compensates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ..angles import shortest
from .friction import JointFriction, VelocitySource
from .loaded_model import LoadedModel

ReferenceMotion: TypeAlias = tuple[Array, Array, Array]
"""Joint positions, velocities and accelerations, each of shape (n,)."""


@dataclass(frozen=True)
class Terms:
    """
    The terms of an effort, each of shape (n,), N m or N; their sum is the effort.

    :param gravity: without the part that the hardware compensates
    :param coriolis: Coriolis and centrifugal efforts
    :param inertia: efforts for the reference's acceleration, including the rotors
    :param friction: joint friction
    :param external: -J^T f for external forces f
    :param feedback: efforts of the gains for position and velocity errors, and of the damping
    :param trajectory: efforts from the trajectory's own points
    :param soft_limits: efforts away from position limits
    :param additional: efforts of another program
    """

    gravity: Array
    coriolis: Array
    inertia: Array
    friction: Array
    external: Array
    feedback: Array
    trajectory: Array
    soft_limits: Array
    additional: Array

    def total(self) -> Array:
        """Return the sum, shape (n,)."""
        terms = np.array([getattr(self, term.name) for term in fields(self)])
        return np.asarray(terms.sum(axis=0))

    def of(self, joints: NDArray[np.intp]) -> Terms:
        """Return the terms of some joints."""
        return Terms(*(getattr(self, term.name)[joints] for term in fields(self)))


class Parts(NamedTuple):
    """
    How a law composes its effort: ID(q, qd, qdd + acceleration) + effort.

    :param q: positions for the model; None: the effort alone, without any other term
    :param qd: velocities for the model; None: g(q)
    :param qdd: accelerations for the model; None: g(q) + C(q, qd) qd
    :param acceleration: feedback that is an acceleration; only with qdd
    :param effort: feedback that is an effort
    """

    q: Array | None = None
    qd: Array | None = None
    qdd: Array | None = None
    acceleration: Array | None = None
    effort: Array | None = None


class ControlLaw:
    """
    Computes the efforts of all n joints of the model; arrays have shape (n,), in its order.

    A subclass with a ``name`` is a value of the parameter ``mode`` from then on. One that follows
    motions overrides ``_follow``. Its own class ``Parameters`` declares parameters ``<name>.*``,
    which :meth:`.Settings.of_law` returns.

    :param kp: proportional gains
    :param kd: derivative gains
    :param compensate_coriolis: whether Coriolis and centrifugal efforts are included without a
        reference
    :param friction: joint friction, None for no friction
    :param friction_velocity: velocity for the friction model
    :param armature: rotor inertia at the joints, kg m^2 or kg; None for no rotors
    :param parameters: an object of ``Parameters``
    :ivar holding: effort that holds the robot at the positions of the last call
    :ivar compensated: the part of gravity that the hardware compensates there; None for no part
    :cvar name: value of the parameter ``mode``
    :cvar follows_motions: whether the law follows reference motions
    :cvar needs_gains: whether the law is of no use with gains of zero
    :cvar gain_units: units of the gains kp and kd
    :cvar carries_gravity: whether the arm is carried with gains of zero
    """

    name: ClassVar[str]
    follows_motions: ClassVar[bool] = True
    needs_gains: ClassVar[bool] = False
    gain_units: ClassVar[tuple[str, str]] = ('N m/rad or N/m', 'N m s/rad or N s/m')
    carries_gravity: ClassVar[bool] = True

    @dataclass(frozen=True)
    class Parameters:
        """A law's own parameters: a frozen dataclass whose fields are made by ``parameter``."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if _LAWS.setdefault(cls.name, cls) is not cls:
            raise TypeError(f'there is a control law {cls.name} already')

    def __init__(
        self, robot: LoadedModel, kp: Array, kd: Array, *, compensate_coriolis: bool = False,
        friction: JointFriction | None = None,
        friction_velocity: VelocitySource = VelocitySource.MEASURED, armature: Array | None = None,
        parameters: Any = None,
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
        self.parameters = parameters
        self._has_friction = self._friction.has_friction
        self.holding = np.zeros(n)
        self._zero = np.zeros(n)
        self._gravity = np.zeros(n)
        self.compensated: Array | None = None
        self._error = np.zeros(n)
        self._error_rate = np.zeros(n)
        self._feedback = np.zeros(n)
        self._acceleration = np.zeros(n)
        self._total = np.zeros(n)
        self._parts = Parts()
        self._load = np.zeros(n)
        self._friction_effort = self._zero
        self._external: Array | None = None

    def holding_effort(self, q: Array) -> Array:
        """Return g(q) without what the hardware compensates; the next call overwrites it."""
        self._gravity[:] = self._robot.gravity(q)
        self.compensated = self._robot.compensated(q, self._gravity)
        self.holding[:] = self._gravity
        if self.compensated is not None:
            self.holding -= self.compensated
        return self.holding

    def _follow(self, q: Array, qd: Array, reference: ReferenceMotion, feedback: Array) -> Parts:
        """Return the equation for a reference, by default without it; feedback is Kp e + Kd e'."""
        del reference, feedback
        return self._weightless(q, qd)

    def _weightless(self, q: Array, qd: Array) -> Parts:
        """Return the equation without a reference: g(q), with C(q, qd) qd if so configured."""
        return Parts(q, qd if self._coriolis else None)

    def effort(
        self, q: Array, qd: Array, reference: ReferenceMotion | None, external: Array | None = None
    ) -> Array:
        """
        Return the effort, and update ``holding``; the next call overwrites both.

        :param q: measured positions, rad or m
        :param qd: measured velocities, rad/s or m/s
        :param reference: the reference motion, None for none
        :param external: -J^T f for external forces f, None for no force
        """
        self.holding_effort(q)
        total = self._total
        if reference is None:
            parts = self._weightless(q, qd)
        else:
            parts = self._follow(q, qd, reference, self._feedback_of(q, qd, *reference[:2]))
        self._parts, self._external = parts, external
        if parts.q is None:
            total[:] = self._zero if parts.effort is None else parts.effort
            return total
        acceleration = parts.qdd
        if acceleration is not None and parts.acceleration is not None:
            acceleration = np.add(acceleration, parts.acceleration, out=self._acceleration)
        if parts.qd is None:
            total[:] = self._gravity if parts.q is q else self._robot.gravity(parts.q)
        elif acceleration is None:
            total[:] = self._robot.bias(parts.q, parts.qd)
        else:
            total[:] = self._robot.inverse_dynamics(parts.q, parts.qd, acceleration)
        self._load[:] = total
        if self._has_friction:
            velocity = self._velocity_for_friction(qd, reference)
            self._friction_effort = self._friction.friction(velocity, total)
            total += self._friction_effort
        if parts.effort is not None:
            total += parts.effort
        if acceleration is not None:
            total += self._armature * acceleration
        if external is not None:
            total += external
        if self.compensated is not None:
            total -= self.compensated
        return total

    def terms(self) -> Terms:
        """Split the last :meth:`effort`, before its arguments change; allocates."""
        robot, zero = self._robot, self._zero
        q, qd, qdd, acceleration, effort = self._parts
        feedback = zero if effort is None else effort.copy()
        if q is None:
            return Terms(zero, zero, zero, zero, zero, feedback, zero, zero, zero)
        gravity, coriolis, inertia = robot.gravity(q).copy(), zero, zero
        if qd is not None:
            bias = robot.bias(q, qd).copy()
            coriolis = bias - gravity
            if qdd is not None:
                inertia = self._load - bias + self._armature * qdd
                if acceleration is not None:
                    through_model = robot.inverse_dynamics(q, qd, acceleration) - bias
                    inertia -= through_model
                    feedback = feedback + through_model + self._armature * acceleration
        if self.compensated is not None:
            gravity -= self.compensated
        external = zero if self._external is None else self._external.copy()
        friction = self._friction_effort
        return Terms(gravity, coriolis, inertia, friction, external, feedback, zero, zero, zero)

    def _velocity_for_friction(self, qd: Array, reference: ReferenceMotion | None) -> Array:
        if self._friction_velocity is VelocitySource.MEASURED:
            return qd
        if reference is None or not self.follows_motions:
            return self._zero
        return reference[1]

    def _feedback_of(self, q: Array, qd: Array, q_d: Array, qd_d: Array) -> Array:
        """Return Kp e + Kd e'; on continuous joints e is the smallest equivalent angle."""
        np.subtract(q_d, q, out=self._error)
        if self._any_continuous:
            self._error[:] = shortest(self._error, self._continuous)
        np.subtract(qd_d, qd, out=self._error_rate)
        np.multiply(self.kp, self._error, out=self._feedback)
        self._feedback += self.kd * self._error_rate
        return self._feedback


_LAWS: dict[str, type[ControlLaw]] = {}

LAWS: Mapping[str, type[ControlLaw]] = MappingProxyType(_LAWS)
"""The control laws by name, in the order of their definition."""
