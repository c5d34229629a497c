# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
SIMD: the same source code of a kernel computes one sample, or eight samples at once.

A kernel reads and writes its numbers through :func:`number` and :func:`put`. If the array has one
axis more than the index, that axis has eight lanes, and the kernel reads a vector of eight
samples. The processor adds and multiplies such a vector as fast as one number. In compiled code,
eight lanes are a numba type that is held in a vector register; in plain Python they are a numpy
array.

Kernels may branch by the kind of a joint, but not by a number, because its eight lanes differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Array
from ...compilation import COMPILED, compiled

LANES = 8

MAX_ANGLE = 1e6
"""Largest angle, rad, for which sine and cosine of lanes are accurate."""


def number(array: Array, index: int | tuple[int, ...]) -> Any:
    """Return the number, or the lanes, at an index."""
    return array[index]


def put(array: Array, index: int | tuple[int, ...], value: Any) -> None:
    """Write a number, or lanes, at an index; a number goes to all lanes."""
    array[index] = value


@compiled
def add_to(array: Array, index: int | tuple[int, ...], value: Any) -> None:
    """Add to the number, or the lanes, at an index."""
    put(array, index, number(array, index) + value)


def cosine_and_sine(x: Any) -> tuple[Any, Any]:
    """Return cos x and sin x."""
    return np.cos(x), np.sin(x)


@compiled
def cosine_and_sine_in_range(x: Any) -> tuple[Any, Any]:
    """
    Return cos x and sin x for angles up to :data:`MAX_ANGLE`.

    Multiples of pi/2 are subtracted in three parts (Cody and Waite). On the remainder, from
    -pi/4 to pi/4, polynomials with the coefficients of fdlibm are accurate to 4e-16.
    """
    k = _nearest(x * 0.6366197723675814)
    y = x - k * 1.5707963267341256
    y = y - k * 6.077100506303966e-11
    y = y - k * 2.0222662487959506e-21
    z = y * y
    s = y + y * z * (
        -1.66666666666666307295e-1 + z * (8.33333333332211858878e-3
        + z * (-1.98412698295895385996e-4 + z * (2.75573136213857245213e-6
        + z * (-2.50507477628578072866e-8 + z * 1.58962301576546568060e-10))))
    )
    c = 1.0 - 0.5 * z + z * z * (
        4.16666666666665929218e-2 + z * (-1.38888888888730564116e-3
        + z * (2.48015872888517045348e-5 + z * (-2.75573141792967388112e-7
        + z * (2.08757008419747316778e-9 + z * -1.13585365213876817300e-11))))
    )
    # By quarter turns: (c, s), (-s, c), (-c, -s), (s, -c)
    halves = _nearest(0.5 * k - 0.25)  # k divided by 2, rounded down
    odd, half = k - 2.0 * halves, halves - 2.0 * _nearest(0.5 * halves - 0.25)
    sign_c, sign_s = 1.0 - 2.0 * (odd + half - 2.0 * odd * half), 1.0 - 2.0 * half
    return sign_c * (c + odd * (s - c)), sign_s * (s + odd * (c - s))


@compiled
def _nearest(x: Any) -> Any:
    """Return the nearest whole number: at 1.5 * 2^52, floats are one apart."""
    return (x + 6755399441055744.0) - 6755399441055744.0


@compiled
def _cosine_and_sine_of_one(x: float) -> tuple[float, float]:
    if abs(x) > MAX_ANGLE:
        return np.cos(x), np.sin(x)
    return cosine_and_sine_in_range(x)


if COMPILED:
    from numba.extending import overload
    from numba.types import BaseTuple

    from ...compilation import numba_internals

    load_lanes, store_lanes = numba_internals.load_lanes, numba_internals.store_lanes

    def _one_number(array: Any, index: Any) -> bool:
        axes = len(index) if isinstance(index, BaseTuple) else 1
        return bool(array.ndim == axes)

    @overload(number, strict=False)
    def _number(array: Any, index: Any) -> Any:
        if _one_number(array, index):
            return lambda array, index: array[index]
        return lambda array, index: load_lanes(array[index])

    @overload(put, strict=False)
    def _put(array: Any, index: Any, value: Any) -> Any:
        if _one_number(array, index):

            def write(array: Any, index: Any, value: Any) -> None:
                array[index] = value

            return write
        return lambda array, index, value: store_lanes(array[index], value)

    @overload(cosine_and_sine, strict=False)
    def _cosine_and_sine_code(x: Any) -> Any:
        if x == numba_internals.lanes:
            return lambda x: cosine_and_sine_in_range(x)
        return lambda x: _cosine_and_sine_of_one(x)
