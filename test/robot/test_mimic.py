# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A mimic joint is its constraint: q_all = G q + o, and tau = G^T tau_all."""

from collections.abc import Sequence
import re

import numpy as np
import pytest

from rnea_ros import Wrench
from support.cases import each
from support.models.comparison import assert_equal
from support.models.oracles import mimic_rules, random_state, random_tree
from support.models.robots import SHIPPED, joint, link, load, robot


def follow(leader: str, multiplier: float, offset: float) -> str:
    return f'<mimic joint="{leader}" multiplier="{multiplier!r}" offset="{offset!r}"/>'


def chain(kinds: Sequence[str], mimics: dict[int, str]) -> str:
    """Return a chain of joints about general axes, some of which follow others."""
    rng = np.random.default_rng(7)
    names = [f'link_{i}' for i in range(len(kinds))]
    links = [link(name, rng.uniform(1, 2), rng.normal(size=3).tolist()) for name in names]
    joints = [
        joint(
            f'joint_{i}', kind, f'link_{i - 1}' if i else 'base', f'link_{i}',
            xyz=rng.normal(size=3).tolist(), rpy=rng.normal(size=3).tolist(),
            axis=rng.normal(size=3).tolist(), more=mimics.get(i, ''),
        )
        for i, kind in enumerate(kinds)
    ]
    return robot(link('base'), *links, *joints)


ROBOTS = [
    pytest.param(SHIPPED[0].read_text(encoding='utf-8'), id='panda'),
    pytest.param(random_tree(3), id='random_3'),
    pytest.param(
        chain(['revolute'] * 4, {1: follow('joint_0', -2.0, 0.5), 3: follow('joint_2', 1.0, 0.0)}),
        id='revolute',
    ),
    pytest.param(
        chain(['revolute', 'prismatic'], {1: follow('joint_0', 0.3, -1.0)}), id='turn-to-slide'
    ),
    pytest.param(
        chain(['prismatic', 'revolute'], {1: follow('joint_0', 3.0, 1.0)}), id='slide-to-turn'
    ),
    pytest.param(
        chain(['revolute'] * 3, {0: follow('joint_2', 2.0, 0.1)}), id='leader-beyond-follower'
    ),
    pytest.param(
        chain(['revolute'] * 3, {i: follow('joint_0', i + 0.5, i) for i in (1, 2)}), id='one-leads'
    ),
    pytest.param(chain(['revolute'] * 2, {1: follow('joint_0', 0.0, 0.7)}), id='held-in-place'),
]


@each('urdf', ROBOTS)
def test_efforts_and_poses_are_those_of_the_constraint(urdf: str) -> None:
    model, free = load(urdf), load(re.sub('<mimic[^>]*>', '', urdf))
    rules, names = mimic_rules(urdf), model.joint_names
    G, offsets = np.zeros((free.nv, model.nv)), np.zeros(free.nv)
    for row, name in enumerate(free.joint_names):
        leader, multiplier, offsets[row] = rules.get(name, (name, 1.0, 0.0))
        G[row, names.index(leader)] = multiplier
    assert free.nv > model.nv
    q, qd, qdd = random_state(0, model.nv)
    all_q = G @ q + offsets
    wrench = {model.link_names[-1]: Wrench(force=(1.0, -2.0, 3.0), torque=(0.3, 0.2, -0.1))}
    expected = G.T @ free.inverse_dynamics(all_q, G @ qd, G @ qdd, wrench)
    assert_equal(model.inverse_dynamics(q, qd, qdd, wrench), expected)
    for name in model.link_names:
        assert_equal(model.forward_kinematics(q, name), free.forward_kinematics(all_q, name))


def test_a_chain_of_mimic_joints_moves_as_if_each_followed_the_first() -> None:
    chained = chain(['revolute'] * 3, {
        1: follow('joint_0', 2.0, 0.25), 2: follow('joint_1', -3.0, 0.5)
    })
    # -3 (2 q + 0.25) + 0.5 = -6 q - 0.25
    direct = chain(['revolute'] * 3, {
        1: follow('joint_0', 2.0, 0.25), 2: follow('joint_0', -6.0, -0.25)
    })
    state = random_state(0, 1)
    np.testing.assert_allclose(
        load(chained).inverse_dynamics(*state), load(direct).inverse_dynamics(*state), rtol=1e-12
    )
