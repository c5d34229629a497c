# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Machine code of straight-line computations, without numba's compiler of Python.

Numba needs several seconds for a thousand expressions in Python. Here all of them are floats, or
all are lanes, so LLVM gets its instructions directly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, TypeAlias

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .numba_internals import LANES, VECTOR

Operand: TypeAlias = int | float
"""A float is a constant; a whole number counts the inputs, then the instructions."""

LLVM = {'+': 'fadd', '-': 'fsub', '*': 'fmul', 'negative': 'fneg'}
"""Names of operations in LLVM."""

FLAGS = ('contract', 'nsz')
DOUBLE, INDEX = ir.DoubleType(), ir.IntType(64)


@dataclass(frozen=True)
class StraightLine:
    """
    A computation on arrays.

    :param inputs: number of an array, and of a float in it
    :param limited: which inputs have a limit
    :param limit: largest sum of the squares of these inputs
    :param instructions: operations of :data:`LLVM` and their operands
    :param results: the elements of the result
    """

    inputs: Sequence[tuple[int, int]]
    limited: Sequence[bool]
    limit: float
    instructions: Sequence[tuple[str, Sequence[Operand]]]
    results: Sequence[Operand]


def straight_line(
    line: StraightLine, widths: Sequence[int] = ()
) -> Callable[[tuple[Any, ...], Any, int], bool]:
    """
    Return a function for kernels: of arrays to read, an array to write, and a row.

    It returns whether inputs and results are finite, and the limited inputs below their limit.

    :param line: the computation
    :param widths: lengths of the rows of arrays with one sample in each row, and of the result;
        0 for an array without rows. The function computes :data:`LANES` rows from the given one.
        By default no array has rows
    """
    number = VECTOR if widths else DOUBLE

    def constant(value: float) -> Any:
        return ir.Constant(number, [value] * LANES if widths else value)

    @intrinsic
    def compute(typing: Any, arrays: Any, result: Any, row: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            given = [builder.extract_value(arguments[0], i) for i in range(len(arrays))]
            starts = [
                builder.bitcast(context.make_array(kind)(context, builder, array).data,
                                DOUBLE.as_pointer())
                for kind, array in zip((*arrays, result), (*given, arguments[1]), strict=True)
            ]

            def addresses(array: int, element: int) -> list[Any]:
                """Return the addresses of an element in all lanes."""
                start, width = starts[array], widths[array] if widths else 0
                if width:
                    start = builder.gep(start, [builder.mul(arguments[2], INDEX(width))])
                lanes = range(LANES if widths else 1)
                return [builder.gep(start, [INDEX(element + i * width)]) for i in lanes]

            def read(array: int, element: int) -> Any:
                floats = [builder.load(each) for each in addresses(array, element)]
                if not widths:
                    return floats[0]
                x = ir.Constant(VECTOR, ir.Undefined)
                for i, each in enumerate(floats):
                    x = builder.insert_element(x, each, INDEX(i))
                return x

            def value(operand: Operand) -> Any:
                return values[operand] if isinstance(operand, int) else constant(operand)

            values = [read(*place) for place in line.inputs]
            for operation, operands in line.instructions:
                instruction = getattr(builder, LLVM[operation])
                values.append(instruction(*map(value, operands), flags=FLAGS))
            for i, operand in enumerate(line.results):
                for lane, place in enumerate(addresses(-1, i)):
                    x = value(operand)
                    builder.store(builder.extract_element(x, INDEX(lane)) if widths else x, place)
            terms = [
                builder.fmul(x, x) if limited else builder.fsub(x, x)
                for x, limited in zip(
                    (*values[: len(line.inputs)], *map(value, line.results)),
                    (*line.limited, *repeat(False, len(line.results))), strict=True,
                )
            ] or [constant(0.0)]
            while len(terms) > 1:  # pairs: a chain of sums takes the time of each
                terms = [*map(builder.fadd, terms[::2], terms[1::2]), *terms[len(terms) & ~1 :]]
            valid = builder.fcmp_ordered('<=', terms[0], constant(line.limit))
            if widths:
                bits = ir.IntType(LANES)
                valid = builder.icmp_unsigned('==', builder.bitcast(valid, bits), bits(-1))
            return valid

        return types.boolean(arrays, result, types.intp), code

    return compute  # type: ignore[no-any-return]
