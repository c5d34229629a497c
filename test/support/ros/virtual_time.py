# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The machine's time for a node whose loop runs only as far as a test lets time pass."""

from __future__ import annotations

from collections.abc import Callable
import threading
import time
from typing import Any, ClassVar

from support.ros.ros_process import PATIENCE

WALL = 7000.0
"""Wall time at the monotonic time 0, s."""


class VirtualTime:
    """
    The module ``time`` and the clock of the loop; time passes only as the test allows.

    :ivar events: sources; ``send()`` of each is called when it is ``due``
    """

    simulated: ClassVar[bool] = False

    def __init__(self) -> None:
        self._now = 100.0
        self._limit = 0.0
        self._turn = threading.Condition()
        self._parked = self.hung = False
        self._thread: threading.Thread | None = None
        self.events: list[Any] = []

    def monotonic(self) -> float:
        return self._now

    now = latest = perf_counter = process_time = monotonic

    def time(self) -> float:
        return self._now + WALL

    stamp = time

    def attach(self, thread: threading.Thread) -> None:
        """Let a loop's thread run no further than :meth:`sleep` of the test's thread allows."""
        self._thread, self._parked = thread, False
        self._limit = self._now

    def sleep(self, duration: float) -> None:
        """Sleep in the loop's thread, or let the loop run for a time, s."""
        if threading.current_thread() is self._thread:
            self._advance(self._now + duration)
            return
        end = self._now + duration
        with self._turn:
            self._limit, self._parked = end, False
            self._turn.notify_all()
            patience = time.monotonic() + PATIENCE
            while self._thread is not None and self._thread.is_alive() and not self._parked:
                self._turn.wait(0.02)
                self.hung = time.monotonic() > patience
                assert not self.hung, 'the loop goes on without a pause'
        if self._now < end:
            self._pass_events(end)
            self._now = end

    def stall(self, duration: float) -> None:
        """Stall the whole machine for a duration, s; then all that is overdue is sent at once."""
        self._now += duration

    def wait(self, arrived: Callable[[], Any], timeout: float) -> None:
        """Sleep in the loop's thread until a message has arrived, at most a timeout, s."""
        end = self._now + max(timeout, 1e-5)  # any call takes some time
        while self._now < end and not arrived():
            due = min((event.due for event in self.events), default=end)
            self._advance(min(end, max(due, self._now)))

    def run_freely(self, join: Callable[..., str], *arguments: Any) -> str:
        """Join the loop, which runs without a limit meanwhile: at deactivation and shutdown."""
        with self._turn:
            self._limit = float('inf')
            self._turn.notify_all()
        why = join(*arguments)
        self._limit = self._now
        return why

    def _advance(self, end: float) -> None:
        with self._turn:
            while end > self._limit + 1e-9:
                self._parked = True
                self._turn.notify_all()
                self._turn.wait(PATIENCE)
            self._parked = False
        self._pass_events(end)
        self._now = max(self._now, end)

    def _pass_events(self, end: float) -> None:
        while due := [event for event in self.events if event.due <= end + 1e-9]:
            event = min(due, key=lambda each: each.due)
            self._now = max(self._now, event.due)
            event.send()
