# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The thread that watches: past every executor, at a fixed rate; it neither logs nor waits."""

from __future__ import annotations

import threading
import time
import traceback

from ..ros import PeriodicSchedule, prepare_interpreter
from .command_link import CommandLink
from .silence import ACTING, SilenceMonitor

LINGER = 0.5
"""
How long the publisher outlives its last command, s.

What a listener has received but not taken is lost with the publisher, and listeners may be busy.
"""


class WatchLoop:
    """
    Listens, and commands where the silence asks for it.

    :param watch: decides
    :param link: the command topic
    :param period: time between two looks, s
    """

    def __init__(self, watch: SilenceMonitor, link: CommandLink, period: float) -> None:
        self._watch = watch
        self._link = link
        self._schedule = PeriodicSchedule(period)
        self._quit = False
        self._thread = threading.Thread(target=self._run, name='watch_loop', daemon=True)
        self.failure: str | None = None

    @property
    def running(self) -> bool:
        """Whether somebody watches."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Begin."""
        prepare_interpreter()
        self._thread.start()

    def end(self) -> None:
        """End the thread; a ramp that is under way ends in zeros at once."""
        self._quit = True
        self._schedule.cancel()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._schedule.start()
            while not self._quit:
                self._schedule.wait()
                now = time.monotonic()
                heard = self._link.take()
                if heard is not None:
                    self._watch.hear(heard, now)
                command = self._watch.look(now)
                if command is not None:
                    self._link.send(command)
            if self._watch.state in ACTING:
                self._link.send(self._watch.zeros())
                time.sleep(LINGER)
        except Exception:  # the thread that waits for this one ends the process, and says why
            self.failure = traceback.format_exc()
