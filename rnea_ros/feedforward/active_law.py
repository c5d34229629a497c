# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The active control law: its effort at each tick, and that effort's terms.

With ``predict_state`` trajectories are sampled ahead, at t + r. The measured state, of age a, is
predicted to the same time along the reference, over h = a + r::

    q  <- q + h qd_d - h^2/2 qdd_d          (q_d(t + r) - q_d(t - a), to second order)
    qd <- qd + h qdd_d

So errors are those at the time of measurement, and gains, delay and noise of the loop stay as they
are; the measured velocity would add its noise. Set-points are not predicted: their age is unknown.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..robot import RobotModel
from .environment import Environment
from .inputs import AdditionalEffort, JointStateMonitor
from .law import LAWS, ControlLaw, JointEfforts, LoadedModel, Terms
from .settings import MAX_ACCELERATION, ResolvedSettings
from .trajectory import Reference


def make_law(
    settings: ResolvedSettings, robot: LoadedModel, mode: type[ControlLaw] | None = None
) -> ControlLaw:
    """Return the law of a mode (None: that of the settings) for all joints of the model."""
    kp, kd = np.zeros(robot.model.nv), np.zeros(robot.model.nv)
    kp[settings.joint_indices] = settings.kp
    kd[settings.joint_indices] = settings.kd
    mode = mode or settings.mode
    return mode(
        robot, kp, kd, compensate_coriolis=settings.compensate_coriolis,
        friction=settings.joint_friction, friction_velocity=settings.friction.velocity,
        armature=settings.rotor_inertia, parameters=settings.of_law(mode),
    )


class ActiveLaw:
    """
    Computes the effort of the m commanded joints from the measured state and the reference.

    :ivar active: the law in force
    :ivar joint_efforts: damping and soft limits
    :ivar external: -J^T f of the force-torque sensors at the last tick, shape (n,), N m or N; None
        without sensors
    """

    def __init__(
        self, settings: ResolvedSettings, states: JointStateMonitor, environment: Environment,
        reference: Reference, additional: AdditionalEffort,
    ) -> None:
        self._states = states
        self._environment = environment
        self._reference = reference
        self._additional = additional
        self._commanded = settings.joint_indices
        n = environment.robot.model.nv
        self._motion = (np.zeros(n), np.zeros(n), np.zeros(n))
        self._predicted = (np.zeros(n), np.zeros(n))
        self._change = np.zeros(n)
        self.external: Array | None = None
        self.joint_efforts = JointEfforts(settings.joint_indices)
        self.configure(settings, self.make_law(settings))

    def configure(self, settings: ResolvedSettings, law: ControlLaw) -> None:
        """Set the law, damping and soft limits."""
        self.active = law
        self.joint_efforts.configure(
            np.array([*vars(settings.zones).values(), settings.damping])
        )

    def make_law(self, settings: ResolvedSettings) -> ControlLaw:
        """Return the control law for some settings; any thread may call this."""
        return make_law(settings, self._environment.robot)

    def effort(self, now: float, dt: float) -> Array:
        """Return the effort for the present reference, shape (m,); finite if the inputs are."""
        q, qd = self._states.position, self._states.velocity
        reference = self._motion if self._reference.is_set else None
        if reference is not None:
            self._expand_reference(q, qd)
        wrenches = self._environment.wrenches
        self.external = wrenches.efforts(q) if wrenches.settings else None
        if reference is not None and self._reference.ahead:
            q, qd = self._predict_state(now, q, qd)
        effort = self.active.effort(q, qd, reference, self.external)
        commanded = effort[self._commanded]
        commanded += self._reference.effort
        if self._additional.acting:
            commanded += self._additional.effort
        if self.joint_efforts.acting:
            damped = reference is None or not self.active.follows_motions
            self.joint_efforts.add(
                commanded, self._states.position, self._states.velocity, dt, damped=damped
            )
        return commanded

    def holding_effort(self, *, compute: bool) -> Array:
        """
        Return the effort that holds the robot where it is, shape (m,), N m or N.

        :param compute: False at a tick in which :meth:`effort` has computed it already
        """
        active = self.active
        effort = active.holding_effort(self._states.position) if compute else active.holding
        return effort[self._commanded]

    def terms(self) -> Terms:
        """Return the terms of the effort at the last tick."""
        terms = self.active.terms().of(self._commanded)
        terms = replace(terms, trajectory=self._reference.effort.copy())
        if self._additional.acting:
            terms = replace(terms, additional=self._additional.effort.copy())
        joint = self.joint_efforts
        if joint.acting:
            feedback = terms.feedback + joint.damping
            terms = replace(terms, feedback=feedback, soft_limits=joint.soft_limits.copy())
        return terms

    def _predict_state(self, now: float, *measured: Array) -> tuple[Array, Array]:
        """Return the measured state at the time of the reference, predicted along it."""
        age = max(self._states.age(now, self._commanded), 0.0)
        h = age + self._reference.ahead
        _, qd_d, qdd_d = self._motion
        q, qd = self._predicted
        q[:], qd[:] = measured
        np.multiply(h, qd_d, out=self._change)
        q += self._change
        np.multiply(h, qdd_d, out=self._change)
        qd += self._change
        self._change *= 0.5 * h
        q -= self._change
        return self._predicted

    def _expand_reference(self, q: Array, qd: Array) -> None:
        """Write the reference of all joints; uncommanded joints have their measured state."""
        q_d, qd_d, qdd_d = self._motion
        q_d[:], qd_d[:] = q, qd
        q_d[self._commanded] = self._reference.position
        qd_d[self._commanded] = self._reference.velocity
        qdd_d[self._commanded] = self._reference.acceleration


DEFAULT_MAX_VELOCITY = 10.0
"""Velocity for joints without a velocity limit, rad/s or m/s."""


def check_efforts(model: RobotModel, settings: ResolvedSettings) -> None:
    """Raise an InputError if an effort of any mode, at the ends of joint ranges, is not finite."""
    given = settings
    robot = LoadedModel(model, given.hardware_compensates, given.own_hardware_gravity)
    robot.set_payloads(given.payloads)
    laws = [make_law(settings, robot, mode) for mode in LAWS.values()]
    lower = np.where(np.isfinite(model.position_lower), model.position_lower, -np.pi)
    upper = np.where(np.isfinite(model.position_upper), model.position_upper, np.pi)
    limits = model.velocity_limits
    fastest = np.where((limits > 0.0) & np.isfinite(limits), limits, DEFAULT_MAX_VELOCITY)
    hardest = np.full(model.nv, MAX_ACCELERATION)
    one, other = (lower, fastest), (upper, -fastest)
    with np.errstate(all='ignore'):
        for law, ((q, qd), (q_d, qd_d)) in product(laws, ((one, other), (other, one))):
            effort = law.effort(q, qd, (q_d, qd_d, hardest))
            # The sum of huge efforts may overflow, too.
            if not np.isfinite(effort.sum()):
                joint = model.joint_names[int(np.abs(np.nan_to_num(effort)).argmax())]
                raise InputError(
                    'robot_description',
                    f'with these parameters the efforts in mode {law.name} are not finite, '
                    f'largest at joint {joint!r}; look for a mass or a length that is too large',
                )
