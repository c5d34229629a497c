# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A loop in a thread beside the executor of a node, and the end of both."""

from __future__ import annotations

from abc import ABC, abstractmethod
import threading
import traceback
from typing import Any

from rclpy.utilities import try_shutdown

from .interpreter import prepare_interpreter


class LoopThread(ABC):
    """
    A thread that runs :meth:`_loop`; an exception ends it, and :func:`finish` logs it.

    :ivar failure: traceback of the exception that ended the thread, None if none did
    """

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
        prepare_interpreter()
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
