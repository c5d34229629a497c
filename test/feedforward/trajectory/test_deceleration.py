# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""``decelerate_on_cancel``: to a stop without a step, within deceleration and position limits."""

import math
from typing import Any

import numpy as np
import pytest

from rnea_ros.errors import InputError
from rnea_ros.feedforward.trajectory import Deceleration, Reference, Setpoint, Trajectory
from rnea_ros.node.parameters import complete_values
from rnea_ros.node.parameters.values import deceleration_from
from support.control.control_rig import Array, free_rules, setpoint, swing

JOINTS = ('shoulder', 'elbow')
PERIOD = 2e-3


def limits(maximum: float, reach: float = math.inf) -> Deceleration:
    return Deceleration(np.full(2, maximum), np.full(2, -reach), np.full(2, reach))


def cancelled(
    motion: Trajectory | Setpoint, time: float, stop: Deceleration, lead: float = 0.0,
    factor: float = 1.0,
) -> Array:
    """
    Follow a motion, cancel it after a time, and follow it to the stop for 2.5 s.

    :return: position, velocity and acceleration at each tick from the last one before the cancel
        on, shape (3, ticks, 2)
    """
    reference, states = Reference(2, 0.2, lead), list[Array]()
    reference.scaling.set_target(factor)
    for tick in range(-250, round((time / factor + 2.5) / PERIOD)):
        if tick == 0:
            reference.accept(motion, None)
        if tick == round(time / factor / PERIOD):
            reference.decelerate(stop)
            del states[:-1]
        reference.advance(10.0 + tick * PERIOD)
        states.append(np.array((reference.position, reference.velocity, reference.acceleration)))
    return np.moveaxis(np.array(states), 1, 0)


@pytest.mark.parametrize('time', [0.05, 0.35, 0.65, 0.95])
@pytest.mark.parametrize(('lead', 'factor'), [(0.0, 1.0), (PERIOD, 1.0), (PERIOD, 0.3)])
def test_a_cancelled_motion_stops_without_a_step(time: float, lead: float, factor: float) -> None:
    motion = swing(JOINTS, (0.0, 0.5), (0.8, -0.3), 1.0)  # up to 4.6 rad/s^2
    q, qd, qdd = cancelled(motion, time, limits(5.0), lead, factor)
    # The acceleration is continuous: no tick changes the velocity by more than it allows.
    assert np.abs(np.diff(qd, axis=0)).max() < 5.0 * PERIOD * (1.0 + 1e-6)
    assert np.abs(qdd[1:]).max() <= 5.0 * (1.0 + 1e-6)
    expected = 0.5 * (qd[:-1] + qd[1:]) * PERIOD
    np.testing.assert_allclose(np.diff(q, axis=0), expected, atol=4e-7)
    assert not qd[-1].any()
    assert not qdd[-1].any()
    # Not slower than a constant deceleration of 40 % of the limit.
    farthest = (np.abs(qd[0]) / factor) ** 2 / (2.0 * 0.4 * 5.0) + 1e-3
    assert (np.abs(q[-1] - q[1]) <= farthest).all()


@pytest.mark.parametrize('side', [-1.0, 1.0])
def test_a_joint_near_its_position_limit_stops_at_the_limit(side: float) -> None:
    motion = swing(JOINTS, (0.0, 0.0), (side, -0.2 * side), 1.0)
    q = side * cancelled(motion, 0.5, limits(2.0, 0.6))[0]
    assert q[-1, 0] == pytest.approx(0.6, abs=1e-6)
    assert q.max() <= 0.6 + 1e-6


def test_a_stream_of_setpoints_in_motion_decelerates_too() -> None:
    qd = cancelled(setpoint(JOINTS, (0.1, 0.2), (0.5, -0.5)), 0.05, limits(1.0))[1]
    assert np.abs(np.diff(qd, axis=0)).max() < 1.01 * PERIOD
    assert not qd[-1].any()


def test_a_cancel_at_rest_holds_at_once_and_drops_what_waits() -> None:
    reference = Reference(2, 0.2)
    reference.accept(setpoint(JOINTS, (0.1, 0.2)), None)
    reference.advance(10.0)
    reference.accept(swing(JOINTS, (0.1, 0.2), (0.8, -0.3), 1.0), 10.1)
    reference.decelerate(limits(5.0))
    for time in (10.05, 10.5, 11.2):
        reference.advance(time)
        assert reference.position.tolist() == [0.1, 0.2]


def test_every_joint_needs_a_maximum_deceleration() -> None:
    rules = free_rules(JOINTS)
    given: dict[str, Any] = {'constraints.elbow.max_deceleration_on_cancel': 3.0}
    assert deceleration_from(complete_values(given), rules) is None
    given['constraints.decelerate_on_cancel'] = True
    with pytest.raises(InputError, match=r'constraints\.shoulder\.max_deceleration_on_cancel'):
        deceleration_from(complete_values(given), rules)
    given['constraints.shoulder.max_deceleration_on_cancel'] = 2.0
    found = deceleration_from(complete_values(given), rules)
    assert found is not None
    assert found.maximum.tolist() == [2.0, 3.0]
