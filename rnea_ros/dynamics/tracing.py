# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The kernels, run on expressions instead of numbers: straight-line code of one tree.

An expression is a number that is known at run time only. The kernels calculate with it as with a
Python float; none divides by one. Constants fold as they arise (0*x, 1*x, x+0), and the same
operation on the same values is one object. This module has no equations: a change in a kernel
changes the code that it yields.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .kernels import (
    BASE,
    Records,
    composite_dtype,
    cosine_and_sine_in_range,
    crba,
    kinematics,
    rnea,
    vectors,
)

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


Values: TypeAlias = NDArray[Any]
"""Expressions and constants."""

ROUNDING = 1e-15
"""Smaller numbers beside the largest one of an array are rounding errors: cos(pi/2) is 6e-17."""

ARGUMENTS = {
    'inverse_dynamics': ('q', 'qd', 'qdd'),
    'gravity_torques': ('q',),
    'bias_torques': ('q', 'qd'),
    'mass_matrix': ('q',),
}
"""Methods of :class:`TracedTree` that yield joint efforts or the mass matrix."""


class TracedTree:
    """
    A tree of bodies whose kernels yield expressions.

    The caller replaces constants in :attr:`bodies` by inputs of :attr:`trace`.

    :param bodies: bodies of the tree, on their base
    :param polynomials: whether sines and cosines become polynomials
    """

    def __init__(self, bodies: Records, *, polynomials: bool = False) -> None:
        self.trace = Trace(polynomials=polynomials)
        self.bodies = _of_objects(bodies)
        self._nv = int(bodies[BASE]['qd_index'])
        self._q = self.trace.inputs('q', int(bodies[BASE]['q_index']))
        self._qd, self._qdd = (self.trace.inputs(name, self._nv) for name in ('qd', 'qdd'))

    def inverse_dynamics(self) -> Values:
        """Return tau of q, qd, qdd, shape (nv,)."""
        return self._result((self._nv,), rnea.inverse_dynamics, self._q, self._qd, self._qdd)

    def gravity_torques(self) -> Values:
        """Return tau of q at rest, shape (nv,)."""
        return self._result((self._nv,), rnea.gravity_torques, self._q)

    def bias_torques(self) -> Values:
        """Return tau of q and qd where qdd is zero, shape (nv,)."""
        qdd = _zeros(self._nv)
        return self._result((self._nv,), rnea.inverse_dynamics, self._q, self._qd, qdd)

    def mass_matrix(self) -> Values:
        """Return M of q, shape (nv, nv)."""
        composites = _of_objects(np.zeros(len(self.bodies), dtype=composite_dtype()))
        return self._result((self._nv, self._nv), crba.mass_matrix, composites, self._q)

    def pose(self, body: int, frame: NDArray[np.float64]) -> Values:
        """Return the pose of a frame, (4, 3) as kernels take it, of a body: shape (4, 4)."""
        return self._result((4, 4), kinematics.frame_pose, body, *placement(frame), self._q)

    def jacobian(self, body: int, frame: NDArray[np.float64]) -> Values:
        """Return the Jacobian of a frame in its own axes, shape (6, nv)."""
        E_r = placement(frame)
        return self._result((6, self._nv), kinematics.frame_jacobian, body, *E_r, self._q)

    def _result(
        self, shape: tuple[int, ...], kernel: Callable[..., None], *arguments: Any
    ) -> Values:
        """Return the array that a kernel of the bodies writes."""
        array = _zeros(*shape)
        kernel(self.bodies, *arguments, array)
        return array


def placement(frame: NDArray[np.float64]) -> tuple[vectors.Matrix3, vectors.Vector3]:
    """Return E and r of a frame, (4, 3) as kernels take it."""
    E_r = _rounded(frame)
    return vectors.load33(E_r), vectors.load3(E_r[3])


def _rounded(values: NDArray[np.float64]) -> Values:
    """Return constants as floats; rounding errors become zeros, and ones."""
    cleaned = np.where(np.abs(values) < ROUNDING * np.abs(values).max(initial=0.0), 0.0, values)
    ones = np.abs(np.abs(cleaned) - 1.0) < ROUNDING
    return np.where(ones, np.sign(cleaned), cleaned).astype(object)


def _zeros(*shape: int) -> Values:
    return np.full(shape, 0.0, dtype=object)


def _of_objects(records: Records) -> Records:
    """Return records with objects in the place of floats."""
    fields = {name: records.dtype[name] for name in records.dtype.names or ()}
    floats = [name for name, field in fields.items() if field.base == np.float64]
    changed = records.astype([
        (name, object if name in floats else field.base, field.shape)
        for name, field in fields.items()
    ])
    for name in floats:
        for i, values in enumerate(records[name]):
            changed[name][i] = _rounded(values)[()]
    return changed
