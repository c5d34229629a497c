# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The coupling of leader and follower: when they move together, and what each gets.

Time is an argument; nothing is read or sent here. The arms are uncoupled, aligning (the follower
goes to the leader's pose) or coupled. Whatever ends the coupling, the follower brakes and holds,
and the effort on the leader fades; the way back is to align again.
"""

from __future__ import annotations

from collections.abc import Callable
import enum
import math
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..feedforward.motion import JointRules
from .arm import Arm
from .follower_setpoints import FollowerSetpoints, Motion
from .leader import LeaderEffort, LeaderMotion, LeaderStream
from .settings import FeedbackSource, TeleoperationSettings

ALIGNED = 0.01  # distance between set-point and leader at which the arms couple, rad or m
FOLLOWED = 0.05  # distance between follower and set-point at which the arms couple, rad or m
FADE_IN = 0.5  # time in which this distance vanishes, and the efforts on the leader begin, s

# Time in which the efforts on the leader end, s: with the default timeout and a delay of 50 ms
# within 0.2 s after the follower's node was killed. The leader's rate limit needs 0.05 s from the
# largest feedback, half the effort limit.
FADE_OUT = 0.04

PAUSE = 1.0  # time without an obstacle until arms align again, and of repeated set-points, s
BEHIND = 0.99  # share of max_deviation at which a follower is behind
BEHIND_TIME = 0.5  # time for which a follower may be behind, s
MAX_PERIODS = 3.0  # longest step of a set-point, periods: after a late tick nothing catches up
INERTIA_PERIOD = 0.1  # time between computations of the leader's inertia, s


class CouplingState(enum.Enum):
    """State of the coupling."""

    UNCOUPLED = 'uncoupled'
    ALIGNING = 'aligning'
    COUPLED = 'coupled'


class Uncoupled(enum.Enum):
    """Why the arms are not coupled."""

    STARTING = 'starting'
    LEADER_STALE = 'leader_stale'            # no joint states
    FOLLOWER_STALE = 'follower_stale'
    LEADER_INACTIVE = 'leader_inactive'      # no external efforts: its node commands nothing
    FOLLOWER_INACTIVE = 'follower_inactive'
    LEADER_JUMP = 'leader_jump'
    FOLLOWER_BEHIND = 'follower_behind'      # it does not follow its set-points
    DEAD_MAN = 'dead_man'
    STOPPED = 'stopped'                      # the node ends


class Output(NamedTuple):
    """The follower's set-point, and the effort on the leader, (m,); ``None`` for nothing."""

    setpoint: Motion | None
    effort: Array | None


class Coupling:
    """
    Couples the joints of two arms; times are monotonic, s.

    :param leader_inertia: returns the mass matrix of the leader's joints by their positions; not
        needed without feedback
    :ivar reason: why the arms are not coupled, or were not the last time
    :ivar ended: number of times that the arms were uncoupled
    """

    def __init__(
        self, settings: TeleoperationSettings, rules: JointRules,
        leader_inertia: Callable[[Array], Array] | None = None,
    ) -> None:
        self.settings = settings = settings.per_joint()
        self._rules, self._leader_inertia = rules, leader_inertia
        m = len(settings.joints)
        self._scale, self._offset = np.array(settings.scale), np.array(settings.offset)
        self.leader = Arm(
            settings.joints_of_leader, settings.leader_timeout, settings.leader_velocity
        )
        self.follower = Arm(settings.joints, settings.timeout)
        self._motion = (
            LeaderMotion(m, settings.acceleration_cutoff) if settings.leader_node
            else LeaderStream(m, settings.leader_velocity)
        )
        self.setpoints = FollowerSetpoints(
            rules, settings.max_acceleration, settings.max_deviation
        )
        self.feedback = LeaderEffort(settings.feedback)
        self.state = CouplingState.UNCOUPLED
        self.reason = Uncoupled.STARTING
        self.ended = 0
        self._last = self._hold_until = self._faded_at = -math.inf
        self._since = -math.inf        # time of the last obstacle, or of the coupling, s
        self._behind_since = math.inf
        self._pressed_at = -math.inf   # time of the last message of a pressed dead-man switch, s
        self._released = True          # whether the switch was released since another obstacle
        self._placed = False           # whether the follower has the last set-point
        self._stopped = False
        self._turns = self._gap = self._fading = np.zeros(m)
        self._armature = np.diag(settings.feedback.armature)
        self._inertia, self._inertia_time = np.eye(m), -math.inf

    def set_dead_man(self, pressed: bool, now: float) -> None:
        """Take a message of the dead-man switch: pressed if the arms shall be coupled."""
        self._pressed_at = now if pressed else -math.inf

    def stop(self) -> None:
        """Uncouple for good."""
        self._stopped = True

    def step(self, now: float) -> Output:
        """Return what is sent at this tick."""
        period = self.settings.period
        if self._last == -math.inf:
            self._since = now
        dt = min(max(now - self._last, 0.1 * period), MAX_PERIODS * period)
        self._last = now
        obstacle = self._obstacle(now)
        if obstacle is not Uncoupled.LEADER_STALE:
            self._motion.update(self.leader.states, now, self.settings.leader_timeout)
        if obstacle is not None:
            self._uncouple(obstacle, now)
        elif self.state is CouplingState.UNCOUPLED and self._may_align(now):
            self._align(now)
        if self.state is CouplingState.UNCOUPLED:
            return Output(self._hold(now, dt), self._fade(now))
        target = self._target(now)
        if self.state is CouplingState.ALIGNING:
            self._approach(target, now, dt)
            return Output(self.setpoints.motion, None)
        return self._couple(target, now, dt)

    def _obstacle(self, now: float) -> Uncoupled | None:
        """Return why the arms cannot be coupled now."""
        pressed = now - self._pressed_at <= self.settings.dead_man_timeout
        self._released = self._released or not pressed
        for condition, reason in (
            (self._stopped, Uncoupled.STOPPED),
            (self.leader.jumped, Uncoupled.LEADER_JUMP),
            (self.leader.stale(now), Uncoupled.LEADER_STALE),
            (self.follower.stale(now), Uncoupled.FOLLOWER_STALE),
            (
                self.settings.leader_node and self.leader.inactive(now),
                Uncoupled.LEADER_INACTIVE,
            ),
            (self.follower.inactive(now), Uncoupled.FOLLOWER_INACTIVE),
            (now - self._behind_since > BEHIND_TIME, Uncoupled.FOLLOWER_BEHIND),
            (bool(self.settings.dead_man_topic) and not pressed, Uncoupled.DEAD_MAN),
        ):
            if condition:
                return reason
        return None

    def _uncouple(self, reason: Uncoupled, now: float) -> None:
        if self.state is not CouplingState.UNCOUPLED:
            self.ended += 1
            self._fading = self.feedback.effort
            self._released = reason is Uncoupled.DEAD_MAN
            self._hold_until = math.inf
            self._faded_at = now + FADE_OUT
        if reason is Uncoupled.FOLLOWER_INACTIVE:
            self._placed = False
        self.state, self.reason = CouplingState.UNCOUPLED, reason
        self._since, self._behind_since = now, math.inf

    def _may_align(self, now: float) -> bool:
        """Return whether the switch was pressed anew or, without a switch, time has passed."""
        return self._released if self.settings.dead_man_topic else now - self._since > PAUSE

    def _align(self, now: float) -> None:
        measured = self.follower.states.position
        # After a silence, others may have moved the follower: it starts where it is.
        if not self._placed:
            self.setpoints.restart(measured)
        self._placed = True
        self._turns = np.zeros_like(measured)
        self._turns = self._rules.whole_turns(
            self._target(now).position - self.setpoints.motion.position
        )
        self.state = CouplingState.ALIGNING

    def _target(self, now: float) -> Motion:
        """Return the leader's motion in the follower's joints."""
        scale, motion = self._scale, self._motion.at(now, self.settings.leader_timeout)
        position, velocity, acceleration = (scale * each for each in motion)
        return Motion(position + self._offset - self._turns, velocity, acceleration)

    def _hold(self, now: float, dt: float) -> Motion | None:
        """Return a set-point that brakes the follower; None some time after it is at rest."""
        if now > self._hold_until:
            self._placed = False
            return None
        self.setpoints.stop(self.follower.states.position, dt)
        if self.setpoints.at_rest:
            # An inactive follower gets none: it starts anew from where it is.
            self._hold_until = min(self._hold_until, now + (PAUSE if self._placed else 0.0))
        return self.setpoints.motion

    def _fade(self, now: float) -> Array | None:
        """Return the fading effort on the leader; None when it has ended, or was never there."""
        if self.settings.feedback.source is FeedbackSource.NONE or now > self._faded_at + FADE_OUT:
            return None
        return self._fading * min(max((self._faded_at - now) / FADE_OUT, 0.0), 1.0)

    def _approach(self, target: Motion, now: float, dt: float) -> None:
        """Move the follower to the leader's pose; couple once it is there."""
        rules, setpoints = self._rules, self.setpoints
        measured = self.follower.states.position
        target = target._replace(position=np.clip(target.position, rules.lower, rules.upper))
        setpoints.approach(target, measured, self.settings.align_speed, dt)
        self._note_deviation(measured, now)
        reached = setpoints.motion.position
        if (
            np.abs(reached - target.position).max() < ALIGNED
            and np.abs(reached - measured).max() < FOLLOWED
        ):
            self.state, self._since = CouplingState.COUPLED, now
            self._gap = reached - target.position
            self.feedback.restart()

    def _couple(self, target: Motion, now: float, dt: float) -> Output:
        """Return the outputs of coupled arms."""
        share = min((now - self._since) / FADE_IN, 1.0)
        smooth, slope = (3.0 - 2.0 * share) * share**2, 6.0 * (1.0 - share) * share / FADE_IN
        target = target._replace(
            position=target.position + (1.0 - smooth) * self._gap,
            velocity=target.velocity - slope * self._gap,
        )
        follower = self.follower.states
        self.setpoints.follow(target, follower.position, dt)
        self._note_deviation(follower.position, now)
        settings = self.settings.feedback
        if settings.source is FeedbackSource.NONE:
            return Output(self.setpoints.motion, None)
        felt = self.follower.effort
        if settings.source is FeedbackSource.COUPLING:
            stiffness, damping = np.array(settings.stiffness), np.array(settings.damping)
            felt = stiffness * (follower.position - target.position)
            felt += damping * (follower.velocity - target.velocity)
        leader = self.leader.states
        assert self._leader_inertia is not None
        if now - self._inertia_time > INERTIA_PERIOD:
            self._inertia = self._leader_inertia(leader.position) + self._armature
            self._inertia_time = now
        # With the scale of the motion, both sides have the same power.
        wanted = np.array(settings.scale) * self._scale * felt
        self.feedback.update(wanted, leader.velocity, self._inertia, smooth, dt)
        return Output(self.setpoints.motion, self.feedback.effort)

    def _note_deviation(self, measured: Array, now: float) -> None:
        deviation = np.abs(self.setpoints.motion.position - measured).max()
        behind = deviation > BEHIND * self.settings.max_deviation
        self._behind_since = min(self._behind_since, now) if behind else math.inf
