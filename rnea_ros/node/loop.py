# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The control loop: take the new messages, compute one tick of the control, send the command.

It runs in a thread of its own and on no executor. It takes and sends messages as bytes, does not
log and does not wait for another thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
import threading
import time

import numpy as np

from ..arrays import Array
from ..feedforward import FeedforwardController, Reason, State
from ..feedforward.settings import RealtimeSettings
from ..ros import Clock, ManualGarbageCollection, PeriodicSchedule
from .command_topic import CommandPermission
from .joint_state_trigger import JointStateTrigger
from .outputs import Publishers
from .timing import LoopStatistics, enter_realtime, leave_realtime

Schedule = PeriodicSchedule | JointStateTrigger

HANG_TIMEOUT = 0.9  # a loop without a tick for this long counts as hung, s
CHECK_INTERVAL = 0.1  # time between two checks of the loop by another thread, s
STANDSTILL = 1.0  # simulated time that is unchanged for this long has stopped, s of machine time
REPEATS = 5  # of the last command: a best-effort subscription may lose one
CONFIRM_TIMEOUT = 2.0  # longest wait for the joints of a controller that came back in a stop, s


class ControlLoop:
    """
    Steps the control in a thread until it has stopped.

    A second thread supervises it. If the loop's thread dies, or hangs for 0.9 s or three periods,
    whichever is longer, the supervisor takes over and ramps the control down. In simulated time
    it takes over only if the thread dies.

    :param takes: functions that take new messages, called with the time of the tick, s; the
        messages that trigger ticks are taken by the schedule
    :ivar statistics: timing of the ticks
    :ivar warnings: one sentence per rejected real-time setting
    """

    def __init__(
        self, controller: FeedforwardController, takes: Sequence[Callable[[float], None]],
        publishers: Publishers, permission: CommandPermission, period: float, clock: Clock,
        schedule: Schedule, realtime: RealtimeSettings,
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
        self._stopped = threading.Event()
        self._joining = False
        self._taken_over = False
        self._ticks = 0
        self._now = 0.0
        self._thread_error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name='control_loop', daemon=True)
        self._supervisor = threading.Thread(
            target=self._supervise, name='loop_supervisor', daemon=True
        )
        self.statistics = LoopStatistics(period, clock.now())
        self.warnings: list[str] = []

    def start(self) -> None:
        """Start both threads; all objects and compiled functions of the loop must exist."""
        self._garbage.begin()
        self._thread.start()
        self._supervisor.start()

    def join(self, timeout: float, meanwhile: Callable[[], None] = lambda: None) -> str:
        """
        Wait until the control has stopped, then end the threads.

        If it does not stop in time, s, or simulated time stands still, this thread takes over and
        ramps the control down.

        :param meanwhile: called ten times a second
        :return: why this thread took over; empty if it did not
        """
        try:
            why = self._wait_for_stop(timeout, meanwhile)
            self._joining = True
            self._schedule.cancel()
            for thread in (self._thread, self._supervisor):
                thread.join(HANG_TIMEOUT)
            if why:
                self._taken_over = True
                deadline = time.monotonic() + timeout
                self._ramp_down(lambda: time.monotonic() < deadline)
        finally:
            leave_realtime(self._realtime)
            self._garbage.end()
        return why

    def _wait_for_stop(self, timeout: float, meanwhile: Callable[[], None]) -> str:
        now = moved_at = time.monotonic()
        deadline, loop_time = now + timeout, self._clock.latest()
        while now < deadline:
            if self._stopped.wait(CHECK_INTERVAL):
                return ''
            try:
                meanwhile()
            except Exception as error:
                self._enter_fault(error)  # the stop must continue
            now = time.monotonic()
            if self._clock.latest() != loop_time or self._taken_over:
                loop_time, moved_at = self._clock.latest(), now
            if now - moved_at > STANDSTILL:
                return 'simulated time stands still'
        return 'it did not stop in time'

    def _run(self) -> None:
        try:
            self.warnings = enter_realtime(self._realtime)
            self._tick_until_stopped()
        except BaseException as error:  # SystemExit too: the supervisor takes over
            self._thread_error = error

    def _tick_until_stopped(self) -> None:
        while not self._clock.now() and not self._joining:
            self._clock.sleep(self._period)  # simulated time is 0 before the first /clock
        self._schedule.start()
        last_command = LastCommand(self._controller, self._permission)
        while not (self._joining or last_command.done):
            lateness = self._wait_for_tick()
            began = time.perf_counter()
            now = self._clock.now()
            if self._taken_over:
                return  # this thread hung; another one sends commands
            self._now = now
            for take in self._takes:
                try:
                    take(now)
                except Exception as error:
                    self._enter_fault(error)
            try:
                command = self._send_command(now)
            except Exception as error:
                self._enter_fault(error)
                command = None
            last_command.register(command)
            self._ticks += 1
            self.statistics.missed = self._schedule.missed
            self.statistics.untriggered = self._schedule.untriggered
            self.statistics.record(lateness, time.perf_counter() - began)
        if not self._taken_over:
            self._stopped.set()

    def _wait_for_tick(self) -> float:
        """Wait for the next tick; return its lateness, s."""
        try:
            return self._schedule.wait()
        except Exception as error:
            self._enter_fault(error)
            time.sleep(self._period)
            return 0.0

    def _enter_fault(self, error: BaseException) -> None:
        """End the control because of an error; the loop goes on and ramps down."""
        self._controller.enter_fault(Reason.INTERNAL_ERROR, self._now, error)

    def _send_command(self, now: float) -> Array | None:
        """Step the control and send its command; return the command, None if none was sent."""
        try:
            self._controller.permitted = self._permission.check()
        except Exception as error:
            self._enter_fault(error)  # the last permission stays in force for the ramp-down
        if self._taken_over:
            return None
        controller = self._controller
        command = controller.step(now)
        if command is None or self._taken_over:
            return None
        # If the process was suspended during this tick, the command is too old to send.
        if controller.command_expired(self._clock.now() - now):
            controller.withdraw_command()
            return None
        stamp = self._clock.stamp()
        self._publishers.send_command(command)
        controller.command_sent(self._clock.latest())
        self._publishers.send_extras(command, controller, now, stamp)
        return command

    def _supervise(self) -> None:
        """Take over and ramp down if the loop's thread dies or hangs."""
        ticks, checks = self._ticks, 0
        timeout = max(HANG_TIMEOUT, 3.0 * self._period)
        while checks * CHECK_INTERVAL < timeout:
            self._thread.join(CHECK_INTERVAL)
            if self._joining or self._stopped.is_set():
                return
            if not self._thread.is_alive():
                break
            # No timeout in simulated time: if it is paused, so is the simulated robot.
            checks = 0 if self._ticks != ticks or self._clock.simulated else checks + 1
            ticks = self._ticks
        self._taken_over = True
        hang = RuntimeError(f'the control loop hangs for {timeout:g} s')
        self._enter_fault(self._thread_error or hang)
        self._ramp_down(lambda: not self._joining)
        self._stopped.set()

    def _ramp_down(self, may_go_on: Callable[[], bool]) -> None:
        """Step the control here, in the machine's time, until it has stopped or may not go on."""
        # Clock, schedule, inputs and permission may be the cause: they are not read.
        began, start = time.monotonic(), self._now
        last_command = LastCommand(self._controller, self._permission)
        while not last_command.done and may_go_on():
            command = self._controller.step(start + time.monotonic() - began)
            try:
                if command is not None:
                    self._publishers.send_command(command)
            except Exception as error:
                self._enter_fault(error)
            last_command.register(command)
            time.sleep(self._period)


class LastCommand:
    """Decides when the last command of a stop was sent often enough, or cannot be sent."""

    def __init__(self, controller: FeedforwardController, permission: CommandPermission) -> None:
        self._controller = controller
        self._permission = permission
        self._command = np.full(len(controller.joints), np.nan)
        self._repeats_left = REPEATS
        self._stopped_at = math.inf
        self.done = False

    def register(self, command: Array | None) -> None:
        """Register the command that a tick sent, shape (m,); None if none was sent."""
        if self._controller.state is not State.STOPPED:
            return
        now = time.monotonic()
        self._stopped_at = min(self._stopped_at, now)
        unconfirmed = self._controller.withheld and self._permission.unconfirmed
        if unconfirmed and now - self._stopped_at < CONFIRM_TIMEOUT:
            return
        if command is not None and not (command == self._command).all():
            self._command[:], self._repeats_left = command, REPEATS
        else:
            self._repeats_left -= 1
        self.done = self._repeats_left == 0
