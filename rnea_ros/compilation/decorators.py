# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Decorators that compile kernels with numba, or leave them as plain Python without it.

Kernels are ordinary functions over numpy arrays and tuples of floats. If numba is installed, they
become machine code, cached beside the source, or in the user's cache directory if that folder is
read-only. If numba is missing, or if the environment variable ``RNEA_ROS_PURE_PYTHON`` is set and
not empty, the same source runs in plain Python: a few hundred times slower, with the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
import hashlib
import os
from pathlib import Path
import sys
from types import FunctionType
from typing import Any, TypeVar

import numpy as np

Kernel = TypeVar('Kernel', bound=Callable[..., Any])

try:
    if os.environ.get('RNEA_ROS_PURE_PYTHON'):
        raise ImportError('RNEA_ROS_PURE_PYTHON is set')
    import numba
    from numba.extending import register_jitable
except ImportError:
    COMPILED = False
else:
    from . import numba_internals

    COMPILED = True


COMPILATION = Path(__file__).parent
SHARED_KERNELS = COMPILATION.parent / 'dynamics' / 'kernels'
"""Folder of the kernels that are inlined into kernels of other folders."""


@cache
def _digest_of_sources(folder: Path) -> str:
    """Return one digest over a folder of kernels, the shared kernels and the compiler options."""
    digest = hashlib.sha256()
    folders = (folder, SHARED_KERNELS, COMPILATION)
    for path in sorted({path for each in folders for path in each.glob('*.py')}):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _options() -> dict[str, Any]:
    # Of fastmath, only fused multiply-add and ignoring the sign of zero: with "reassoc" compiled
    # code no longer detects NaN.
    own = {'fastmath': {'contract', 'nsz'}, 'error_model': 'numpy'}
    return {**numba_internals.OPTIONS, **own}


def compiled(function: Kernel) -> Kernel:
    """
    Let kernels call a function, which is compiled into each of them.

    Python calls it as plain Python. Machine code that Python could call would take a third of the
    time of compilation.
    """
    if not COMPILED:
        return function
    # Without forceinline, inverse dynamics takes 1.5 times as long; with numba's inline='always',
    # its compilation takes minutes.
    return register_jitable(forceinline=True, **_options())(function)  # type: ignore[no-any-return]


def kernels_exclude_threads() -> bool:
    """Return whether no other thread runs Python or kernels during a kernel of one sample."""
    return COMPILED and bool(getattr(sys, '_is_gil_enabled', lambda: True)())


def batch_entry(function: Kernel) -> Kernel:
    """Compile a kernel that Python calls for many samples; it releases the interpreter lock."""
    return entry(function, nogil=True)


def entry(function: Kernel, **options: bool) -> Kernel:
    """Compile a kernel that Python calls for one sample; the machine code is cached on disk."""
    if not COMPILED:
        return _without_warnings(function)
    jitted: Any = numba.njit(**_options(), **options)(function)
    folder = Path(function.__code__.co_filename).parent
    numba_internals.keep_on_disk(jitted, _digest_of_sources(folder))
    return jitted  # type: ignore[no-any-return]


def from_template(template: Kernel, name: str, **names: Any) -> Kernel:
    """Return a copy of a function of another name, with other values of global names."""
    scope = {**template.__globals__, **names}
    function = FunctionType(template.__code__, scope, name)
    function.__qualname__ = name
    return function  # type: ignore[return-value]


def kernel(function: Kernel) -> Kernel:
    """
    Compile a function for the types of its first call; later calls skip numba's dispatcher.

    So call it once before the control loop starts: compilation takes seconds. A float64 array of
    another dimension, or that is not contiguous, is a TypeError then; of all other arguments the
    caller must ensure the types.
    """
    if not COMPILED:
        return _without_warnings(function)
    jitted = entry(function)
    machine_code: Callable[..., Any] | None = None

    @wraps(function)
    def call(*arguments: Any) -> Any:
        nonlocal machine_code
        if machine_code is None:
            machine_code = entry_point(jitted, arguments)
        return machine_code(*arguments)

    return call  # type: ignore[return-value]


def _without_warnings(function: Kernel) -> Kernel:
    """Return a function without numpy's warnings of overflow and NaN, as in machine code."""

    @wraps(function)
    def call(*arguments: Any) -> Any:
        with np.errstate(all='ignore'):
            return function(*arguments)

    return call  # type: ignore[return-value]


def entry_point(
    kernel: Any, arguments: tuple[Any, ...], *, raises: bool = True
) -> Callable[..., Any]:
    """
    Return a kernel compiled for arguments of these types, without its dispatcher.

    numba's dispatcher looks up the types of the arguments at every call, which takes as long as
    the inverse dynamics of a small arm. For float64 arguments that are not contiguous arrays of
    the same dimension the result raises TypeError; without ``raises`` the kernel gets an array of
    length -1, and must check lengths. Of all other arguments the caller must ensure the types.
    From now on the kernel itself raises TypeError for arguments of other types.
    """
    return numba_internals.entry_point(kernel, arguments, raises) if COMPILED else kernel
