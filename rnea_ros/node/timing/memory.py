# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Memory that is there before it is needed, and stays, as is usual where time counts."""

from __future__ import annotations

import ctypes

RESERVE = 32 * 1024 * 1024
"""Bytes that a trajectory of 10,000 points of 7 joints needs while it is received and checked."""

# Parameters of glibc's mallopt, and what each is set to.
_M_TRIM_THRESHOLD, _NEVER = -1, -1
_M_MMAP_MAX, _NONE = -4, 0


def reserve_memory() -> bool:
    """
    Have memory for large blocks at hand, and keep what is freed for those that come next.

    By default the C library has every large block from the system and returns it at once, while
    Python's lock is held: of each MB, the first use took 1 ms and the return 0.25 ms.

    :returns: whether the C library can keep it; only glibc can
    """
    mallopt = getattr(ctypes.CDLL(None), 'mallopt', None)
    if mallopt is None:
        return False
    kept = bool(mallopt(_M_MMAP_MAX, _NONE) and mallopt(_M_TRIM_THRESHOLD, _NEVER))
    bytearray(b'\1') * RESERVE  # written to, so that it is there, and freed
    return kept
