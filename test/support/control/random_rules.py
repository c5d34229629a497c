# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The rules by which every tick of :mod:`.random_driver` is judged: those of the design's section 6.

Each rule is a method that returns what broke it, or None. It knows the simulated arm, the events
and the settings, and has its own formula for what is allowed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rnea_ros.feedforward import CONTROLLING, State
from rnea_ros.feedforward.settings import StaleAction
from support.control.control_rig import Array
from support.control.random_plan import MOTIONS, OF_OTHERS, WILD

if TYPE_CHECKING:
    from support.control.random_driver import Driver

MARGIN = 0.3
"""Tolerance of times, s; in it are the 0.1 s for which joint states must be fresh again."""

MOVING = (State.ACTIVE, State.DEGRADED)
OVER = (State.FAULT, State.STOPPED)


class Ramp(NamedTuple):
    """A ramp from an effort to what the law commands; it begins at a time, s."""

    start: Array
    began: float
    again: bool


class Rules:
    """
    Judges a run.

    :ivar broken: the broken rules, each with what broke it first
    :ivar longest_wait: time in which a control without events comes to rest, s
    """

    def __init__(self, driver: Driver) -> None:
        self.driver, self.rig, self.arm = driver, driver.rig, driver.arm
        self.broken: dict[str, str] = {}
        settings, resolved = self.rig.settings, self.rig.resolved
        self._ramp_time, self._hold_time = settings.ramp_duration, settings.hold_duration
        self._limits, self._timeout = resolved.effort_limits, resolved.joint_states_timeout
        self._swing = float((2.0 * self._limits / resolved.effort_rate_limit).max())
        self.longest_wait = (
            self._hold_time + self._ramp_time + 2.0 * self._swing + self._timeout + 1.5
        )
        self.command: Array | None = None
        self._before: Array | None = None
        self._state, self._since = self.rig.state(), self.rig.now
        self._last_state = self._state
        self._started = self._withheld = False
        self._ramp: Ramp | None = None
        self._law = np.zeros_like(self._limits)
        self._terms = self._law
        self._events = 0
        self._changed_at = self._permitted_at = self._limit_free_since = self.rig.now
        self._permitted_position = self._law
        self._frozen_since: float | None = None
        self._contradicted_since: float | None = None
        self._fastest_reference = 0.0
        self._calm_since: float | None = None
        self._calm_energy = 0.0

    def judge(self, command: Array | None) -> None:
        """Judge a tick."""
        self.command = command
        self._observe()
        for name, rule in RULES.items():
            if name not in self.broken and (problem := rule(self)) is not None:
                time = self.rig.now - 1000.0
                self.broken[name] = f'at {time:.3f} s, {self._state.value}: {problem}'
        self._before, self._last_state = command, self._state

    def judge_end(self) -> None:
        """Judge what must have happened by the end of a run."""
        for goal, results in self.driver.goals:
            if len(results) > 1:
                self.broken['goals'] = f'{results}'
            if not results and goal.result is None and self._state in CONTROLLING:
                self.broken['goals'] = 'no result'

    def _observe(self) -> None:
        """Find out what the rules have in common: state, ramps, law."""
        driver, rig, now = self.driver, self.rig, self.rig.now
        state, withheld = rig.state(), rig.controller.withheld
        if state is not self._state:
            self._state, self._since = state, now
        new = driver.happened[self._events:]
        if new or driver.acting('stream') or driver.acting('controller_stream'):
            self._changed_at, self._events = now, len(driver.happened)
        self._started |= state in CONTROLLING
        zero = np.zeros_like(self._limits)
        if self.command is not None and state in CONTROLLING:
            self._terms = rig.controller.terms().total()
            self._law = np.abs(self._terms)
        if self.command is None or withheld:
            self._ramp = None
        elif self._before is None and (self._withheld or self._ramp is None):
            acting = rig.measured_acting_effort()
            self._ramp = Ramp(zero if acting is None else acting, now, self._withheld)
            if self._withheld:
                self._permitted_at, self._permitted_position = now, rig.q[driver.joints].copy()
        elif self._last_state is State.HOLDING and state is State.RAMPING:
            assert self._before is not None
            self._ramp = Ramp(self._before, now, False)
        if not (self.command is None and not withheld):
            self._withheld = withheld

    def _motion_since(self, time: float) -> bool:
        return self._changed_at >= time

    # --- rules -----------------------------------------------------------------------------------

    def no_error(self) -> str | None:
        """No error ends a tick, except those that the driver raises."""
        error = self.rig.controller.error
        return repr(error) if error is not None and 'raise_error' not in self.driver.causes else None

    def last_command(self) -> str | None:
        """After the end the command is zero; with stale_action hold it may be gravity."""
        if self._state not in OVER or self.command is None or not self.command.any():
            return None
        if self.rig.settings.stale_action is StaleAction.HOLD:
            return None
        return f'{self.command}'

    def ramp(self) -> str | None:
        """
        Rule 19: nothing raises an effort faster than the start ramp does.

        The ramp from s towards g reaches |s| + share (|g| - |s|); g is gravity, or the law's
        effort at the end of the control. Motions during the ramp are not judged.
        """
        ramp, now = self._ramp, self.rig.now
        if ramp is None or self.command is None:
            return None
        share = (now - ramp.began + self.rig.period) / max(self._ramp_time, 1e-9)
        controlling = self._state in CONTROLLING
        if share >= 1.0 or (controlling and self._motion_since(ramp.began - self.rig.period)):
            return None
        if 'arm too fast' in self.driver.causes:
            return None
        gravity = np.abs(self.arm.gravity()[self.driver.joints])
        target = np.maximum(self._law, gravity)
        bound = np.abs(ramp.start) + share * target + 0.3 + 0.02 * self._limits
        if (np.abs(self.command) <= bound).all():
            return None
        return f'{self.command} above {bound}, {share:.2f} of the ramp from {ramp.start}'

    def end_of_ramp(self) -> str | None:
        """Rule 19 for what ends a start: stop, fault, lost states, return."""
        return None if self._ramp is None or self._ramp.again else self.ramp()

    def permitted_again(self) -> str | None:
        """Rule 19 for commands that were withheld: they are ramped in."""
        return None if self._ramp is None or not self._ramp.again else self.ramp()

    def not_pulled_back(self) -> str | None:
        """Rule 19: after commands were withheld, the reference is where the arm is."""
        now, permitted = self.rig.now, self._permitted_at
        if self._ramp is None or not self._ramp.again or not self.rig.controller.following:
            return None
        reference = self.rig.controller.reference_at(now)
        if reference is None or now > permitted + 0.3 or self._motion_since(permitted):
            return None
        away = np.abs(reference.position - self._permitted_position)
        return f'reference {away} away' if away.max() > 0.05 else None

    def ends_by_time(self) -> str | None:
        """Rule 20: every state that waits also ends by time."""
        longest = {
            State.HOLDING: self._hold_time + self._swing + self._timeout + MARGIN,
            State.RAMPING_DOWN: self._ramp_time + self._swing + MARGIN,
            State.RAMPING: self._ramp_time + MARGIN,
        }
        since = max(self._since, self.driver.last_event)
        held = self.rig.settings.stale_action is StaleAction.HOLD
        if self._state not in longest or (held and not self.rig.controller.stop_requested):
            return None
        waited = self.rig.now - since
        return f'{waited:.2f} s' if waited > longest[self._state] else None

    def _ended(self) -> bool:
        """Whether a control that has started does not go on, without a cause."""
        return self._started and self._state not in CONTROLLING and not self.driver.causes

    def others(self) -> str | None:
        """Rule 16: wrong values of joints that are not commanded end nothing."""
        others = [kind for kind in self.driver.happened if kind in OF_OTHERS]
        return f'{self.rig.controller.reason}, {others}' if others and self._ended() else None

    def no_cause(self) -> str | None:
        """Without a fault the control goes on."""
        happened = self.driver.happened
        others = [kind for kind in happened if kind in OF_OTHERS]
        if self.driver.plan_first != 'true' or others or not self._ended():
            return None
        return f'{self.rig.controller.reason}, {happened}'

    def frozen(self) -> str | None:
        """Rule 17: states that do not move during a motion are stale."""
        now, frozen = self.rig.now, self.driver.acting('frozen')
        desired = self.rig.desired()[1]
        if not (frozen and self._state in MOVING and np.abs(desired).max() > 0.05):
            self._frozen_since = None
            return None
        self._frozen_since = now if self._frozen_since is None else self._frozen_since
        waited = now - self._frozen_since
        return f'{waited:.2f} s' if waited > self._timeout + 0.1 else None

    def runaway(self) -> str | None:
        """Rule 17: an arm whose states are frozen does not run away."""
        speed = float(np.abs(self.rig.desired()[1]).max())
        fastest = self._fastest_reference = max(0.99 * self._fastest_reference, speed)
        others = {*self.driver.happened[-3:]} - {'frozen', *MOTIONS}
        if not self.driver.acting('frozen') or self._state not in MOVING or others:
            return None
        moved = float(np.abs(self.arm.qd[self.driver.joints]).max())
        return f'{moved:.2f} rad/s, {fastest:.2f}' if moved > 2.0 * fastest + 1.0 else None

    def contradiction(self) -> str | None:
        """Rule 18: sources that contradict each other are no robot."""
        now, driver = self.rig.now, self.driver
        apart = np.abs(driver.false_position - self.arm.q)[driver.joints].max() > 0.2
        alone = driver.acting('lost') or driver.acting('frozen')
        if not (driver.acting('false_publisher') and apart and not alone):
            self._contradicted_since = None
        elif self._contradicted_since is None:
            self._contradicted_since = now
        since = self._contradicted_since
        bad = since is not None and now - since > 1.0 and self._state in CONTROLLING
        return 'goes on after 1 s' if bad else None

    def wild_input(self) -> str | None:
        """Rule 20: values that this robot cannot have lead to no command at its limit."""
        if self.command is None:
            return None
        wild = [kind for kind in WILD if self.driver.acting(kind)]
        at_limit = bool((np.abs(self.command) >= 0.99 * self._limits).any())
        if at_limit and not wild:
            self._limit_free_since = self.rig.now
        recently = self.rig.now - self._limit_free_since < 0.5 and self._limit_free_since > 1000.0
        return f'{wild}, {self.command}' if at_limit and wild and not recently else None

    def terms(self) -> str | None:
        """The terms add up to the command, where no blend and no limit acts."""
        now, command = self.rig.now, self.command
        if command is None or self._before is None or self._state not in MOVING:
            return None
        quiet = now - max(self._changed_at, self.driver.last_event, self._since)
        slow = (np.abs(command - self._before) < 0.9 * self.rig.greatest_step).all()
        inside = (np.abs(self._terms) < self._limits).all()
        if quiet < self._ramp_time + self._swing or not (slow and inside):
            return None
        error = np.abs(self._terms - command).max()
        return f'{self._terms} is not {command}' if error > 1e-6 else None

    def energy(self) -> str | None:
        """An arm without a motion, only damped, gains no energy."""
        now, rig = self.rig.now, self.rig
        choices = rig.settings
        passive = (
            rig.controller.reference_at(now) is None and self._state in MOVING
            and self.command is not None and choices.friction == type(choices.friction)()
            and not choices.wrench_inputs and choices.base_sensor is None
            and self._since + self._ramp_time < now and self.driver.last_event + 0.5 < now
        )
        if not passive:
            self._calm_since = None
            return None
        energy = self.arm.energy()
        if self._calm_since is None:
            self._calm_since, self._calm_energy = now, energy
        self._calm_energy = min(self._calm_energy, energy)
        gained = energy - self._calm_energy
        return f'{gained:.3g} J' if gained > 0.02 + 0.2 * self._calm_energy else None


Rule = Callable[[Rules], str | None]

RULES: dict[str, Rule] = {
    'no_error': Rules.no_error,
    'last_command': Rules.last_command,
    '19_end_of_ramp': Rules.end_of_ramp,
    '19_permitted_again': Rules.permitted_again,
    '19_not_pulled_back': Rules.not_pulled_back,
    '20_ends_by_time': Rules.ends_by_time,
    '16_others': Rules.others,
    'no_cause': Rules.no_cause,
    '17_frozen': Rules.frozen,
    '17_runaway': Rules.runaway,
    '18_contradiction': Rules.contradiction,
    '20_wild_input': Rules.wild_input,
    'terms': Rules.terms,
    'energy': Rules.energy,
}
"""The rules by name; beside them ``commands``, which the rig judges, and ``goals``."""
