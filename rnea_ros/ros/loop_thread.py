# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A thread of a node beside its executor, the interpreter's settings for it, and its end."""

from __future__ import annotations

from abc import ABC, abstractmethod
import gc
import sys
import threading
import traceback
from typing import Any

from rclpy.utilities import try_shutdown

SWITCH_INTERVAL = 1e-4  # time for which one Python thread may keep the interpreter from another, s


def _prepare_interpreter() -> None:
    """Shorten the switch interval; exempt the long-lived objects made before from collection."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    gc.collect()
    gc.freeze()


class ManualGarbageCollection:
    """
    Turns automatic garbage collection off: it may run in the loop's thread.

    Meanwhile a thread without a schedule calls ``gc.collect()``.
    """

    def begin(self) -> None:
        """Prepare the interpreter, and turn automatic collection off."""
        # Python cuts the interval to whole microseconds: without rounding one is lost.
        self._switch_interval = round(sys.getswitchinterval(), 6)
        _prepare_interpreter()
        gc.disable()

    def end(self) -> None:
        """Restore the interpreter's settings."""
        sys.setswitchinterval(self._switch_interval)
        gc.enable()
        gc.unfreeze()


class LoopThread(ABC):
    """A thread that runs :meth:`_loop`; :func:`finish` logs the exception that ends it."""

    def __init__(self, name: str) -> None:
        self._quit = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.failure: str | None = None

    @property
    def running(self) -> bool:
        """Whether the thread runs, or was not started yet."""
        return self._thread.ident is None or self._thread.is_alive()

    def start(self) -> None:
        """Start the thread."""
        _prepare_interpreter()
        self._thread.start()

    def stop(self) -> None:
        """End the loop and wait for it."""
        self._quit = True
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            self._loop()
        except Exception:  # the main thread logs it and ends the process
            self.failure = traceback.format_exc()

    @abstractmethod
    def _loop(self) -> None:
        """Run until ``_quit`` is set."""


def finish(loop: LoopThread, *nodes: Any) -> int:
    """Stop a loop, log its failure, destroy the nodes, end ROS; return the exit code."""
    loop.stop()
    if loop.failure is not None:
        nodes[0].get_logger().fatal(loop.failure)
    for node in nodes:
        node.destroy_node()
    try_shutdown()  # rclpy.try_shutdown also gives signals their default effect for a moment
    return 0 if loop.failure is None else 1
