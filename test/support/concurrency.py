# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Threads that interleave many times in a short test."""

from collections.abc import Iterator
from contextlib import contextmanager
import sys


@contextmanager
def threads_that_switch_often() -> Iterator[None]:
    """Let Python switch threads every 0.05 ms instead of every 5."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
