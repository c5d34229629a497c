# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Arrays that come from outside: checked once, with an error that names the argument."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError


def finite_vector(argument: str, values: ArrayLike, size: int) -> NDArray[np.float64]:
    """
    Return finite numbers as a contiguous array of the caller's own.

    :param argument: its name, for the error
    :param values: anything array-like of real numbers
    :param size: shape (size,) is wanted
    :raises InputError: no real numbers, another shape, a value that is not finite
    """
    try:
        given = np.asarray(values)
        if given.dtype.kind not in 'biufO':
            raise TypeError(f'its type is {given.dtype}')
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(argument, f'is not an array of real numbers: {error}') from error
    if array.shape != (size,):
        raise InputError(argument, f'has shape {array.shape}, not ({size},)')
    if not np.isfinite(array).all():
        raise InputError(argument, f'has a value that is not finite: {array.tolist()}')
    return array
