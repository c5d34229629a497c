# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The control law in force, and what it is asked at a tick."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arrays import Array
from .environment import Environment
from .inputs import JointStateMonitor
from .law import ControlLaw, LoadedModel, Motion, Terms
from .settings import ResolvedSettings
from .trajectory import Reference


def law_of(settings: ResolvedSettings, robot: LoadedModel) -> ControlLaw:
    """
    Return the control law that settings ask for, of all joints of the model.

    :param settings: checked settings
    :param robot: the robot with what it carries
    """
    kp, kd = np.zeros(robot.model.nv), np.zeros(robot.model.nv)
    kp[settings.in_model], kd[settings.in_model] = settings.kp, settings.kd
    return ControlLaw(
        robot,
        kp,
        kd,
        compensate_coriolis=settings.settings.compensate_coriolis,
        friction=settings.friction,
        friction_velocity=settings.settings.friction.velocity,
    )


class ActiveLaw:
    """
    Asks the control law for the effort of the commanded joints, at what is measured and wanted.

    :param settings: checked settings
    :param states: the measured joint state of all joints of the model
    :param environment: the robot with what it carries, and what pushes on it
    :param reference: the motion of the commanded joints
    :ivar mode: which law it is
    :ivar control_law: of all joints of the model
    """

    def __init__(
        self,
        settings: ResolvedSettings,
        states: JointStateMonitor,
        environment: Environment,
        reference: Reference,
    ) -> None:
        self._states = states
        self._surroundings = environment
        self._reference = reference
        self._commanded = settings.in_model
        n = environment.robot.model.nv
        self._wanted = (np.zeros(n), np.zeros(n), np.zeros(n))
        self._has_wanted = False
        self._external: Array | None = None
        self.enact(settings, self.law_of(settings))

    def law_of(self, settings: ResolvedSettings) -> ControlLaw:
        """Return the control law that settings ask for; any thread may call this."""
        return law_of(settings, self._surroundings.robot)

    def enact(self, settings: ResolvedSettings, law: ControlLaw) -> None:
        """
        Put a law in force.

        :param settings: which name the mode
        :param law: of these settings
        """
        self.mode = settings.settings.mode
        self.control_law = law

    def effort(self, now: float) -> Array:
        """
        Return the effort wanted at this tick, shape (m,), N m or N; finite where the inputs are.

        :param now: monotonic time, s
        """
        q, qd = self._states.position, self._states.velocity
        self._has_wanted = self._reference.sample(now)
        if self._has_wanted:
            self._expand_wanted(q, qd)
        self._external = self._surroundings.external(now, q, qd)
        law = self.control_law
        effort = law.effort(self.mode, q, qd, self._motion(), self._external)[self._commanded]
        effort += self._reference.effort
        return effort

    def terms(self) -> Terms:
        """Return the parts of the effort wanted at the last tick."""
        q, qd = self._states.position, self._states.velocity
        terms = self.control_law.terms(self.mode, q, qd, self._motion(), self._external)
        return replace(terms.of(self._commanded), trajectory=self._reference.effort.copy())

    def _motion(self) -> Motion | None:
        return self._wanted if self._has_wanted else None

    def _expand_wanted(self, q: Array, qd: Array) -> None:
        """Let joints that are not commanded want to go on as they are measured."""
        q_d, qd_d, qdd_d = self._wanted
        q_d[:], qd_d[:] = q, qd
        q_d[self._commanded] = self._reference.position
        qd_d[self._commanded] = self._reference.velocity
        qdd_d[self._commanded] = self._reference.acceleration
