# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The reaction to a contact: a flag; with ``contact.action`` hold or gravity it ends the motion.

A contact ends a motion once, when it begins: a later motion, away from the obstacle, is followed
at once. A stream that a contact ended is ignored until it pauses for ``reference_timeout``, so
that its next message does not start the motion again. Set-points are a stream, and so are other
motions without a goal that follow each other within this time. The pause is counted in ticks
without a message: a stall of the computer does not count.
"""

from __future__ import annotations

import math

from .active_law import ActiveLaw
from .effort_limiter import EffortLimiter
from .inputs import JointStateMonitor
from .law import LoadedModel
from .motion import Reference
from .observers import Contact, ExternalEffortMonitor
from .reasons import Reason
from .settings import ContactAction, ResolvedSettings

NO_FLAGS: frozenset[Reason] = frozenset()
CONTACT = frozenset((Reason.CONTACT,))


class ContactReaction:
    """
    Runs the observer of external efforts, and reacts to contacts.

    :ivar monitor: the observer; None while nothing needs it
    :ivar newest: the newest contact, None before the first
    """

    def __init__(
        self, robot: LoadedModel, states: JointStateMonitor, settings: ResolvedSettings,
        reference: Reference,
    ) -> None:
        self._reference = reference
        self._pause = settings.reference_timeout
        self._streaming = self._ignores_stream = False
        self._pause_so_far = math.inf
        self._published = False
        # Made in any case: kernels are compiled before the loop starts.
        self._observer = ExternalEffortMonitor(robot, states, settings)
        self.monitor: ExternalEffortMonitor | None = None
        self.configure(settings)
        self.newest: Contact | None = None

    @property
    def flags(self) -> frozenset[Reason]:
        """``contact`` while a contact lasts, otherwise nothing."""
        return CONTACT if self.monitor is not None and self.monitor.contact else NO_FLAGS

    def publish(self, published: bool, settings: ResolvedSettings) -> None:
        """Start the observer for subscribers, or end it unless contacts need it."""
        self._published = published
        self.configure(settings)

    def configure(self, settings: ResolvedSettings) -> None:
        """Set the observer's parameters; start it or end it, as they need."""
        if not self._published and settings.contact.action is ContactAction.NONE:
            self.monitor, self._ignores_stream = None, False
            return
        self._observer.configure(settings)
        if self.monitor is None:
            self._observer.restart()
            self.monitor = self._observer

    def react(self, active_law: ActiveLaw, limiter: EffortLimiter, *, judged: bool) -> None:
        """Observe, once a tick before its command; ``judged``: an effort may be a contact."""
        assert self.monitor is not None
        contact = self.monitor.observe(
            limiter.command, active_law.active.compensated, active_law.external, judged=judged
        )
        if contact is None:
            return
        self.newest = contact
        if contact.ends_motion and (self._reference.is_set or self._reference.waiting):
            self._ignores_stream = self._streaming and self._pause_so_far <= self._pause
            if contact.action is ContactAction.HOLD:
                self._reference.stop(Reason.CONTACT)
            else:
                # Without a reference every mode acts like gravity. The rate limit, not a blend,
                # smooths the step: the arm should not push for another ramp_duration.
                self._reference.clear(Reason.CONTACT)
                limiter.end_blend()

    def count_pause(self, dt: float) -> None:
        """Count the pause of a stream; once a tick."""
        self._pause_so_far += dt
        self._ignores_stream &= self._pause_so_far <= self._pause

    def register_motion(self, *, is_setpoint: bool) -> bool:
        """Register a motion without a goal; return whether it is to be ignored."""
        self._streaming = is_setpoint or self._pause_so_far <= self._pause
        self._pause_so_far = 0.0
        return self._ignores_stream
