# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
External efforts, contact, the reaction to it, and the wrench at a link.

A contact is an external effort above the threshold of its joint. It is not a safety function: a
collision is found only after the robot has hit, later than by a certified controller, and not at
all below the thresholds. The reaction is a flag; with ``contact.action`` hold or gravity it ends
the motion.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..robot import RobotModel
from .limiter import EffortLimiter
from .loaded_model import LoadedModel
from .measured import JointStateMonitor
from .momentum_observer import TICK, MomentumObserver
from .motion import Motions
from .settings import ContactAction, ResolvedSettings

CLEARED = 0.5  # a contact ends when all external efforts are below this share of their thresholds
MIN_RATIO = 0.02  # directions with singular values below this share of the largest one are damped


@dataclass(frozen=True)
class Contact:
    """A contact when it was found."""

    joint: str  # with the largest external effort, relative to its threshold
    effort: float  # its external effort, N m or N
    threshold: float
    action: ContactAction
    number: int  # of contacts so far

    def __str__(self) -> str:
        return f'{self.joint} {self.effort:+.2f} (threshold {self.threshold:.2f})'


class ContactReaction:
    """
    Runs the observer of external efforts, and reacts to contacts.

    :ivar monitor: the observer; None while nothing needs it
    :ivar newest: the newest contact, None before the first
    """

    def __init__(
        self, robot: LoadedModel, states: JointStateMonitor, settings: ResolvedSettings,
        motions: Motions,
    ) -> None:
        self._motions = motions
        self._published = False
        # Made in any case: kernels are compiled before the loop starts.
        self._observer = ExternalEffortMonitor(robot, states, settings)
        self.monitor: ExternalEffortMonitor | None = None
        self.newest: Contact | None = None
        self.configure(settings)

    @property
    def lasts(self) -> bool:
        """Whether a contact lasts."""
        return self.monitor is not None and self.monitor.contact

    def publish(self, published: bool, settings: ResolvedSettings) -> None:
        """Start the observer for subscribers, or end it unless contacts need it."""
        if published != self._published:
            self._published = published
            self.configure(settings)

    def configure(self, settings: ResolvedSettings) -> None:
        """Set the observer's parameters; start or end it, as they need."""
        if not self._published and settings.contact.action is ContactAction.NONE:
            self.monitor = None
            self._motions.heed_stream()
            return
        self._observer.configure(settings)
        if self.monitor is None:
            self._observer.reset()
            self.monitor = self._observer

    def react(
        self, limiter: EffortLimiter, compensated: Array | None, external: Array | None,
        *, motor_effort_known: bool, detect_contact: bool,
    ) -> None:
        """
        Observe, once a tick before its command, and end the motion if a contact begins.

        :param motor_effort_known: whether the last command acts on the robot, and alone; if not,
            the observer starts again
        """
        if self.monitor is None:
            return
        if not motor_effort_known:
            self.monitor.reset()
            return
        contact = self.monitor.find_contact(
            limiter.command, compensated, external, detect_contact
        )
        if contact is None:
            return
        self.newest = contact
        if contact.action is ContactAction.FLAG:
            return
        hold = contact.action is ContactAction.HOLD
        if self._motions.end_by_contact(hold=hold) and not hold:
            # Without a reference every mode acts like gravity. The rate limit, not a blend,
            # smooths the step: the arm should not push for another ramp_duration.
            limiter.end_blend()


class ExternalEffortMonitor(MomentumObserver):
    """
    Observes the external efforts tick by tick, and finds contacts; for the thread of the control.

    :ivar wrench: the wrench at ``external_effort.link``, None without a link
    :ivar contact: whether there is a contact now
    """

    def __init__(
        self, robot: LoadedModel, states: JointStateMonitor, settings: ResolvedSettings
    ) -> None:
        link = settings.external_effort.link
        self.wrench = ExternalWrench(robot.model, settings) if link else None
        super().__init__(robot.bodies, settings)
        self._robot, self._states = robot, states
        self._longest_gap = settings.joint_states_timeout
        self._sampled = 0.0
        self._detect_contact, self._contacts = False, 0

    def configure(self, settings: ResolvedSettings) -> None:
        """Set gains, thresholds and friction; thresholds are the weights of the wrench too."""
        super().configure(settings)
        if self.wrench is not None:
            self.wrench.configure(settings)

    def wrench_at_link(self) -> Array | None:
        """Return the wrench at ``external_effort.link``, shape (6,), None without a link."""
        wrench, q = self.wrench, self._states.position
        return None if wrench is None else wrench.estimate(q, self.effort)

    def reset(self) -> None:
        """Start again with the next joint state, without an external effort or a contact."""
        super().reset()
        self.contact = False

    def find_contact(
        self, command: Array, compensated: Array | None, external: Array | None,
        detect_contact: bool,
    ) -> Contact | None:
        """
        Observe the external efforts, once a tick; return a contact that has just begun.

        :param command: the command in force since the last tick, shape (m,), N m or N
        :param compensated: what the robot adds to it, shape (n,), N m or N; None for nothing
        :param external: -J^T f of the force-torque sensors, shape (n,); None without sensors
        :param detect_contact: whether external efforts may be a contact; those of a start, perhaps
            of the brakes, are forgotten when it ends
        """
        states, settings = self._states, self._settings
        if detect_contact and not self._detect_contact:
            self.effort[:] = 0.0
        self._detect_contact = detect_contact
        sampled = states.sample_time(settings.joint_indices)
        dt, self._sampled = sampled - self._sampled, sampled
        if not 0.0 <= dt <= self._longest_gap:  # a gap, or the clock of the stamps was set
            self.reset()
        q, robot = states.position, self._robot
        correction = robot.correction(q) if robot.corrected else None
        largest = self.observe(
            q, states.velocity, states.effort, command, compensated, external, dt, correction
        )
        action = settings.contact.action
        acts = action is not ContactAction.NONE
        if self.contact or dt == TICK or not (acts and detect_contact):
            self.contact &= acts and largest > CLEARED
            return None
        self.contact = largest > 1.0
        if not self.contact:
            return None
        self._contacts += 1
        joint = int(np.argmax(np.abs(self.effort) / self.threshold))
        effort, threshold = float(self.effort[joint]), float(self.threshold[joint])
        return Contact(settings.joints[joint], effort, threshold, action, self._contacts)


class ExternalWrench:
    """
    The wrench at one link that explains the external efforts best.

    Weighted, damped least squares, with the link's Jacobian J and the external efforts r::

        f = argmin sum over joints of ((J^T f - r) / threshold)^2

    The thresholds of contact are the accuracy of r: heavy joints, which count more in the
    dynamically consistent inverse, are not the accurate ones. Moments and forces have different
    units, so each kind is scaled by the norm of its rows of J. Near a singularity, some direction
    of f hardly changes any effort, and noise would be amplified: it is damped to zero.

    :ivar determined: number of directions, of six, that the joints determine at the last pose
    """

    def __init__(self, model: RobotModel, settings: ResolvedSettings) -> None:
        self._model = model
        self._link = settings.external_effort.link
        self._joints = settings.joint_indices
        self.determined = 6
        self.configure(settings)
        self.estimate(np.zeros(model.nv), np.zeros(len(settings.joints)))  # compiles the kernel

    def configure(self, settings: ResolvedSettings) -> None:
        """Set the weights of the joints."""
        self._weights = 1.0 / np.array(settings.contact.threshold)

    def estimate(self, q: Array, effort: Array) -> Array:
        """
        Return the wrench [moment; force] of the environment on the link, N m and N, shape (6,).

        In the link's axes, at its origin; from the commanded joints' external efforts, shape (m,).
        """
        A = self._model.jacobian(q, self._link)[:, self._joints] * self._weights
        norms = np.array([np.linalg.norm(A[:3]), np.linalg.norm(A[3:])])
        scale = np.repeat(np.where(norms > 0.0, norms, 1.0), 3)
        A /= scale[:, np.newaxis]
        # A A^T f = A r, in the directions V of the singular values s of A.
        squares, V = np.linalg.eigh(A @ A.T)
        least = max(MIN_RATIO**2 * squares[-1], np.finfo(np.float64).tiny)
        self.determined = int(np.count_nonzero(squares >= least))
        # Damped directions have 1 / (s^2 + lambda^2) with lambda^2 = least - s^2.
        inverse = 1.0 / np.maximum(squares, least)
        wrench: Array = (V * inverse) @ (V.T @ (A @ (effort * self._weights))) / scale
        return wrench
