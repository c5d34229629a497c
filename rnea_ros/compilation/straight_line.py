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
from typing import Any, TypeAlias

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .numba_internals import LANES

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

    It returns whether all is finite and the squares of limited inputs sum to at most their limit.

    :param line: the computation
    :param widths: row length of each array and of the result, with one sample a row; 0 for one
        row for all samples. The function computes :data:`LANES` rows; by default one sample
    """
    lanes = LANES if widths else 1
    number = ir.VectorType(DOUBLE, lanes)

    @intrinsic
    def compute(typing: Any, arrays: Any, result: Any, row: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            given = [builder.extract_value(arguments[0], i) for i in range(len(arrays))]
            starts = [
                context.make_array(kind)(context, builder, array).data
                for kind, array in zip((*arrays, result), (*given, arguments[1]), strict=True)
            ]

            def addresses(array: int, element: int) -> list[Any]:
                """Return the addresses of an element in all lanes."""
                width = widths[array] if widths else 0
                start = builder.gep(starts[array], [builder.mul(arguments[2], INDEX(width))])
                return [builder.gep(start, [INDEX(element + i * width)]) for i in range(lanes)]

            def read(array: int, element: int) -> Any:
                x = ir.Constant(number, ir.Undefined)
                for i, place in enumerate(addresses(array, element)):
                    x = builder.insert_element(x, builder.load(place), INDEX(i))
                return x

            def value(operand: Operand) -> Any:
                if isinstance(operand, int):
                    return values[operand]
                return ir.Constant(number, [operand] * lanes)

            values = [read(*place) for place in line.inputs]
            terms = [
                builder.fmul(x, x) if limited else builder.fsub(x, x)
                for x, limited in zip(values, line.limited, strict=True)
            ] or [value(0.0)]
            for operation, operands in line.instructions:
                instruction = getattr(builder, LLVM[operation])
                values.append(instruction(*map(value, operands), flags=FLAGS))
            for i, x in enumerate(map(value, line.results)):
                terms.append(builder.fsub(x, x))
                for lane, place in enumerate(addresses(-1, i)):
                    builder.store(builder.extract_element(x, INDEX(lane)), place)
            while len(terms) > 1:  # pairs: a chain of sums takes the time of each
                terms = [*map(builder.fadd, terms[::2], terms[1::2]), *terms[len(terms) & ~1 :]]
            valid = builder.fcmp_ordered('<=', terms[0], value(line.limit))
            bits = ir.IntType(lanes)
            return builder.icmp_unsigned('==', builder.bitcast(valid, bits), bits(-1))

        return types.boolean(arrays, result, types.intp), code

    return compute  # type: ignore[no-any-return]
