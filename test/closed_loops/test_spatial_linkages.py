# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Every type of loop joint: spatial linkages of one motor, each cut at every joint."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from rnea_ros import Wrench
from rnea_ros.closed_loops import ClosedLoopModel
from support.cases import each
from support.models import linkages
from support.models.joint_trees import GRAVITY, model_of
from support.models.oracle_pairs import rate
from support.models.oracles import Array

Pairs: TypeAlias = Sequence[linkages.Pair]

LINKAGES: list[tuple[Pairs, tuple[str, ...]]] = [
    (linkages.ROCKER, ('seam', 'ball', 'hinge')), (linkages.SLIDER, ('seam', 'ball', 'rail')),
    (linkages.TURNING_CYLINDER, ('seam', 'pin_1', 'bore')),
]
"""Linkages and the joints to cut, fixed, revolute, spherical, prismatic and cylindrical ones."""

STATES = np.random.default_rng(5).uniform(-1.0, 1.0, (2, 3, 1)) * [[0.5], [3.0], [5.0]]
"""Position, velocity and acceleration of the crank: rad, rad/s, rad/s^2."""

PUSH = {'half': Wrench((3.0, -2.0, 1.0), (0.1, 0.3, -0.2), frame='base', point=(0.3, 0, 0))}


def model_cut(pairs: Pairs, name: str) -> ClosedLoopModel:
    parts, loop = linkages.cut(pairs, name)
    return ClosedLoopModel(model_of(parts, GRAVITY), [loop], ['crank'])


@each('pairs, cuts', LINKAGES)
def test_results_do_not_depend_on_a_loops_cut(pairs: Pairs, cuts: Sequence[str]) -> None:
    models = [model_cut(pairs, name) for name in cuts]

    def results(model: ClosedLoopModel, y: Array, yd: Array, ydd: Array) -> list[Array]:
        q = model.positions(y)
        return [
            model.inverse_dynamics(q, yd, ydd), model.inverse_dynamics(q, yd, ydd, PUSH),
            model.forward_dynamics(q, yd, [2.0]), model.forward_dynamics(q, yd, [2.0], PUSH),
            model.gravity_torques(q), model.mass_matrix(q)[0],
        ]

    for state in STATES:
        first, *others = (results(model, *state) for model in models)
        for other in others:
            np.testing.assert_allclose(other, first, rtol=1e-9, atol=1e-9)


@each('pairs, cuts', LINKAGES)
def test_power_and_rates_are_those_of_the_motion(pairs: Pairs, cuts: Sequence[str]) -> None:
    for name in cuts:
        model = model_cut(pairs, name)
        assert_loop_is_closed(model, *STATES[0], slides=name in ('rail', 'bore'))
        assert_rates_fit(model, *STATES[0])


def assert_loop_is_closed(
    model: ClosedLoopModel, y: Array, yd: Array, ydd: Array, *, slides: bool
) -> None:
    q, (loop,) = model.positions(y), model.loop_joints
    ends = [
        model.model.forward_kinematics(q, link) @ np.append(place.translation, 1.0)
        for link, place in ((loop.link_1, loop.placement_1), (loop.link_2, loop.placement_2))
    ]
    assert slides or np.abs(ends[0] - ends[1]).max() < 1e-9
    tau = model.inverse_dynamics(q, yd, ydd)
    np.testing.assert_allclose(model.forward_dynamics(q, yd, tau), ydd, rtol=1e-9, atol=1e-9)


def assert_rates_fit(model: ClosedLoopModel, y: Array, yd: Array, ydd: Array) -> None:
    """Compare with differences; one motor makes all power: its effort follows from the energy."""
    tree, q = model.model, model.positions(y)

    def moved(t: float) -> tuple[Array, Array]:
        there = model.positions(y + t * yd + 0.5 * t * t * ydd)
        return there, model.velocities(there, yd + t * ydd)

    def energy(t: float) -> float:
        there, qd = moved(t)
        return tree.kinetic_energy(there, qd) + tree.potential_energy(there)

    for found, expected in (
        (model.velocities(q, yd), rate(lambda t: tree.difference(q, moved(t)[0]))),
        (model.accelerations(q, yd, ydd), rate(lambda t: moved(t)[1])),
        (yd @ model.inverse_dynamics(q, yd, ydd), rate(energy)),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-5)
