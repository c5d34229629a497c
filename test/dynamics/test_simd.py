# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Eight numbers side by side are eight times one number."""

from collections.abc import Callable
import operator
from typing import Any, TypeVar

import numpy as np

from rnea_ros.compilation import COMPILED
from rnea_ros.dynamics.kernels import LANES, MAX_ANGLE
from rnea_ros.dynamics.kernels.simd import cosine_and_sine, number, put
from support.models.oracles import Array

if COMPILED:
    import numba

Function = TypeVar('Function', bound=Callable[..., Any])
OPERATIONS = (operator.add, operator.sub, operator.mul, operator.truediv)
TRIGONOMETRIC_ERROR = 4e-16
"""Two roundings of a number near one; measured over 12 million angles: 3.1e-16."""


def kernel(function: Function) -> Function:
    """Return a function compiled, as kernels are where numba is installed."""
    return numba.njit(function) if COMPILED else function


@kernel
def sums_and_products(a: Array, b: Array, c: float, results: Array) -> None:
    x, y = number(a, 0), number(b, 0)
    put(results, 0, x + y)
    put(results, 1, x - y)
    put(results, 2, x * y)
    put(results, 3, x / y)
    put(results, 4, -x)
    put(results, 5, x + c)
    put(results, 6, c + x)
    put(results, 7, x - c)
    put(results, 8, c - x)
    put(results, 9, x * c)
    put(results, 10, c * x)
    put(results, 11, x / c)
    put(results, 12, c / x)


def test_lanes_are_calculated_as_numbers_and_nan_stays_in_its_lane() -> None:
    a, b = np.random.default_rng(0).normal(size=(2, 1, LANES))
    for c in (0.3, 0.0):
        a[0, 2:5] = np.nan, np.inf, 0.0
        b[0, 4] = 0.0
        # As in a field of a record: aligned to one number, not to eight.
        memory = np.full(13 * LANES + 2, 7.0)
        results = memory[1:-1].reshape(13, LANES)
        sums_and_products(a, b, c, results)
        with np.errstate(all='ignore'):
            expected = [*(operation(a[0], b[0]) for operation in OPERATIONS), -a[0]]
            for operation in OPERATIONS:
                expected += [operation(a[0], c), operation(c, a[0])]
        np.testing.assert_array_equal(results, expected)
        assert memory[0] == memory[-1] == 7.0


@kernel
def cosines_and_sines(x: Array, cosine: Array, sine: Array) -> None:
    for i in range(x.shape[0]):
        c, s = cosine_and_sine(number(x, i))
        put(cosine, i, c)
        put(sine, i, s)


def angles_to_compare() -> dict[str, Array]:
    rng, last = np.random.default_rng(3), int(MAX_ANGLE / np.pi * 2.0)
    quarter: Any = np.longdouble('1.57079632679489661923132169163975144')
    quarters = (rng.integers(-last, last, 60_000, endpoint=True) * quarter).astype(np.float64)
    return {
        'everywhere': rng.uniform(-MAX_ANGLE, MAX_ANGLE, 100_000),
        'within a turn': rng.uniform(-7.0, 7.0, 100_000),
        'small': 10.0 ** rng.uniform(-320.0, 0.0, 10_000), 'quarter turns': quarters,
        'above quarter turns': np.nextafter(quarters, np.inf),
        'below quarter turns': np.nextafter(quarters, -np.inf),
        'between quarter turns': quarters[np.abs(quarters) < MAX_ANGLE - 1.0] + np.pi / 4,
        'ends': np.array([0.0, -0.0, 5e-324, -5e-324, MAX_ANGLE, -MAX_ANGLE]),
    }


def of_lanes(angles: Array) -> tuple[Array, Array]:
    """Return cosine and sine of angles, eight at a time."""
    x = np.zeros((-(-len(angles) // LANES), LANES))
    x.flat[: len(angles)] = angles
    cosine, sine = np.empty_like(x), np.empty_like(x)
    cosines_and_sines(x, cosine, sine)
    return cosine.reshape(-1)[: len(angles)], sine.reshape(-1)[: len(angles)]


def test_cosine_and_sine_of_lanes_are_right_to_the_last_digit_but_one() -> None:
    for name, angles in angles_to_compare().items():
        cosine, sine = of_lanes(angles if COMPILED else angles[:1000])
        exact = angles[: len(cosine)].astype(np.longdouble)
        assert np.abs(cosine - np.cos(exact)).max() < TRIGONOMETRIC_ERROR, name
        assert np.abs(sine - np.sin(exact)).max() < TRIGONOMETRIC_ERROR, name
        if name == 'small':
            np.testing.assert_allclose(sine, np.sin(exact), rtol=1e-15, atol=0.0)


def test_an_angle_of_nan_does_not_affect_the_other_lanes() -> None:
    angles = np.linspace(0.0, 3.0, LANES)
    angles[3:6] = np.nan, np.inf, -np.inf
    with np.errstate(invalid='ignore'):
        for found, exact in zip(of_lanes(angles), (np.cos(angles), np.sin(angles)), strict=True):
            np.testing.assert_allclose(found, exact, atol=TRIGONOMETRIC_ERROR, equal_nan=True)


def test_one_angle_has_the_cosine_of_the_standard_library_however_large() -> None:
    angles = np.array([0.3, -2.0, 1e5, 1e15, 1e300])
    found = np.empty((2, 5))
    cosines_and_sines(angles, *found)
    np.testing.assert_allclose(found, [np.cos(angles), np.sin(angles)], rtol=1e-15)
