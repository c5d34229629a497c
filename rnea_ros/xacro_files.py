# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Expand xacro files; only this needs the package xacro."""

from __future__ import annotations

from collections.abc import Mapping
import os
from pathlib import Path
import threading

from .errors import UrdfError, clipped, one_line

_lock = threading.Lock()  # xacro keeps files and arguments in variables of its module


def is_xacro(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is xacro by its name."""
    return Path(path).suffix.lower() == '.xacro'


def expand(path: str | os.PathLike[str], arguments: Mapping[str, str] | None = None) -> str:
    """
    Return the URDF text of a xacro file, with values of its arguments by name.

    A xacro file is a program: it includes other files and evaluates expressions.

    :raises UrdfError: the package xacro is missing or cannot expand the file
    """
    try:
        import xacro
    except ImportError as error:
        raise UrdfError(
            'URDF',
            f'{path} is xacro, and the package xacro is not installed: install it, or expand the '
            f'file where it is, with `xacro {path}`',
        ) from error
    try:
        with _lock:
            return str(xacro.process_file(str(path), mappings=dict(arguments or {})).toxml())
    except Exception as error:  # an expression in the file can raise any error
        reason = clipped(one_line(error))
        raise UrdfError(
            'URDF',
            f'xacro cannot expand {path}: {reason}. Try `xacro {path}`; arguments without default '
            'follow as NAME:=VALUE',
        ) from error
