# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Types of arrays, and checks of array arguments with errors that name the argument."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]

P = ParamSpec('P')
Numbers = TypeVar('Numbers', float, Array)


def finite_number(argument: str, value: float) -> float:
    """
    Return a finite number.

    :param argument: its name, for the error
    :param value: a real number
    :raises InputError: no real number, or not finite
    """
    return float(finite_array(argument, value, ()))


def finite_vector(argument: str, values: ArrayLike, size: int) -> Array:
    """
    Return finite numbers as a contiguous array of the caller's own.

    :param argument: its name, for the error
    :param values: anything array-like of real numbers
    :param size: shape (size,) is wanted
    :raises InputError: no real numbers, another shape, a value that is not finite
    """
    return finite_array(argument, values, (size,))


def finite_array(
    argument: str, values: ArrayLike, shape: tuple[int | None, ...]
) -> Array:
    """
    Return finite numbers as a contiguous array of the caller's own.

    :param argument: its name, for the error
    :param values: anything array-like of real numbers
    :param shape: the shape that is wanted, None where any length will do
    :raises InputError: no real numbers, another shape, a value that is not finite
    """
    array = np.array(real_array(argument, values), order='C')
    fits = len(array.shape) == len(shape) and all(
        wanted in (None, found) for wanted, found in zip(shape, array.shape, strict=True)
    )
    if not fits:
        wanted_shape = str(shape).replace('None', 'N')
        raise InputError(argument, f'has shape {array.shape}, not {wanted_shape}')
    if not np.isfinite(array).all():
        raise InputError(argument, f'has a value that is not finite: {array.tolist()}')
    return array


def real_array(argument: str, values: ArrayLike) -> Array:
    """
    Return real numbers as an array of any shape, the caller's own memory where it is one already.

    :param argument: its name, for the error
    :param values: anything array-like of real numbers
    :raises InputError: no real numbers
    """
    try:
        given = np.asarray(values)
        if given.dtype.kind not in 'biufO':
            raise TypeError(f'its type is {given.dtype}')
        if given.dtype.kind == 'O' and any(value is None for value in given.flat):
            raise TypeError('None is no number')  # numpy makes a NaN of it
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, UserWarning) as error:
        # numpy before 1.24 warns of lists of unequal length, and a warning may be an error.
        raise InputError(argument, f'is not an array of real numbers: {error}') from error


def finite_result(result: Numbers) -> Numbers:
    """
    Return what was computed from finite numbers, if it is finite.

    :param result: a number or an array
    :raises InputError: it is not
    """
    if not np.isfinite(result).all():
        raise InputError('motion', 'is so large that the result is not finite')
    return result


def finite_result_required(function: Callable[P, Numbers]) -> Callable[P, Numbers]:
    """
    Return a function that refuses what is so large that its result is not finite.

    :param function: returns a number or an array, finite but for overflow
    """

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> Numbers:
        with np.errstate(over='ignore', invalid='ignore'):
            return finite_result(function(*args, **kwargs))

    return checked
