# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Single keys from the terminal, without waiting for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import os
import select
import sys
import termios
import tty

END = '\x04'  # at the end of the input


@contextmanager
def pressed_keys() -> Iterator[Callable[[], str]]:
    """
    Provide a function that returns the key pressed since its last call, or an empty string.

    Ctrl-C still interrupts. The terminal is restored at the end of the block.
    """
    source = sys.stdin.fileno()
    before = termios.tcgetattr(source)
    tty.setcbreak(source)

    def key() -> str:
        if not select.select([source], [], [], 0.0)[0]:
            return ''
        return os.read(source, 1).decode('latin-1') or END

    try:
        yield key
    finally:
        termios.tcsetattr(source, termios.TCSADRAIN, before)
