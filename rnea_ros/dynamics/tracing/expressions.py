# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Expressions: numbers that are known at run time only.

The kernels calculate with them as with Python floats; none divides by one. Constants fold as they
arise (0*x, 1*x, x+0), and the same operation on the same values is one object.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..kernels import cosine_and_sine_in_range

Value: TypeAlias = 'Expression | float'


@dataclass(frozen=True, eq=False, slots=True)
class Expression:
    """An input, or an operation on values; made by a :class:`Trace`."""

    trace: Trace  # the trace that it belongs to
    operation: str  # 'input', '+', '-', '*', 'negative', or one of :data:`FUNCTIONS`
    arguments: tuple[Any, ...]  # name and indices of an input, else the values
    number: int  # its place in the order of creation

    def __add__(self, other: Value) -> Value:
        if not isinstance(other, Expression):
            return self.trace.operation('+', self, float(other)) if other else self
        if other.operation == 'negative':
            return self - (-other)
        if self.operation == 'negative':
            return other - (-self)
        return self.trace.operation('+', *_ordered(self, other))

    def __sub__(self, other: Value) -> Value:
        if not isinstance(other, Expression):
            return self + -other
        if self is other:
            return 0.0
        if other.operation == 'negative':
            return self + (-other)
        if self.operation == 'negative':
            return -((-self) + other)
        if ('-', other, self) in self.trace.known:
            return -self.trace.known['-', other, self]
        return self.trace.operation('-', self, other)

    def __rsub__(self, other: float) -> Value:
        if self.operation == 'negative':
            return (-self) + other
        return self.trace.operation('-', float(other), self) if other else -self

    def __mul__(self, other: Value) -> Value:
        if self.operation == 'negative':
            return -((-self) * other)
        if isinstance(other, Expression):
            if other.operation == 'negative':
                return -(self * (-other))
            return self.trace.operation('*', *_ordered(self, other))
        if other < 0.0:
            return -(self * -other)
        if self.operation == '*' and not isinstance(self.arguments[0], Expression):
            product: Value = float(other) * self.arguments[0] * self.arguments[1]
            return product
        if other in (0.0, 1.0):
            return self if other else 0.0
        return self.trace.operation('*', float(other), self)

    def __truediv__(self, other: float) -> Value:
        return self * (1.0 / other)

    def __neg__(self) -> Value:
        return (
            self.arguments[0] if self.operation == 'negative'
            else self.trace.operation('negative', self)
        )

    def __abs__(self) -> Value:
        return self.trace.operation('absolute', self)

    __radd__ = __add__
    __rmul__ = __mul__

    def __array_ufunc__(self, function: np.ufunc, method: str, *values: Value) -> Value:
        """Return the result of a function of numpy, of expressions and floats."""
        name = function.__name__
        if self.trace.polynomials and name in ('cos', 'sin'):
            both: tuple[Value, Value] = cosine_and_sine_in_range(self)
            return both[1 if name == 'sin' else 0]
        if name in FUNCTIONS:
            return self.trace.operation(name, self)
        a, b = values
        sign = {'maximum': 1.0, 'minimum': -1.0}[name]
        return 0.5 * ((a + b) + sign * abs(a - b))


FUNCTIONS = ('absolute', 'cos', 'sin', 'tanh')
"""Functions of one value, by numpy's names."""


class Trace:
    """
    All expressions of one computation, each once.

    :param polynomials: whether sines and cosines become polynomials
    :ivar known: the expressions, by operation and arguments
    """

    def __init__(self, *, polynomials: bool = False) -> None:
        self.polynomials = polynomials
        self.known: dict[tuple[Any, ...], Expression] = {}

    def inputs(self, name: str, shape: int | tuple[int, ...]) -> np.ndarray[Any, Any]:
        """Return the inputs of an array, as an array of objects."""
        array = np.empty(shape, dtype=object)
        for index in np.ndindex(array.shape):
            array[index] = self.operation('input', name, *index)
        return array

    def operation(self, operation: str, *arguments: Any) -> Expression:
        """Return the expression of an operation; the caller has folded constants."""
        key = (operation, *arguments)
        if key not in self.known:
            self.known[key] = Expression(self, operation, arguments, len(self.known))
        return self.known[key]


def _ordered(a: Expression, b: Expression) -> tuple[Expression, Expression]:
    return (a, b) if a.number <= b.number else (b, a)


def needed(results: Iterable[Value]) -> list[Expression]:
    """Return inputs and operations that results depend on, each after its arguments."""
    found: set[Expression] = set()
    remaining: list[Any] = [*results]
    while remaining:
        value = remaining.pop()
        if isinstance(value, Expression) and value not in found:
            found.add(value)
            remaining.extend(value.arguments)
    return sorted(found, key=lambda expression: expression.number)


def operations(results: Iterable[Value]) -> tuple[int, int, int]:
    """Return numbers of multiplications, of additions, and of all functions and sign changes."""
    count = Counter(step.operation for step in needed(results))
    additions = count['+'] + count['-']
    return count['*'], additions, count.total() - count['*'] - additions - count['input']
