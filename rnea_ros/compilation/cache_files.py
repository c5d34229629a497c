# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Files of compiled kernels with a checksum, and one warning if they cannot be read or written.

After a power cut a file may have its full length but contain zeros. Machine code of zeros would
end the process. Code compiled by others would run with this user's rights: it is not loaded.
"""

from __future__ import annotations

from collections.abc import Callable
import grp
import hashlib
import os
from pathlib import Path
import pickle
import pwd
import stat
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
    """Return the object in a file that :func:`with_checksum` made; ValueError if unusable."""
    with open(path, 'rb') as file:
        if fault := _fault(os.fstat(file.fileno()), Path(path).parent):
            raise ValueError(f'the file {fault}')
        content = file.read()
    checksum, data = content[:_CHECKSUM_SIZE], content[_CHECKSUM_SIZE:]
    if _CHECKSUM(data).digest() != checksum:
        raise ValueError(f'{path} is cut off or damaged')
    return pickle.loads(data)


def unsafe(directory: Path, source: Path) -> str:
    """
    Return why other users could put compiled code into a directory; empty if they cannot.

    The directory is an absolute path without symbolic links. Folders around the source file are
    not checked: users who can write there can replace the source.
    """
    trusted, private = source.resolve().parent, -1
    for folder in (*reversed(directory.parents), directory):
        info = folder.stat()
        # In a sticky directory like /tmp others cannot replace what is not theirs. What lies in a
        # private one they cannot reach, unless it is mounted from elsewhere.
        sticky = folder != directory and bool(info.st_mode & stat.S_ISVTX)
        fault = _fault(info, trusted, allow_writers=sticky or private == info.st_dev)
        if fault and folder not in (trusted, *trusted.parents):
            return f'{folder} {fault}'
        if info.st_uid == os.geteuid() and not info.st_mode & 0o077:
            private = info.st_dev
    return ''


def _fault(info: os.stat_result, trusted: Path, *, allow_writers: bool = False) -> str:
    """Return why a file or directory is less safe than a trusted folder."""
    around = trusted.stat()
    if info.st_uid not in {0, os.geteuid(), os.stat('/').st_uid, around.st_uid}:
        return f'belongs to another user, {info.st_uid}'
    accepted_writers = around.st_mode & (0o022 if info.st_gid == around.st_gid else 0o002)
    writers = 0 if allow_writers else info.st_mode & 0o022 & ~accepted_writers
    # On Ubuntu each user has a group of the same name, which may write the user's files.
    if writers == 0o020 and _name(pwd.getpwuid, info.st_uid) == _name(grp.getgrgid, info.st_gid):
        return ''
    return 'can be written by other users' if writers else ''


def _name(entry: Callable[[int], Any], number: int) -> str | int:
    """Return the name of a user or group; the number if it has none, as in a container."""
    try:
        return str(entry(number)[0])
    except KeyError:
        return number


def warn_not_cached(cause: str) -> None:
    """Warn, once in a process, that compiled code is not saved, and why."""
    _warn_once(
        'not kept',
        f'compiled code is not kept on disk ({cause}): every start compiles it again, for up to a '
        'minute. Free disk space, or set NUMBA_CACHE_DIR to a directory that only you can write',
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
