# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Write files whole or not at all; tell files that may never end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
import errno
import os
from pathlib import Path
from secrets import token_hex
import stat

from .errors import RneaError
from .interrupts import interrupts_held


class FileError(RneaError):
    """A file cannot be written."""


def write_file(path: Path, content: str | bytes) -> None:
    """Write one file as :func:`write_files` does."""
    write_files({path: content})


def write_files(contents: Mapping[Path, str | bytes]) -> None:
    """
    Write all files under new names and rename them; an error leaves every older file as it was.

    A file keeps the mode of the older one, and its owner if the user may give files away. A signal
    waits until no temporary file is left. Devices and pipes are written directly, before the
    others; text is encoded in UTF-8.

    :raises FileError: a file cannot be written
    """
    data = {Path(path): text.encode() if isinstance(text, str) else text
            for path, text in contents.items()}  # fmt: skip
    special = [path for path in data if not _is_replaced(path)]
    for path in special:
        with _named(path):
            path.write_bytes(data.pop(path))  # a pipe may wait: signals end it
    with interrupts_held(), ExitStack() as temporary:
        files = [(path, *_written(path, content, temporary)) for path, content in data.items()]
        with ExitStack() as undo:
            for path, target, new in files:
                with _named(path):
                    if len(files) > 1:
                        _keep(target, Path(f'{new}~'), undo)
                    new.replace(target)
            undo.pop_all()
        for _, _, new in files:
            Path(f'{new}~').unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Raise a FileError if a file could not be written later; it stays as it is."""
    if _is_replaced(path):
        with interrupts_held(), ExitStack() as temporary:
            _written(path, b'', temporary)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileError(f'{path} cannot be written: {error.strerror}') from error


def _is_replaced(path: Path) -> bool:
    """Return whether a path is a regular file or none yet; False for a device or pipe."""
    with _named(path), suppress(FileNotFoundError):
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        return stat.S_ISREG(mode)
    return True


def _written(path: Path, data: bytes, temporary: ExitStack) -> tuple[Path, Path]:
    """Return the file to replace, and a new one with its mode and owner."""
    target = Path(os.path.realpath(path))
    # A name may have at most 255 bytes, 4 for each character. A random name that must be new is
    # never another user's link.
    new = target.with_name(f'.{target.name[:50]}.{token_hex(8)}')
    with _named(path):
        old = target.stat() if target.exists() else None
        mode = 0o600 if old else 0o666  # nobody else may open what becomes private
        with open(new, 'xb', opener=lambda name, flags: os.open(name, flags, mode)) as file:
            temporary.callback(new.unlink, missing_ok=True)
            if old:
                for owner in ((-1, old.st_gid), (old.st_uid, -1)):
                    with suppress(PermissionError):
                        os.fchown(file.fileno(), *owner)
                os.fchmod(file.fileno(), old.st_mode & 0o777)
            file.write(data)
    return target, new


def _keep(target: Path, backup: Path, undo: ExitStack) -> None:
    """Keep an older file under another name until all are replaced."""
    if not target.exists():
        undo.callback(target.unlink, missing_ok=True)
        return
    try:
        os.link(target, backup)
    except OSError:  # a file system without hard links
        target.replace(backup)
    undo.callback(_restore, target, backup)


def _restore(target: Path, backup: Path) -> None:
    backup.replace(target)
    backup.unlink(missing_ok=True)  # a rename of one file's two names leaves both


def is_special(path: Path) -> bool:
    """Return whether a path is a pipe or device: to read or open it may never end."""
    return os.path.exists(path) and not (path.is_file() or path.is_dir())
