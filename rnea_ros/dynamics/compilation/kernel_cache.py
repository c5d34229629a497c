# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Compiled kernels on disk: a cache that is unwritable, full or damaged costs time, and nothing else.

numba's own cache ends the process in each of these cases. Here the kernel is compiled again, and
one :class:`~rnea_ros.errors.KernelCacheWarning` says why.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
import pickle
from typing import Any
import warnings

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile

from ...errors import KernelCacheWarning, one_line

_CHECKSUM = hashlib.sha256
_CHECKSUM_SIZE = 32

_already_warned: set[str] = set()


class _Directories(CompileResultCacheImpl):
    """Where numba looks for a directory; without a home it would make one named ``~``."""

    def __init__(self, function: Any) -> None:
        if not os.environ.get('XDG_CACHE_HOME') and os.path.expanduser('~').startswith('~'):
            every = CompileResultCacheImpl._locator_classes
            self._locator_classes = [one for one in every if 'UserWide' not in one.__name__]
        super().__init__(function)


class KernelCache(FunctionCache):
    """
    The compiled forms of one kernel.

    :param function: the kernel in Python
    :param stamp: of all source that goes into it
    :raises RuntimeError: there is no directory that can be written
    """

    _impl_class = _Directories

    def __init__(self, function: Any, stamp: str) -> None:
        super().__init__(function)
        # Not under numba's own names: files of numba's format are no damaged files of this one.
        name = f'{self._impl.filename_base}-checked'
        self._cache_file = _CheckedFile(self._cache_path, name, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a compiled form; None if there is none that can be used."""
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # unpickling can raise anything
            _warn_damaged(self._cache_path, error)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled form, if that is possible."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            warn_not_kept(f'{self._cache_path}: {one_line(error)}')


class _CheckedFile(IndexDataCacheFile):
    """
    Index and data of one kernel, each with a checksum.

    After a power cut a file may have its full length and hold zeros. Machine code that is zeros
    ends the process; it must not be loaded.
    """

    def _dump(self, obj: Any) -> bytes:
        data: bytes = super()._dump(obj)
        return _CHECKSUM(data).digest() + data

    def _save_index(self, overloads: Any) -> None:
        data = self._dump((self._version, self._source_stamp, overloads))
        with self._open_for_write(self._index_path) as file:
            file.write(data)

    def _load_index(self) -> Any:
        try:
            version, stamp, overloads = _read(self._index_path)
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except Exception as error:  # unpickling can raise anything
            _warn_damaged(self._index_path, error)
            return {}
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _load_data(self, name: str) -> Any:
        return _read(self._data_path(name))


def _read(path: str) -> Any:
    """
    Return what a file holds.

    :raises ValueError: the file is damaged
    """
    content = Path(path).read_bytes()
    checksum, data = content[:_CHECKSUM_SIZE], content[_CHECKSUM_SIZE:]
    if _CHECKSUM(data).digest() != checksum:
        raise ValueError(f'{path} is cut off or damaged')
    return pickle.loads(data)


def warn_not_kept(cause: str) -> None:
    """
    Warn, once in a process, that compiled code is not kept.

    :param cause: which directory, and what is wrong with it
    """
    _warn_once(
        'not kept',
        f'compiled code cannot be kept ({cause}): every start compiles it again, for up to a '
        'minute. Make room on the disk, or set NUMBA_CACHE_DIR to a directory that can be written',
    )


def _warn_damaged(path: str, error: Exception) -> None:
    _warn_once(
        'damaged',
        f'compiled code that was kept cannot be read ({path}: {one_line(error)}): it is compiled '
        'again. If this is said at every start, delete these files',
    )


def _warn_once(what: str, text: str) -> None:
    if what not in _already_warned:
        _already_warned.add(what)
        warnings.warn(text, KernelCacheWarning, stacklevel=2)
