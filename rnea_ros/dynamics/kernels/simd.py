# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
One number or eight side by side: what lets one kernel serve one sample, or eight at once.

A kernel reads and writes its numbers through :func:`number` and :func:`put`. Where the array has
one axis more than the index, that axis is eight lanes, and what is read is a vector of eight
samples, which the processor adds and multiplies as fast as one number. The kernel's source stays
the same. To numba, eight lanes are a type of their own that lives in a vector register; in plain
Python they are a numpy array.

Kernels may choose their way by the kind of a joint, never by a number: it may be eight.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ...arrays import Array
from ..compilation import COMPILED, compiled

LANES = 8

LARGEST_ANGLE = 1e6
"""rad; beyond it the sine and cosine of lanes lose digits, and are not to be used."""


def number(array: Array, index: int | tuple[int, int]) -> Any:
    """Return the number at an index, or the lanes there."""
    return array[index]


def put(array: Array, index: int | tuple[int, int], value: Any) -> None:
    """Write a number, or lanes, at an index."""
    array[index] = value


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
        """Eight floats; a single float becomes eight alike where the two meet."""

        def __init__(self) -> None:
            super().__init__('Lanes')

        def unify(self, typing_context: Any, other: Any) -> Any:
            """Return the type that holds either."""
            return self if isinstance(other, Float) else None

    lanes = LanesType()

    @register_model(LanesType)
    class LanesModel(models.PrimitiveModel):
        """Lanes are one value to LLVM."""

        def __init__(self, manager: Any, kind: Any) -> None:
            super().__init__(manager, kind, VECTOR)

    @lower_cast(Float, LanesType)
    def _spread(context: Any, builder: Any, fro: Any, to: Any, value: Any) -> Any:
        """Return one number eight times."""
        nothing = ir.Constant(VECTOR, ir.Undefined)
        first = builder.insert_element(nothing, value, ir.IntType(32)(0))
        return builder.shuffle_vector(
            first, nothing, ir.VectorType(ir.IntType(32), LANES)([0] * LANES)
        )

    def _define(operation: Any, instruction: str, *forms: tuple[Any, ...]) -> None:
        """Let an operator work on lanes, and between lanes and a float."""

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
        """Return where the lanes at an index begin; they lie side by side."""
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
        """Return the nearest whole number."""

    def _last_digits(whole: Any) -> Any:
        """Return the last and the last but one binary digit of a whole number, each 0 or 1."""

    @overload(_nearest, strict=False)
    def _nearest_code(x: Any) -> Any:
        return (lambda x: _nearest_lanes(x)) if x == lanes else (lambda x: np.rint(x))

    @overload(_last_digits, strict=False)
    def _last_digits_code(whole: Any) -> Any:
        if whole == lanes:
            return lambda whole: _last_digits_of_lanes(whole)
        return lambda whole: (float(int(whole) & 1), float((int(whole) >> 1) & 1))

    @compiled
    def _cosine_and_sine_of_moderate(x: Any) -> tuple[Any, Any]:
        """
        Return cos x and sin x for angles up to :data:`LARGEST_ANGLE`.

        The angle is reduced by multiples of pi/2, taken off in three parts (Cody and Waite), and
        on what is left, -pi/4 to pi/4, polynomials are exact to the last digit but one (their
        coefficients are those of fdlibm's kernels).
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
        if abs(x) > LARGEST_ANGLE:
            return np.cos(x), np.sin(x)
        return _cosine_and_sine_of_moderate(x)

    @overload(cosine_and_sine, strict=False)
    def _cosine_and_sine_code(x: Any) -> Any:
        if x == lanes:
            return lambda x: _cosine_and_sine_of_moderate(x)
        return lambda x: _cosine_and_sine_of_one(x)
