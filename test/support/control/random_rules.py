# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The rules by which :mod:`.random_driver` judges every tick, each with its own formula.

A rule is a method that returns None in a tick in which it does not apply, '' if it is kept, else
what breaks it. Numbers in names are those of the design's safety rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from rnea_ros.feedforward import CONTROLLING, State
from rnea_ros.feedforward.joint_samples import MAX_MEASURED_VELOCITY
from rnea_ros.feedforward.motion import Trajectory
from rnea_ros.feedforward.settings import StaleAction
from support.control.control_rig import Array
from support.control.random_plan import FAULTS, WILD

if TYPE_CHECKING:
    from support.control.random_driver import Driver

MARGIN = 0.3
"""Tolerance of times, s; in it are the 0.1 s for which joint states must be fresh again."""

ACTIVE = (State.ACTIVE, State.DEGRADED)


class Rules:
    """
    Judges a run.

    :ivar broken: the broken rules, each with what broke it first
    :ivar judged: the number of ticks in which each rule applied
    :ivar longest_wait: longest time in which a control without events comes to rest, s
    """

    def __init__(self, driver: Driver) -> None:
        self.driver, self.rig, self.arm = driver, driver.rig, driver.arm
        self.settings, resolved = self.rig.settings, self.rig.resolved
        self._timeout = resolved.joint_states_timeout
        self.limits = np.array(resolved.effort_limits)
        self._swing = swing = float((2.0 * self.limits / resolved.effort_rate_limit).max())
        self._longest = {
            State.HOLDING: self.settings.hold_duration + swing + self._timeout + MARGIN,
            State.RAMPING_DOWN: self.settings.ramp_duration + swing + MARGIN,
            State.RAMPING: self.settings.ramp_duration + MARGIN,
        }
        self.longest_wait = sum(self._longest.values())
        self.broken: dict[str, str] = {}
        self.judged: Counter[str] = Counter()
        self._state = self._state_before = self.rig.state()
        self._since = self._changed_at = self.rig.now
        self._command: Array | None = None
        self._before: Array | None = None
        # The last start of commands: at this time, from these efforts.
        self._ramp_began, self._withheld = -np.inf, False
        self._ramp_start = np.zeros(self.limits.size)
        self._terms = self._start_terms = self._ramp_start
        self._started = self._sent = self._was_too_fast = False
        self._events = 0
        self._began: dict[str, float] = {}
        self._at_limit = -np.inf
        self._frozen_at, self._first_error = self.rig.now, self._terms

    def judge(self, command: Array | None) -> None:
        """Judge a tick."""
        self._command, self._state = command, self.rig.state()
        self._observe()
        for name, rule in RULES.items():
            problem = rule(self)
            self.judged[name] += problem is not None
            if problem and name not in self.broken:
                at = f'at {self.rig.now - 1000.0:.3f} s, {self._state.value}'
                self.broken[name] = f'{at}: {problem}'
        self._before, self._state_before = command, self._state

    def judge_end(self) -> None:
        """Judge what must have happened by the end of a run."""
        goes_on, driver = self._state in CONTROLLING, self.driver
        for goal, results in driver.goals:
            self.judged['goals'] += 1
            if len(results) > 1 or (goes_on and goal.result is None):
                self.broken['goals'] = f'results {results}'
        for kind, lasts in driver.causes.items():
            once = len(driver.causes) == 1 and driver.happened.count(kind) == 1
            stall = kind in ('lost', 'blocked') and lasts < self.settings.hold_duration - 0.05
            if stall and once and self._started and driver.first == 'true':
                self.judged['5_returns'] += 1
                if not goes_on:
                    self.broken['5_returns'] = f'{self._state} after {lasts} s'

    def judge_last(self) -> None:
        """Judge the commands that end a run: repeated zeros, or gravity with stale_action hold."""
        last = np.array(self.driver.sent[-3:])
        if self.rig.state() is not State.STOPPED:
            self.broken['last_command'] = f'{self.rig.state()} at the end'
        elif last.size and not self.rig.controller.withheld:
            self.judged['last_command'] += 1
            held = self.settings.stale_action is StaleAction.HOLD
            if (last != last[0]).any() or (last.any() and not held):
                self.broken['last_command'] = f'ended with {last}'

    def _observe(self) -> None:
        """Find what several rules need."""
        driver, now, command = self.driver, self.rig.now, self._command
        if self._state is not self._state_before:
            self._since = now
        if driver.acting('stream', 'controller_stream') or len(driver.happened) > self._events:
            self._changed_at, self._events = now, len(driver.happened)
        self._started |= self._state in CONTROLLING
        start = None
        if self.rig.controller.withheld:
            self._withheld, self._ramp_began = True, -np.inf
        elif command is not None and (self._withheld or not self._sent):
            start, self._withheld, self._sent = command, False, True
        elif self._state is State.RAMPING and self._state_before is State.HOLDING:
            start = self._before
        if start is not None:
            self._ramp_start, self._ramp_began = np.abs(start), now
        needed = now < self._ramp_began + self.settings.ramp_duration or driver.acting(*WILD)
        if command is not None and needed and self._state in (*CONTROLLING, State.HOLDING):
            self._terms = self.rig.controller.terms().total()
        if start is not None:
            self._start_terms = self._terms

    def _lasts(self, condition: str, *, holds: bool) -> float:
        """Return for how long a condition has held, s; negative if it does not hold."""
        began = min(self._began.get(condition, np.inf), self.rig.now) if holds else np.inf
        self._began[condition] = began
        return self.rig.now - began

    def rule_no_error(self) -> str | None:
        """A tick raises no error but the driver's."""
        error = self.rig.controller.snapshot.error
        wanted = {'raise_error', 'nonsense'} & set(self.driver.causes)
        return '' if error is None or wanted else repr(error)

    def rule_last_command(self) -> str | None:
        """After the end the command is zero; with stale_action hold it is gravity."""
        held = self.settings.stale_action is StaleAction.HOLD
        if self._state not in (State.FAULT, State.STOPPED) or self._command is None or held:
            return None
        starts = self.rig.now < self._ramp_began + self._swing  # permitted again after the end
        return str(self._command) if self._command.any() and not starts else ''

    def rule_19_ramp(self) -> str | None:
        """
        No start, stop, fault or return raises an effort faster than the start ramp.

        The bound is |start| + share of the ramp * |law's effort or gravity|.
        """
        elapsed, controlling = self.rig.now - self._ramp_began, self._state in CONTROLLING
        share = (elapsed + self.rig.period) / self.settings.ramp_duration
        moved = controlling and self._changed_at > self._ramp_began - self.rig.period
        unlike = self.driver.shaking > 0.0 or 'arm too fast' in self.driver.causes
        if self._command is None or share >= 1.0 or moved or unlike:
            return None
        goal = np.maximum(np.abs(self._terms), np.abs(self.arm.gravity()[self.driver.joints]))
        bound = self._ramp_start + 1.2 * share * goal + 0.3 + 0.02 * self.limits
        if controlling:  # a ramp bridges the first step only
            bound += np.abs(self._terms - self._start_terms)
        above = np.abs(self._command) > bound
        if self._before is not None:
            above &= np.abs(self._command) > np.abs(self._before)
        return f'{self._command} above {bound}, {share:.2f} of the ramp' if above.any() else ''

    def rule_20_ends_by_time(self) -> str | None:
        """Every state that waits also ends by time."""
        endless = self._state is State.HOLDING and (
            self.settings.stale_action is StaleAction.HOLD
            and not self.rig.controller.snapshot.stop_requested
        )
        if self._state not in self._longest or endless:
            return None
        waited = self.rig.now - max(self._since, self.driver.quiet_since)
        return f'{waited:.2f} s' if waited > self._longest[self._state] else ''

    def rule_no_cause(self) -> str | None:
        """What is no fault ends nothing, nor does a first position far beyond the limits."""
        driver = self.driver
        if driver.first == 'zeros' or not self._started or driver.causes:
            return None
        reason = self.rig.controller.reason
        return '' if self._state in CONTROLLING else f'{reason} after {driver.happened}'

    def rule_17_frozen(self) -> str | None:
        """States that do not move although the reference does are stale."""
        rig, now, joints = self.rig, self.rig.now, self.driver.joints
        if 'nonsense' in self.driver.causes:
            return None
        reference, acting = rig.controller.motions.reference_at(now), self.driver.acting('frozen')
        if reference is None or not acting or self._state not in ACTIVE:
            self._frozen_at = now
            return None
        error = np.abs(reference.position - rig.q[joints])
        if now - self._frozen_at < 1.5 * rig.period:
            self._first_error = error
        away = self._lasts('away', holds=bool((error > self._first_error + 0.03).any()))
        late = now - self._frozen_at - self._timeout
        if min(away - self._timeout, late) > 0.03:  # the error may shrink first
            return f'goes on after {now - self._frozen_at:.2f} s'
        return ''

    def rule_streams(self) -> str | None:
        """The motion made of a stream of positions is within limits."""
        newest, reference = self.rig.controller.motions.newest, self.rig.controller._reference
        limits, since = self.driver.policy_limits, self.driver.motion_requested_at
        before = self.rig.now - since < 1.0 or 'speed' in self.driver.happened
        if before or not isinstance(newest, Trajectory) or not newest.streamed:
            return None
        velocity, acceleration = np.abs(reference.velocity), np.abs(reference.acceleration)
        within = (velocity <= limits.velocity) & (acceleration <= limits.acceleration)
        return '' if within.all() else f'{velocity}, {acceleration}'

    def rule_18_contradiction(self) -> str | None:
        """Sources that contradict each other end the control."""
        driver = self.driver
        apart = np.abs(driver.false_position - self.arm.q)[driver.joints].max() > 0.2
        both = driver.acting('false_publisher') and not driver.acting('lost')
        if self._lasts('contradiction', holds=bool(apart) and both) < 1.0:
            return None
        return 'goes on after 1 s' if self._state in CONTROLLING else ''

    def rule_20_wild_input(self) -> str | None:
        """A value that this robot cannot have leads to no command at its limit."""
        command, now, acting = self._command, self.rig.now, self.driver.acting
        at_limit = np.abs(self._terms if command is None else command) > 0.99 * self.limits
        if not acting(*WILD):
            self._at_limit = now if at_limit.any() else self._at_limit
            return None
        motion = acting('wild_acceleration', 'wild_point_effort')
        if self._state not in CONTROLLING or not motion:  # the law itself may be there
            at_limit &= np.abs(self._terms) < 0.9 * self.limits
        excess = command is not None and at_limit.any() and now > self._at_limit + 1.0
        return str(command) if excess else ''

    def rule_7_bad_input(self) -> str | None:
        """What is rejected changes no measured position; what was valid stays in force."""
        driver, joints = self.driver, self.driver.joints
        stained = {*FAULTS, *WILD, 'withhold', 'clock_step'} & set(driver.happened)
        clean = driver.first == 'true' and not stained
        # From then on true states are refused too: as too fast, then perhaps as jumps.
        highest = self.rig.states.table[MAX_MEASURED_VELOCITY, joints]
        self._was_too_fast |= bool((np.abs(self.rig.qd[joints]) > highest).any())
        acting = driver.acting('bad_joint_states') and self._started
        if not (clean and acting) or self._was_too_fast:
            return None
        away = self.rig.states.position[joints] - self.rig.q[joints]
        return f'{away} away' if away.any() else ''


RULES: dict[str, Callable[[Rules], str | None]] = {
    name.removeprefix('rule_'): rule
    for name, rule in vars(Rules).items() if name.startswith('rule_')
}
"""The rules of every tick."""

RULES_OF_RUNS = ('commands', 'goals', '5_returns')
"""The rules that the rig and the end of a run judge."""
