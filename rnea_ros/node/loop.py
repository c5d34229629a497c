# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The control loop: take the new messages, compute one tick of the control, send the command.

It runs in a thread on no executor, does not log and does not wait for another thread.

Whatever ends it, :meth:`ControlLoop._take_over` ramps down: in this thread if an error ends it, in
the thread that waits for a stop if the stop does not end. If a take or a publish blocks for ever,
the watchdog process sees the silence; without one (``ros2 run``) the executor sees at its polls
that no ticks come, and starts a thread that takes over. A thread that only waits for this would
see no more: where the executor hangs too, for example in a lock of DDS, its commands would too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
import threading
import time
from typing import Any, TypeVar

import numpy as np

from ..arrays import Array, Indices
from ..feedforward import FeedforwardController, Reason, State
from ..feedforward.measured import JointStateMonitor
from ..feedforward.settings import RealtimeSettings
from ..ros import Clock, ManualGarbageCollection, PeriodicSchedule
from .command_topic import CommandTopic
from .publishers import Publishers
from .timing import LoopStatistics, enter_realtime, leave_realtime

Result = TypeVar('Result')

HANG_TIMEOUT = 0.9  # a loop without a tick for this long counts as hung, s
CHECK_INTERVAL = 0.1  # time between two checks of the loop by another thread, s
STANDSTILL = 1.0  # simulated time that is unchanged for this long has stopped, s of machine time
REPEATS = 5  # of the last command: a best-effort subscription may lose one
CONFIRM_TIMEOUT = 2.0  # longest wait for the joints of a controller that came back in a stop, s

TRIGGER_TIMEOUT = 1.5  # without new joint states, a tick comes after this many periods
MAX_TICKS = 2.0  # greatest number of ticks per period


class ControlLoop:
    """
    Steps the control in a thread until it has stopped.

    :param message_readers: take the new messages at a tick, except those that trigger ticks
    :ivar warnings: one sentence per rejected real-time setting
    """

    def __init__(
        self, controller: FeedforwardController,
        message_readers: Sequence[Callable[[float], None]], publishers: Publishers,
        command_topic: CommandTopic, clock: Clock,
        schedule: PeriodicSchedule | JointStateTrigger, realtime: RealtimeSettings,
    ) -> None:
        self._controller, self._period = controller, controller.settings.period
        self._message_readers, self._publishers = message_readers, publishers
        self._command_topic, self._realtime = command_topic, realtime
        self._clock, self.schedule = clock, schedule
        self._garbage = ManualGarbageCollection()
        self._stopped = threading.Event()
        self._joining = self._taken_over = False
        self._now = 0.0
        self._thread = threading.Thread(target=self._run, name='control_loop', daemon=True)
        self._takeover: threading.Thread | None = None
        self._seen_ticks = self._checks_without_tick = 0
        self.statistics = LoopStatistics(self._period, clock.now())
        self.warnings: list[str] = []

    def start(self) -> None:
        """Start the thread; all objects and compiled functions of the loop must exist."""
        self._garbage.begin()
        self._thread.start()

    def supervise(self) -> None:
        """
        Take over in a new thread if the loop hangs; to be called every :data:`CHECK_INTERVAL`.

        It hangs after 0.9 s or three periods without a tick, whichever is longer. Checks are
        counted, not timed: the machine may have stalled. A paused simulation is not a hang.
        """
        ticks, timeout = self.statistics.ticks, max(HANG_TIMEOUT, 3.0 * self._period)
        if ticks != self._seen_ticks or self._clock.simulated or self._taken_over:
            self._seen_ticks, self._checks_without_tick = ticks, 0
            return
        self._checks_without_tick += 1
        if self._checks_without_tick * CHECK_INTERVAL < timeout or self._stopped.is_set():
            return
        self._taken_over = True
        hang = RuntimeError(f'the control loop hangs for {timeout:g} s')
        self._takeover = threading.Thread(
            target=self._take_over, args=(hang,), name='loop_takeover', daemon=True
        )
        self._takeover.start()

    def join(self, timeout: float, meanwhile: Callable[[], None] = lambda: None) -> str:
        """
        Wait until the control has stopped, then end the loop's thread.

        :param timeout: after this time, s, or if simulated time stands still, take over
        :param meanwhile: called ten times a second
        :return: why this thread took over; empty if it did not
        """
        try:
            why = self._wait_for_stop(timeout, meanwhile)
            self._joining = True
            self.schedule.cancel()
            for thread in filter(None, (self._thread, self._takeover)):
                thread.join(HANG_TIMEOUT)
            if why:
                self._take_over(None, deadline=time.monotonic() + timeout)
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
                # In the next tick, of another thread; the stop must continue.
                self._controller.request_fault(Reason.INTERNAL_ERROR, error)
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
        except BaseException as error:  # SystemExit too: this thread ends, but not with torque on
            if not self._taken_over:
                self._take_over(error)

    def _tick_until_stopped(self) -> None:
        clock, schedule, controller = self._clock, self.schedule, self._controller
        while not clock.now() and not self._joining:
            clock.sleep(self._period)  # simulated time is 0 before the first /clock
        schedule.start()
        last_command = LastCommand(controller, self._command_topic)
        while not (self._joining or last_command.done):
            lateness = self._guarded(schedule.wait)
            if lateness is None:
                time.sleep(self._period)
            began, now = time.perf_counter(), clock.now()
            if self._taken_over:
                return  # this thread hung; another one sends commands
            self._now = now
            for read_messages in self._message_readers:
                self._guarded(read_messages, now)
            command = self._guarded(self._send_command, now)
            if controller.state is State.STOPPED:
                last_command.register(command)
            self.statistics.record(lateness or 0.0, time.perf_counter() - began)
        if not self._taken_over:
            self._stopped.set()

    def _guarded(self, function: Callable[..., Result], *arguments: Any) -> Result | None:
        """Call a function; an error ends the control, and the loop goes on and ramps down."""
        try:
            return function(*arguments)
        except Exception as error:
            self._controller.enter_fault(Reason.INTERNAL_ERROR, self._now, error)
            return None

    def _send_command(self, now: float) -> Array | None:
        """Step the control; return the command, None if none was sent."""
        controller, clock = self._controller, self._clock
        permitted = self._guarded(self._command_topic.check)
        if permitted is not None:  # after an error the last permission stays, for the ramp-down
            controller.permitted = permitted
        command = None if self._hung() else controller.step(now)
        if command is None or self._hung():
            return None
        # If the process was suspended during this tick, the command is too old to send.
        if controller.command_expired(clock.now() - now):
            controller.limiter.withdraw()
            return None
        stamp = clock.stamp()
        self._publishers.send_command(command)
        if self._hung():
            return None
        controller.limiter.sent(clock.latest())
        if self._publishers.subscribed:
            self._publishers.send_extras(command, controller, now, stamp)
        return command

    def _hung(self) -> bool:
        """Return whether another thread sends commands, because this one hung."""
        return self._taken_over

    def _take_over(self, error: BaseException | None, deadline: float | None = None) -> None:
        """
        Step the control in this thread, in the machine's time, until it has stopped.

        Clock, schedule, inputs and permission may be the cause: they are not read. It ends at a
        monotonic deadline, s; without one at :meth:`join`.
        """
        self._taken_over = True
        if error is not None:
            self._controller.enter_fault(Reason.INTERNAL_ERROR, self._now, error)
        began, start = time.monotonic(), self._now
        last_command = LastCommand(self._controller, self._command_topic)
        while not last_command.done:
            if self._joining if deadline is None else time.monotonic() >= deadline:
                return
            command = self._guarded(self._controller.step, start + time.monotonic() - began)
            if command is not None:
                self._guarded(self._publishers.send_command, command)
            if self._controller.state is State.STOPPED:
                last_command.register(command)
            time.sleep(self._period)
        self._stopped.set()


class LastCommand:
    """``done`` once the last command of a stop was sent often enough, or cannot be sent."""

    def __init__(self, controller: FeedforwardController, command_topic: CommandTopic) -> None:
        self._controller, self._command_topic = controller, command_topic
        self._command = np.full(len(controller.joints), np.nan)
        self._repeats_left, self._stopped_at, self.done = REPEATS, math.inf, False

    def register(self, command: Array | None) -> None:
        """Take what a tick in state ``stopped`` sent, shape (m,); None for nothing."""
        now = time.monotonic()
        self._stopped_at = min(self._stopped_at, now)
        unconfirmed = self._controller.withheld and self._command_topic.unconfirmed
        if unconfirmed and now - self._stopped_at < CONFIRM_TIMEOUT:
            return
        if command is not None and not (command == self._command).all():
            self._command[:], self._repeats_left = command, REPEATS
        else:
            self._repeats_left -= 1
        self.done = self._repeats_left == 0


class JointStateTrigger:
    """
    Wakes its thread when every commanded joint has a new sample, or when samples are late.

    A simulation in lockstep waits for the command after each of its joint states. So in simulated
    time a rejected joint state triggers a tick too, and no tick waits for time that stands still.

    :param wait: sleeps until a joint state arrives, at most for a time, s
    :param take: takes the joint states that have arrived, at a time, s
    :ivar missed: always 0: ticks have no planned times; ``untriggered``: without a new joint state
    """

    def __init__(
        self, states: JointStateMonitor, commanded: Indices, wait: Callable[[float], None],
        take: Callable[[float], None], period: float, clock: Clock,
    ) -> None:
        self._states, self._commanded = states, commanded
        self._wait, self._take = wait, take
        self._period, self._clock = period, clock
        self._ticked, self._cancelled = 0.0, False
        self._rejections = states.rejections
        self.missed = self.untriggered = 0

    def start(self) -> None:
        """Start now."""
        self._ticked = self._clock.now()

    def cancel(self) -> None:
        """Make the present call of :meth:`wait`, and every later one, return soon."""
        self._cancelled = True

    def wait(self) -> float:
        """Sleep until the next tick; return by how much it took longer than a period, s."""
        now = self._clock.now()
        while not self._cancelled:
            self._ticked = min(self._ticked, now)  # simulated time can be set back
            elapsed = now - self._ticked
            if elapsed >= TRIGGER_TIMEOUT * self._period:
                self.untriggered += 1
                break
            self._take(now)
            if not self._prompted():
                self._wait(TRIGGER_TIMEOUT * self._period - elapsed)
            elif elapsed < self._period / MAX_TICKS:
                self._clock.sleep(self._period / MAX_TICKS - elapsed)
                if self._clock.now() == now:
                    break  # simulated time stands still, perhaps until this tick's command
            else:
                break
            now = self._clock.now()
        self._states.mark_seen()
        self._rejections = self._states.rejections
        late = max(now - self._ticked - self._period, 0.0)
        self._ticked = now
        return late

    def _prompted(self) -> bool:
        """Return whether joint states trigger a tick."""
        rejected = self._states.rejections is not self._rejections  # replaced at each rejection
        return self._states.all_updated(self._commanded) or (rejected and self._clock.simulated)
