# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The machine of a measurement."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
import platform

from .timing import usable_cores

PACKAGES = ('numpy', 'numba', 'pin', 'mujoco', 'modern-robotics')


def machine() -> str:
    """Return processor, cores, Python and versions, in one line."""
    versions = [f'{name} {_version(name)}' for name in PACKAGES]
    cores = len(usable_cores())
    return ', '.join([
        _processor(),
        f'{cores} core{"s" if cores > 1 else ""}',
        f'Python {platform.python_version()}',
        *versions,
    ])


def _processor() -> str:
    """Return the processor's name, and its widest vector instructions."""
    try:
        lines = Path('/proc/cpuinfo').read_text(encoding='utf-8').splitlines()
    except OSError:
        lines = []
    pairs = (line.partition(':') for line in lines)
    entries = {key.strip(): value.strip() for key, _, value in pairs}
    name = entries.get('model name') or platform.processor() or platform.machine()
    widest = [unit for unit in ('avx512f', 'avx2') if unit in entries.get('flags', '').split()]
    return f'{name} ({widest[0]})' if widest else name


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return 'not installed'
