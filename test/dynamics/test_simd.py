# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Eight numbers side by side are eight times one number, in machine code and in plain Python."""

from collections.abc import Callable
import operator
from typing import Any, TypeVar

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.compilation import COMPILED
from rnea_ros.dynamics.batch_workspace import BatchWorkspace
from rnea_ros.dynamics.kernels import BASE, LANES, MAX_ANGLE
from rnea_ros.dynamics.kernels.simd import cosine_and_sine, number, put
from support.models.joint_trees import MOVING, model_of, random_motion, random_parts
from support.models.oracles import Array
from support.python_process import run

if COMPILED:
    import numba

Function = TypeVar('Function', bound=Callable[..., Any])

TRIGONOMETRIC_ERROR = 4e-16
"""Two roundings of a number near one; measured over 12 million angles: 3.1e-16."""


def kernel(function: Function) -> Function:
    """Return a function compiled, as kernels are where numba is installed."""
    return numba.njit(function) if COMPILED else function


@kernel
def copy_vector(source: Array, target: Array) -> None:
    for i in range(source.shape[0]):
        put(target, i, number(source, i))


@kernel
def copy_matrix(source: Array, target: Array) -> None:
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            put(target, (i, j), number(source, (i, j)))


@pytest.mark.parametrize('lanes', [(), (LANES,)])
def test_what_is_written_is_what_was_read(lanes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    vector, matrix = rng.normal(size=(5, *lanes)), rng.normal(size=(3, 4, *lanes))
    vectors, matrices = np.zeros_like(vector), np.zeros_like(matrix)
    copy_vector(vector, vectors)
    copy_matrix(matrix, matrices)
    np.testing.assert_array_equal(vectors, vector)
    np.testing.assert_array_equal(matrices, matrix)


def test_lanes_are_read_and_written_in_the_middle_of_other_memory() -> None:
    # As in a field of a record: aligned to one number, not to eight.
    memory = np.full(3 * LANES + 3, 7.0)
    target = memory[1 : 1 + 2 * LANES].reshape(2, LANES)
    source = np.arange(2.0 * LANES + 1)[1:].reshape(2, LANES)
    copy_vector(source, target)
    np.testing.assert_array_equal(target, source)
    assert (memory[:1] == 7.0).all()
    assert (memory[1 + 2 * LANES :] == 7.0).all()


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


OPERATIONS = (operator.add, operator.sub, operator.mul, operator.truediv)


def test_lanes_add_and_multiply_as_numbers_do() -> None:
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(1, LANES)), rng.normal(size=(1, LANES)), 0.3
    results = np.zeros((13, LANES))
    sums_and_products(a, b, c, results)
    expected = [operation(a[0], b[0]) for operation in OPERATIONS]
    expected.append(-a[0])
    for operation in OPERATIONS:
        expected += [operation(a[0], c), operation(c, a[0])]
    np.testing.assert_array_equal(results, expected)


@pytest.mark.parametrize('bad', [np.nan, np.inf, 0.0])
def test_nan_stays_in_its_lane(bad: float) -> None:
    a = np.linspace(1.0, 2.0, LANES)[np.newaxis]
    a[0, 3] = bad
    results = np.zeros((13, LANES))
    sums_and_products(a, a, 0.0, results)
    with np.errstate(all='ignore'):
        expected = [operation(a[0, 3], a[0, 3]) for operation in OPERATIONS]
    np.testing.assert_array_equal(results[:4, 3], expected)
    a[0, 3] = 1.5
    alone = np.zeros((13, LANES))
    sums_and_products(a, a, 0.0, alone)
    others = np.arange(LANES) != 3
    np.testing.assert_array_equal(results[:, others], alone[:, others])


@kernel
def by_kind(kind: int, a: Array, target: Array) -> None:
    result = 0.0
    if kind == 1:
        result = number(a, 0)
    elif kind == 2:
        result = 2.0 * number(a, 0)
    put(target, 0, result)


@pytest.mark.parametrize(('kind', 'factor'), [(0, 0.0), (1, 1.0), (2, 2.0)])
def test_a_branch_that_ends_in_one_number_gives_it_to_every_lane(kind: int, factor: float) -> None:
    a, target = np.arange(1.0, LANES + 1.0)[np.newaxis], np.full((1, LANES), np.nan)
    by_kind(kind, a, target)
    np.testing.assert_array_equal(target, factor * a)


@kernel
def cosines_and_sines(x: Array, cosine: Array, sine: Array) -> None:
    for i in range(x.shape[0]):
        c, s = cosine_and_sine(number(x, i))
        put(cosine, i, c)
        put(sine, i, s)


def quarter_turns() -> Array:
    """Return the floats nearest to whole multiples of pi/2 up to the largest angle."""
    turns = np.arange(-int(MAX_ANGLE / np.pi * 2.0), int(MAX_ANGLE / np.pi * 2.0))
    quarter: Any = np.longdouble('1.57079632679489661923132169163975144')
    angles: Array = (turns * quarter).astype(np.float64)
    return angles


ANGLES = {
    'everywhere': np.random.default_rng(0).uniform(-MAX_ANGLE, MAX_ANGLE, 400_000),
    'within a turn': np.random.default_rng(1).uniform(-7.0, 7.0, 400_000),
    'small': 10.0 ** np.random.default_rng(2).uniform(-320.0, 0.0, 100_000),
    'whole': np.arange(-MAX_ANGLE, MAX_ANGLE + 1.0, 8.0), 'quarter turns': quarter_turns(),
    'above quarter turns': np.nextafter(quarter_turns(), np.inf),
    'below quarter turns': np.nextafter(quarter_turns(), -np.inf),
    'between quarter turns': quarter_turns() + np.pi / 4,
    'ends': np.array([0.0, -0.0, 5e-324, -5e-324, MAX_ANGLE, -MAX_ANGLE]),
}


def of_lanes(angles: Array) -> tuple[Array, Array]:
    """Return cosine and sine of angles, eight at a time."""
    x = np.zeros((-(-len(angles) // LANES), LANES))
    x.flat[: len(angles)] = angles
    cosine, sine = np.empty_like(x), np.empty_like(x)
    cosines_and_sines(x, cosine, sine)
    return cosine.reshape(-1)[: len(angles)], sine.reshape(-1)[: len(angles)]


@pytest.mark.parametrize('angles', [pytest.param(ANGLES[name], id=name) for name in ANGLES])
def test_cosine_and_sine_of_lanes_are_right_to_the_last_digit_but_one(angles: Array) -> None:
    if not COMPILED:
        angles = angles[:: max(1, len(angles) // 1000)]
    cosine, sine = of_lanes(angles)
    # Eleven bits more than the results have
    exact = angles.astype(np.longdouble)
    assert np.abs(cosine - np.cos(exact)).max() < TRIGONOMETRIC_ERROR
    assert np.abs(sine - np.sin(exact)).max() < TRIGONOMETRIC_ERROR


def test_the_sine_of_a_small_angle_keeps_its_digits() -> None:
    angles = ANGLES['small']
    _, sine = of_lanes(angles)
    np.testing.assert_allclose(sine, np.sin(angles), rtol=1e-15, atol=0.0)


@pytest.mark.parametrize('angle', [np.nan, np.inf, -np.inf])
def test_an_angle_of_nan_does_not_affect_the_other_lanes(angle: float) -> None:
    angles = np.linspace(0.0, 3.0, LANES)
    angles[5] = angle
    with np.errstate(invalid='ignore'):
        cosine, sine = of_lanes(angles)
    assert np.isnan([cosine[5], sine[5]]).all()
    others = np.arange(LANES) != 5
    np.testing.assert_allclose(cosine[others], np.cos(angles[others]), atol=TRIGONOMETRIC_ERROR)
    np.testing.assert_allclose(sine[others], np.sin(angles[others]), atol=TRIGONOMETRIC_ERROR)


def test_one_angle_has_the_cosine_of_the_standard_library_however_large() -> None:
    angles = np.array([0.3, -2.0, 1e5, 1e15, 1e300])
    cosine, sine = np.empty(5), np.empty(5)
    cosines_and_sines(angles, cosine, sine)
    np.testing.assert_allclose(cosine, np.cos(angles), rtol=1e-15)
    np.testing.assert_allclose(sine, np.sin(angles), rtol=1e-15)


@pytest.fixture(scope='module')
def model() -> RobotModel:
    return model_of(random_parts(0, MOVING))


@pytest.fixture(scope='module')
def samples(model: RobotModel) -> list[Array]:
    parts = random_parts(0, MOVING)
    motions = [random_motion(seed, parts) for seed in range(LANES)]
    return [np.array(rows) for rows in zip(*motions, strict=True)]


def test_a_kernel_leaves_what_the_tree_fixes(model: RobotModel, samples: list[Array]) -> None:
    workspace = BatchWorkspace(model.workspace().bodies[BASE], model.tree.bodies)
    fixed = {
        name: workspace.bodies[name].copy()
        for name in ('parent', 'kind', 'qd_index', 'ratio', 'E_T', 'r_T', 'mass', 'h', 'J')
    }
    q, qd, qdd = samples
    workspace.inverse_dynamics(q, qd, qdd, np.empty((LANES, model.nv)))
    workspace.mass_matrix(q, np.empty((LANES, model.nv**2)))
    for name, before in fixed.items():
        np.testing.assert_array_equal(workspace.bodies[name], before)


@pytest.mark.skipif(not COMPILED, reason='this is the run in plain Python')
def test_all_of_this_holds_in_plain_python() -> None:
    # numpy warns of numbers that are none, which compiled kernels do not.
    arguments = [__file__, '-q', '-p', 'no:cacheprovider', '-W', 'ignore::RuntimeWarning']
    code = f'import pytest; assert pytest.main({arguments!r}) == 0'
    assert ' passed' in run(code, RNEA_ROS_PURE_PYTHON='1')
