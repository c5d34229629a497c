# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Many samples at once are as many single calls, whatever the layout and however many threads."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
import json
import threading
import tracemalloc
from typing import Any

import numpy as np
import pytest

from rnea_ros import BaseMotion, InputError, RobotModel
from rnea_ros.compilation import COMPILED
from rnea_ros.dynamics.kernels import MAX_ANGLE
from rnea_ros.robot.batch import BLOCK, rows
from support.cases import each
from support.concurrency import threads_that_switch_often
from support.models.joint_trees import MOVING, model_of, random_parts
from support.models.oracles import Array, random_tree
from support.models.robots import SHIPPED, description, joint, link, load, robot
from support.python_process import run

ARGUMENTS = {
    'inverse_dynamics': ('q', 'qd', 'qdd'), 'gravity_torques': ('q',), 'mass_matrix': ('q',),
    'forward_dynamics': ('q', 'qd', 'tau'), 'regressor': ('q', 'qd', 'qdd'),
    'inverse_dynamics_derivatives': ('q', 'qd', 'qdd'),
    'forward_dynamics_derivatives': ('q', 'qd', 'tau'),
}
METHODS = list(ARGUMENTS)
PLACES = [
    pytest.param(method, argument, id=f'{method}-{argument}')
    for method, arguments in ARGUMENTS.items()
    for argument in arguments
]


def floating(path: Any) -> RobotModel:
    return RobotModel.from_description(description(load(path)), floating_base=True)


def panda_on_a_ship() -> RobotModel:
    return load(SHIPPED[0], gravity=(1.0, 2.0, -3.0)).with_base_motion(
        BaseMotion((1.0, 2.0, 3.0), (0.4, 0.5, -0.6), (-1.0, 0.5, 0.2), (0.3, -0.2, 0.7))
    )


MODELS: dict[str, Callable[[], RobotModel]] = {
    # With a joint that mimics another
    'panda': lambda: load(SHIPPED[0]),
    'ur5e': lambda: load(SHIPPED[2]),
    'floating ur5e': lambda: floating(SHIPPED[2]),
    'floating panda': lambda: floating(SHIPPED[0]),
    'all joints': lambda: model_of(random_parts(0, MOVING)),
    'panda on a ship': panda_on_a_ship,
    **{f'random_{seed}': lambda seed=seed: load(random_tree(seed)) for seed in (3, 19, 53)},  # type: ignore[misc]
}


@pytest.fixture(params=MODELS, scope='module')
def model(request: pytest.FixtureRequest) -> RobotModel:
    return MODELS[request.param]()


@pytest.fixture
def arm() -> RobotModel:
    return load(SHIPPED[2])


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few samples be several blocks, and enough for several threads."""
    monkeypatch.setattr(rows, 'BLOCK', 16)


MANY = 20 * 16 + 5
"""Samples of 21 small blocks."""


def samples(model: RobotModel, count: int, seed: int = 0) -> dict[str, Array]:
    """Return positions, and three arrays of the velocities' size, by argument name."""
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(count, model.nq))
    for joint_name in model.joint_names:
        where = model.position_indices(joint_name)
        if where.stop - where.start in (4, 7):
            quaternion = q[:, where.stop - 4 : where.stop]
            quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
    qd, qdd, tau = rng.normal(size=(3, count, model.nv))
    return {'q': q, 'qd': qd, 'qdd': qdd, 'tau': tau}


def batch(
    model: RobotModel, method: str, given: dict[str, Any], threads: int | None = None
) -> Array:
    arguments = {name: given[name] for name in ARGUMENTS[method]}
    return one_array(getattr(model, f'{method}_batch')(**arguments, threads=threads))


def one_array(result: Any) -> Array:
    """Return a result, with derivatives by several arguments side by side."""
    return np.stack(result, axis=-3) if isinstance(result, tuple) else np.asarray(result)


def one_by_one(model: RobotModel, method: str, given: dict[str, Array]) -> Array:
    all_given = zip(*(given[name] for name in ARGUMENTS[method]), strict=True)
    return np.array([one_array(getattr(model, method)(*row)) for row in all_given])


def assert_same(actual: Array, expected: Array, method: str) -> None:
    # The same equations, with multiplications and additions fused in other places, and sine and
    # cosine by other polynomials: roundings, which forward dynamics enlarges by the condition
    # number of the mass matrix.
    error = 1e-9 if method.startswith('forward_dynamics') else 1e-12
    np.testing.assert_allclose(
        actual, expected, rtol=error, atol=error * np.abs(expected).max(initial=1e-300)
    )


# The same numbers


@pytest.mark.parametrize('method', METHODS)
@pytest.mark.parametrize('count', [1, 7, 8, 9])
def test_every_row_is_that_samples_result(model: RobotModel, method: str, count: int) -> None:
    given = samples(model, count)
    result, expected = batch(model, method, given), one_by_one(model, method, given)
    assert result.dtype == np.float64
    assert result.shape == expected.shape
    assert result.flags.c_contiguous
    assert_same(result, expected, method)


@pytest.mark.parametrize('method', METHODS)
def test_no_rows_have_no_results_of_the_right_shape(model: RobotModel, method: str) -> None:
    first_row = batch(model, method, samples(model, 1))
    assert batch(model, method, samples(model, 0)).shape == (0, *first_row.shape[1:])


@pytest.mark.parametrize('method', METHODS)
def test_rows_beyond_a_block_are_as_those_within(arm: RobotModel, method: str) -> None:
    given = samples(arm, BLOCK + 3)
    result = batch(arm, method, given)
    places = [0, BLOCK - 1, BLOCK, BLOCK + 1, BLOCK + 2]
    chosen = {name: array[places] for name, array in given.items()}
    assert_same(result[places], one_by_one(arm, method, chosen), method)
    # A row's place among the lanes does not matter.
    np.testing.assert_array_equal(
        batch(arm, method, {name: array[3:] for name, array in given.items()}), result[3:]
    )


@pytest.mark.parametrize('method', METHODS)
@pytest.mark.parametrize('angle', [MAX_ANGLE, 1.5 * MAX_ANGLE, 1e9, 1e15, 1e300])
def test_angles_beyond_the_lanes_own_are_right(arm: RobotModel, method: str, angle: float) -> None:
    given = samples(arm, 20)
    given['q'][13, 2] = angle
    given['q'][17, 4] = -angle
    assert_same(batch(arm, method, given), one_by_one(arm, method, given), method)


@pytest.mark.parametrize('method', METHODS)
@pytest.mark.parametrize('multiplier', [1e3, 1e9, -1e14])
def test_angles_that_only_a_mimic_joint_reaches_are_right(method: str, multiplier: float) -> None:
    follows = f'<mimic joint="leader" multiplier="{multiplier!r}" offset="2.0"/>'
    model = load(robot(
        link('base'), link('one', 1.0, (0.1, 0.2, 0.3)), link('two', 2.0, (0.3, -0.2, 0.1)),
        joint('leader', 'continuous', 'base', 'one', axis=(1.0, 0.0, 0.0)),
        joint('follower', 'revolute', 'base', 'two', axis=(0.0, 1.0, 0.0), more=follows),
    ))
    given = samples(model, 20)
    # Accelerations small enough for the multiplier to leave something of them
    given = {name: array if name == 'q' else array / multiplier for name, array in given.items()}
    assert_same(batch(model, method, given), one_by_one(model, method, given), method)


@each('method', METHODS)
def test_what_goes_in_is_not_written_to(model: RobotModel, method: str) -> None:
    given = samples(model, 20)
    kept = {name: array.copy() for name, array in given.items()}
    if method == METHODS[0]:  # for arrays that cannot be written to, kernels are compiled anew
        for array in given.values():
            array.setflags(write=False)
    batch(model, method, given)
    for name, array in given.items():
        np.testing.assert_array_equal(array, kept[name])


def test_quaternions_are_brought_to_unit_length() -> None:
    model = floating(SHIPPED[2])
    given = samples(model, 20)
    near = {name: array.copy() for name, array in given.items()}
    near['q'][:, 3:7] *= 1.0 + 9e-7
    kept = near['q'].copy()
    assert_same(
        batch(model, 'inverse_dynamics', near), batch(model, 'inverse_dynamics', given),
        'inverse_dynamics',
    )
    np.testing.assert_array_equal(near['q'], kept)


# Rejections


@each(('method', 'argument'), PLACES)
@each('value', [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_rejected_by_argument_and_sample(
    model: RobotModel, method: str, argument: str, value: float
) -> None:
    given = samples(model, 20)
    for column in range(given[argument].shape[1]):
        sample = (7 * column) % 20
        bad = {**given, argument: given[argument].copy()}
        bad[argument][sample, column] = value
        with pytest.raises(InputError, match=r'not finite|has length (nan|inf)') as caught:
            batch(model, method, bad)
        assert caught.value.argument == f'{argument}[{sample}]'


@pytest.mark.usefixtures('small_blocks')
@each(('method', 'argument'), PLACES)
@each('threads', [1, 2, 5])
def test_a_bad_sample_in_a_later_block_is_counted_from_the_first(
    arm: RobotModel, method: str, argument: str, threads: int
) -> None:
    given = samples(arm, MANY)
    sample = MANY - 1
    given[argument][sample, 1] = np.nan
    with pytest.raises(InputError, match='not finite') as caught:
        batch(arm, method, given, threads)
    assert caught.value.argument == f'{argument}[{sample}]'


@each('sample', [0, 13, 19])
@each('length', [0.0, 1.0 + 2e-6, 2.0])
def test_a_quaternion_not_of_unit_length_is_rejected_by_sample(sample: int, length: float) -> None:
    model = floating(SHIPPED[2])
    given = samples(model, 20)
    given['q'][sample, 3:7] *= length
    with pytest.raises(InputError, match="joint 'floating_base' has length") as caught:
        batch(model, 'inverse_dynamics', given)
    assert caught.value.argument == f'q[{sample}]'


def test_efforts_that_overflow_are_rejected_by_sample(arm: RobotModel) -> None:
    given = samples(arm, 20)
    given['qd'][13] = 1e200
    with pytest.raises(InputError, match=r'^motion\[13\]: .*not finite'):
        batch(arm, 'inverse_dynamics', given)


@each(('method', 'argument'), PLACES)
@each(('shape', 'said'), [
    ((20, 5), r'shape \(20, 5\), not \(20, 6\)'), ((20, 7), r'shape \(20, 7\), not \(20, 6\)'),
    ((6,), r'shape \(6,\), not \(\d+, 6\)'), ((6, 20), r'shape \(6, 20\), not \(\d+, 6\)'),
    ((20, 6, 1), r'shape \(20, 6, 1\), not \(20, 6\)'), ((), r'shape \(\), not \(\d+, 6\)'),
    ((20, 0), r'shape \(20, 0\), not \(20, 6\)'),
])
def test_a_wrong_shape_is_rejected_by_name(
    arm: RobotModel, method: str, argument: str, shape: tuple[int, ...], said: str
) -> None:
    given = samples(arm, 20)
    given[argument] = np.zeros(shape)
    with pytest.raises(InputError, match=f'^{argument}: has {said}$') as caught:
        batch(arm, method, given)
    assert caught.value.argument == argument


@pytest.mark.parametrize('method', [name for name in METHODS if len(ARGUMENTS[name]) > 1])
def test_arguments_have_as_many_rows_as_the_positions(arm: RobotModel, method: str) -> None:
    for argument in ARGUMENTS[method][1:]:
        given = samples(arm, 20)
        given[argument] = given[argument][:19]
        with pytest.raises(InputError, match=rf'^{argument}: has shape \(19, 6\), not \(20, 6\)'):
            batch(arm, method, given)


@each('method', METHODS)
@each('threads', [0, -1])
@each('count', [0, 20])
def test_no_threads_are_rejected(arm: RobotModel, method: str, threads: int, count: int) -> None:
    with pytest.raises(InputError, match=rf'^threads: is {threads}, not at least 1'):
        batch(arm, method, samples(arm, count), threads)


@pytest.mark.usefixtures('small_blocks')
@each('method', METHODS)
def test_the_number_of_threads_changes_not_one_bit(
    arm: RobotModel, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []

    class CountedPool(ThreadPoolExecutor):
        def __init__(self, workers: int) -> None:
            super().__init__(workers)
            started.append(workers)

    monkeypatch.setattr(rows, 'ThreadPoolExecutor', CountedPool)
    given = samples(arm, MANY)
    alone = batch(arm, method, given, 1)
    for threads in (2, 3, 16, None):
        np.testing.assert_array_equal(batch(arm, method, given, threads), alone)
    # At least four blocks each
    assert started[:3] == [2, 3, 5]


def test_calls_from_several_threads_are_independent(model: RobotModel) -> None:
    workers, rounds = 4, 3
    given = [samples(model, 100, seed) for seed in range(workers)]
    alone = [
        {method: batch(model, method, given[i], 1) for method in METHODS} for i in range(workers)
    ]
    together = threading.Barrier(workers)

    def work(i: int) -> bool:
        together.wait()
        return all(
            np.array_equal(batch(model, method, given[i], 2), alone[i][method])
            for _ in range(rounds)
            for method in METHODS
        )

    with threads_that_switch_often(), ThreadPoolExecutor(workers) as pool:
        assert list(pool.map(work, range(workers))) == [True] * workers


def memory_beside_the_result(model: RobotModel, method: str, count: int) -> int:
    """Return the most bytes that a batch takes beside what it is given and what it returns."""
    given = samples(model, count)
    arguments = [given[name] for name in ARGUMENTS[method]]
    compute = getattr(model, f'{method}_batch')
    tracemalloc.start()
    try:
        result = compute(*arguments, threads=1)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    parts = result if isinstance(result, tuple) else (result,)
    return peak - sum(int(part.nbytes) for part in parts)


@pytest.mark.skipif(not COMPILED, reason='plain Python is too slow for as many samples')
@pytest.mark.parametrize('method', METHODS[:4])
def test_300000_samples_take_4_megabytes_beside_the_result(arm: RobotModel, method: str) -> None:
    assert memory_beside_the_result(arm, method, 300_000) < 4_000_000


def test_plain_python_gives_the_same_numbers() -> None:
    code = f"""
import json
import numpy as np
import rnea_ros
model = rnea_ros.RobotModel.from_urdf({str(SHIPPED[0])!r})
q, qd, third = np.random.default_rng(0).normal(size=(3, 9, model.nv))
print(json.dumps({{
    'inverse_dynamics': model.inverse_dynamics_batch(q, qd, third).tolist(),
    'forward_dynamics': model.forward_dynamics_batch(q, qd, third).tolist(),
    'regressor': model.regressor_batch(q, qd, third).tolist(),
    'inverse_dynamics_derivatives': np.stack(
        model.inverse_dynamics_derivatives_batch(q, qd, third), 1
    ).tolist(),
    'forward_dynamics_derivatives': np.stack(
        model.forward_dynamics_derivatives_batch(q, qd, third), 1
    ).tolist(),
}}))
"""
    model = load(SHIPPED[0])
    q, qd, third = np.random.default_rng(0).normal(size=(3, 9, model.nv))
    given = {'q': q, 'qd': qd, 'qdd': third, 'tau': third}
    for method, result in json.loads(run(code, RNEA_ROS_PURE_PYTHON='1')).items():
        assert_same(np.array(result), batch(model, method, given), method)


def test_the_origins_of_links_are_those_of_their_poses(model: RobotModel) -> None:
    q = samples(model, 4)['q']
    origins = model.link_positions_batch(q, model.link_names)
    poses = [[model.forward_kinematics(row, name) for name in model.link_names] for row in q]
    np.testing.assert_allclose(origins, np.array(poses)[:, :, :3, 3], rtol=1e-12, atol=1e-12)
