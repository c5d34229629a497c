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

from ..arrays import Array
from ..feedforward import FeedforwardController, Reason
from ..ros import Clock, ManualGarbageCollection
from .command_topic import CommandPermission, LastCommand
from .outputs import Publishers
from .timing import LoopStatistics, RealtimeSettings, enter_realtime, leave_realtime

HANG_TIMEOUT = 0.9
"""A loop without a tick for so long hangs, s."""

CHECK_INTERVAL = 0.1
"""The supervisor looks at the loop so often, s."""

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

    A second thread supervises it. Where the loop's thread dies, or hangs for 0.9 s or three
    periods (not in simulated time), the supervisor ramps the control down in its place.

    :param controller: the control; one thread at a time steps it
    :param takes: what takes in all that the schedule has not taken; given the tick's time, s
    :param publishers: where commands go
    :param permission: of every command
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
        permission: CommandPermission,
        period: float,
        clock: Clock,
        schedule: Schedule,
        realtime: RealtimeSettings,
    ) -> None:
        self._controller = controller
        self._takes = takes
        self._publishers = publishers
        self._permission = permission
        self._clock = clock
        self._period = period
        self._schedule = schedule
        self._realtime = realtime
        self._garbage = ManualGarbageCollection()
        self._finished = threading.Event()
        self._quit = False
        self._ticks = 0
        self._now = 0.0
        self._death: BaseException | None = None
        self._replaced = False
        self._thread = threading.Thread(target=self._run, name='control_loop', daemon=True)
        self._supervisor = threading.Thread(
            target=self._supervise, name='loop_supervisor', daemon=True
        )
        self.statistics = LoopStatistics(period, clock.now())
        self.complaints: list[str] = []

    def start(self) -> None:
        """Begin; nothing that the loop needs is compiled or collected later."""
        self._garbage.begin()
        self._thread.start()
        self._supervisor.start()

    def tidy(self) -> None:
        """Collect garbage beside the loop; to be called now and then."""
        self._garbage.collect()

    def finish(self, timeout: float, meanwhile: Callable[[], None] = lambda: None) -> str:
        """
        Wait until the control has stopped, then end the threads.

        Where it does not stop in time, or simulated time stands still, it is ramped down here.

        :param timeout: s
        :param meanwhile: called ten times a second
        :return: why it had to be ramped down here, empty where it had stopped
        """
        try:
            why = self._wait_for_stop(timeout, meanwhile)
            self._quit = True
            self._schedule.cancel()
            for thread in (self._thread, self._supervisor):
                thread.join(HANG_TIMEOUT)
            if why:
                self._replaced = True
                deadline = time.monotonic() + timeout
                self._ramp_down(lambda: time.monotonic() < deadline)
        finally:
            leave_realtime(self._realtime)
            self._garbage.end()
        return why

    def _wait_for_stop(self, timeout: float, meanwhile: Callable[[], None]) -> str:
        now = moved_at = time.monotonic()
        deadline, seen = now + timeout, self._clock.seen()
        while now < deadline:
            if self._finished.wait(CHECK_INTERVAL):
                return ''
            try:
                meanwhile()
            except Exception as error:
                self._fail(error)  # the stop goes on
            now = time.monotonic()
            if self._clock.seen() != seen or self._replaced:
                seen, moved_at = self._clock.seen(), now
            if now - moved_at > STANDSTILL:
                return 'simulated time stands still'
        return 'it did not stop in time'

    def _run(self) -> None:
        try:
            self.complaints = enter_realtime(self._realtime)
            self._tick_until_stopped()
        except BaseException as error:  # the supervisor goes on, whatever it was
            self._death = error

    def _tick_until_stopped(self) -> None:
        while not self._clock.now() and not self._quit:
            self._clock.sleep(self._period)  # simulated time has not begun
        self._schedule.start()
        last = LastCommand(self._controller, self._permission)
        while not (self._quit or last.sent):
            lateness = self._wait()
            began = time.perf_counter()
            now = self._clock.now()
            if self._replaced:
                return  # it hung; another thread commands
            self._now = now
            for take in self._takes:
                try:
                    take(now)
                except Exception as error:
                    self._fail(error)
            try:
                command = self._command(now)
            except Exception as error:
                self._fail(error)
                command = None
            last.note(command)
            self._ticks += 1
            self.statistics.missed = self._schedule.missed
            self.statistics.unprompted = self._schedule.unprompted
            self.statistics.record(lateness, time.perf_counter() - began)
        if not self._replaced:
            self._finished.set()

    def _wait(self) -> float:
        """Wait for the next tick; return how late it is, s."""
        try:
            return self._schedule.wait()
        except Exception as error:
            self._fail(error)
            time.sleep(self._period)
            return 0.0

    def _fail(self, error: BaseException) -> None:
        """End the control because of an error in a part of the tick; the loop goes on."""
        self._controller.enter_fault(Reason.INTERNAL_ERROR, self._now, error)

    def _command(self, now: float) -> Array | None:
        """Send the command of a tick and return it, None where none is sent."""
        try:
            self._controller.permitted = self._permission.check()
        except Exception as error:
            self._fail(error)  # the last permission stays in force for the ramp down
        if self._replaced:
            return None
        command = self._controller.step(now)
        # A process that was stopped within a tick must not come back with an effort of long ago.
        late = self._replaced or self._controller.command_expired(self._clock.now() - now)
        if command is None or late:
            return None
        publishers, stamp = self._publishers, self._clock.stamp()
        publishers.send_command(command)
        if publishers.named_wanted:
            publishers.send_named(stamp)
        terms = publishers.terms
        if terms.wanted:
            if terms.due(now):
                terms.put_down(self._controller.terms(), command, now, stamp)
            terms.send_some()
        return command

    def _supervise(self) -> None:
        """Wait for the end of the loop's thread; ramp down where it has died or hangs."""
        ticked, looks = self._ticks, 0
        hanging = max(HANG_TIMEOUT, 3.0 * self._period)
        while looks * CHECK_INTERVAL < hanging:
            self._thread.join(CHECK_INTERVAL)
            if self._quit or self._finished.is_set():
                return
            if not self._thread.is_alive():
                break
            # Simulated time may stand still, and the robot with it.
            looks = 0 if self._ticks != ticked or self._clock.simulated else looks + 1
            ticked = self._ticks
        self._replaced = True
        self._fail(self._death or RuntimeError(f'the control loop hangs for {hanging:g} s'))
        self._ramp_down(lambda: not self._quit)
        self._finished.set()

    def _ramp_down(self, may_go_on: Callable[[], bool]) -> None:
        """
        Step the control until it has stopped, in the calling thread and in the machine's time.

        Clock, schedule, inputs and permission are not used: any of them may be what failed.

        :param may_go_on: asked before every step
        """
        began, start = time.monotonic(), self._now
        last = LastCommand(self._controller, self._permission)
        while not last.sent and may_go_on():
            command = self._controller.step(start + time.monotonic() - began)
            try:
                if command is not None:
                    self._publishers.send_command(command)
            except Exception as error:
                self._fail(error)
            last.note(command)
            time.sleep(self._period)
