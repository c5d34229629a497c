# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The regressor: efforts are linear in the inertial parameters, tau = Y phi."""

from dataclasses import replace

import numpy as np

from rnea_ros import RobotModel
from rnea_ros.dynamics.kernels import PARAMETERS
from rnea_ros.urdf import Inertial, Link, Origin
from support.cases import each
from support.models.oracle_pairs import Pair, random_pair
from support.models.robots import description, joint, link, load, robot

ROBOTS = [*map(random_pair, (2, 8)), random_pair(0, floating=True)]


def with_another_inertia(pair: Pair, seed: int, name: str) -> RobotModel:
    """Return the robot with a random inertia of one link."""
    rng, read = np.random.default_rng(seed), description(pair.model)
    half = rng.uniform(0.3, 1.0, size=(3, 3))
    J = half @ half.T + 3.0 * np.eye(3)
    mass, com, rpy = rng.uniform(0.5, 2.0), rng.normal(size=3), rng.normal(size=3)
    inertial = Inertial(Origin(tuple(com), tuple(rpy)), mass, tuple(J[np.triu_indices(3)]))
    links = {**read.links, name: Link(name, inertial)}
    return RobotModel.from_description(
        replace(read, links=links), floating_base=pair.floating, gravity=pair.gravity
    )


@each('pair', ROBOTS)
def test_efforts_change_with_each_bodys_parameters_by_its_columns(pair: Pair) -> None:
    # Ten other inertias of one body, so that every one of its ten columns counts.
    motion = pair.motion(1)
    Y, tau = pair.model.regressor(*motion), pair.model.inverse_dynamics(*motion)
    for k, name in enumerate(pair.model.body_names):
        columns = slice(len(PARAMETERS) * k, len(PARAMETERS) * (k + 1))
        changes = []
        for seed in range(10):
            other = with_another_inertia(pair, seed, name)
            change = other.inertial_parameters - pair.model.inertial_parameters
            expected = Y[:, columns] @ change[columns]
            atol = 1e-9 * max(1.0, float(np.abs(expected).max()))
            np.testing.assert_allclose(
                other.inverse_dynamics(*motion) - tau, expected, rtol=1e-9, atol=atol
            )
            assert not np.delete(change, columns).any()
            changes.append(change[columns])
        assert np.linalg.matrix_rank(np.array(changes)) == len(PARAMETERS)


def test_a_fixed_links_inertia_counts_in_the_body_that_carries_it() -> None:
    model = load(robot(
        link('base', 5.0), link('arm', 1.0, (0.1, 0.0, 0.0)), link('tool', 2.0, (0.0, 0.2, 0.0)),
        joint('hinge', 'continuous', 'base', 'arm'),
        joint('flange', 'fixed', 'arm', 'tool', xyz=(0.5, 0.0, 0.0)),
    ))
    assert model.body_names == ('arm',)
    # m, m c: the arm's and the tool's in the arm's frame
    np.testing.assert_allclose(model.inertial_parameters[:4], [3.0, 0.1 + 2.0 * 0.5, 0.4, 0.0])
