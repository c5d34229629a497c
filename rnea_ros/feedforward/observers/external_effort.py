# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
External efforts, and contact: an external effort above the threshold of its joint.

It is not a safety function: a collision is found only after the robot has hit, later than by a
certified controller, and not at all below the thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ..loaded_model import LoadedModel
from ..measured import JointStateMonitor
from ..settings import ContactAction, ResolvedSettings
from .external_wrench import ExternalWrench
from .momentum_observer import START, TICK, MomentumObserver

CLEARED = 0.5  # a contact ends when all external efforts are below this share of their thresholds


@dataclass(frozen=True)
class Contact:
    """
    A contact when it was found.

    :param joint: the joint with the largest external effort, relative to its threshold
    :param effort: its external effort, N m or N
    :param threshold: its threshold, N m or N
    :param number: number of contacts so far
    """

    joint: str
    effort: float
    threshold: float
    action: ContactAction
    number: int

    def __str__(self) -> str:
        return f'{self.joint} {self.effort:+.2f} (threshold {self.threshold:.2f})'

    @property
    def ends_motion(self) -> bool:
        """Whether the reaction ends the motion."""
        return self.action in (ContactAction.HOLD, ContactAction.GRAVITY)


class ExternalEffortMonitor:
    """
    Observes external efforts, and finds contacts; for the thread of the control.

    :ivar effort: external efforts of the m commanded joints, shape (m,), N m or N; overwritten
    :ivar threshold: external efforts that count as contact now, shape (m,), N m or N; overwritten
    :ivar wrench: the wrench at ``external_effort.link``, None without a link
    :ivar contact: whether there is a contact now
    """

    def __init__(
        self, robot: LoadedModel, states: JointStateMonitor, settings: ResolvedSettings
    ) -> None:
        self._states = states
        self._joints = settings.joints
        self._indices = settings.joint_indices
        self._longest_gap = settings.joint_states_timeout
        self._sampled = 0.0
        self._action = settings.contact.action
        self._observer = MomentumObserver(robot.bodies, settings)
        self.effort, self.threshold = self._observer.effort, self._observer.limit
        link = settings.external_effort.link
        self.wrench = ExternalWrench(robot.model, settings) if link else None
        self.contact = False
        self._judged = False
        self._contacts = 0

    def wrench_at_link(self) -> Array | None:
        """Return the wrench at ``external_effort.link``, shape (6,), None without a link."""
        if self.wrench is None:
            return None
        return self.wrench.estimate(self._states.position, self.effort)

    def configure(self, settings: ResolvedSettings) -> None:
        """Set gains, thresholds, friction and reaction."""
        self._action = settings.contact.action
        self._observer.configure(settings)

    def reset(self) -> None:
        """Start again with the next joint state, without an external effort."""
        self._observer.reset()
        self.contact = False

    def restart(self) -> None:
        """Start again after a pause without :meth:`observe`."""
        self.reset()
        self._sampled, self._judged = 0.0, False

    def observe(
        self, command: Array, compensated: Array | None, external: Array | None, *, judged: bool
    ) -> Contact | None:
        """
        Observe the external efforts, once a tick; return a contact that has just begun.

        :param command: the command in force since the last tick, shape (m,), N m or N
        :param compensated: what the robot adds to it, shape (n,), N m or N; None for nothing
        :param external: -J^T f of the force-torque sensors, shape (n,); None without sensors
        :param judged: whether external efforts may be a contact; those of a start, perhaps of
            the brakes, are forgotten when it ends
        """
        states = self._states
        if judged and not self._judged:
            self.effort[:] = 0.0
        self._judged = judged
        sampled = states.sample_time(self._indices)
        dt, self._sampled = sampled - self._sampled, sampled
        if not 0.0 <= dt <= self._longest_gap:  # a gap, or the clock of the stamps was set
            self.reset()
            dt = START
        largest = self._observer.observe(
            states.position, states.velocity, states.effort, command, compensated, external, dt
        )
        reacts = self._action is not ContactAction.NONE
        if self.contact or dt == TICK or not (reacts and judged):
            self.contact = self.contact and reacts and largest > CLEARED
            return None
        self.contact = largest > 1.0
        if not self.contact:
            return None
        self._contacts += 1
        effort, limit = self.effort, self.threshold
        joint = int(np.argmax(np.abs(effort) / limit))
        return Contact(
            self._joints[joint], float(effort[joint]), float(limit[joint]), self._action,
            self._contacts,
        )
