# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What recursion saves, in counted operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rnea_ros.dynamics.reference import newton_euler, nonrecursive, recursion
from rnea_ros.dynamics.reference.textbook_tree import Body
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
    Counted.products = Counted.sums = 0
    inverse_dynamics(chain(length), q, qd, qdd, counted([0.0, 0.0, -9.81]))
    return Counted.products, Counted.sums


def test_both_velocities_are_the_same() -> None:
    rng = np.random.default_rng(0)
    S, qd = rng.normal(size=(6, 6)), rng.normal(size=6)
    np.testing.assert_allclose(
        recursion.velocities_without_recursion([*S], [*qd]),
        recursion.velocities([*S], [*qd], np.zeros(6)), rtol=1e-12, atol=1e-12,
    )


DEGREES: dict[str, tuple[Callable[..., Any], int]] = {
    'newton_euler.inverse_dynamics': (newton_euler.inverse_dynamics, 1),
    'nonrecursive.inverse_dynamics': (nonrecursive.inverse_dynamics, 2),
    'recursion.inverse_dynamics': (recursion.inverse_dynamics, 1),
    'recursion.inverse_dynamics_without_recursion': (
        recursion.inverse_dynamics_without_recursion, 4
    ),
}


@pytest.mark.parametrize('name', DEGREES)
def test_cost_is_a_polynomial_of_length_with_the_pages_values(name: str) -> None:
    inverse_dynamics, degree = DEGREES[name]
    lengths = range(1, degree + 4)
    for costs in np.array([cost(inverse_dynamics, n) for n in lengths]).T:
        assert np.diff(costs, degree).all()
        np.testing.assert_array_equal(np.diff(costs, degree + 1), 0)
    page = (ROOT / 'docs/development/formulations.md').read_text(encoding='utf-8')
    row = next(line for line in page.splitlines() if line.startswith(f'| [`{name}`]'))
    cells = [cell.strip().replace(',', '') for cell in row.strip('|').split('|')]
    assert cells[2:] == [str(number) for n in (6, 12) for number in cost(inverse_dynamics, n)]
