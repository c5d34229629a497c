# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A check that compiled code detects NaN and infinity.

Kernels check whether their numbers are finite. A compiler may remove such a check: LLVM 11 (numba
0.55 and 0.56) computed ``0.0 * x`` as zero for every x. Therefore each compiled kernel is called
with NaN and infinity once in a process, on an arm of two joints, before its first use. The kernel
is the same machine code for every robot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..compilation import COMPILED, entry_point
from ..errors import CompiledCodeError
from .kernels import BASE, Records, body_records, checked_kernels
from .tree import Placement, RigidBodyInertia, TreeBuilder, prismatic, revolute

NQ, NV, BODIES = -1, -2, -3  # lengths of axes, in shapes; BODIES without the base
Argument: TypeAlias = int | tuple[int, ...]  # whole number, or the shape of an array
STATE: tuple[Argument, ...] = ((NQ,), (NV,))  # q and qd
MOTION: tuple[Argument, ...] = (*STATE, (NV,))  # q, qd and qdd
FRAME: tuple[Argument, ...] = (1, (4, 3))  # on body 1
POINT: tuple[Argument, ...] = (*FRAME, (3,))  # of a frame

JOINTS = 2
BAD_NUMBERS = (math.nan, math.inf, -math.inf)

_checked: set[str] = set()


def needs_check(name: str) -> bool:
    """Return whether compiled code must be checked before its first use."""
    return COMPILED and name not in _checked


def check_compiled_code(name: str, accepts: Callable[[], bool], *inputs: Array) -> None:
    """
    Check that compiled code rejects NaN and infinity.

    :param accepts: function that returns whether the code accepts the numbers in the inputs
    :param inputs: arrays of finite numbers; changed, and restored at the end
    :raises CompiledCodeError: the code accepts NaN or infinity, or rejects finite numbers
    """
    if not accepts():
        raise CompiledCodeError(name, 'rejects finite numbers')
    for array in inputs:
        for index in np.ndindex(array.shape):
            good = array[index]
            for bad in BAD_NUMBERS:
                array[index] = bad
                if accepts():
                    raise CompiledCodeError(name, f'accepts {bad}')
            array[index] = good
    _checked.add(name)


def require_nan_detection(name: str, accepts: Callable[[], bool], *inputs: Array) -> None:
    """Check compiled code before its first use, once a process; arguments as above."""
    if needs_check(name):
        check_compiled_code(name, accepts, *inputs)


def checked_entry_point(
    name: str, memory: tuple[NDArray[Any], ...], inputs: Sequence[Argument],
    results: Sequence[Argument],
) -> partial[bool]:
    """
    Return a kernel of :mod:`.checked_kernels`, with its memory bound, checked once a process.

    The memory is records of bodies first, then other records, and arrays of multiples of nv. A
    kernel that accepts NaN or infinity, or rejects finite numbers, raises a CompiledCodeError. It
    returns False for arguments that are not contiguous float64 arrays.
    """
    examples = [
        each if isinstance(each, int) else np.empty((0,) * len(each))
        for each in (*inputs, *results)
    ]
    prepared = entry_point(getattr(checked_kernels, name), (*memory, *examples), raises=False)
    nv = int(memory[0][BASE]['qd_index'])  # 0: the size for two joints is unknown
    if needs_check(name) and nv > 0:
        bodies = body_records(two_joints())
        others: list[NDArray[Any]] = [
            np.zeros(len(bodies), dtype=array.dtype) if array.dtype.names
            else np.zeros([size // nv * JOINTS for size in array.shape], dtype=array.dtype)
            for array in memory[1:]
        ]
        given, outputs = _examples(inputs), _examples(results)
        arrays = [each for each in given if isinstance(each, np.ndarray)]
        check_compiled_code(name, lambda: prepared(bodies, *others, *given, *outputs), *arrays)
    return partial(prepared, *memory)


def _examples(inputs: Sequence[Argument]) -> list[int | Array]:
    """Return whole numbers and arrays for an arm of two joints, where nq = nv = bodies - 1 = 2."""
    return [
        each if isinstance(each, int)
        else np.full([JOINTS if size < 0 else size for size in each], 0.5)
        for each in inputs
    ]


@cache
def two_joints() -> Records:
    """Return the bodies of an arm with a revolute and a prismatic joint."""
    inertia = RigidBodyInertia.from_centre_of_mass(2.0, np.full(3, 0.1), np.eye(3))
    placement = Placement.from_xyz_rpy((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
    builder = TreeBuilder()
    builder.add_link('arm', '', placement, revolute('turn'), inertia)
    builder.add_link('slide', 'arm', placement, prismatic('slide'), inertia)
    return builder.build().bodies
