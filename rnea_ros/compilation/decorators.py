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
    from .exact_arrays import ExactArray
    from .kernel_cache import KernelCache, warn_not_cached

    COMPILED = True


COMPILATION = Path(__file__).parent
SHARED_KERNELS = COMPILATION.parent / 'dynamics' / 'kernels'
"""Folder of the kernels that are inlined into kernels of other folders."""


@cache
def _digest_of_sources(folder: Path) -> str:
    """
    Return one digest over all source code that the kernels of a folder depend on.

    :param folder: folder of the kernels; the shared kernels and the compiler options are included
    """
    digest = hashlib.sha256()
    folders = (folder, SHARED_KERNELS, COMPILATION)
    for path in sorted({path for each in folders for path in each.glob('*.py')}):
        digest.update(path.read_bytes())
    return digest.hexdigest()


# Of fastmath, only fused multiply-add and ignoring the sign of zero: NaN and infinity stay right.
# Kernels are not called from C. They do not allocate memory: without numba's run-time (nrt) an
# array argument costs 3 ns instead of 25, and an allocation is an error of the compiler.
_OPTIONS: dict[str, Any] = {
    'fastmath': {'contract', 'nsz'}, 'error_model': 'numpy', 'no_cfunc_wrapper': True,
    '_nrt': False,
}


def compiled(function: Kernel) -> Kernel:
    """
    Let kernels call a function, which is compiled into each of them.

    Python calls it as plain Python. Machine code that Python could call would take a third of the
    time of compilation.

    :param function: a function over numpy arrays, floats and tuples of floats
    :return: the function
    """
    if not COMPILED:
        return function
    return register_jitable(forceinline=True, **_OPTIONS)(function)  # type: ignore[no-any-return]


def kernels_exclude_threads() -> bool:
    """Return whether no other thread runs Python or kernels during a kernel of one sample."""
    return COMPILED and bool(getattr(sys, '_is_gil_enabled', lambda: True)())


def entry(function: Kernel) -> Kernel:
    """
    Compile a kernel that Python calls for one sample; the machine code is cached on disk.

    :param function: a function over numpy arrays
    :return: the function, compiled or loaded at its first call, or unchanged
    """
    return _cached(function)


def batch_entry(function: Kernel) -> Kernel:
    """
    Compile a kernel that Python calls for many samples; it releases the interpreter lock.

    :param function: a function over numpy arrays
    :return: the function, compiled or loaded at its first call, or unchanged
    """
    return _cached(function, nogil=True)


def _cached(function: Kernel, **options: bool) -> Kernel:
    if not COMPILED:
        return _without_warnings(function)
    jitted: Any = numba.njit(**_OPTIONS, **options)(function)
    directory = Path(function.__code__.co_filename).parent
    try:
        # numba compiles a cached kernel again if its own file changes, but not if a kernel that
        # was inlined into it changes in another file. A digest over all these files does both.
        jitted._cache = KernelCache(function, _digest_of_sources(directory))
    except RuntimeError:  # no writable directory, as in a read-only container
        warn_not_cached(f"neither {directory / '__pycache__'} nor the user's cache can be written")
    return jitted  # type: ignore[no-any-return]


def _without_warnings(function: Kernel) -> Kernel:
    """Return a function without numpy's warnings of overflow and NaN, as in machine code."""

    @wraps(function)
    def call(*arguments: Any) -> Any:
        with np.errstate(all='ignore'):
            return function(*arguments)

    return call  # type: ignore[return-value]


def entry_point(kernel: Any, arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """
    Return a kernel compiled for arguments of these types, without its dispatcher.

    numba's dispatcher looks up the types of the arguments at every call, which takes as long as
    the inverse dynamics of a small arm. The result raises TypeError for float64 arguments that
    are not contiguous arrays of the same dimension. Of all other arguments the caller must ensure
    the types. From now on the kernel itself raises TypeError for arguments of other types.

    :param kernel: a compiled kernel
    :param arguments: arguments to compile for
    """
    overloads = getattr(kernel, 'overloads', None)
    if overloads is None:
        return kernel  # type: ignore[no-any-return]
    types = tuple(_type_of(argument) for argument in arguments)
    if types not in overloads:
        kernel.compile(types)
        kernel.disable_compile()  # an error is better than a pause
    return overloads[types].entry_point  # type: ignore[no-any-return]


def _type_of(argument: Any) -> Any:
    """Return numba's type of an argument; of float64 arrays, one that machine code checks."""
    if isinstance(argument, np.ndarray) and argument.dtype == np.float64:
        return ExactArray(argument.ndim)
    if isinstance(argument, np.ndarray):
        return _type_of_records(argument.dtype, argument.ndim)
    return numba.typeof(argument)


@cache
def _type_of_records(dtype: np.dtype[Any], ndim: int) -> Any:
    """Return numba's type of a contiguous array; numba itself takes 1 ms to find it each time."""
    return numba.typeof(np.empty((0,) * ndim, dtype))
