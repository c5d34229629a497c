# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Expand xacro files, in a process with bounds; only this needs the package xacro."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
import os
from pathlib import Path
import subprocess
import sys

from . import xacro_process
from .errors import UrdfError, clipped, one_line

SECONDS = 30  # longest expansion


def is_xacro(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is xacro by its name."""
    return Path(path).suffix.lower() == '.xacro'


def expand(path: str | os.PathLike[str], arguments: Mapping[str, str] | None = None) -> str:
    """
    Return the URDF text of a xacro file, with values of its arguments by name.

    A xacro file is a program: it includes other files and evaluates expressions. Its process has
    bounds of time and memory.

    :raises UrdfError: the package xacro is missing or cannot expand the file
    """
    if find_spec('xacro') is None:
        raise UrdfError(
            'URDF',
            f'{path} is xacro, and the package xacro is not installed: install it, or expand the '
            f'file where it is, with `xacro {path}`',
        )
    pairs = [f'{name}:={value}' for name, value in (arguments or {}).items()]
    command = [sys.executable, xacro_process.__file__, str(path), str(SECONDS), *pairs]
    try:
        # Also if Ctrl-C interrupts it, `run` ends the process.
        ended = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=SECONDS, check=False
        )
        code, text = ended.returncode, ended.stdout.decode('utf-8', 'replace')
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        late = isinstance(error, subprocess.TimeoutExpired)
        code, text = 1, f'it takes over {SECONDS} s' if late else one_line(error)
    if code:
        reason = clipped(' '.join(text.split())) or f'its process ended with {code}'
        raise UrdfError(
            'URDF',
            f'xacro cannot expand {path}: {reason}. Try `xacro {path}`; arguments without default '
            'follow as NAME:=VALUE',
        )
    return text
