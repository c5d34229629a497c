# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The control laws: the effort for a measured state q, qd and a reference motion q_d, qd_d, qdd_d.

A law is its formula, with e = q_d - q and e' = qd_d - qd. A new one is a class like those below,
in any module that is imported before the node starts; its row in docs/control.md; and its formula
in a test. Without a reference, every law commands g(q), or g(q) + C(q, qd) qd with
``compensate_coriolis``.

To the efforts of the model, :meth:`ControlLaw.effort` adds joint friction, and -J^T f for external
forces f. It subtracts the part of gravity that the hardware compensates. :mod:`.controller` adds
the efforts of the trajectory's points, of other programs, of damping and of soft limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
import enum
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ..arrays import Array, Indices, shortest
from .loaded_model import LoadedModel

ReferenceMotion: TypeAlias = tuple[Array, Array, Array]
"""Joint positions, velocities and accelerations, each of shape (n,)."""


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
class SharedFriction:
    """
    Friction of a motor that two joints turn, as in some wrists.

    With w = qd_a + r qd_b, the friction f = B w + C tanh(w / v_s) acts on joint a, and r f on b.

    :param joints: numbers of the joints a and b
    :param ratio: r
    """

    joints: tuple[int, int]
    ratio: float
    viscous: float
    coulomb: float
    smoothing_velocity: float

    def add(self, efforts: Array, qd: Array) -> None:
        """Add it to efforts, shape (..., n)."""
        a, b = self.joints
        w = qd.T[a] + self.ratio * qd.T[b]
        friction = self.viscous * w + self.coulomb * np.tanh(w / self.smoothing_velocity)
        efforts.T[a] += friction
        efforts.T[b] += self.ratio * friction


@dataclass(frozen=True)
class JointFriction:
    """
    Friction of n joints, rotary or prismatic.

    ::

        tau_f = B qd + s(qd) (C + k |load|) + o,   s(qd) = tanh(qd / v_s)

    The offset o is not friction: it is what a joint's effort lacks or has too much at any
    velocity, such as the offset of its sensor. B and C may differ between the two directions. The
    function s replaces the sign of the velocity: noise on a velocity of zero does not become
    noise of the full Coulomb friction.

    :param viscous: B in positive and in negative direction, shape (2, n), N m s/rad or N s/m
    :param coulomb: C in positive and in negative direction, shape (2, n), N m or N
    :param load: k, Coulomb friction per N m or N of joint load, shape (n,)
    :param smoothing_velocity: v_s, shape (n,), rad/s or m/s
    :param offset: o, shape (n,), N m or N
    :param shared: friction that two joints share, in addition; None for none
    """

    viscous: Array
    coulomb: Array
    load: Array
    smoothing_velocity: Array
    offset: Array
    shared: SharedFriction | None = None

    @classmethod
    def none(cls, n: int) -> JointFriction:
        """Return joints without friction."""
        return cls(np.zeros((2, n)), np.zeros((2, n)), np.zeros(n), np.ones(n), np.zeros(n))

    @property
    def has_friction(self) -> bool:
        """Whether any joint has friction or an offset."""
        parts = (self.viscous, self.coulomb, self.load, self.offset)
        return self.shared is not None or any(part.any() for part in parts)

    def friction(self, qd: Array, load: Array) -> Array:
        """Return tau_f, with the offsets, for the loads that the joints carry; shape (n,)."""
        forwards, backwards = np.maximum(qd, 0.0), np.minimum(qd, 0.0)
        sign = np.tanh(qd / self.smoothing_velocity)
        of_load = self.load * np.abs(load)
        efforts: Array = self.viscous[0] * forwards + self.viscous[1] * backwards
        efforts += (self.coulomb[0] + of_load) * np.maximum(sign, 0.0)
        efforts += (self.coulomb[1] + of_load) * np.minimum(sign, 0.0)
        efforts += self.offset
        if self.shared is not None:
            self.shared.add(efforts, qd)
        return efforts


@dataclass(frozen=True)
class Terms:
    """
    The terms of an effort, each of shape (n,), N m or N; their sum is the effort.

    ``external`` is -J^T f for external forces f.
    """

    gravity: Array  # without the part that the hardware compensates
    coriolis: Array  # Coriolis and centrifugal efforts
    inertia: Array  # for the reference's acceleration, including the rotors
    friction: Array
    external: Array
    feedback: Array  # of the gains for position and velocity errors, and of the damping
    trajectory: Array  # from the trajectory's own points
    soft_limits: Array  # away from position limits
    additional: Array  # of another program

    @classmethod
    def of(cls, n: int, **terms: Array) -> Terms:
        """Return terms of n joints; those that are not given are zero."""
        return cls(**{term.name: terms.get(term.name, np.zeros(n)) for term in fields(cls)})

    def total(self) -> Array:
        """Return the sum, shape (n,)."""
        return np.asarray(np.array([*vars(self).values()]).sum(axis=0))


class ControlLaw:
    """
    Computes the efforts of all n joints of the model; arrays have shape (n,), in its order.

    A subclass with a ``name`` is a value of the parameter ``mode`` from then on. Its formula is
    :meth:`follow`, from :meth:`gravity`, :meth:`bias` or :meth:`inverse_dynamics`, at most one of
    them in a tick, and from :meth:`feedback` or efforts of its own. It may use ``robot``, with
    payloads, and ``robot.model`` (Jacobians, poses), ``dt`` and ``parameters``. What it keeps from
    tick to tick ends with :meth:`reset`. A change of parameters makes a new law, which may keep it
    (:meth:`continue_from`). With ``takes_poses`` it gets target poses (:meth:`move_to`).

    :param robot: the robot with its payloads, on its base
    :param kp: proportional gains
    :param kd: derivative gains
    :param compensate_coriolis: whether Coriolis and centrifugal efforts are included without a
        reference
    :param friction: joint friction, None for no friction
    :param friction_velocity: velocity for the friction model
    :param armature: rotor inertia at the joints, kg m^2 or kg; None for no rotors
    :param parameters: an object of ``Parameters``, which declares parameters ``<name>.*``
    :param joints: indices of the commanded joints, None for all
    :ivar dt: time since the last tick, at most a period, s; 0 in the trial of parameters
    :ivar holding: effort that holds the robot at the positions of the last call
    :ivar compensated: the part of gravity that the hardware compensates there; None for no part
    :ivar target_speed: speed at which a target of the law itself moves, m/s or rad/s: joint states
        that do not change meanwhile are old
    :cvar name: value of the parameter ``mode``
    :cvar follows_motions: whether the law follows reference motions
    :cvar needs_gains: whether the law is of no use with gains of zero
    :cvar gain_units: units of the gains kp and kd
    :cvar takes_poses: whether the law takes target poses, of the topic ``~/target_pose``
    :cvar carries_gravity: whether the arm is carried with gains of zero; False for a law without
        the model: nothing is added to its formula
    """

    @dataclass(frozen=True)
    class Parameters:
        """A law's own parameters: a frozen dataclass whose fields are made by ``parameter``."""

    name: ClassVar[str]
    follows_motions: ClassVar[bool] = True
    needs_gains: ClassVar[bool] = False
    gain_units: ClassVar[tuple[str, str]] = ('N m/rad or N/m', 'N m s/rad or N s/m')
    takes_poses: ClassVar[bool] = False
    carries_gravity: ClassVar[bool] = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if hasattr(cls, '_follow'):
            raise TypeError(f'{cls.__name__}._follow is now follow, and returns the effort')
        if not hasattr(cls, 'name'):
            raise TypeError(f'control law {cls.__name__} has no name')
        if _LAWS.setdefault(cls.name, cls) is not cls:
            raise TypeError(f'there is a control law {cls.name} already')

    def __init__(
        self, robot: LoadedModel, kp: Array, kd: Array, *, compensate_coriolis: bool = False,
        friction: JointFriction | None = None,
        friction_velocity: VelocitySource = VelocitySource.MEASURED,
        armature: Array | None = None, parameters: Any = None, joints: Indices | None = None,
    ) -> None:
        n = robot.model.nv
        self.robot, self.kp, self.kd = robot, kp, kd
        self.parameters: Any = self.Parameters() if parameters is None else parameters
        self.joints = np.arange(n) if joints is None else joints
        self.dt = self.target_speed = 0.0
        self._zero = self._gravity = self.holding = np.zeros(n)
        self.compensated: Array | None = None
        self._continuous = robot.model.continuous
        self._any_continuous = bool(self._continuous.any())
        self._coriolis = compensate_coriolis
        self._friction = friction if friction is not None and friction.has_friction else None
        self._friction_velocity = friction_velocity
        self._armature = armature if armature is not None and armature.any() else None
        self._model = self._formula = self._q = self._zero  # of the model, of the law; the state
        self._model_state: tuple[Array, Array | None, Array | None] | None = None
        self._without_model = False
        self._reference: ReferenceMotion | None = None
        self._friction_effort = self._zero
        self._external: Array | None = None

    def follow(self, q: Array, qd: Array, q_d: Array, qd_d: Array, qdd_d: Array) -> Array:
        """Return the effort for a reference motion: the formula of the law."""
        return self.weightless(q, qd)

    def weightless(self, q: Array, qd: Array) -> Array:
        """Return the effort without a reference: g(q), with C(q, qd) qd if so configured."""
        return self.bias(q, qd) if self._coriolis else self.gravity(q)

    def gravity(self, q: Array) -> Array:
        """Return g(q)."""
        self._model_state = (q, None, None)
        # At the measured positions it is computed already, for the holding effort.
        self._model = self._gravity if q is self._q else self.robot.gravity(q).copy()
        return self._model.copy()

    def bias(self, q: Array, qd: Array) -> Array:
        """Return C(q, qd) qd + g(q)."""
        self._model_state = (q, qd, None)
        self._model = self.robot.bias(q, qd).copy()
        return self._model.copy()

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return ID(q, qd, qdd) + A qdd, with the rotors' inertia A at the joints."""
        self._model_state = (q, qd, qdd)
        self._model = self.robot.inverse_dynamics(q, qd, qdd).copy()
        return self._with_rotors(self._model, qdd)

    def feedback(self, q: Array, qd: Array, q_d: Array, qd_d: Array) -> Array:
        """Return Kp e + Kd e'; on continuous joints e is the smallest equivalent angle."""
        error = q_d - q
        if self._any_continuous:
            error = shortest(error, self._continuous)
        return self.kp * error + self.kd * (qd_d - qd)

    def reset(self) -> None:
        """Start again: the control begins, or returns after a pause."""

    def continue_from(self, before: ControlLaw) -> None:
        """Go on in place of a law of the same class, whose parameters were changed."""

    def move_to(self, position: Array, orientation: Array) -> None:
        """Take a target pose in the root link's frame: m, and unit quaternion x, y, z, w."""

    def holding_effort(self, q: Array) -> Array:
        """Return g(q) without what the hardware compensates, and keep it in ``holding``."""
        self._gravity = gravity = self.robot.gravity(q).copy()
        self.compensated = compensated = self.robot.compensated(q, gravity)
        self.holding = gravity if compensated is None else gravity - compensated
        return self.holding

    def effort(
        self, q: Array, qd: Array, reference: ReferenceMotion | None,
        external: Array | None = None, dt: float = 0.0,
    ) -> Array:
        """Return the effort for -J^T f, ``external`` or None, and update ``holding``."""
        self.holding_effort(q)
        self._q, self._reference, self.dt, self._model_state = q, reference, dt, None
        total = self.weightless(q, qd) if reference is None else self.follow(q, qd, *reference)
        self._formula, self._external = total, external
        self._without_model = reference is not None and not self.carries_gravity
        if self._without_model:
            return total
        if self._friction is not None:
            velocity = self._velocity_for_friction(qd)
            load = total if self._model_state is None else self._model
            self._friction_effort = self._friction.friction(velocity, load)
            total = total + self._friction_effort
        if external is not None:
            total = total + external
        if self.compensated is not None:
            total = total - self.compensated
        return total

    def terms(self) -> Terms:
        """Split the last :meth:`effort`, before its arguments change."""
        robot, zero = self.robot, self._zero
        if self._without_model:
            return Terms.of(zero.size, feedback=self._formula.copy())
        gravity, coriolis, inertia = zero.copy(), zero, zero
        q, qd, qdd = self._model_state or (None, None, None)
        if q is not None:
            gravity = robot.gravity(q).copy()
        if q is not None and qd is not None:
            bias = robot.bias(q, qd).copy()
            coriolis = bias - gravity
            if qdd is not None and self._reference is not None:
                qdd_d = self._reference[2]
                inertia = self._with_rotors(robot.inverse_dynamics(q, qd, qdd_d) - bias, qdd_d)
        feedback = self._formula - (gravity + coriolis + inertia)
        if self.compensated is not None:
            gravity -= self.compensated
        return Terms.of(
            zero.size, gravity=gravity, coriolis=coriolis, inertia=inertia, feedback=feedback,
            friction=self._friction_effort,
            external=zero if self._external is None else self._external.copy(),
        )

    def _with_rotors(self, effort: Array, qdd: Array) -> Array:
        return effort.copy() if self._armature is None else effort + self._armature * qdd

    def _velocity_for_friction(self, qd: Array) -> Array:
        if self._friction_velocity is VelocitySource.MEASURED:
            return qd
        if self._reference is None or not self.follows_motions:
            return self._zero
        return self._reference[1]


_LAWS: dict[str, type[ControlLaw]] = {}

LAWS: Mapping[str, type[ControlLaw]] = MappingProxyType(_LAWS)
"""The control laws by name, in the order of their definition."""


class Gravity(ControlLaw):
    """g(q), or g(q) + C(q, qd) qd with ``compensate_coriolis``, whatever the reference."""

    name = 'gravity'
    follows_motions = False


class Feedforward(ControlLaw):
    """ID(q_d, qd_d, qdd_d) + Kp e + Kd e'."""

    name = 'feedforward'

    def follow(self, q: Array, qd: Array, q_d: Array, qd_d: Array, qdd_d: Array) -> Array:
        """Return the formula of the class."""
        return self.inverse_dynamics(q_d, qd_d, qdd_d) + self.feedback(q, qd, q_d, qd_d)


class ComputedTorque(ControlLaw):
    """ID(q, qd, qdd_d + Kp e + Kd e'): the mass matrix turns the feedback into an effort."""

    name = 'computed_torque'
    needs_gains = True
    gain_units = ('1/s^2', '1/s')

    def follow(self, q: Array, qd: Array, q_d: Array, qd_d: Array, qdd_d: Array) -> Array:
        """Return the formula of the class."""
        return self.inverse_dynamics(q, qd, qdd_d + self.feedback(q, qd, q_d, qd_d))


class Feedback(ControlLaw):
    """Kp e + Kd e', without the model."""

    name = 'feedback'
    needs_gains = True
    carries_gravity = False

    def follow(self, q: Array, qd: Array, q_d: Array, qd_d: Array, qdd_d: Array) -> Array:
        """Return the formula of the class."""
        return self.feedback(q, qd, q_d, qd_d)


class GravityFeedback(ControlLaw):
    """g(q) + Kp e + Kd e'."""

    name = 'gravity_feedback'
    needs_gains = True

    def follow(self, q: Array, qd: Array, q_d: Array, qd_d: Array, qdd_d: Array) -> Array:
        """Return the formula of the class."""
        return self.gravity(q) + self.feedback(q, qd, q_d, qd_d)
