# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Expressions: numbers that are known at run time only.

The kernels calculate with them as with floats. Constants fold as they arise (0 x, 1 x, x + 0), and
equal expressions are one object.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
import operator
from typing import Any, TypeAlias

import numpy as np

from ..kernels import cosine_and_sine_in_range

Value: TypeAlias = 'Expression | float'


@dataclass(frozen=True, eq=False, slots=True)
class Expression:
    """
    An input, or an operation on values; made by a :class:`Trace`.

    :param trace: the trace that it belongs to
    :param operation: 'input', '+', '-', '*', 'negative', or one of :data:`FUNCTIONS`
    :param arguments: name and indices of an input; values
    :param number: its place in the order of creation
    """

    trace: Trace
    operation: str
    arguments: tuple[Any, ...]
    number: int

    def __add__(self, other: Value) -> Value:
        return self.trace.add(self, other)

    def __sub__(self, other: Value) -> Value:
        return self.trace.subtract(self, other)

    def __rsub__(self, other: Value) -> Value:
        return self.trace.subtract(other, self)

    def __mul__(self, other: Value) -> Value:
        return self.trace.multiply(self, other)

    def __truediv__(self, other: float) -> Value:
        return self.trace.multiply(self, 1.0 / other)

    def __neg__(self) -> Value:
        return self.trace.negative(self)

    def __abs__(self) -> Value:
        return self.trace.operation('absolute', self)

    __radd__ = __add__
    __rmul__ = __mul__

    def __array_ufunc__(self, function: np.ufunc, method: str, *values: Value) -> Value:
        """Return the result of a function of numpy."""
        name = function.__name__
        if self.trace.polynomials and name in ('cos', 'sin'):
            both: tuple[Value, Value] = cosine_and_sine_in_range(self)
            return both[name == 'sin']
        if name in FUNCTIONS:
            return self.trace.operation(name, *values)
        numbers = (x if isinstance(x, Expression) else float(x) for x in values)
        return OPERATORS[function](*numbers)


def _maximum(a: Value, b: Value) -> Value:
    return 0.5 * ((a + b) + abs(a - b))


def _minimum(a: Value, b: Value) -> Value:
    return 0.5 * ((a + b) - abs(a - b))


FUNCTIONS = ('absolute', 'cos', 'sin', 'tanh')
"""Functions of one value, by numpy's names."""

OPERATORS: dict[np.ufunc, Callable[..., Value]] = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul,
    np.divide: operator.truediv, np.maximum: _maximum, np.minimum: _minimum,
}


class Trace:
    """
    All expressions of one computation, each once.

    :param polynomials: whether sines and cosines become polynomials
    """

    def __init__(self, *, polynomials: bool = False) -> None:
        self.polynomials = polynomials
        self._known: dict[tuple[Any, ...], Expression] = {}

    def inputs(self, name: str, shape: int | tuple[int, ...]) -> np.ndarray[Any, Any]:
        """Return the inputs of an array, as an array of objects."""
        array = np.empty(shape, dtype=object)
        for index in np.ndindex(array.shape):
            array[index] = self.operation('input', name, *index)
        return array

    def operation(self, operation: str, *arguments: Any) -> Expression:
        """Return the expression of an operation; the caller has folded constants."""
        key = (operation, *arguments)
        if key not in self._known:
            self._known[key] = Expression(self, operation, arguments, len(self._known))
        return self._known[key]

    def add(self, a: Value, b: Value) -> Value:
        """Return a + b."""
        if not isinstance(a, Expression):
            a, b = b, a
        if not isinstance(a, Expression):
            return a + b
        if not isinstance(b, Expression):
            return self.operation('+', a, float(b)) if b else a
        if b.operation == 'negative':
            return self.subtract(a, b.arguments[0])
        if a.operation == 'negative':
            return self.subtract(b, a.arguments[0])
        return self.operation('+', *_ordered(a, b))

    def subtract(self, a: Value, b: Value) -> Value:
        """Return a - b."""
        if not isinstance(b, Expression):
            return self.add(a, -b)
        if a is b:
            return 0.0
        if b.operation == 'negative':
            return self.add(a, b.arguments[0])
        if not isinstance(a, Expression):
            return self.operation('-', float(a), b) if a else self.negative(b)
        if a.operation == 'negative':
            return self.negative(self.add(a.arguments[0], b))
        if ('-', b, a) in self._known:
            return self.negative(self._known['-', b, a])
        return self.operation('-', a, b)

    def multiply(self, a: Value, b: Value) -> Value:
        """Return a b."""
        if not isinstance(b, Expression):
            a, b = b, a
        if not isinstance(b, Expression):
            return a * b
        if b.operation == 'negative':
            return self.negative(self.multiply(a, b.arguments[0]))
        if isinstance(a, Expression):
            if a.operation == 'negative':
                return self.negative(self.multiply(a.arguments[0], b))
            return self.operation('*', *_ordered(a, b))
        if a < 0.0:
            return self.negative(self.multiply(-a, b))
        if b.operation == '*' and not isinstance(b.arguments[0], Expression):
            return self.multiply(a * b.arguments[0], b.arguments[1])
        if a in (0.0, 1.0):
            return b if a else 0.0
        return self.operation('*', float(a), b)

    def negative(self, a: Value) -> Value:
        """Return -a."""
        if not isinstance(a, Expression):
            return -a
        return a.arguments[0] if a.operation == 'negative' else self.operation('negative', a)


def _ordered(a: Expression, b: Expression) -> tuple[Expression, Expression]:
    return (a, b) if a.number <= b.number else (b, a)


def needed(results: Iterable[Value]) -> list[Expression]:
    """Return inputs and operations that results depend on, each after its arguments."""
    found: set[Expression] = set()
    remaining = [value for value in results if isinstance(value, Expression)]
    while remaining:
        expression = remaining.pop()
        if expression not in found:
            found.add(expression)
            remaining.extend(_operands(expression))
    return sorted(found, key=lambda expression: expression.number)


def _operands(expression: Expression) -> Iterator[Expression]:
    return (value for value in expression.arguments if isinstance(value, Expression))


def operations(results: Iterable[Value]) -> tuple[int, int, int]:
    """Return numbers of multiplications, of additions, and of all functions and sign changes."""
    count = Counter(step.operation for step in needed(results))
    additions = count['+'] + count['-']
    return count['*'], additions, count.total() - count['*'] - additions - count['input']
