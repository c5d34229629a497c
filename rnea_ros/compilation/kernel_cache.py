# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The cache of compiled kernels on disk; it may be unwritable, full or damaged.

In each of these cases, numba's own cache ends the process. This one compiles the kernel again and
warns once, with a :class:`~rnea_ros.errors.KernelCacheWarning`.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
import pickle
from typing import Any
import warnings

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile

from ..errors import KernelCacheWarning, one_line

_CHECKSUM = hashlib.sha256
_CHECKSUM_SIZE = 32

_already_warned: set[str] = set()


class _Directories(CompileResultCacheImpl):
    """Search for a cache directory; without a home, numba would create one named ``~``."""

    def __init__(self, function: Any) -> None:
        if not os.environ.get('XDG_CACHE_HOME') and os.path.expanduser('~').startswith('~'):
            every = CompileResultCacheImpl._locator_classes
            self._locator_classes = [one for one in every if 'UserWide' not in one.__name__]
        super().__init__(function)


class KernelCache(FunctionCache):
    """
    The compiled forms of one kernel.

    :param function: the kernel in Python
    :param stamp: digest of all source code that the kernel depends on
    :raises RuntimeError: no writable directory
    """

    _impl_class = _Directories

    def __init__(self, function: Any, stamp: str) -> None:
        super().__init__(function)
        # A name of its own, because files in numba's format would look damaged.
        name = f'{self._impl.filename_base}-checked'
        self._cache_file = _CheckedFile(self._cache_path, name, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """
        Return machine code for a signature; None if the cache has none.

        Unlike numba's own cache, without first loading everything that only a compiler needs:
        that takes 0.3 s and 50 MB, scipy's among them if it is installed. Machine code needs
        nothing of it, because kernels do not allocate memory.
        """
        try:
            return self._load_overload(sig, target_context)
        except Exception as error:  # unpickling can raise anything
            _warn_damaged(self._cache_path, error)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save machine code for a signature, if the directory is writable."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            warn_not_cached(f'{self._cache_path}: {one_line(error)}')


class _CheckedFile(IndexDataCacheFile):
    """
    Index and data of one kernel, each with a checksum.

    After a power cut a file may have its full length but contain zeros. Machine code of zeros
    would end the process.
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
    Return the object in a file.

    :raises ValueError: the file is damaged
    """
    content = Path(path).read_bytes()
    checksum, data = content[:_CHECKSUM_SIZE], content[_CHECKSUM_SIZE:]
    if _CHECKSUM(data).digest() != checksum:
        raise ValueError(f'{path} is cut off or damaged')
    return pickle.loads(data)


def warn_not_cached(cause: str) -> None:
    """
    Warn, once in a process, that compiled code is not saved.

    :param cause: the directory, and the reason
    """
    _warn_once(
        'not kept',
        f'compiled code cannot be saved ({cause}): every start compiles it again, for up to a '
        'minute. Free disk space, or set NUMBA_CACHE_DIR to a writable directory',
    )


def _warn_damaged(path: str, error: Exception) -> None:
    _warn_once(
        'damaged',
        f'saved compiled code cannot be read ({path}: {one_line(error)}): it is compiled again. '
        'If this warning comes at every start, delete these files',
    )


def _warn_once(what: str, text: str) -> None:
    if what not in _already_warned:
        _already_warned.add(what)
        warnings.warn(text, KernelCacheWarning, stacklevel=2)
