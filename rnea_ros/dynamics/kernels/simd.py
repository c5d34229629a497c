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

import operator
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


if COMPILED:
    from llvmlite import ir
    from numba.core import cgutils
    from numba.core.types import Float, Type, float64, intp, void
    from numba.core.types.containers import BaseTuple, UniTuple
    from numba.core.typing.templates import AbstractTemplate, infer_global, signature
    from numba.extending import (
        intrinsic,
        lower_builtin,
        lower_cast,
        models,
        overload,
        register_model,
    )

    VECTOR = ir.VectorType(ir.DoubleType(), LANES)
    WHOLE = ir.VectorType(ir.IntType(64), LANES)
    FLAGS = ('contract', 'nsz')

    class LanesType(Type):
        """Eight floats; an operation with a single float uses it in all lanes."""

        def __init__(self) -> None:
            super().__init__('Lanes')

        def unify(self, typing_context: Any, other: Any) -> Any:
            """Return the common type of lanes and another type."""
            return self if isinstance(other, Float) else None

    lanes = LanesType()

    @register_model(LanesType)
    class LanesModel(models.PrimitiveModel):
        """Lanes are one value in LLVM."""

        def __init__(self, manager: Any, kind: Any) -> None:
            super().__init__(manager, kind, VECTOR)

    @lower_cast(Float, LanesType)
    def _spread(context: Any, builder: Any, fro: Any, to: Any, value: Any) -> Any:
        """Return lanes that all hold one number."""
        undefined = ir.Constant(VECTOR, ir.Undefined)
        first = builder.insert_element(undefined, value, ir.IntType(32)(0))
        return builder.shuffle_vector(
            first, undefined, ir.VectorType(ir.IntType(32), LANES)([0] * LANES)
        )

    def _define(operation: Any, instruction: str, *forms: tuple[Any, ...]) -> None:
        """Define an operator for lanes, and for lanes with a float."""

        @infer_global(operation)
        class Typing(AbstractTemplate):
            def generic(self, arguments: Any, keywords: Any) -> Any:
                return signature(lanes, *arguments) if arguments in forms else None

        def code(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            vectors = [
                context.cast(builder, value, kind, lanes)
                for value, kind in zip(values, sig.args, strict=True)
            ]
            return getattr(builder, instruction)(*vectors, flags=FLAGS)

        for form in forms:
            lower_builtin(operation, *form)(code)

    MIXED = ((lanes, lanes), (lanes, float64), (float64, lanes))
    _define(operator.add, 'fadd', *MIXED)
    _define(operator.sub, 'fsub', *MIXED)
    _define(operator.mul, 'fmul', *MIXED)
    _define(operator.truediv, 'fdiv', *MIXED)
    _define(operator.neg, 'fneg', (lanes,))

    def _address(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        """Return the address of the lanes at an index; they are contiguous."""
        array_type, index_type = sig.args[:2]
        where = [values[1]]
        kinds = [index_type]
        if isinstance(index_type, BaseTuple):
            where, kinds = cgutils.unpack_tuple(builder, values[1]), list(index_type)
        indices = [
            context.cast(builder, value, kind, intp)
            for value, kind in zip(where, kinds, strict=True)
        ]
        array = context.make_array(array_type)(context, builder, values[0])
        pointer = cgutils.get_item_pointer(
            context, builder, array_type, array, [*indices, context.get_constant(intp, 0)]
        )
        return builder.bitcast(pointer, VECTOR.as_pointer())

    @intrinsic
    def _load(typing: Any, array: Any, index: Any) -> Any:
        def code(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            return builder.load(_address(context, builder, sig, values), align=8)

        return lanes(array, index), code

    @intrinsic
    def _store(typing: Any, array: Any, index: Any, value: Any) -> Any:
        def code(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            vector = context.cast(builder, values[2], sig.args[2], lanes)
            builder.store(vector, _address(context, builder, sig, values), align=8)
            return context.get_dummy_value()

        return void(array, index, value), code

    def _one_number(array: Any, index: Any) -> bool:
        axes = len(index) if isinstance(index, BaseTuple) else 1
        return bool(array.ndim == axes)

    @overload(number, strict=False)
    def _number(array: Any, index: Any) -> Any:
        if _one_number(array, index):
            return lambda array, index: array[index]
        return lambda array, index: _load(array, index)

    @overload(put, strict=False)
    def _put(array: Any, index: Any, value: Any) -> Any:
        if _one_number(array, index):

            def write(array: Any, index: Any, value: Any) -> None:
                array[index] = value

            return write
        return lambda array, index, value: _store(array, index, value)

    @intrinsic
    def _nearest_lanes(typing: Any, x: Any) -> Any:
        def code(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            name, kind = f'llvm.nearbyint.v{LANES}f64', ir.FunctionType(VECTOR, [VECTOR])
            return builder.call(
                cgutils.get_or_insert_function(builder.module, kind, name), values
            )

        return lanes(x), code

    @intrinsic
    def _last_digits_of_lanes(typing: Any, whole: Any) -> Any:
        def code(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            integers, one = builder.fptosi(values[0], WHOLE), WHOLE([1] * LANES)
            digits = (integers, builder.ashr(integers, one))
            floats = [builder.sitofp(builder.and_(digit, one), VECTOR) for digit in digits]
            return context.make_tuple(builder, sig.return_type, floats)

        return UniTuple(lanes, 2)(whole), code

    def _nearest(x: Any) -> Any:
        """Return the nearest whole number, as a float."""

    def _last_digits(whole: Any) -> Any:
        """Return the two last binary digits of a whole number, the last first, each 0 or 1."""

    @overload(_nearest, strict=False)
    def _nearest_code(x: Any) -> Any:
        return (lambda x: _nearest_lanes(x)) if x == lanes else (lambda x: np.rint(x))

    @overload(_last_digits, strict=False)
    def _last_digits_code(whole: Any) -> Any:
        if whole == lanes:
            return lambda whole: _last_digits_of_lanes(whole)
        return lambda whole: (float(int(whole) & 1), float((int(whole) >> 1) & 1))

    @compiled
    def _cosine_and_sine_in_range(x: Any) -> tuple[Any, Any]:
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
        odd, half = _last_digits(k)
        sign_c, sign_s = 1.0 - 2.0 * (odd + half - 2.0 * odd * half), 1.0 - 2.0 * half
        return sign_c * (c + odd * (s - c)), sign_s * (s + odd * (c - s))

    @compiled
    def _cosine_and_sine_of_one(x: float) -> tuple[float, float]:
        if abs(x) > MAX_ANGLE:
            return np.cos(x), np.sin(x)
        return _cosine_and_sine_in_range(x)

    @overload(cosine_and_sine, strict=False)
    def _cosine_and_sine_code(x: Any) -> Any:
        if x == lanes:
            return lambda x: _cosine_and_sine_in_range(x)
        return lambda x: _cosine_and_sine_of_one(x)
