# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Write the files of an exported robot."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..files import FileError, write_file
from .functions import STATES, CExport, functions, identifier
from .text import CText


def export_c(
    export: CExport, directory: Path, *, prefix: str | None = None,
    single_precision: bool = False,
) -> list[Path]:
    """
    Write header, source, test program and CMakeLists.txt; return their paths.

    :param export: robot and arguments
    :param directory: directory to write to; created if necessary
    :param prefix: of all names in C; by default the robot's name
    :param single_precision: float instead of double
    :raises InputError: a prefix that is not a name in C, or a robot without joints
    :raises FileError: a file cannot be written
    """
    model = export.model
    prefix = identifier(model.name).lower() if prefix is None else prefix
    if prefix != identifier(prefix) or not prefix[:1].isalpha():
        raise InputError('prefix', f'{prefix!r} is not a name in C')
    if not model.nv:
        raise InputError('model', 'the robot has no joint to compute')
    rng = np.random.default_rng(0)
    # Numbers that float and double both hold
    environment = {
        field: {part: _rounded(rng.uniform(0.1, 0.5, size)) for part, size in parts.items()}
        for field, parts in export.environment.items()
    }
    for field in (field for field in environment if field.startswith('payload_')):
        environment[field]['inertia'] = _rounded(np.array([0.5, 0.1, 0.1, 0.6, 0.1, 0.7]))
    states = [
        {
            'q': _rounded(model.integrate(model.neutral_position, rng.normal(size=model.nv), 1.0)),
            **{name: _rounded(rng.normal(size=model.nv)) for name in ('qd', 'qdd', 'load')},
        }
        for _ in range(STATES)
    ]
    text = CText(export, prefix, 'float' if single_precision else 'double')
    traced = list(functions(export, environment, states))
    contents = {
        f'{prefix}.h': text.header(traced),
        f'{prefix}.c': text.source(traced),
        f'{prefix}_test.c': text.test(traced, states, environment),
        'CMakeLists.txt': text.cmake(),
    }
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f'{directory} is not a directory: {error.strerror}') from error
    for name, content in contents.items():
        write_file(directory / name, content)
    return [directory / name for name in contents]


def _rounded(values: Array) -> Array:
    return values.astype(np.float32).astype(np.float64)
