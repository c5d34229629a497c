# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The one door to numba: ``@compiled`` marks a kernel, and runs it as plain Python without numba.

Kernels are ordinary functions over numpy arrays and tuples of floats. Where numba is installed
they become machine code, cached beside the source, or in the user's cache directory where that is
read-only. Where it is missing, or where the environment variable ``RNEA_ROS_PURE_PYTHON`` is set
and not empty, the same source runs uncompiled: a few hundred times slower, with the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
import hashlib
import os
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

Kernel = TypeVar('Kernel', bound=Callable[..., Any])

try:
    if os.environ.get('RNEA_ROS_PURE_PYTHON'):
        raise ImportError('RNEA_ROS_PURE_PYTHON is set')
    import numba
except ImportError:
    COMPILED = False
else:
    from .kernel_cache import KernelCache, warn_not_kept

    COMPILED = True


COMPILATION = Path(__file__).parent
SHARED_KERNELS = COMPILATION.with_name('kernels')
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


# Fused multiply-add, and a zero that may lose its sign, are the liberties taken: NaN and infinity
# keep their meaning. Nobody calls a kernel from C.
_OPTIONS: dict[str, Any] = {
    'fastmath': {'contract', 'nsz'}, 'error_model': 'numpy', 'no_cfunc_wrapper': True,
}


def compiled(function: Kernel) -> Kernel:
    """
    Compile a function that kernels are made of; it becomes a part of each that calls it.

    :param function: a function over numpy arrays, floats and tuples of floats
    :return: the function, compiled at its first call, or unchanged
    """
    if not COMPILED:
        return function
    return numba.njit(forceinline=True, **_OPTIONS)(function)  # type: ignore[no-any-return]


def entry(function: Kernel) -> Kernel:
    """
    Compile a kernel that Python calls, once for one sample; it is kept on disk.

    :param function: a function over numpy arrays
    :return: the function, compiled or loaded at its first call, or unchanged
    """
    return _kept(function)


def batch_entry(function: Kernel) -> Kernel:
    """
    Compile a kernel that Python calls once for many samples; it lets other threads run meanwhile.

    :param function: a function over numpy arrays
    :return: the function, compiled or loaded at its first call, or unchanged
    """
    return _kept(function, nogil=True)


def _kept(function: Kernel, **options: bool) -> Kernel:
    if not COMPILED:
        return _quiet(function)
    jitted: Any = numba.njit(**_OPTIONS, **options)(function)
    directory = Path(function.__code__.co_filename).parent
    try:
        # numba drops a cached kernel when its own file changes, but not when a kernel that was
        # inlined into it changes in another file. A digest over these files closes that gap.
        jitted._cache = KernelCache(function, _digest_of_sources(directory))
    except RuntimeError:  # no directory to cache in, as in a read-only container
        warn_not_kept(f"neither {directory / '__pycache__'} nor the user's cache can be written")
    return jitted  # type: ignore[no-any-return]


def _quiet(function: Kernel) -> Kernel:
    """Let a function not warn of numbers that are not finite: machine code does not either."""

    @wraps(function)
    def call(*arguments: Any) -> Any:
        with np.errstate(all='ignore'):
            return function(*arguments)

    return call  # type: ignore[return-value]


def entry_point(kernel: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """
    Return a kernel compiled for arguments of these types, without its dispatcher.

    numba's dispatcher looks the types of the arguments up at every call, which costs as much as a
    recursion over a small arm. Whoever calls the result answers for the types: only arrays of the
    same dtype, dimension and contiguity may be passed. The kernel itself may still be called; it
    raises TypeError for arguments of any other types from now on.

    :param kernel: a compiled kernel
    :param arguments: arguments to compile for; the kernel is called once with them
    """
    kernel(*arguments)
    overloads = getattr(kernel, 'overloads', None)
    if overloads is None:
        return kernel
    kernel.disable_compile()  # type: ignore[attr-defined]  # other types are an error, not a wait
    types = tuple(numba.typeof(argument) for argument in arguments)
    return overloads[types].entry_point  # type: ignore[no-any-return]
