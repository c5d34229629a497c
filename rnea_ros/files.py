# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Write files whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import RneaError


class FileError(RneaError):
    """A file cannot be written."""


def write_file(path: Path, content: str | bytes) -> None:
    """
    Write a file under a temporary name and rename it; an error leaves an older file as it was.

    :param path: file to write; a device or pipe is written directly
    :param content: bytes, or text that is encoded in UTF-8
    :raises FileError: the file cannot be written
    """
    data = content.encode('utf-8') if isinstance(content, str) else content
    target = Path(os.path.realpath(path))
    replaces = target.is_file() or not target.exists()
    new = target.with_name(f'.{target.name}.{os.getpid()}') if replaces else target
    try:
        try:
            new.write_bytes(data)
            if replaces:
                new.replace(target)
        finally:
            if replaces:
                new.unlink(missing_ok=True)
    except OSError as error:
        raise FileError(f'{path} cannot be written: {error.strerror}') from error
