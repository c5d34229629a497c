# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The desired state before, between and after motions, its pace, and its stop at a cancel."""

from collections.abc import Callable
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros.errors import InputError
from rnea_ros.feedforward.motion import (
    Deceleration,
    Reference,
    Setpoint,
    SpeedScaling,
    Trajectory,
)
from rnea_ros.feedforward.motion.reference import RATE
from rnea_ros.feedforward.settings import NodeSettings, complete_values
from support.control.control_rig import Array, cubic, free_rules, setpoint, swing

NAMES = ('a', 'b')
TIMEOUT = 0.2
WHOLE = swing(NAMES, (0.0, 0.0), (1.0, -2.0), 2.0)
LATER = swing(NAMES, (7.0, 7.0), (8.0, 8.0), 1.0)


@pytest.fixture
def reference() -> Reference:
    return Reference(2, TIMEOUT)


def desired(reference: Reference) -> list[list[float]]:
    return [
        array.tolist()
        for array in (reference.position, reference.velocity, reference.acceleration)
    ]


def at_rest(*position: float) -> list[list[float]]:
    return [list(position), [0.0, 0.0], [0.0, 0.0]]


def streamed(q: ArrayLike, qd: ArrayLike = 0.0, qdd: ArrayLike = 0.0) -> Setpoint:
    point = setpoint(NAMES, q, qd)
    point.qdd[:] = qdd
    return point


def midway(share: float) -> Array:
    """Return the position of the whole motion after a share of its time."""
    return np.array([cubic(0.0, 1.0, share), cubic(0.0, -2.0, share)])


def test_before_the_first_motion_and_after_clear_there_is_no_state(reference: Reference) -> None:
    for cleared in (False, True):
        if cleared:
            reference.accept(streamed((1.0, 2.0), 0.5), None)
            reference.advance(5.0)
            reference.advance(6.0)
            assert reference.stale
            reference.accept(LATER, 9.0)
            reference.clear()
        for now in (6.1, 9.5):
            assert not reference.advance(now)
            assert not reference.is_set
            assert not reference.moving
            assert not reference.stale
        assert reference.state_at(10.0) is None


@pytest.mark.parametrize(('start', 'times'), [
    (None, {5.0: 0.0, 6.0: 0.5}),  # starts at its first sample
    (4.5, {5.0: 0.25}),            # its start has passed: joined midway
    (6.0, {5.999: None, 6.0: 0.0, 6.5: 0.25}),
])
def test_a_motion_starts_at_its_time(
    reference: Reference, start: float | None, times: dict[float, float | None]
) -> None:
    reference.accept(WHOLE, start)
    for now, share in times.items():
        assert reference.advance(now) is (share is not None)
        if share is not None:
            np.testing.assert_allclose(reference.position, midway(share))
            slope = 6.0 * share * (1.0 - share) / 2.0
            np.testing.assert_allclose(reference.velocity, (slope, -2.0 * slope))
            assert reference.moving is (share > 0.0)


def test_the_motion_in_force_goes_on_until_the_newest_one_starts(reference: Reference) -> None:
    reference.accept(WHOLE, 5.0)
    reference.advance(5.0)
    reference.accept(swing(NAMES, (9.0, 9.0), (9.0, 9.0), 1.0), 5.2)
    reference.accept(LATER, 6.0)
    assert reference.waiting
    reference.advance(5.5)
    np.testing.assert_allclose(reference.position, midway(0.25))
    reference.advance(6.0)
    assert desired(reference) == [[7.0, 7.0], [0.0, 0.0], [6.0, 6.0]]
    assert not reference.waiting


def test_the_end_of_a_motion_is_held_at_rest_until_the_next(reference: Reference) -> None:
    reference.accept(WHOLE, 5.0)
    reference.advance(6.999)
    assert reference.velocity.all()
    reference.accept(LATER, 1e7)
    for now in (7.0, 8.0, 1e6):
        assert reference.advance(now)
        assert desired(reference) == at_rest(1.0, -2.0)
        assert not reference.moving
        assert not reference.stale
    reference.advance(1e7 + 0.5)
    assert reference.position.tolist() == [7.5, 7.5]


@pytest.mark.parametrize(('start', 'qd', 'qdd', 'stale'), [
    (None, 0.5, 3.0, True), (5.0, 0.5, 3.0, True), (None, 0.0, 1.0, True), (None, 0.0, 0.0, False),
])
def test_a_set_point_counts_until_its_timeout_and_is_stale_unless_it_was_at_rest(
    reference: Reference, start: float | None, qd: float, qdd: float, stale: bool
) -> None:
    reference.accept(streamed((1.0, 2.0), qd, qdd), start)
    for now, is_over in ((5.0, False), (4.999 + TIMEOUT, False), (5.001 + TIMEOUT, True)):
        reference.advance(now)
        state = at_rest(1.0, 2.0) if is_over else [[1.0, 2.0], [qd] * 2, [qdd] * 2]
        assert desired(reference) == state
        assert reference.is_set
        assert reference.stale is (is_over and stale)
        future = reference.state_at(now)
        assert future is not None
        assert [row.tolist() for row in future[:2]] == state[:2]


@pytest.mark.parametrize(('held', 'position'), [(True, (0.3, 0.4)), (False, (1.0, -2.0))])
def test_a_held_position_drops_every_motion_and_is_the_future_state(
    reference: Reference, held: bool, position: tuple[float, float]
) -> None:
    reference.accept(WHOLE, 5.0)
    reference.advance(6.0)
    if held:
        reference.accept(LATER, 9.0)
        reference.hold(np.array(position))
    for now in (7.1, 9.5):
        assert reference.advance(now)
        assert desired(reference) == at_rest(*position)
    state = reference.state_at(80.0)
    assert state is not None
    np.testing.assert_array_equal(state[:3], at_rest(*position))


# Speed scaling: trajectory time slower than real time


FROM, TO = np.array([0.3, -0.2]), np.array([1.3, -2.2])
DURATION = 4.0
MOTION = swing(NAMES, FROM, TO, DURATION)
PERIOD = 2e-3


def motion_at(time: float) -> tuple[Array, Array, Array]:
    """Return the motion at a trajectory time, by its formula."""
    s = time / DURATION
    way = TO - FROM
    return (
        np.array([cubic(*ends, s) for ends in zip(FROM, TO, strict=True)]),
        way * 6.0 * s * (1.0 - s) / DURATION, way * (6.0 - 12.0 * s) / DURATION**2,
    )


@pytest.mark.parametrize('asked', [
    lambda time: 0.9, lambda time: 0.1, lambda time: 0.0 if 0.5 <= time < 1.5 else 1.0,
], ids=['0.9', '0.1', 'a pause'])
def test_a_motion_is_slowed_by_a_factor_that_changes_at_a_bounded_rate(
    reference: Reference, asked: Callable[[float], float]
) -> None:
    reference.accept(MOTION, None)
    factors, states = [], []
    for tick in range(1250):
        reference.scaling.set_target(asked(tick * PERIOD))
        assert reference.advance(100.0 + tick * PERIOD)
        factors.append(reference.scaling.factor)
        states.append(np.array((reference.position, reference.velocity, reference.acceleration)))
    assert factors[-1] == asked(2.5)
    rates = np.diff(factors) / PERIOD
    assert np.abs(rates).max() <= RATE * (1.0 + 1e-9)
    own_time = 0.0  # the integral of the factor
    for tick in range(1, 1249):
        factor = factors[tick]
        own_time += 0.5 * (factors[tick - 1] + factor) * PERIOD
        q, qd, qdd = motion_at(own_time)
        expected = np.array((q, factor * qd, factor**2 * qdd + rates[tick] * qd))
        kept = 3 if math.isclose(rates[tick - 1], rates[tick], abs_tol=1e-9) else 2
        np.testing.assert_allclose(states[tick][:kept], expected[:kept], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(('value', 'scale', 'factor'), [
    (0.0, 1.0, 0.0), (0.25, 0.01, 0.0025), (100.0, 0.01, 1.0), (1.0 + 0.9e-6, 1.0, 1.0),
    (-0.9e-6, 1.0, 0.0), (1.0 + 1.1e-6, 1.0, None), (-1.1e-6, 1.0, None), (math.nan, 1.0, None),
])
def test_full_speed_is_1_or_100_percent(value: float, scale: float, factor: float | None) -> None:
    scaling = SpeedScaling()
    scaling.set_target(0.5)
    if factor is None:
        with pytest.raises(InputError, match=f'{value} times {scale} is not between 0'):
            scaling.set_target(value, scale)
        factor = 0.5
    else:
        scaling.set_target(value, scale)
    # Time that runs backwards or stands still does not count.
    for time in (5.0, 10.0, 10.0, 4.0, 4.0):
        scaling.advance(time)
    assert scaling.factor == factor
    delay = scaling.delay
    scaling.advance(4.5)
    assert scaling.delay == pytest.approx(delay + 0.5 * (1.0 - factor))


def slowed(factor: float) -> Reference:
    """Return a reference that was slowed long before 15 s."""
    reference = Reference(2, setpoint_timeout=0.2)
    reference.scaling.set_target(factor)
    reference.advance(5.0)
    reference.advance(15.0)
    return reference


def test_a_set_point_is_scaled_and_times_out_in_real_time() -> None:
    reference = slowed(0.5)
    reference.accept(streamed((1.0, 2.0), (0.4, -0.4), (2.0, 4.0)), None)
    reference.advance(15.1)
    reference.advance(15.25)
    assert reference.position.tolist() == [1.0, 2.0]
    assert reference.velocity.tolist() == [0.2, -0.2]
    assert reference.acceleration.tolist() == [0.5, 1.0]
    reference.advance(15.31)
    assert not reference.moving


def test_a_motion_that_begins_while_slowed_starts_at_its_beginning() -> None:
    reference = slowed(0.25)
    reference.accept(MOTION, None)
    reference.advance(16.0)
    np.testing.assert_array_equal(reference.position, FROM)
    reference.advance(20.0)
    np.testing.assert_allclose(reference.position, motion_at(1.0)[0], rtol=1e-9)
    for time, own_time in ((20.0, 1.0), (22.0, 1.5), (32.0, DURATION)):
        expected = reference.state_at(time)
        assert expected is not None
        q, qd, qdd = motion_at(own_time)
        if own_time == DURATION:
            qd, qdd = np.zeros(2), np.zeros(2)
        np.testing.assert_allclose(expected[:3], (q, qd, qdd), rtol=1e-9, atol=1e-10)


JOINTS = ('shoulder', 'elbow')


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
    assert NodeSettings.of(complete_values(given)).deceleration(rules) is None
    given['constraints.decelerate_on_cancel'] = True
    with pytest.raises(InputError, match=r'constraints\.shoulder\.max_deceleration_on_cancel'):
        NodeSettings.of(complete_values(given)).deceleration(rules)
    given['constraints.shoulder.max_deceleration_on_cancel'] = 2.0
    found = NodeSettings.of(complete_values(given)).deceleration(rules)
    assert found is not None
    assert found.maximum.tolist() == [2.0, 3.0]
