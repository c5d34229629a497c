# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""``decelerate_on_cancel``: to a stop without a step, within deceleration and position limits."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest

from rnea_ros.errors import InputError
from rnea_ros.feedforward.law import Feedforward
from rnea_ros.feedforward.trajectory import (
    Deceleration,
    MotionState,
    Reference,
    Setpoint,
    Trajectory,
)
from rnea_ros.node.parameters import complete_values
from rnea_ros.node.parameters.values import deceleration_from
from support.control.control_rig import Rig, free_rules, setpoint, swing, two_joint_arm

Array = NDArray[np.float64]

JOINTS = ('shoulder', 'elbow')
PERIOD = 1e-3


def limits(maximum: float, reach: float = math.inf) -> Deceleration:
    return Deceleration(np.full(2, maximum), np.full(2, -reach), np.full(2, reach))


class Cancelled:
    """
    A reference that follows a motion and is cancelled in it.

    :param motion: the motion
    :param time: time of the cancel, s after the start
    :param stop: limits of the stop
    """

    def __init__(
        self, motion: Trajectory | Setpoint, time: float, stop: Deceleration, *,
        lead: float = 0.0, factor: float = 1.0,
    ) -> None:
        self.reference = Reference(2, 0.2, lead)
        self.now = 10.0
        self.states: list[Array] = []
        self.reference.scaling.set_target(factor)
        self.run(0.5)
        self.reference.accept(motion, None)
        self.run(time / factor)
        self.before = self.states[-1]
        self.reference.decelerate(stop)
        self.states.clear()

    def run(self, seconds: float) -> Array:
        """Return position, velocity and acceleration at each tick, shape (ticks, 3, 2)."""
        for _ in range(round(seconds / PERIOD)):
            self.reference.advance(self.now)
            self.now += PERIOD
            each = self.reference
            self.states.append(np.array((each.position, each.velocity, each.acceleration)))
        return np.array(self.states)


@pytest.mark.parametrize('time', np.linspace(0.05, 0.95, 10))
@pytest.mark.parametrize(('lead', 'factor'), [(0.0, 1.0), (PERIOD, 1.0), (PERIOD, 0.3)])
def test_a_cancelled_motion_stops_without_a_step(time: float, lead: float, factor: float) -> None:
    """A swing with accelerations up to 4.6 rad/s^2, stopped with 5 rad/s^2."""
    motion = swing(JOINTS, (0.0, 0.5), (0.8, -0.3), 1.0)
    cancelled = Cancelled(motion, time, limits(5.0), lead=lead, factor=factor)
    q, qd, qdd = np.moveaxis(cancelled.run(3.0), 1, 0)
    first = np.vstack((cancelled.before[1], qd))
    # The acceleration is continuous: no tick changes the velocity by more than it allows.
    assert np.abs(np.diff(first, axis=0)).max() < 5.0 * PERIOD * (1.0 + 1e-6)
    assert np.abs(qdd).max() <= 5.0 * (1.0 + 1e-6)
    steps = np.diff(np.vstack((cancelled.before[0], q)), axis=0)
    np.testing.assert_allclose(steps[:-1], 0.5 * (first[:-2] + qd[:-1]) * PERIOD, atol=1e-7)
    assert not qd[-1].any()
    assert not qdd[-1].any()
    # Not slower than a constant deceleration of 40 % of the limit.
    speed = np.abs(cancelled.before[1])
    assert (np.abs(q[-1] - q[0]) <= (speed / factor) ** 2 / (2.0 * 0.4 * 5.0) + 1e-3).all()


def test_a_joint_near_its_position_limit_stops_at_the_limit() -> None:
    cancelled = Cancelled(swing(JOINTS, (0.0, 0.0), (1.0, -0.2), 1.0), 0.5, limits(2.0, 0.6))
    q = cancelled.run(3.0)[:, 0]
    assert q[-1, 0] == pytest.approx(0.6, abs=1e-6)
    assert q.max() <= 0.6 + 1e-6


def test_a_stream_of_setpoints_in_motion_decelerates_too() -> None:
    cancelled = Cancelled(setpoint(JOINTS, (0.1, 0.2), (0.5, -0.5)), 0.05, limits(1.0))
    qd = cancelled.run(2.0)[:, 1]
    assert np.abs(np.diff(np.vstack((cancelled.before[1], qd)), axis=0)).max() < 1.01 * PERIOD
    assert not qd[-1].any()


def test_a_motion_at_rest_is_held_at_once() -> None:
    cancelled = Cancelled(swing(JOINTS, (0.0, 0.0), (0.4, 0.4), 0.1), 0.2, limits(1.0))
    assert (cancelled.run(0.1)[:, 0] == 0.4).all()


def torque_step(stop: Deceleration | None) -> float:
    """Return the greatest change of a command in a tick after a cancel at full speed, N m."""
    rig = Rig(
        two_joint_arm(), mode=Feedforward, kp=(0.0, 0.0), kd=(20.0, 10.0),
        joint_states_timeout=10.0,  # the arm stands still
    )
    rig.activate()
    rig.run(1.5)
    rig.controller.follow(swing(rig.model.joint_names, rig.q, rig.q + 0.8, 1.0), None)
    rig.run(0.5)
    rig.controller.cancel(limits=stop)
    count = len(rig.commands)
    rig.run(1.0)
    return float(np.abs(np.diff(rig.commands[count - 1 :], axis=0)).max())


def test_the_torque_after_a_cancel_has_no_step() -> None:
    assert torque_step(limits(5.0)) < 0.1 < 0.5 < torque_step(None)


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


def test_the_state_at_the_begin_is_that_of_the_cancelled_motion() -> None:
    from rnea_ros.feedforward.trajectory.deceleration import stop_motion

    rng = np.random.default_rng(0)
    for _ in range(200):
        q, qd, qdd = rng.normal(size=(3, 2))
        maximum = rng.uniform(0.5, 5.0, 2)
        free = np.full(2, np.inf)
        stop = stop_motion(
            JOINTS, MotionState(q, qd, qdd, np.zeros(2)), Deceleration(maximum, -free, free)
        )
        states = [stop.state(t) for t in np.linspace(0.0, stop.duration * (1.0 - 1e-9), 100)]
        for given, begin in zip((q, qd, qdd), states[0], strict=False):
            np.testing.assert_allclose(begin, given, atol=1e-9)
        greatest = np.abs([state.acceleration for state in states]).max(axis=0)
        assert (greatest <= np.maximum(maximum, np.abs(qdd)) * (1.0 + 1e-9)).all()
        assert np.abs(states[-1].velocity).max() < 1e-6
