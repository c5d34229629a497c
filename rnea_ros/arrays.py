# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Array types; angles; checks of numbers and arrays whose errors name the argument."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import wraps
from numbers import Real
from operator import index
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError, brief

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]

P = ParamSpec('P')
Numbers = TypeVar('Numbers', float, Array)


def shortest(difference: Array, continuous: NDArray[np.bool_]) -> Array:
    """Return position differences, shape (k,), without whole turns of continuous joints."""
    if not continuous.any():
        return difference
    with np.errstate(invalid='ignore'):  # numpy 1.21 warns of NaN here
        wrapped = np.remainder(difference + np.pi, 2.0 * np.pi) - np.pi
    return np.where(continuous, wrapped, difference)


def finite_number(argument: str, value: float) -> float:
    """Return a finite real number; raise an InputError for anything else."""
    return float(finite_array(argument, value, ()))


def whole_number(argument: str, value: int, least: int) -> int:
    """Return an integer that is not below ``least``; raise an InputError for anything else."""
    try:
        number = index(value)
    except Exception as error:  # a foreign object's conversion may raise anything
        raise InputError(argument, f'expected an integer, got {brief(value)}') from error
    if number < least:
        raise InputError(argument, f'is {brief(value)}, not at least {least}')
    return number


def finite_vector(argument: str, values: ArrayLike, size: int) -> Array:
    """Return a new array of finite numbers of a length, as :func:`finite_array`."""
    return finite_array(argument, values, (size,))


def finite_array(argument: str, values: ArrayLike, shape: tuple[int | None, ...]) -> Array:
    """
    Return finite numbers as a new contiguous array.

    :param shape: required shape, with None for an axis of any length
    :raises InputError: not real numbers, another shape, a value that is not finite
    """
    array = np.array(real_array(argument, values), order='C')
    fits = len(array.shape) == len(shape) and all(
        required in (None, given) for required, given in zip(shape, array.shape, strict=True)
    )
    if not fits:
        required_shape = str(shape).replace('None', 'N')
        raise InputError(argument, f'has shape {array.shape}, not {required_shape}')
    if not np.isfinite(array).all():
        raise InputError(argument, f'has a value that is not finite: {array.tolist()}')
    return array


def real_array(argument: str, values: ArrayLike) -> Array:
    """
    Return real numbers as an array of any shape; a float64 array is returned without a copy.

    :raises InputError: not real numbers, or masked
    """
    try:
        _reject_masked(values)
        given = np.asarray(values)
        if given.dtype.kind not in 'biufO':
            raise TypeError(f'its type is {given.dtype}')
        if given.dtype.kind == 'O':
            _reject_other_objects(given)
        return np.asarray(given, dtype=np.float64)
    except Exception as error:
        # The conversion of foreign objects may raise anything. numpy before 1.24 warns of lists of
        # unequal length; warnings may be set to be errors.
        raise InputError(argument, f'is not an array of real numbers: {error}') from error


def _reject_masked(values: Any) -> None:
    """Raise an error for masked values: numpy would use the numbers under the mask."""
    rows = values if isinstance(values, list | tuple) else [values]
    if any(isinstance(row, np.ma.MaskedArray) and np.ma.is_masked(row) for row in rows):
        raise TypeError('values are masked; fill them first')


def _reject_other_objects(given: NDArray[Any]) -> None:
    """Raise an error for objects that are not numbers: numpy would convert '3' and None."""
    for value in given.flat:
        if not isinstance(value, Real | Decimal | np.bool_):
            raise TypeError(f'{brief(value)} is not a number')


def finite_result(result: Numbers) -> Numbers:
    """Return a result of finite numbers; raise an InputError if it is not finite."""
    if not np.isfinite(result).all():
        raise InputError('motion', 'is so large that the result is not finite')
    return result


def finite_result_required(function: Callable[P, Numbers]) -> Callable[P, Numbers]:
    """Return a function that raises InputError if its result overflows."""

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> Numbers:
        with np.errstate(over='ignore', invalid='ignore'):
            return finite_result(function(*args, **kwargs))

    return checked
