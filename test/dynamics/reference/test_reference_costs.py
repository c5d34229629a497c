# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What recursion saves, in counted operations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from rnea_ros.dynamics.reference import newton_euler, nonrecursive, recursion
from rnea_ros.dynamics.reference.textbook_tree import Body
from support.cases import each
from support.models.oracles import random_moments, random_rotation
from support.models.robots import ROOT


class Counted:
    """A number that counts the products and sums that it takes part in."""

    products = 0
    sums = 0

    def __init__(self, value: float) -> None:
        self.value = value

    def __float__(self) -> float:
        return self.value

    def __neg__(self) -> Counted:
        return Counted(-self.value)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # numpy goes through its elements
        Counted.products += 1
        return Counted(self.value * float(other))

    def __add__(self, other: Any) -> Counted:
        Counted.sums += 1
        return Counted(self.value + float(other))

    def __sub__(self, other: Any) -> Counted:
        Counted.sums += 1
        return Counted(self.value - float(other))

    def __rsub__(self, other: Any) -> Counted:
        Counted.sums += 1
        return Counted(float(other) - self.value)

    __rmul__, __radd__ = __mul__, __add__


@contextmanager
def counting() -> Iterator[type[Counted]]:
    """Count from zero."""
    Counted.products = Counted.sums = 0
    yield Counted


def counted(values: Any) -> Any:
    """Return an array of numbers that count."""
    return np.vectorize(Counted, otypes=[object])(values)


def chain(length: int) -> list[Body]:
    """Return a chain of revolute joints."""
    rng = np.random.default_rng(length)
    return [
        Body(
            parent=i, coordinate=i, prismatic=False, rotation=random_rotation(rng),
            position=rng.normal(size=3), mass=1.0, com=rng.normal(size=3),
            inertia=random_moments(rng),
        )
        for i in range(length)
    ]


def cost(inverse_dynamics: Callable[..., Any], length: int) -> tuple[int, int]:
    """
    Return products and sums of one call for a chain, poses left out.

    All that follows from velocities, accelerations and gravity counts, zeros too.
    """
    q, (qd, qdd) = counted(np.ones(length)), counted(np.ones((2, length)))
    with counting() as count:
        inverse_dynamics(chain(length), q, qd, qdd, counted([0.0, 0.0, -9.81]))
    return count.products, count.sums


class Vector:
    """A vector, or the product of one with a number, that counts as one."""

    def __mul__(self, other: object) -> Vector:
        Counted.products += 1
        return self

    def __add__(self, other: object) -> Vector:
        Counted.sums += 1
        return self


@each('n', [1, 2, 6, 20])
def test_velocities_cost_as_many_products_and_sums_as_the_text_counts(n: int) -> None:
    S, qd = [Vector()] * n, [1.0] * n
    with counting() as count:
        recursion.velocities(S, qd, Vector())
    assert (count.products, count.sums) == (n, n)
    with counting() as count:
        recursion.velocities_without_recursion(S, qd)
    assert (count.products, count.sums) == (n * (n + 1) // 2, n * (n - 1) // 2)


@each('seed', range(3))
def test_both_velocities_are_the_same(seed: int) -> None:
    rng = np.random.default_rng(seed)
    S, qd = rng.normal(size=(6, 6)), rng.normal(size=6)
    np.testing.assert_allclose(
        recursion.velocities_without_recursion([*S], [*qd]),
        recursion.velocities([*S], [*qd], np.zeros(6)), rtol=1e-12, atol=1e-12,
    )


@pytest.mark.parametrize(('inverse_dynamics', 'degree'), [
    pytest.param(newton_euler.inverse_dynamics, 1, id='newton_euler'),
    pytest.param(nonrecursive.inverse_dynamics, 2, id='nonrecursive'),
])
def test_cost_is_a_polynomial_of_length(inverse_dynamics: Callable[..., Any], degree: int) -> None:
    lengths = range(1, degree + 4)
    for costs in np.array([cost(inverse_dynamics, n) for n in lengths]).T:
        assert np.diff(costs, degree).all()
        np.testing.assert_array_equal(np.diff(costs, degree + 1), 0)


def test_cost_without_recursion_grows_as_n4() -> None:
    lengths = range(1, 9)
    whole = np.array([cost(recursion.inverse_dynamics_without_recursion, n) for n in lengths])
    for costs in whole.T:
        np.testing.assert_array_equal(np.diff(costs, 5), 0)
        assert (np.diff(costs, 4) > 0).all()
    for costs in np.array([cost(recursion.inverse_dynamics, n) for n in lengths]).T:
        np.testing.assert_array_equal(np.diff(costs, 2), 0)


def test_six_and_twelve_joints_cost_what_the_page_says() -> None:
    page = (ROOT / 'docs/development/formulations.md').read_text(encoding='utf-8')
    for name, function in {
        'newton_euler.inverse_dynamics': newton_euler.inverse_dynamics,
        'nonrecursive.inverse_dynamics': nonrecursive.inverse_dynamics,
        'recursion.inverse_dynamics': recursion.inverse_dynamics,
        'recursion.inverse_dynamics_without_recursion': (
            recursion.inverse_dynamics_without_recursion
        ),
    }.items():
        row = next(line for line in page.splitlines() if line.startswith(f'| [`{name}`]'))
        cells = [cell.strip().replace(',', '') for cell in row.strip('|').split('|')]
        expected = [str(number) for n in (6, 12) for number in cost(function, n)]
        assert cells[2:] == expected, f'{name}: {expected}'
