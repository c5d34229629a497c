# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Joints that can move with nothing to accelerate: rejected at every position, with their name."""

import numpy as np
import pytest

from rnea_ros.errors import SingularityError
from support.models.oracle_pairs import Pair
from support.models.robots import joint, link, robot

STATES = 30

AXIS = np.array([0.48, -0.6, 0.64])
BETWEEN = np.array([0.48, -0.6, 1.64]) / np.sqrt(3.28)
BODY = link('body', 2.3, (0.1, -0.2, 0.3), (0.3, 0.02, -0.01, 0.4, 0.03, 0.25))
PLACE, TILT = (0.3, -0.2, 0.5), (0.4, -0.9, 1.3)
# Elsewhere on the robot, where it makes forward dynamics take the way over the mass matrix.
MIMIC = (
    link('leader', 1.0)
    + link('follower', 1.0)
    + joint('leads', 'revolute', 'root', 'leader')
    + joint('follows', 'revolute', 'leader', 'follower', more='<mimic joint="leads"/>')
)

SINGULAR = {
    'a link without mass at the end': (
        link('root') + BODY + link('next', 1.0) + link('end')
        + joint('first', 'revolute', 'root', 'body', axis=AXIS, rpy=TILT)
        + joint('second', 'revolute', 'body', 'next', xyz=PLACE)
        + joint('third', 'revolute', 'next', 'end', xyz=PLACE),
        {'third'},
    ),
    'two hinges on one axis': (
        link('root') + link('between') + BODY
        + joint('first', 'revolute', 'root', 'between', xyz=PLACE, rpy=TILT, axis=AXIS)
        + joint('second', 'revolute', 'between', 'body', xyz=0.7 * AXIS, axis=AXIS),
        {'first', 'second'},
    ),
    'two slides in one direction': (
        link('root') + link('between') + BODY
        + joint('first', 'prismatic', 'root', 'between', xyz=PLACE, rpy=TILT, axis=AXIS)
        + joint('second', 'prismatic', 'between', 'body', axis=AXIS),
        {'first', 'second'},
    ),
    'three slides in a plane': (
        link('root') + link('one') + link('two') + BODY
        + joint('first', 'prismatic', 'root', 'one', xyz=PLACE, rpy=TILT, axis=AXIS)
        + joint('second', 'prismatic', 'one', 'two')
        + joint('third', 'prismatic', 'two', 'body', axis=BETWEEN),
        {'first', 'second', 'third'},
    ),
}
FLOATING = {
    f'a {kind} joint on a floating root without mass': (
        link('root') + BODY + joint('only', kind, 'root', 'body', xyz=PLACE, rpy=TILT, axis=AXIS),
        {'only', 'floating_base'},
    )
    for kind in ('revolute', 'prismatic')
}
CASES = [
    *(
        pytest.param(Pair(label, robot(elements)), idle, id=label)
        for label, (elements, idle) in SINGULAR.items()
    ),
    *(
        pytest.param(
            Pair(label, robot(elements + MIMIC)), idle, id=f'{label}, mimic joints elsewhere'
        )
        for label, (elements, idle) in SINGULAR.items()
    ),
    *(
        pytest.param(Pair(label, robot(elements), floating=True), idle, id=label)
        for label, (elements, idle) in FLOATING.items()
    ),
]


@pytest.mark.parametrize(('pair', 'idle'), CASES)
def test_what_moves_no_inertia_cannot_be_accelerated(pair: Pair, idle: set[str]) -> None:
    for seed in range(STATES):
        with pytest.raises(SingularityError, match='no inertia to accelerate') as caught:
            pair.model.forward_dynamics(*pair.motion(seed))
        assert caught.value.element in {f'joint {name!r}' for name in idle}, seed


@pytest.mark.parametrize(('pair', 'idle'), CASES)
def test_tasks_that_move_no_inertia_are_rejected_as_motions(pair: Pair, idle: set[str]) -> None:
    q, qd, _ = pair.motion(0)
    with pytest.raises(SingularityError, match='no inertia to accelerate') as caught:
        pair.model.operational_space_dynamics(q, qd, 'body', coordinates=(5,))
    assert caught.value.element in {f'joint {name!r}' for name in idle}


@pytest.mark.parametrize('pair', [
    pytest.param(
        Pair('gnat', robot(
            link('root'), link('body', 100.0, (0.1, 0.2, 0.3)),
            link('gnat', 1e-9, (1e-3, 0, 0), (1e-15, 0, 0, 1e-15, 0, 1e-15)),
            joint('first', 'revolute', 'root', 'body', axis=AXIS),
            joint('second', 'revolute', 'body', 'gnat', xyz=PLACE),
        )),
        id='a gnat on an elephant',
    ),
    pytest.param(
        Pair('husk', robot(
            link('root', 1e-4, inertia=(1e-6, 0, 0, 1e-6, 0, 1e-6)), BODY,
            joint('only', 'revolute', 'root', 'body', xyz=PLACE, rpy=TILT, axis=AXIS),
        ), floating=True),
        id='a floating root of next to nothing',
    ),
    pytest.param(
        Pair('far', robot(
            link('root'), link('boom', 1.0), BODY, joint('first', 'prismatic', 'root', 'boom'),
            joint('second', 'revolute', 'boom', 'body', xyz=(0.0, 0.0, 1e3)),
        )),
        id='a link far along its axis',
    ),
])
def test_what_moves_a_little_inertia_can_be_accelerated(pair: Pair) -> None:
    for seed in range(STATES):
        q, qd, qdd = pair.motion(seed)
        tau = pair.model.inverse_dynamics(q, qd, qdd)
        # A husk of 1e-6 of the body's inertia costs as many digits.
        np.testing.assert_allclose(pair.model.forward_dynamics(q, qd, tau), qdd, rtol=1e-7)
