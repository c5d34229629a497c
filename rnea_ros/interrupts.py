# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Ctrl-C ends a tool with one line, also while Python imports modules or ROS converts a message.

Extensions in C turn a KeyboardInterrupt during their import or their calls into other errors. So
before and after ``main`` the signal ends the process at once; there is nothing to clean up. During
calls of ROS it is held back. This module imports nothing that takes time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import os
import signal
import sys
import threading

INTERRUPTED = 2  # exit code after Ctrl-C: no result, as for bad input, as of ``ros2``


def prepare_interrupts(folder: str) -> None:
    """End this process at Ctrl-C, if it is a program of a folder and heeds the signal."""
    is_program = sys.argv[0] == '-m' or os.path.isfile(f'{folder}/{_program()}.py')
    if is_program and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt in this block."""
    if signal.getsignal(signal.SIGINT) is not _end:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, _end)


@contextmanager
def interrupts_held() -> Iterator[Callable[[], bool]]:
    """
    Hold Ctrl-C and SIGTERM back until the block ends; give a function that says whether one came.

    A signal that is ignored stays ignored. In a thread other than the main one, which gets no
    signals, nothing is held back.
    """
    came: list[signal.Signals] = []

    def hold(number: int, _: object) -> None:
        came.append(signal.Signals(number))

    in_main = threading.current_thread() is threading.main_thread()
    numbers = (signal.SIGINT, signal.SIGTERM) if in_main else ()
    heeded = [n for n in numbers if signal.getsignal(n) not in (signal.SIG_IGN, None)]
    before = {number: signal.signal(number, hold) for number in heeded}
    try:
        yield lambda: bool(came)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


def _end(*_: object) -> None:
    os.write(2, f'{_program()}: interrupted\n'.encode())
    os._exit(INTERRUPTED)


def _program() -> str:
    """Return the name of the program; that of the package while Python looks for the module."""
    name = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    return 'rnea_ros' if name == '-m' else name
