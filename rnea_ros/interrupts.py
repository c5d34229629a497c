# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Ctrl-C ends a tool with one line, also while Python imports modules.

Extensions in C turn a KeyboardInterrupt during their import into other errors. So before and after
``main`` the signal ends the process at once; there is nothing to clean up. This module imports
nothing that takes time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
import signal
import sys

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


def _end(*_: object) -> None:
    os.write(2, f'{_program()}: interrupted\n'.encode())
    os._exit(INTERRUPTED)


def _program() -> str:
    """Return the name of the program; that of the package while Python looks for the module."""
    name = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    return 'rnea_ros' if name == '-m' else name
