# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Memory for the control is allocated at activation and kept by the process."""

from __future__ import annotations

import ctypes

RESERVE = 32 * 1024 * 1024
"""Bytes for receiving and checking a trajectory of 10,000 points of 7 joints."""

# Parameters of glibc's mallopt, and their values.
_M_TRIM_THRESHOLD, _NEVER = -1, -1
_M_MMAP_MAX, _NONE = -4, 0


def reserve_memory() -> bool:
    """
    Allocate memory for large blocks, and keep freed blocks in the process.

    By default the C library takes every large block from the system and gives it back at once.
    Per MB, that took 1 ms at the first use and 0.25 ms at the return, with Python's lock held.

    :return: whether the C library can keep memory: only glibc can
    """
    mallopt = getattr(ctypes.CDLL(None), 'mallopt', None)
    if mallopt is None:
        return False
    kept = bool(mallopt(_M_MMAP_MAX, _NONE) and mallopt(_M_TRIM_THRESHOLD, _NEVER))
    bytearray(b'\1') * RESERVE  # written to, so that the system provides it; then freed
    return kept
