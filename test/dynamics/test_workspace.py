# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The control loop's path: one memory, used again and again, and nothing allocated."""

from __future__ import annotations

from itertools import repeat
import tracemalloc

import numpy as np
from oracles import random_state
import pytest
from robots import joint, link, load, robot

from rnea_ros import RobotModel
from rnea_ros.dynamics.compiled import COMPILED

pytest_plugins = ('model_fixtures',)


def test_a_workspace_gives_the_models_answers(model: RobotModel) -> None:
    workspace = model.workspace()
    for seed in range(3):
        q, qd, qdd = random_state(seed, model.nv)
        np.testing.assert_array_equal(
            workspace.inverse_dynamics(q, qd, qdd), model.inverse_dynamics(q, qd, qdd)
        )
        np.testing.assert_array_equal(workspace.bias_torques(q, qd), model.bias_torques(q, qd))
        np.testing.assert_array_equal(workspace.gravity_torques(q), model.gravity_torques(q))


def test_a_workspace_has_its_models_gravity(panda: RobotModel) -> None:
    q, _, _ = random_state(0, panda.nv)
    moon = panda.with_gravity([0.0, 0.0, -1.62])
    np.testing.assert_array_equal(
        moon.workspace().gravity_torques(q), moon.gravity_torques(q)
    )


def test_the_returned_array_is_used_again(panda: RobotModel) -> None:
    workspace = panda.workspace()
    first = workspace.inverse_dynamics(*random_state(0, panda.nv))
    kept = first.copy()
    assert workspace.inverse_dynamics(*random_state(1, panda.nv)) is first
    assert workspace.gravity_torques(np.zeros(panda.nv)) is first
    assert not np.array_equal(first, kept)


def test_what_is_left_in_the_memory_does_not_matter(model: RobotModel) -> None:
    workspace = model.workspace()
    state = random_state(0, model.nv)
    fresh = workspace.inverse_dynamics(*state).copy()
    for seed in range(1, 4):
        workspace.inverse_dynamics(*(1e3 * x for x in random_state(seed, model.nv)))
    np.testing.assert_array_equal(workspace.inverse_dynamics(*state), fresh)


def test_not_even_a_number_that_is_none_is_left_in_the_memory(panda: RobotModel) -> None:
    # The workspace checks nothing, so that one bad sample must not poison those after it.
    workspace = panda.workspace()
    state = random_state(0, panda.nv)
    fresh = workspace.inverse_dynamics(*state).copy()
    assert np.isnan(workspace.inverse_dynamics(*(np.full(8, np.nan),) * 3)).any()
    np.testing.assert_array_equal(workspace.inverse_dynamics(*state), fresh)


def test_workspaces_do_not_know_of_each_other(panda: RobotModel) -> None:
    one, other = panda.workspace(), panda.workspace()
    state = random_state(0, panda.nv)
    tau = one.inverse_dynamics(*state)
    kept = tau.copy()
    other.add_external_force(3, np.ones(3), np.ones(3))
    other.inverse_dynamics(*random_state(1, panda.nv))
    panda.inverse_dynamics(*random_state(2, panda.nv))
    np.testing.assert_array_equal(tau, kept)
    np.testing.assert_array_equal(one.inverse_dynamics(*state), kept)


def test_external_forces_add_up_until_they_are_cleared(panda: RobotModel) -> None:
    workspace = panda.workspace()
    q, _, _ = random_state(0, panda.nv)
    free = workspace.gravity_torques(q).copy()
    moment, force = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])
    workspace.add_external_force(7, moment, force)
    once = workspace.gravity_torques(q) - free
    workspace.add_external_force(7, moment, force)
    twice = workspace.gravity_torques(q) - free
    assert once.any()
    np.testing.assert_allclose(twice, 2.0 * once, rtol=1e-9, atol=1e-10)
    workspace.clear_external_forces()
    np.testing.assert_array_equal(workspace.gravity_torques(q), free)


def test_body_placements_are_kept_when_the_arm_moves_on(panda: RobotModel) -> None:
    workspace = panda.workspace()
    placements = workspace.body_placements(np.zeros(panda.nv))
    kept = [placement.matrix() for placement in placements]
    workspace.body_placements(np.ones(panda.nv))
    for placement, before in zip(placements, kept, strict=True):
        np.testing.assert_array_equal(placement.matrix(), before)


@pytest.mark.skipif(not COMPILED, reason='Python itself allocates where numba is missing')
@pytest.mark.parametrize('method', ['inverse_dynamics', 'bias_torques', 'gravity_torques'])
def test_a_call_allocates_nothing(method: str) -> None:
    # Many joints, so that a single array would show among what the measurement itself takes.
    n = 100
    names = [f'link_{i}' for i in range(n)]
    model = load(robot(
        link('base'),
        *(link(name, 1.0) for name in names),
        *(
            joint(f'joint_{name}', 'revolute', parent, name)
            for parent, name in zip(['base', *names], names, strict=False)
        ),
    ))
    count = {'inverse_dynamics': 3, 'bias_torques': 2, 'gravity_torques': 1}[method]
    state = random_state(0, n)[:count]
    call = getattr(model.workspace(), method)
    call(*state)
    tracemalloc.start()
    try:
        for _ in repeat(None, 10):
            call(*state)
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        for _ in repeat(None, 1000):
            call(*state)
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    array = np.zeros(n).nbytes
    assert after - before < array
    assert peak - before < array
