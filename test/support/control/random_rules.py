# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The rules by which :mod:`.random_driver` judges every tick, each with its own formula.

A rule is a method that returns None in a tick in which it does not apply, '' where it is kept, or
what broke it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rnea_ros.feedforward import CONTROLLING, State
from rnea_ros.feedforward.settings import FrictionSettings, StaleAction
from support.control.control_rig import Array
from support.control.random_plan import MOTIONS, OF_OTHERS, WILD

if TYPE_CHECKING:
    from support.control.random_driver import Driver

MARGIN = 0.3
"""Tolerance of times, s; in it are the 0.1 s for which joint states must be fresh again."""

ACTIVE = (State.ACTIVE, State.DEGRADED)


class Ramp(NamedTuple):
    """A start of commands from an effort, shape (m,), at a time, s; ``again``: not the first."""

    start: Array
    began: float
    again: bool


class Rules:
    """
    Judges a run.

    :ivar broken: the broken rules, each with what broke it first
    :ivar judged: the number of ticks in which each rule applied
    :ivar longest_wait: longest time in which a control without events comes to rest, s
    """

    def __init__(self, driver: Driver) -> None:
        self.driver, self.rig, self.arm = driver, driver.rig, driver.arm
        self.settings, self.limits = driver.rig.settings, driver.rig.resolved.effort_limits
        self.broken: dict[str, str] = {}
        self.judged: Counter[str] = Counter()
        self._timeout = driver.rig.resolved.joint_states_timeout
        self._swing = float((2.0 * self.limits / driver.rig.resolved.effort_rate_limit).max())
        self._longest = {
            State.HOLDING: self.settings.hold_duration + self._swing + self._timeout + MARGIN,
            State.RAMPING_DOWN: self.settings.ramp_duration + self._swing + MARGIN,
            State.RAMPING: self.settings.ramp_duration + MARGIN,
        }
        self.longest_wait = sum(self._longest.values())
        self._state = self._state_before = driver.rig.state()
        self._since = self._moved_at = self._changed_at = driver.rig.now
        self._command: Array | None = None
        self._before: Array | None = None
        self._total, self._law = np.zeros((2, self.limits.size))
        self._ramp: Ramp | None = None
        self._was_withheld = self._started = False
        self._position = self._law
        self._events = self._ticks = 0
        self._began = {'frozen': np.inf, 'contradiction': np.inf, 'passive': np.inf}
        self._least_energy = self._fastest = 0.0
        self._at_limit = -np.inf

    def judge(self, command: Array | None) -> None:
        """Judge a tick."""
        self._command, self._ticks = command, self._ticks + 1
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
        for goal, results in self.driver.goals:
            self.judged['goals'] += 1
            lost = goal.result is None and self._state in CONTROLLING
            if lost or len(results) > 1:
                self.broken['goals'] = f'results {results}'
        causes, happened = [*self.driver.causes.items()], self.driver.happened
        if len(causes) == 1 and self._started and self.driver.first == 'true':
            (kind, lasts), = causes
            short = lasts < self.settings.hold_duration - 0.05 and happened.count(kind) == 1
            if short and kind in ('lost', 'blocked'):
                self.judged['5_returns'] += 1
                if self._state not in CONTROLLING:
                    self.broken['5_returns'] = f'{self._state} after {lasts} s'

    def _observe(self) -> None:
        """Find what several rules need."""
        driver, rig, now, command = self.driver, self.rig, self.rig.now, self._command
        self._state = rig.state()
        if self._state is not self._state_before:
            self._since = now
        if driver.acting('stream', 'controller_stream') or len(driver.happened) > self._events:
            self._changed_at, self._events = now, len(driver.happened)
        controlling = self._state in CONTROLLING
        self._started |= controlling
        ramps = self._ramp is None or now < self._ramp.began + self.settings.ramp_duration
        if command is not None and controlling and (ramps or self._judges_terms()):
            self._total = rig.controller.terms().total()
            self._law = np.abs(self._total)
        if rig.controller.withheld:
            self._was_withheld, self._ramp = True, None
        elif command is not None and (self._was_withheld or self._before is None):
            if self._was_withheld or self._ramp is None:
                self._ramp = Ramp(np.abs(command), now, self._was_withheld)
                self._position = rig.q[driver.joints].copy()
            self._was_withheld = False
        elif self._state is State.RAMPING and self._state_before is State.HOLDING:
            assert self._before is not None
            self._ramp = Ramp(np.abs(self._before), now, again=False)

    def _lasts(self, condition: str, *, holds: bool) -> float:
        """Return for how long a condition has held, s; negative if it does not hold."""
        self._began[condition] = min(self._began[condition], self.rig.now) if holds else np.inf
        return self.rig.now - self._began[condition]

    # --- rules -----------------------------------------------------------------------------------

    def rule_no_error(self) -> str | None:
        """A tick raises no error but the driver's."""
        error = self.rig.controller.error
        raised = 'raise_error' in self.driver.causes
        return '' if error is None or raised else repr(error)

    def rule_last_command(self) -> str | None:
        """After the end the command is zero, with stale_action hold gravity."""
        held = self.settings.stale_action is StaleAction.HOLD
        if self._state not in (State.FAULT, State.STOPPED) or self._command is None or held:
            return None
        return str(self._command) if self._command.any() else ''

    def _above_ramp(self, ramp: Ramp) -> str | None:
        """Judge an effort by what a ramp reaches: |start| + share |law's effort or gravity|."""
        share = (self.rig.now - ramp.began) / max(self.settings.ramp_duration, 1e-9)
        share += self.rig.period / max(self.settings.ramp_duration, 1e-9)
        controlling = self._state in CONTROLLING
        moved = controlling and self._changed_at > ramp.began - self.rig.period
        unlike = self.driver.shaking > 0.0 or 'arm too fast' in self.driver.causes
        if self._command is None or share >= 1.0 or moved or unlike:
            return None
        goal = np.maximum(self._law, np.abs(self.arm.gravity()[self.driver.joints]))
        bound = ramp.start + 1.2 * share * goal + 0.3 + 0.02 * self.limits
        above = np.abs(self._command) > bound
        return f'{self._command} above {bound}, {share:.2f} of the ramp' if above.any() else ''

    def rule_19_end_of_ramp(self) -> str | None:
        """Rule 19: no stop, fault or return raises an effort faster than the start ramp."""
        ramp = self._ramp
        return None if ramp is None or ramp.again else self._above_ramp(ramp)

    def rule_19_permitted_again(self) -> str | None:
        """Rule 19: commands that were withheld are ramped in."""
        ramp = self._ramp
        return self._above_ramp(ramp) if ramp is not None and ramp.again else None

    def rule_19_not_pulled_back(self) -> str | None:
        """Rule 19: after commands were withheld the reference is where the arm is."""
        ramp, now, controller = self._ramp, self.rig.now, self.rig.controller
        if ramp is None or not ramp.again or not controller.following:
            return None
        if now > ramp.began + 0.3 or self._changed_at >= ramp.began:
            return None
        reference = controller.reference_at(now)
        away = 0.0 if reference is None else np.abs(reference.position - self._position).max()
        return f'reference {away:.3f} away' if away > 0.05 else ''

    def rule_20_ends_by_time(self) -> str | None:
        """Rule 20: every state that waits also ends by time."""
        held = self.settings.stale_action is StaleAction.HOLD
        endless = held and not self.rig.controller.stop_requested
        if self._state not in self._longest or (endless and self._state is State.HOLDING):
            return None
        waited = self.rig.now - max(self._since, self.driver.quiet_since)
        return f'{waited:.2f} s' if waited > self._longest[self._state] else ''

    def _ends(self, *, applies: bool) -> str | None:
        """Judge whether the control goes on, as long as nothing happened that may end it."""
        if not (applies and self._started) or self.driver.causes:
            return None
        reason = self.rig.controller.reason
        return '' if self._state in CONTROLLING else f'{reason} after {self.driver.happened}'

    def rule_16_others(self) -> str | None:
        """Rule 16: wrong values of joints that are not commanded end nothing."""
        happened = set(OF_OTHERS).intersection(self.driver.happened)
        return self._ends(applies=bool(happened) and self.driver.first == 'true')

    def rule_20_first_position(self) -> str | None:
        """Rule 20: a first position far beyond the limits is rejected."""
        return self._ends(applies=self.driver.first == 'far')

    def rule_no_cause(self) -> str | None:
        """What is no fault ends nothing."""
        happened = set(OF_OTHERS).intersection(self.driver.happened)
        return self._ends(applies=not happened and self.driver.first == 'true')

    def rule_17_frozen(self) -> str | None:
        """Rule 17: states that do not move during a motion are stale."""
        moves = np.abs(self.rig.desired()[1]).max() > 0.05 and self._state in ACTIVE
        lasts = self._lasts('frozen', holds=moves and self.driver.acting('frozen'))
        return None if lasts < 0.0 else f'{lasts:.2f} s' * (lasts > self._timeout + 0.1)

    def rule_17_runaway(self) -> str | None:
        """Rule 17: the arm does not run away meanwhile."""
        speed = float(np.abs(self.arm.qd[self.driver.joints]).max())
        fastest = float(np.abs(self.rig.desired()[1]).max())
        if not self.driver.acting('frozen') or self._state not in ACTIVE:
            self._fastest = max(fastest, speed)
            return None
        self._fastest = max(fastest, self._fastest)
        free = self.rig.controller.reference_at(self.rig.now) is None
        if free or {*self.driver.happened[-3:]} - {'frozen', *MOTIONS}:
            return None
        return f'{speed:.2f} rad/s' if speed > 2.0 * self._fastest + 1.0 else ''

    def rule_18_contradiction(self) -> str | None:
        """Rule 18: sources that contradict each other end the control."""
        driver = self.driver
        apart = float(np.abs(driver.false_position - self.arm.q)[driver.joints].max()) > 0.2
        both = driver.acting('false_publisher') and not driver.acting('lost')
        lasts = self._lasts('contradiction', holds=apart and both)
        if lasts < 1.0:
            return None
        return 'goes on after 1 s' if self._state in CONTROLLING else ''

    def rule_20_wild_input(self) -> str | None:
        """Rule 20: a value that this robot cannot have leads to no command at its limit."""
        command, now = self._command, self.rig.now
        wild = [kind for kind in WILD if self.driver.acting(kind)]
        at_limit = command is not None and (np.abs(command) > 0.99 * self.limits).any()
        if not wild:
            self._at_limit = now if at_limit else self._at_limit
            return None
        return f'{wild}: {command}' if at_limit and now > self._at_limit + 1.0 else ''

    def _judges_terms(self) -> bool:
        """Return whether no blend may act now; one tick in ten, to save time."""
        calm = self.rig.now - max(self._changed_at, self.driver.quiet_since, self._since)
        tenth = self._ticks % 10 == 0
        return tenth and calm > self.settings.ramp_duration and self._state in ACTIVE

    def rule_terms(self) -> str | None:
        """The terms add up to the command, where no blend and no limit acts."""
        command, before = self._command, self._before
        if command is None or before is None or not self._judges_terms():
            return None
        slow = np.abs(command - before) < 0.9 * self.rig.greatest_step
        if not (slow & (self._law < self.limits)).all():
            return None
        same = np.abs(self._total - command).max() < 1e-6
        return '' if same else f'{self._total} is not {command}'

    def rule_energy(self) -> str | None:
        """A free arm gains no energy, however it is damped."""
        settings, driver = self.settings, self.driver
        pure = settings.friction == FrictionSettings() and settings.base_sensor is None
        lasts = self._lasts('passive', holds=(
            pure and not settings.wrench_inputs and self._state in ACTIVE
            and self._command is not None and self.rig.controller.reference_at(self.rig.now) is None
            and self.rig.now > max(self._since, driver.quiet_since) + settings.ramp_duration
        ))
        if lasts < 0.1:
            self._least_energy = np.inf
            return None
        energy = self.arm.energy()
        self._least_energy = min(self._least_energy, energy)
        gained = energy - self._least_energy
        return f'{gained:.3g} J' if gained > 0.02 + 0.2 * self._least_energy else ''


RULES: dict[str, Callable[[Rules], str | None]] = {
    name.removeprefix('rule_'): rule
    for name, rule in vars(Rules).items() if name.startswith('rule_')
}
"""The rules of every tick; a number is that of the design's safety rule."""

RULES_OF_RUNS = ('commands', 'goals', '5_returns')
"""The rules that the rig and the end of a run judge."""
