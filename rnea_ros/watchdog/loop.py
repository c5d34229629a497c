# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The watchdog's thread: on no executor, at a fixed rate, without logging or waiting."""

from __future__ import annotations

import threading
import time
import traceback

from ..ros import PeriodicSchedule, prepare_interpreter
from .command_link import CommandLink
from .silence import ACTING, SilenceMonitor

LINGER = 0.5
"""
Time between the last command and the end of the publisher, s.

With the publisher, a busy subscriber loses the messages that it has not taken yet.
"""


class WatchLoop:
    """
    Takes commands, and sends the watchdog's own after a silence.

    :param monitor: decides what to send
    :param link: the command topic
    :param period: time between two ticks, s
    :ivar failure: traceback of the exception that ended the thread, None if none did
    """

    def __init__(self, monitor: SilenceMonitor, link: CommandLink, period: float) -> None:
        self._monitor = monitor
        self._link = link
        self._schedule = PeriodicSchedule(period)
        self._quit = False
        self._thread = threading.Thread(target=self._run, name='watch_loop', daemon=True)
        self.failure: str | None = None

    @property
    def running(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Start the thread."""
        prepare_interpreter()
        self._thread.start()

    def stop(self) -> None:
        """End the thread; a ramp in progress ends in zeros at once."""
        self._quit = True
        self._schedule.cancel()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._schedule.start()
            while not self._quit:
                self._schedule.wait()
                now = time.monotonic()
                received = self._link.take()
                if received is not None:
                    self._monitor.receive(received, now)
                command = self._monitor.command_at(now)
                if command is not None:
                    self._link.send(command)
            if self._monitor.state in ACTING:
                self._link.send(self._monitor.zeros())
                time.sleep(LINGER)
        except Exception:  # the main thread logs it and ends the process
            self.failure = traceback.format_exc()
