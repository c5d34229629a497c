# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Many samples at once are as many single calls, whatever the layout and however many threads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
import itertools
from typing import Any

import numpy as np
import pytest

from rnea_ros import BaseMotion, InputError, ReferenceFrame, RobotModel, SingularityError, Wrench
from rnea_ros.dynamics.kernels import MAX_ANGLE
from rnea_ros.robot import batch as batches
from rnea_ros.robot.wrench import ROWS
from support.cases import each
from support.models.joint_trees import MOVING, model_of, random_parts, tree_in_another_order
from support.models.oracle_pairs import PAIRS
from support.models.oracles import Array
from support.models.robots import SHIPPED, joint, link, load, robot

ARGUMENTS = {
    'inverse_dynamics': ('q', 'qd', 'qdd'), 'gravity_torques': ('q',), 'mass_matrix': ('q',),
    'forward_dynamics': ('q', 'qd', 'tau'), 'regressor': ('q', 'qd', 'qdd'),
    'inverse_dynamics_derivatives': ('q', 'qd', 'qdd'),
    'forward_dynamics_derivatives': ('q', 'qd', 'tau'),
}
METHODS = list(ARGUMENTS)
UNDER_LOAD = [name for name in METHODS if 'dynamics' in name]
PLACES = [(method, argument) for method, names in ARGUMENTS.items() for argument in names]
FIELDS = ('force', 'torque', 'point')

MODELS: dict[str, Callable[[], RobotModel]] = {
    # With a joint that mimics another
    'panda on a ship': lambda: load(SHIPPED[0], (1.0, 2.0, -3.0)).with_base_motion(
        BaseMotion((1.0, 2.0, 3.0), (0.4, 0.5, -0.6), (-1.0, 0.5, 0.2), (0.3, -0.2, 0.7))
    ),
    'floating ur5e': lambda: PAIRS['ur5e-floating'].model,
    'random_19': lambda: PAIRS['random_19-fixed'].model,
    'all joints': lambda: model_of(random_parts(0, MOVING)),
    'joints in another order': tree_in_another_order,
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
    monkeypatch.setattr(batches, 'BLOCK', 16)


MANY = 20 * 16 + 5
"""Samples of 21 small blocks."""


def samples(model: RobotModel, count: int, seed: int = 0) -> dict[str, Array]:
    """Return positions, and three arrays of the velocities' size, by argument name."""
    q, qd, qdd, tau = np.random.default_rng(seed).normal(size=(4, count, model.nv))
    if not model.has_one_axis_joints_only:
        rows = [model.integrate(model.neutral_position, v, 1.0) for v in q]
        q = np.reshape(rows, (count, model.nq))
    return {'q': q, 'qd': qd, 'qdd': qdd, 'tau': tau}


def batch(model: RobotModel, method: str, given: Mapping[str, Any], **more: Any) -> Array:
    arguments = {name: given[name] for name in ARGUMENTS[method]}
    return one_array(getattr(model, f'{method}_batch')(**arguments, **more))


def one_array(result: Any) -> Array:
    """Return a result, with derivatives by several arguments side by side."""
    return np.stack(result, axis=-3) if isinstance(result, tuple) else np.asarray(result)


def one_by_one(
    model: RobotModel, method: str, given: Mapping[str, Array], loads: Any = None
) -> Array:
    found = []
    for k, values in enumerate(zip(*(given[name] for name in ARGUMENTS[method]), strict=True)):
        more = () if loads is None else (loads_of_sample(loads, k),)
        found.append(one_array(getattr(model, method)(*values, *more)))
    return np.array(found)


def assert_same(actual: Array, expected: Array, method: str) -> None:
    # The same equations, with multiplications and additions fused in other places, and sine and
    # cosine by other polynomials: roundings, which forward dynamics enlarge by the condition
    # number of the mass matrix.
    error = 1e-9 if method.startswith('forward_dynamics') else 1e-12
    np.testing.assert_allclose(
        actual, expected, rtol=error, atol=error * np.abs(expected).max(initial=1e-300)
    )


def changing_loads(model: RobotModel, count: int) -> dict[str, list[Wrench]]:
    """Return wrenches in all frames on all links; each of their parts changes in some."""
    rng, changing = np.random.default_rng(1), (count, 3)
    frames = (None, model.link_names[0], model.link_names[-1], *ReferenceFrame)
    # Shapes of force and torque, with a point
    parts: Any = (
        (changing, changing, None), (changing, 3, (0.1, 0.2, -0.3)),
        (3, changing, rng.normal(size=changing)),
    )
    kinds = itertools.cycle(itertools.product(frames, parts))
    number = max(2, -(-15 // len(model.link_names)))  # all 15 pairs occur on few links too
    return {
        name: [
            Wrench(rng.normal(size=force), rng.normal(size=torque), frame, point)
            for frame, (force, torque, point) in itertools.islice(kinds, number)
        ]
        for name in model.link_names
    }


def loads_of_sample(loads: Mapping[str, Sequence[Wrench]], k: int) -> dict[str, list[Wrench]]:
    def part(wrench: Wrench, field: str) -> Any:
        values = getattr(wrench, field)
        return values[k] if np.ndim(values) == 2 else values

    return {
        name: [replace(one, **{field: part(one, field) for field in FIELDS}) for one in several]
        for name, several in loads.items()
    }


@pytest.mark.parametrize('method', METHODS)
@each('count', [1, 8, 9])
def test_every_row_is_that_samples_result(model: RobotModel, method: str, count: int) -> None:
    given = samples(model, count)
    result, expected = batch(model, method, given), one_by_one(model, method, given)
    assert result.dtype == np.float64
    assert result.shape == expected.shape
    assert result.flags.c_contiguous
    assert_same(result, expected, method)
    assert batch(model, method, samples(model, 0)).shape == (0, *expected.shape[1:])


@each('method', UNDER_LOAD)
def test_each_row_has_its_own_wrenches(model: RobotModel, method: str) -> None:
    given, loads = samples(model, 9), changing_loads(model, 9)
    found = batch(model, method, given, external_wrenches=loads)
    expected = one_by_one(model, method, given, loads)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_array_equal(
        batch(model, method, given, external_wrenches={}), batch(model, method, given)
    )


@each('method', ['inverse_dynamics', 'inverse_dynamics_derivatives'])
def test_wrenches_of_more_samples_than_are_placed_at_a_time(arm: RobotModel, method: str) -> None:
    count = ROWS + 3
    given, loads = samples(arm, count), changing_loads(arm, count)
    found = batch(arm, method, given, external_wrenches=loads)
    for k in (0, ROWS - 1, ROWS, ROWS + 2):
        row = {name: array[k : k + 1] for name, array in given.items()}
        expected = one_by_one(arm, method, row, loads_of_sample(loads, k))
        assert_same(found[k], expected[0], 'forward_dynamics')


@pytest.mark.usefixtures('small_blocks')
@each('method', METHODS)
def test_blocks_and_threads_change_not_one_bit(arm: RobotModel, method: str) -> None:
    given = samples(arm, MANY)
    alone = batch(arm, method, given, threads=1)
    assert_same(alone, one_by_one(arm, method, given), method)
    for threads in (2, 3, 16, None):
        np.testing.assert_array_equal(batch(arm, method, given, threads=threads), alone)
    # A row's place among the lanes does not matter.
    shifted = {name: array[3:] for name, array in given.items()}
    np.testing.assert_array_equal(batch(arm, method, shifted), alone[3:])


@each('method', METHODS)
@each('angle', [MAX_ANGLE, 1.5 * MAX_ANGLE, 1e9, 1e300])
def test_angles_beyond_the_lanes_own_are_right(arm: RobotModel, method: str, angle: float) -> None:
    given = samples(arm, 20)
    given['q'][13, 2], given['q'][17, 4] = angle, -angle
    assert_same(batch(arm, method, given), one_by_one(arm, method, given), method)


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
@each('threads', [1, 5])
def test_a_bad_sample_in_a_later_block_is_counted_from_the_first(
    arm: RobotModel, method: str, argument: str, threads: int
) -> None:
    given = samples(arm, MANY)
    given[argument][MANY - 1, 1] = np.nan
    with pytest.raises(InputError, match='not finite') as caught:
        batch(arm, method, given, threads=threads)
    assert caught.value.argument == f'{argument}[{MANY - 1}]'


@each('method', UNDER_LOAD)
def test_wrong_rows_and_motions_that_overflow_are_named(arm: RobotModel, method: str) -> None:
    given = samples(arm, 20)
    with pytest.raises(InputError, match=r'^qd: has shape \(19, 6\), not \(20, 6\)$'):
        batch(arm, method, {**given, 'qd': np.zeros((19, 6))})
    given['qd'][13] = 1e200
    with pytest.raises(InputError, match=r'^motion\[13\]: .*not finite'):
        batch(arm, method, given)


@each('count', [0, 9])
@each('field', FIELDS)
@each('shape', [(10, 3), (9, 2), (2,), ()])
def test_wrenches_that_do_not_fit_the_samples_are_rejected(
    arm: RobotModel, count: int, field: str, shape: tuple[int, ...]
) -> None:
    changed: dict[str, Any] = {field: np.ones(shape)}
    loads = {'tool0': replace(Wrench(), **changed)}
    with pytest.raises(InputError, match=f"^{field} on link 'tool0': has shape"):
        batch(arm, 'inverse_dynamics', samples(arm, count), external_wrenches=loads)


@each('compute', [batch, one_by_one])
@each('method', ['forward_dynamics', 'forward_dynamics_derivatives'])
def test_a_joint_without_inertia_is_named(method: str, compute: Any) -> None:
    model = load(robot(
        link('base'), link('arm', 1.0, (0.1, 0.2, 0.3)), link('idle'),
        joint('turn', 'continuous', 'base', 'arm'),
        joint('idle', 'continuous', 'arm', 'idle', axis=(1, 0, 0)),
    ))
    with pytest.raises(SingularityError, match='no inertia') as caught:
        compute(model, method, samples(model, 9))
    assert caught.value.element == "joint 'idle'"


def test_the_origins_of_links_are_those_of_their_poses(model: RobotModel) -> None:
    q = samples(model, 4)['q']
    origins = model.link_positions_batch(q, model.link_names)
    poses = [[model.forward_kinematics(row, name) for name in model.link_names] for row in q]
    np.testing.assert_allclose(origins, np.array(poses)[:, :, :3, 3], rtol=1e-12, atol=1e-12)
