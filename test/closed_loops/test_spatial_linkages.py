# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Every type of loop joint: one linkage cut at each of its joints, and MuJoCo's constraints."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pytest

from rnea_ros import Wrench
from rnea_ros.closed_loops import ClosedLoopModel
from support.cases import each
from support.models import linkages
from support.models.joint_trees import model_of
from support.models.oracles import Array

Pairs: TypeAlias = Sequence[linkages.Pair]

LINKAGES: list[tuple[Pairs, tuple[str, ...]]] = [
    (linkages.ROCKER, ('seam', 'ball', 'hinge')), (linkages.SLIDER, ('seam', 'ball', 'rail')),
    (linkages.CYLINDER, ('seam', 'ball', 'rod')),
    (linkages.TURNING_CYLINDER, ('seam', 'pin_1', 'bore')),
]
"""Linkages and the joints to cut, fixed, revolute, spherical, prismatic and cylindrical ones."""

IN_MUJOCO = [
    (pairs, name)
    for pairs, names in LINKAGES
    for name in names
    if name not in ('rail', 'rod', 'bore')
]
"""Cuts that MuJoCo has a constraint for."""

STATES = np.random.default_rng(5).uniform(-1.0, 1.0, (2, 3)) * [0.5, 3.0, 5.0]
"""Position, velocity and acceleration of the crank: rad, rad/s, rad/s^2."""


def model_cut(pairs: Pairs, name: str) -> ClosedLoopModel:
    parts, loop = linkages.cut(pairs, name)
    return ClosedLoopModel(model_of(parts, linkages.GRAVITY), [loop], ['crank'])


def efforts_and_accelerations(model: ClosedLoopModel, state: Array) -> list[Array]:
    """Return all results that do not depend on the cut."""
    y, yd, ydd = state[:, np.newaxis]
    q = model.positions(y)
    push = {'half': Wrench((3.0, -2.0, 1.0), (0.1, 0.3, -0.2), frame='base', point=(0.3, 0, 0))}
    return [
        model.inverse_dynamics(q, yd, ydd), model.inverse_dynamics(q, yd, ydd, push),
        model.forward_dynamics(q, yd, [2.0]), model.forward_dynamics(q, yd, [2.0], push),
        model.gravity_torques(q), model.mass_matrix(q),
    ]


@each('pairs, cuts', LINKAGES)
def test_results_do_not_depend_on_a_loops_cut(pairs: Pairs, cuts: Sequence[str]) -> None:
    models = [model_cut(pairs, name) for name in cuts]
    for state in STATES:
        first, *others = (efforts_and_accelerations(model, state) for model in models)
        for other in others:
            for one, two in zip(first, other, strict=True):
                np.testing.assert_allclose(two, one, rtol=1e-9, atol=1e-9)


@pytest.mark.oracle
@each('pairs, name', IN_MUJOCO)
def test_motion_and_efforts_fit_mujocos_constraints(pairs: Pairs, name: str) -> None:
    """
    M, C and K are MuJoCo's; its k is the difference quotient of K, good to 1e-7.

    Loop forces lambda are eliminated by least squares from the rows of joints without a motor, not
    by G.
    """
    parts, loop = linkages.cut(pairs, name)
    mujoco, model = linkages.MuJoCoLinkage(parts, [loop]), model_cut(pairs, name)
    crank = model.model.velocity_indices('crank').start
    others = np.delete(np.arange(model.model.nv), crank)
    for state in STATES:
        y, yd, ydd = state[:, np.newaxis]
        q = model.positions(y)
        assert mujoco.gap(q) < 1e-9
        qd, qdd = model.velocities(q, yd), model.accelerations(q, yd, ydd)
        M, C, K, k = mujoco.equation(q, qd)
        np.testing.assert_allclose(K @ qd, 0.0, atol=1e-9)
        np.testing.assert_allclose(K @ qdd, k, rtol=1e-6, atol=1e-6)

        needed = M @ qdd + C
        forces = np.linalg.lstsq(K.T[others], needed[others], rcond=1e-10)[0]
        np.testing.assert_allclose((needed - K.T @ forces)[others], 0.0, atol=1e-8)
        tau = (needed - K.T @ forces)[crank]
        np.testing.assert_allclose(model.inverse_dynamics(q, yd, ydd), tau, rtol=1e-6, atol=1e-7)

        # M qdd - K^T lambda = S tau - C, K qdd = k
        loops = len(K)
        matrix = np.block([[M, -K.T], [K, np.zeros((loops, loops))]])
        right = np.concatenate([-C, k])
        right[crank] += 2.0
        expected = np.linalg.lstsq(matrix, right, rcond=1e-12)[0][: len(M)]
        found = model.accelerations(q, yd, model.forward_dynamics(q, yd, [2.0]))
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
