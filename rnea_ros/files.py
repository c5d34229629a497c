# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Write files whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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

    A file keeps the mode of the older one, and its owner as far as the user may give files away.
    Signals wait until no temporary file is left. A device or pipe is written directly, before the
    others; text is encoded in UTF-8.

    :raises FileError: a file cannot be written
    """
    regular = {}
    for path, content in contents.items():
        data = content.encode('utf-8') if isinstance(content, str) else content
        with _named(path):
            if _is_regular(path):
                regular[path] = data
            else:
                path.write_bytes(data)  # a pipe may wait: signals end it
    with interrupts_held(), ExitStack() as temporary:
        files = [(path, *_written(path, data, temporary)) for path, data in regular.items()]
        with ExitStack() as undo:
            for path, target, new in files:
                with _named(path):
                    if len(files) > 1:
                        undo.callback(*_kept(target, Path(f'{new}~')))
                    new.replace(target)
            undo.pop_all()
        for _, _, new in files:
            Path(f'{new}~').unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Raise a FileError if a file could not be written later; it stays as it is."""
    with _named(path):
        is_regular = _is_regular(path)
    if is_regular:
        with interrupts_held(), ExitStack() as temporary:
            _written(path, b'', temporary)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileError(f'{path} cannot be written: {error.strerror}') from error


def _is_regular(path: Path) -> bool:
    """Return whether a path is a regular file or none yet, no device or pipe."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return True
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return stat.S_ISREG(mode)


def _written(path: Path, data: bytes, temporary: ExitStack) -> tuple[Path, Path]:
    """Return the file to replace, and a new one with its mode and owner."""
    target = Path(os.path.realpath(path))
    # A name may have at most 255 bytes, 4 for each character. A random name, which must be new, is
    # not somebody's link to another file.
    new = target.with_name(f'.{target.name[:50]}.{token_hex(8)}')
    with _named(path):
        old = target.stat() if target.exists() else None
        mode = 0o666 if old is None else 0o600  # not even an empty file can be opened meanwhile
        with open(new, 'xb', opener=lambda name, flags: os.open(name, flags, mode)) as file:
            temporary.callback(new.unlink, missing_ok=True)
            if old is not None:
                for owner in ((-1, old.st_gid), (old.st_uid, -1)):
                    with suppress(PermissionError):
                        os.fchown(file.fileno(), *owner)
                os.fchmod(file.fileno(), old.st_mode & 0o777)
            file.write(data)
    return target, new


def _kept(target: Path, backup: Path) -> tuple[Callable[..., object], Path | bool]:
    """Keep an older file; return the function that restores it, and its argument."""
    if not target.exists():
        return target.unlink, True
    try:
        os.link(target, backup)
    except OSError:  # a file system without hard links
        target.replace(backup)
    return backup.replace, target
