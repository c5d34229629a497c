# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The node's loop in virtual time; it can stall before any statement of loop and control."""

from collections.abc import Callable, Sequence
from pathlib import Path
import threading
from types import FrameType, SimpleNamespace
from typing import Any, ClassVar, cast
from unittest import mock

import numpy as np

import rnea_ros
from rnea_ros.feedforward import FeedforwardController
from rnea_ros.feedforward.settings import RealtimeSettings
from rnea_ros.node.loop import ControlLoop
from rnea_ros.ros import MachineClock, PeriodicSchedule

STALLED = tuple(
    str(Path(rnea_ros.__file__).parent / part) for part in ('node/loop.py', 'feedforward/')
)


class VirtualClock(MachineClock):
    """
    Time that passes only when the loop sleeps or stalls; stamps show the same time.

    :param start: monotonic time, s
    :param pass_by: called with each duration that has passed, s
    :ivar of_messages: this clock for messages, whose ages never depend on the machine's time
    """

    simulated: ClassVar[bool] = True  # so no stall of the machine counts as a hang of the loop

    def __init__(self, start: float, pass_by: Callable[[float], object]) -> None:
        self._time, self._pass_by = start, pass_by
        self.of_messages = cast(
            Any, SimpleNamespace(now=self.now, stamp=self.now, simulated=False)
        )

    def now(self) -> float:
        return self._time

    latest = stamp = now

    def sleep(self, duration: float) -> None:
        self._time += duration
        self._pass_by(duration)


class Stalls:
    """
    Stalls before any statement of the loop and the control: a trace function of the loop's thread.

    :param stall: called with the duration of each stall, s
    :param longest: longest stall, s
    """

    def __init__(self, seed: int, longest: float, stall: Callable[[float], object]) -> None:
        self._rng = np.random.default_rng(seed)
        self._longest, self._stall = longest, stall
        self._plan_next()

    def plan(self, statements: int, duration: float) -> None:
        """Stall next after so many statements, for a duration, s."""
        self._left, self._duration = statements, duration

    def trace(self, frame: FrameType, event: str, argument: object) -> Any:
        """Trace the calls in the loop's thread, as ``threading.settrace`` asks."""
        del event, argument
        if threading.current_thread().name != 'control_loop':
            return None
        return self._trace_lines if frame.f_code.co_filename.startswith(STALLED) else None

    def _trace_lines(self, frame: FrameType, event: str, argument: object) -> Any:
        del frame, argument
        if event == 'line':
            self._left -= 1
            if self._left <= 0:
                duration = self._duration
                self._plan_next()
                self._stall(duration)
        return self._trace_lines

    def _plan_next(self) -> None:
        share = float(self._rng.random())
        long = self._rng.random() < 1.0 / 200.0
        self.plan(
            int(self._rng.geometric(0.003)), self._longest * share if long else 0.01 * share**3
        )


class _Ticks(PeriodicSchedule):
    """Calls a function at the end of each tick; its first error stops the control and the loop."""

    def __init__(
        self, controller: FeedforwardController, clock: VirtualClock, end: Callable[[], object]
    ) -> None:
        super().__init__(controller.settings.period, clock.now, clock.sleep)
        self._stop, self._end = controller.request_stop, end
        self.error: BaseException | None = None

    def wait(self) -> float:
        try:
            self._end()
        except BaseException as error:
            self.error = self.error or error
            self._stop()  # the thread ends with its ramp-down
            raise SystemExit from error
        return super().wait()


def run_loop(
    controller: FeedforwardController, robot: Any, readers: Sequence[Callable[[float], None]],
    clock: VirtualClock, stalls: Stalls | None,
) -> str:
    """
    Run a loop until its control has stopped; return why it did not end by itself, '' if it did.

    :param robot: takes commands (``send_command``; ``subscribed``), permits them (``check``,
        ``unconfirmed``), and is called before, between and after ticks (``end_tick``)
    """
    ticks = _Ticks(controller, clock, robot.end_tick)
    # To search all modules for garbage would take longer than a run.
    with mock.patch('rnea_ros.node.loop.ManualGarbageCollection'):
        loop = ControlLoop(controller, readers, robot, robot, clock, ticks, RealtimeSettings())
    before, known = threading.gettrace(), set(threading.enumerate())
    if stalls is not None:
        threading.settrace(stalls.trace)
    try:
        loop.start()
    finally:
        threading.settrace(before)
    for thread in set(threading.enumerate()) - known:
        if thread.name == 'control_loop':
            thread.join()
    why = loop.join(60.0)
    if ticks.error is not None:
        raise ticks.error
    return why
