# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""An absolute schedule by plain sleeping, and what ends a process."""

from __future__ import annotations

from collections.abc import Iterator
import os
import signal
import sys
import threading
import time


def asked_to_end() -> threading.Event:
    """Return an event that SIGINT, SIGTERM and the end of the parent process set."""
    end = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: end.set())
    end_with_parent()
    return end


def end_with_parent() -> None:
    """Send this process SIGTERM once standard input is closed, which a parent's death does too."""
    def watch() -> None:
        sys.stdin.read()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def pace(period: float, end: threading.Event) -> Iterator[tuple[float, float]]:
    """
    Yield at fixed times, until the end, when each tick began and how late; skip what was missed.

    :param period: s
    :param end: is looked at once in a tick
    """
    deadline = time.monotonic()
    while not end.is_set():
        deadline += period
        while (now := time.monotonic()) < deadline:
            time.sleep(deadline - now)
        yield now, now - deadline
        deadline += period * int((now - deadline) / period)
