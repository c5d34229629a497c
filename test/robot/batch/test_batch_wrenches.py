# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""External wrenches on many samples: each row is the result of that sample alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
import itertools
from typing import Any

import numpy as np
import pytest

from rnea_ros import BaseMotion, InputError, ReferenceFrame, RobotModel, Wrench
from rnea_ros.robot.wrench import ROWS
from support.cases import each
from support.models.joint_trees import MOVING, model_of, random_parts
from support.models.oracle_pairs import Pair, random_pair
from support.models.oracles import Array, random_tree, random_wrenches
from support.models.robots import SHIPPED, description, load

COUNT = 9
METHODS = (
    'inverse_dynamics', 'forward_dynamics', 'inverse_dynamics_derivatives',
    'forward_dynamics_derivatives',
)
FIELDS = ('force', 'torque', 'point')

MODELS: dict[str, Callable[[], RobotModel]] = {
    # With a joint that mimics another
    'panda': lambda: load(SHIPPED[0]),
    'floating ur5e': lambda: RobotModel.from_description(
        description(load(SHIPPED[2])), floating_base=True
    ),
    'all joints': lambda: model_of(random_parts(0, MOVING)),
    'moving base': lambda: load(SHIPPED[2]).with_base_motion(
        BaseMotion((1, 2, 3), (0.3, -0.2, 0.1), (0.5, 1, -1), (1, -2, 0.3))
    ),
    **{f'random_{seed}': lambda seed=seed: load(random_tree(seed)) for seed in (3, 19)},  # type: ignore[misc]
}


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> RobotModel:
    return MODELS[request.param]()


@pytest.fixture
def arm() -> RobotModel:
    return load(SHIPPED[2])


def samples(model: RobotModel, count: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(count)
    q = np.array([
        model.integrate(model.neutral_position, v, 1.0)
        for v in rng.normal(size=(count, model.nv))
    ]).reshape(count, model.nq)
    return q, *rng.normal(size=(2, count, model.nv))


def changing(model: RobotModel, count: int) -> dict[str, list[Wrench]]:
    """Return wrenches on all links, and in all frames, other ones for each sample."""
    rng = np.random.default_rng(1)
    frames = (None, model.link_names[0], model.link_names[-1], *ReferenceFrame)
    kinds = itertools.cycle(itertools.product(frames, range(3)))
    points = (None, (0.1, 0.2, -0.3), rng.normal(size=(count, 3)))
    # Each link has other frames and points; all 15 pairs occur, also on a robot of few links.
    each = max(2, -(-15 // len(model.link_names)))
    return {
        link: [
            Wrench(rng.normal(size=(count, 3)), rng.normal(size=(count, 3)), frame, points[point])
            for frame, point in itertools.islice(kinds, each)
        ]
        for link in model.link_names
    }


def row(wrenches: Mapping[str, Sequence[Wrench]], k: int) -> dict[str, list[Wrench]]:
    """Return the wrenches of one sample."""

    def part(wrench: Wrench, field: str) -> Any:
        values = getattr(wrench, field)
        return values[k] if np.ndim(values) == 2 else values

    return {
        link: [replace(one, **{field: part(one, field) for field in FIELDS}) for one in several]
        for link, several in wrenches.items()
    }


def assert_same(actual: Array, expected: Array) -> None:
    # Forward dynamics enlarge roundings by the condition number of the mass matrix.
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@each('kind', ['changing', 'constant'])
def test_each_row_is_the_result_of_that_sample(model: RobotModel, kind: str) -> None:
    wrenches = (
        changing(model, COUNT) if kind == 'changing' else random_wrenches(0, model.link_names)
    )
    rows = [row(wrenches, k) for k in range(COUNT)]
    for method in METHODS:
        assert_rows_are_results(model, method, wrenches, rows)


def assert_rows_are_results(
    model: RobotModel, method: str, wrenches: Mapping[str, Sequence[Wrench]],
    rows: Sequence[Mapping[str, Sequence[Wrench]]],
) -> None:
    given = samples(model, COUNT)
    found = getattr(model, f'{method}_batch')(*given, external_wrenches=wrenches)
    expected = [
        getattr(model, method)(*(array[k] for array in given), rows[k]) for k in range(COUNT)
    ]
    if method.endswith('derivatives'):
        for part, parts in zip(found, zip(*expected, strict=True), strict=True):
            assert_same(part, np.array(parts))
    else:
        assert_same(found, np.array(expected))


@pytest.mark.oracle
@each('seed', range(3))
def test_efforts_of_samples_with_wrenches_are_pinocchios(seed: int) -> None:
    pair: Pair = random_pair(seed)
    wrenches = random_wrenches(seed, pair.model.link_names)
    motions = [pair.motion(k) for k in range(COUNT)]
    q, qd, qdd = (np.array(part) for part in zip(*motions, strict=True))
    expected = [pair.pinocchio.inverse_dynamics(*motion, wrenches) for motion in motions]
    found = pair.model.inverse_dynamics_batch(q, qd, qdd, external_wrenches=wrenches)
    assert_same(found, np.array(expected))


def test_forward_dynamics_undo_inverse_dynamics_with_the_same_wrenches(model: RobotModel) -> None:
    q, qd, qdd = samples(model, COUNT)
    wrenches = changing(model, COUNT)
    tau = model.inverse_dynamics_batch(q, qd, qdd, external_wrenches=wrenches)
    assert_same(model.forward_dynamics_batch(q, qd, tau, external_wrenches=wrenches), qdd)


def test_more_samples_than_are_computed_at_a_time(arm: RobotModel) -> None:
    count = ROWS + 3
    given, wrenches = samples(arm, count), changing(arm, count)
    found = arm.inverse_dynamics_batch(*given, external_wrenches=wrenches, threads=1)
    for k in (0, ROWS - 1, ROWS, ROWS + 2):
        q, qd, qdd = (array[k] for array in given)
        expected = arm.inverse_dynamics(q, qd, qdd, row(wrenches, k))
        assert_same(found[k], expected)


@each('method', METHODS)
def test_no_wrenches_change_nothing(arm: RobotModel, method: str) -> None:
    given = samples(arm, COUNT)
    compute = getattr(arm, f'{method}_batch')
    np.testing.assert_array_equal(compute(*given, external_wrenches={}), compute(*given))
    np.testing.assert_array_equal(compute(*given, external_wrenches=None), compute(*given))


@each('method', METHODS)
@each('count', [0, COUNT])
@each('field', FIELDS)
@each('shape', [(COUNT + 1, 3), (COUNT, 2), (2,), (COUNT, 3, 1), ()])
def test_arrays_that_do_not_fit_the_samples_are_rejected(
    arm: RobotModel, method: str, count: int, field: str, shape: tuple[int, ...]
) -> None:
    changed: dict[str, Any] = {field: np.ones(shape)}
    wrench = replace(Wrench(), **changed)
    with pytest.raises(InputError, match=f"^{field} on link 'tool0': has shape"):
        getattr(arm, f'{method}_batch')(*samples(arm, count), external_wrenches={'tool0': wrench})


@each('method', METHODS)
@each('value', [np.nan, np.inf])
def test_bad_positions_are_rejected_by_sample(arm: RobotModel, method: str, value: float) -> None:
    q, qd, qdd = samples(arm, COUNT)
    q[4, 2] = value
    with pytest.raises(InputError, match=r'^q\[4\]: has a value that is not finite'):
        getattr(arm, f'{method}_batch')(q, qd, qdd, external_wrenches={'tool0': Wrench()})


def test_wrenches_that_overflow_are_rejected(arm: RobotModel) -> None:
    force = np.zeros((COUNT, 3))
    force[5] = 1.5e308
    wrenches = {'tool0': Wrench(force)}
    with pytest.raises(InputError, match='not finite'):
        arm.inverse_dynamics_batch(*samples(arm, COUNT), external_wrenches=wrenches)
