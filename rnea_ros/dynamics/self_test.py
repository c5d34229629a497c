# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Refuse compiled code that does not see NaN and infinity.

Kernels look themselves whether their numbers are finite. A compiler that takes more liberties
than it was given removes such a look: LLVM 11 (numba 0.55 and 0.56) computes ``0.0 * x`` as zero
whatever x is. So each compiled kernel is tried once in a process, on an arm of two joints, before
it is used. That takes some microseconds, and the kernel is the same machine code for every robot.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
import math

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import CompiledCodeError
from .compilation import COMPILED
from .kernels import body_records
from .tree import Placement, RigidBodyInertia, TreeBuilder, prismatic, revolute

JOINTS = 2
BAD_NUMBERS = (math.nan, math.inf, -math.inf)

_tried: set[str] = set()


def needs_check(name: str) -> bool:
    """
    Return whether compiled code must be tried before it is used.

    :param name: of the code
    """
    return COMPILED and name not in _tried


def check_compiled_code(name: str, accepts: Callable[[], bool], *inputs: Array) -> None:
    """
    Try whether compiled code sees numbers that are not finite.

    :param name: of the code, for the error
    :param accepts: return whether the code takes the numbers that the inputs hold
    :param inputs: arrays of numbers that it must take; changed and restored
    :raises CompiledCodeError: it takes NaN or an infinity, or refuses what it must take
    """
    if not accepts():
        raise CompiledCodeError(name, 'refuses finite numbers')
    for array in inputs:
        for index in np.ndindex(array.shape):
            good = array[index]
            for bad in BAD_NUMBERS:
                array[index] = bad
                if accepts():
                    raise CompiledCodeError(name, f'takes {bad} for a number')
            array[index] = good
    _tried.add(name)


def check_compiled_kernel(
    name: str,
    kernel: Callable[..., bool],
    memory: tuple[NDArray[np.void], ...],
    arguments: tuple[Array, ...],
) -> None:
    """
    Try a kernel of one sample, if it was not tried before.

    :param name: of the kernel
    :param kernel: returns whether all was right
    :param memory: what it works in: bodies, and other records of them
    :param arguments: arrays of which it reads all but the last
    :raises CompiledCodeError: it takes NaN or an infinity
    """
    if not needs_check(name):
        return
    bodies = body_records(two_joints())
    records = [np.zeros(len(bodies), dtype=array.dtype) for array in memory[1:]]
    *inputs, result = (np.full((JOINTS,) * array.ndim, 0.5) for array in arguments)
    check_compiled_code(name, lambda: kernel(bodies, *records, *inputs, result), *inputs)


@cache
def two_joints() -> NDArray[np.void]:
    """Return the bodies of an arm with a revolute and a prismatic joint."""
    inertia = RigidBodyInertia.from_centre_of_mass(2.0, np.full(3, 0.1), np.eye(3))
    placement = Placement.from_xyz_rpy((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
    builder = TreeBuilder()
    builder.add_link('arm', '', placement, revolute('turn'), inertia)
    builder.add_link('slide', 'arm', placement, prismatic('slide'), inertia)
    return builder.build().bodies
