# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Write files whole or not at all; tell files that may never end."""

from __future__ import annotations

from contextlib import suppress
import errno
import os
from pathlib import Path

from .errors import RneaError


class FileError(RneaError):
    """A file cannot be written."""


def write_file(path: Path, content: str | bytes) -> None:
    """
    Write a file under a temporary name and rename it; an error leaves an older file as it was.

    A device or pipe is written directly; text is encoded in UTF-8.

    :raises FileError: the file cannot be written
    """
    _write(path, content.encode('utf-8') if isinstance(content, str) else content)


def check_writable(path: Path) -> None:
    """Raise a FileError if a file could not be written later; it stays as it is."""
    _write(path, None)


def _write(path: Path, data: bytes | None) -> None:
    """Write a file; None leaves it as it is, but shows whether it can be written."""
    target = Path(os.path.realpath(path))
    try:
        with suppress(FileNotFoundError):
            target.stat()  # its name may be too long, or a loop of links
        replaces = target.is_file() or not target.exists()
        # A name may have at most 255 bytes, 4 for each character.
        new = target.with_name(f'.{target.name[:50]}.{os.getpid()}') if replaces else target
        if data is None and target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        try:
            if data is not None or replaces:
                new.write_bytes(data or b'')
            if data is not None and replaces:
                new.replace(target)
        finally:
            if replaces:
                new.unlink(missing_ok=True)
    except OSError as error:
        raise FileError(f'{path} cannot be written: {error.strerror}') from error


def is_special(path: Path) -> bool:
    """Return whether a path is a pipe or device: to read or open it may never end."""
    return os.path.exists(path) and not (path.is_file() or path.is_dir())
