# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Write files whole or not at all; detect pipes and devices, where reading may block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
import os
from pathlib import Path
from secrets import token_hex
import stat

from .errors import RneaError
from .interrupts import interrupts_held

_MOUNTS = Path('/proc/self/mountinfo')


class FileError(RneaError):
    """A file cannot be written."""


def write_file(path: Path, content: str | bytes) -> None:
    """Write one file as :func:`write_files` does."""
    write_files({path: content})


def write_files(contents: Mapping[Path, str | bytes]) -> None:
    """
    Write all files under new names and rename them; an error leaves every older file as it was.

    A file keeps the mode of the older one, and its owner if the user may give files away. In the
    main thread, SIGINT and SIGTERM wait until no temporary file is left. Pipes and devices are
    written before the others, a file that cannot be replaced is overwritten. Text is in UTF-8.

    :raises FileError: a file cannot be written
    """
    data = {Path(path): text.encode() if isinstance(text, str) else text
            for path, text in contents.items()}  # fmt: skip
    for path in filter(is_special, [*data]):
        _overwrite(path, data.pop(path))  # a pipe may wait: signals end it
    with interrupts_held(), ExitStack() as temporary:
        fixed = {path: data.pop(path) for path in filter(_is_fixed, [*data])}
        files = [(path, *_write_temporary(path, new, temporary)) for path, new in data.items()]
        with ExitStack() as undo:
            for path, content in fixed.items():
                with _os_errors_name(path):
                    undo.callback(_overwrite, path, path.read_bytes())
                _overwrite(path, content)
            for path, target, new in files:
                with _os_errors_name(path):
                    if len(files) > 1:
                        _keep(target, undo)
                    new.replace(target)
            undo.pop_all()


def check_writable(path: Path) -> None:
    """Raise a FileError if a file could not be written later; it stays as it is."""
    with interrupts_held(), ExitStack() as temporary:
        if _is_fixed(path):
            with _os_errors_name(path):
                path.open('r+b').close()
        elif not is_special(path):
            _write_temporary(path, b'', temporary)


@contextmanager
def _os_errors_name(path: Path, place: str = '') -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileError(f'{path} cannot be written: {error.strerror}{place}') from error


def _is_fixed(path: Path) -> bool:
    """Return whether a file exists that no other can replace, as one that a container mounts."""
    with _os_errors_name(path):
        target = Path(os.path.realpath(path))
        if not target.is_file():
            return False
        folder = target.parent.stat()
        owner = os.geteuid() in {0, folder.st_uid, target.stat().st_uid}
        writable = os.access(target.parent, os.W_OK | os.X_OK, effective_ids=True)
        if not writable or (folder.st_mode & stat.S_ISVTX and not owner):
            return True
        mount = b' %b ' % os.fsencode(target).replace(b' ', rb'\040')
        return _MOUNTS.exists() and mount in _MOUNTS.read_bytes()


def _overwrite(path: Path, data: bytes) -> None:
    """Write a file that exists: without O_CREAT, as /tmp rejects it for another user's file."""
    with _os_errors_name(path), os.fdopen(os.open(path, os.O_WRONLY | os.O_TRUNC), 'wb') as file:
        file.write(data)


def _write_temporary(path: Path, data: bytes, temporary: ExitStack) -> tuple[Path, Path]:
    """Return the file to replace, and a new one with its mode and owner."""
    target, old = Path(os.path.realpath(path)), None
    with _os_errors_name(path), suppress(FileNotFoundError):
        old = target.stat()
        if stat.S_ISDIR(old.st_mode):
            raise FileError(f'{path} cannot be written: it is a directory')
    # A name may have at most 255 bytes, 4 for each character. A random name that must be new is
    # never another user's link.
    new = target.with_name(f'.{target.name[:50]}.{token_hex(8)}')
    mode = 0o600 if old else 0o666  # a replacement stays private until it has the old mode
    place, flags = f' (in the folder {target.parent})', os.O_CREAT | os.O_EXCL | os.O_WRONLY
    with _os_errors_name(path, place), os.fdopen(os.open(new, flags, mode), 'wb') as file:
        temporary.callback(new.unlink, missing_ok=True)
        if old:
            for owner in ((-1, old.st_gid), (old.st_uid, -1)):
                with suppress(OSError):  # EINVAL: unknown in the user's namespace
                    os.fchown(file.fileno(), *owner)
            kept = os.fstat(file.fileno()).st_gid == old.st_gid
            os.fchmod(file.fileno(), old.st_mode & (0o777 if kept else 0o707))
        file.write(data)
    return target, new


def _keep(target: Path, undo: ExitStack) -> None:
    """Restore a file, or its absence, if a later one fails; not if it cannot be read."""
    if not target.exists():
        undo.callback(target.unlink, missing_ok=True)
    elif os.access(target, os.R_OK, effective_ids=True):
        undo.callback(write_file, target, target.read_bytes())


def is_special(path: Path) -> bool:
    """Return whether a path is a pipe or device: to read or open it may never end."""
    return os.path.exists(path) and not (path.is_file() or path.is_dir())


def read_regular(path: Path, most: int, way_out: str = 'use a smaller one') -> bytes:
    """Return the content of a regular file, and never wait; OSError or ValueError otherwise."""
    with open(path, 'rb', opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError('is a pipe or device: save its output as a file, and name that')
        data = file.read(most + 1)  # some files of the system have no size
    if len(data) > most:
        raise ValueError(f'has over {most} bytes; {way_out}')
    return data
