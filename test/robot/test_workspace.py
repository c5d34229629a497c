# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The control loop's path: one memory, used again and again, and nothing allocated."""

from collections.abc import Callable
from itertools import repeat
import tracemalloc
from typing import Any

import numpy as np
import pytest

from rnea_ros import InputError, RobotModel
from rnea_ros.compilation import COMPILED
from support.cases import each
from support.models.joint_trees import model_of, random_parts
from support.models.oracles import Array, random_state
from support.models.robots import SHIPPED, load
from support.python_process import least

pytest_plugins = ('support.models.model_fixtures',)

METHODS = [
    ('inverse_dynamics', 3), ('bias_torques', 2), ('gravity_torques', 1), ('mass_matrix', 1),
    ('forward_dynamics', 3),
]
"""Methods of a workspace, and how many of q, qd and a third they take."""

ALL_METHODS = [
    *METHODS, ('inverse_dynamics_derivatives', 3), ('forward_dynamics_derivatives', 3),
]


@pytest.fixture
def arm() -> RobotModel:
    return load(SHIPPED[2])


def test_a_workspace_gives_the_models_answers(model: RobotModel, arm: RobotModel) -> None:
    # Without forward dynamics, which mimic joints exclude, and with them
    for tested, methods in ((model, METHODS[:-1]), (arm, ALL_METHODS)):
        workspace = tested.workspace()
        for method, arguments in methods:
            state = random_state(0, tested.nv)[:arguments]
            expected = getattr(tested, method)(*state)
            for array in state:
                array.setflags(write=False)
            np.testing.assert_array_equal(getattr(workspace, method)(*state), expected)


@each('method', ['forward_dynamics', 'forward_dynamics_derivatives'])
def test_forward_dynamics_with_mimic_joints_are_rejected(panda: RobotModel, method: str) -> None:
    with pytest.raises(InputError, match='mimic'):
        getattr(panda.workspace(), method)(*random_state(0, panda.nv))


@each(('method', 'arguments'), METHODS)
@each('before', METHODS)
def test_an_array_is_used_again_and_what_is_left_in_it_does_not_matter(
    arm: RobotModel, method: str, arguments: int, before: tuple[str, int]
) -> None:
    # The workspace checks nothing, so that one bad sample must not poison those after it.
    state = random_state(0, arm.nv)[:arguments]
    fresh = getattr(arm.workspace(), method)(*state).copy()
    used = arm.workspace()
    earlier, count = before
    for seed in range(2):
        getattr(used, earlier)(*(1e3 * x for x in random_state(seed, arm.nv)[:count]))
        found = getattr(used, method)(*state)
        np.testing.assert_array_equal(found, fresh)
    assert np.isnan(getattr(used, earlier)(*(np.full(arm.nv, np.nan),) * count)).any()
    assert getattr(used, method)(*state) is found
    np.testing.assert_array_equal(found, fresh)


class Subclass(np.ndarray):
    """Numbers that mean something else than an array's."""


@pytest.mark.skipif(not COMPILED, reason='plain Python takes what numpy takes')
@each('change', [
    np.ndarray.tolist, lambda x: None, lambda x: x.astype(np.float32), lambda x: x.astype('>f8'),
    lambda x: x.astype(complex), lambda x: x.astype(object), lambda x: np.repeat(x, 2)[::2],
    lambda x: x[np.newaxis], lambda x: x.view(Subclass), np.ma.array,
    lambda x: np.frombuffer(b'1' + x.tobytes(), offset=1),  # unaligned
])
@each(('method', 'arguments'), METHODS)
def test_machine_code_rejects_arrays_of_another_type(
    arm: RobotModel, method: str, arguments: int, change: Callable[[Array], Any]
) -> None:
    call, state = getattr(arm.workspace(), method), random_state(0, arm.nv)[:arguments]
    for position in range(arguments):
        bad: list[Any] = [*state]
        bad[position] = change(bad[position])
        with pytest.raises(TypeError):
            call(*bad)


def test_external_forces_add_up_until_they_are_cleared(panda: RobotModel) -> None:
    workspace, other = panda.workspace(), panda.workspace()
    q, _, _ = random_state(0, panda.nv)
    free = workspace.gravity_torques(q).copy()
    changes = []
    for _ in range(2):
        workspace.add_external_force(7, np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]))
        changes.append(workspace.gravity_torques(q) - free)
    assert changes[0].any()
    np.testing.assert_array_equal(other.gravity_torques(q), free)
    np.testing.assert_allclose(changes[1], 2.0 * changes[0], rtol=1e-9, atol=1e-10)
    workspace.clear_external_forces()
    np.testing.assert_array_equal(workspace.gravity_torques(q), free)


@pytest.mark.skipif(not COMPILED, reason='Python itself allocates where numba is missing')
@each(('method', 'arguments'), METHODS)
def test_a_call_allocates_nothing(method: str, arguments: int) -> None:
    # Many joints, so that a single array would show among what the measurement itself takes.
    n = 100
    state = random_state(0, n)[:arguments]
    call = getattr(model_of(random_parts(0, ['revolute'] * n)).workspace(), method)
    call(*state)

    def allocated() -> int:
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        for _ in repeat(None, 300):
            call(*state)
        return tracemalloc.get_traced_memory()[1] - before

    tracemalloc.start()
    try:
        for _ in repeat(None, 10):
            call(*state)
        most = least(allocated)
    finally:
        tracemalloc.stop()
    assert most < np.zeros(n).nbytes


@each(('method', 'arguments'), ALL_METHODS)
def test_a_wrong_length_gives_nan(arm: RobotModel, method: str, arguments: int) -> None:
    call, q = getattr(arm.workspace(), method), np.zeros(6)
    for wrong in range(arguments):
        assert np.isfinite(call(*arguments * [q])).all()
        assert np.isnan(call(*[q[:5] if i == wrong else q for i in range(arguments)])).all()
