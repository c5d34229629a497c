# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Files of compiled kernels with a checksum, and one warning if they cannot be read or written.

After a power cut a file may have its full length but contain zeros. Machine code of zeros would
end the process.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
import pickle
from typing import Any
import warnings

from ..errors import KernelCacheWarning, one_line

_CHECKSUM = hashlib.sha256
_CHECKSUM_SIZE = 32

_already_warned: set[str] = set()


def with_checksum(data: bytes) -> bytes:
    """Return the content of a file for a pickled object."""
    return _CHECKSUM(data).digest() + data


def read_checked(path: str) -> Any:
    """Return the object in a file that :func:`with_checksum` made; ValueError if it is damaged."""
    content = Path(path).read_bytes()
    checksum, data = content[:_CHECKSUM_SIZE], content[_CHECKSUM_SIZE:]
    if _CHECKSUM(data).digest() != checksum:
        raise ValueError(f'{path} is cut off or damaged')
    return pickle.loads(data)


def warn_not_cached(cause: str) -> None:
    """Warn, once in a process, that compiled code is not saved, and why."""
    _warn_once(
        'not kept',
        f'compiled code cannot be saved ({cause}): every start compiles it again, for up to a '
        'minute. Free disk space, or set NUMBA_CACHE_DIR to a writable directory',
    )


def warn_damaged(path: str, error: Exception) -> None:
    """Warn, once in a process, that saved compiled code cannot be read."""
    _warn_once(
        'damaged',
        f'saved compiled code cannot be read ({path}: {one_line(error)}): it is compiled again. '
        'If this warning comes at every start, delete these files',
    )


def _warn_once(what: str, text: str) -> None:
    if what not in _already_warned:
        _already_warned.add(what)
        warnings.warn(text, KernelCacheWarning, stacklevel=2)
