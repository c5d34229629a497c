# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The hot loop: what came since the last tick in, one tick of the control, command out.

It runs in a thread of its own and is on no executor. Messages are taken straight from their
subscriptions and sent as bytes; it neither logs nor waits for anybody.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import threading
import time
from typing import Protocol

from ..feedforward.controller import FeedforwardController
from ..feedforward.reasons import Reason
from ..feedforward.supervisor import State
from .clock import Clock
from .interpreter import UncollectedGarbage
from .publishers import Publishers
from .realtime import RealtimeSettings, enter_realtime, leave_realtime
from .statistics import LoopStatistics

STANDSTILL = 1.0
"""Simulated time that has not moved for so long stands still, s of the machine's time."""


class Schedule(Protocol):
    """When ticks are due."""

    missed: int
    """Ticks that came too late, and were skipped."""

    unprompted: int
    """Ticks that came although what they are for did not."""

    def start(self) -> None:
        """Count from now on."""

    def cancel(self) -> None:
        """Let the wait that is under way, and every later one, return soon."""

    def wait(self) -> float:
        """Sleep until the next tick is due; return how late it is, s."""


class ControlLoop:
    """
    Runs the control in a thread until it has stopped.

    :param controller: the control; it is stepped here only
    :param takes: what takes in all that the schedule has not taken; given the tick's time, s
    :param publishers: where commands go
    :param period: s
    :param clock: the time of ages, schedule and stamps
    :param schedule: when ticks are due
    :param realtime: what the thread asks of the system
    :ivar complaints: what the system refused of it
    """

    def __init__(
        self,
        controller: FeedforwardController,
        takes: Sequence[Callable[[float], None]],
        publishers: Publishers,
        period: float,
        clock: Clock,
        schedule: Schedule,
        realtime: RealtimeSettings,
    ) -> None:
        self._controller = controller
        self._takes = takes
        self._publishers = publishers
        self._clock = clock
        self._period = period
        self._schedule = schedule
        self._realtime = realtime
        self._garbage = UncollectedGarbage()
        self._finished = threading.Event()
        self._quit = False
        self._thread = threading.Thread(target=self._run, name='control_loop', daemon=True)
        self.statistics = LoopStatistics(period, clock.now())
        self.complaints: list[str] = []

    def start(self) -> None:
        """Begin; nothing that the loop needs is compiled or collected later."""
        self._garbage.begin()
        self._thread.start()

    def tidy(self) -> None:
        """Collect garbage beside the loop; to be called now and then."""
        self._garbage.collect()

    def finish(self, timeout: float) -> str:
        """
        Wait until the control has stopped, then end the thread.

        :param timeout: s; after it, or where time stands still, the thread is ended in any case
        :return: why it was ended before the control had stopped, empty where it had
        """
        why = self._wait_for_stop(timeout)
        self._quit = True
        self._schedule.cancel()
        self._thread.join()
        leave_realtime(self._realtime)
        self._garbage.end()
        return why

    def _wait_for_stop(self, timeout: float) -> str:
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            seen = self._clock.seen()
            if self._finished.wait(STANDSTILL):
                return ''
            if self._clock.seen() == seen:
                return 'simulated time stands still'
        return 'it did not stop in time'

    def _run(self) -> None:
        self.complaints = enter_realtime(self._realtime)
        while not self._clock.now() and not self._quit:
            self._clock.sleep(self._period)  # simulated time has not begun
        self._schedule.start()
        while not self._quit and self._controller.state is not State.STOPPED:
            lateness = self._wait()
            began = time.perf_counter()
            now = self._clock.now()
            for take in self._takes:
                try:
                    take(now)
                except Exception as error:
                    self._fail(error)
            try:
                self._command(now)
            except Exception as error:
                self._fail(error)
            self.statistics.missed = self._schedule.missed
            self.statistics.unprompted = self._schedule.unprompted
            self.statistics.record(lateness, time.perf_counter() - began)
        self._finished.set()

    def _wait(self) -> float:
        """Wait for the next tick; return how late it is, s."""
        try:
            return self._schedule.wait()
        except Exception as error:
            self._fail(error)
            time.sleep(self._period)
            return 0.0

    def _fail(self, error: Exception) -> None:
        """End the control over what a part of the tick raised; the loop goes on."""
        self._controller.fail(Reason.INTERNAL_ERROR, self._clock.seen(), error)

    def _command(self, now: float) -> None:
        command = self._controller.step(now)
        # A process that was stopped within a tick must not come back with an effort of long ago.
        if command is None or self._controller.outdated(self._clock.now() - now):
            return
        publishers, stamp = self._publishers, self._clock.stamp()
        publishers.send_command(command)
        if publishers.named_wanted:
            publishers.send_named(stamp)
        terms = publishers.terms
        if terms.wanted:
            if terms.due(now):
                terms.put_down(self._controller.terms(), command, now, stamp)
            terms.send_some()
