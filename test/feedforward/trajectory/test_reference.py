# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The active motion, the desired state before, between and after motions, and its pace."""

from collections.abc import Callable
import math

import numpy as np
import pytest

from rnea_ros.errors import InputError
from rnea_ros.feedforward.law import Feedforward
from rnea_ros.feedforward.trajectory import Reference, SpeedScaling
from rnea_ros.feedforward.trajectory.speed_scaling import RATE, speed_factor
from support.control.control_rig import Array, Rig, cubic, setpoint, swing, two_joint_arm

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


def midway(share: float) -> Array:
    """Return the position of the whole motion after a share of its time."""
    return np.array([cubic(0.0, 1.0, share), cubic(0.0, -2.0, share)])


def test_before_the_first_motion_and_after_clear_there_is_no_state(reference: Reference) -> None:
    for cleared in (False, True):
        if cleared:
            reference.accept(setpoint(NAMES, (1.0, 2.0), 0.5), None)
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


def test_the_motion_in_force_goes_on_until_the_next_one_starts(reference: Reference) -> None:
    reference.accept(WHOLE, 5.0)
    reference.advance(5.0)
    reference.accept(LATER, 6.0)
    assert reference.waiting
    reference.advance(5.5)
    np.testing.assert_allclose(reference.position, midway(0.25))
    reference.advance(6.0)
    assert desired(reference) == [[7.0, 7.0], [0.0, 0.0], [6.0, 6.0]]
    assert not reference.waiting


def test_the_newest_of_the_motions_that_wait_for_their_start_counts(reference: Reference) -> None:
    reference.accept(WHOLE, 6.0)
    reference.accept(LATER, 7.0)
    assert not reference.advance(6.5)
    assert reference.advance(7.0)
    assert reference.position.tolist() == [7.0, 7.0]


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


@pytest.mark.parametrize('start', [None, 5.0])
def test_a_set_point_counts_until_its_timeout(reference: Reference, start: float | None) -> None:
    point = setpoint(NAMES, (1.0, 2.0), (0.5, -0.5))
    point.qdd[:] = (3.0, 4.0)
    reference.accept(point, start)
    reference.advance(5.0)
    reference.advance(4.999 + TIMEOUT)
    assert desired(reference) == [[1.0, 2.0], [0.5, -0.5], [3.0, 4.0]]
    assert not reference.stale
    for time, velocity in ((5.1, [0.5, -0.5]), (5.3, [0.0, 0.0])):
        state = reference.state_at(time)
        assert state is not None
        assert [state.position.tolist(), state.velocity.tolist()] == [[1.0, 2.0], velocity]
    reference.advance(5.001 + TIMEOUT)
    assert desired(reference) == at_rest(1.0, 2.0)
    assert reference.is_set
    assert reference.stale


@pytest.mark.parametrize('acceleration', [0.0, 1.0])
def test_a_stream_ending_at_rest_is_not_stale(reference: Reference, acceleration: float) -> None:
    point = setpoint(NAMES, (1.0, 2.0))
    point.qdd[:] = acceleration
    reference.accept(point, None)
    reference.advance(5.0)
    reference.advance(6.0)
    assert desired(reference) == at_rest(1.0, 2.0)
    assert reference.stale is bool(acceleration)


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


def followed(asked: Callable[[float], float], seconds: float) -> tuple[Array, Array]:
    """Return factors, shape (k,), and desired states, shape (k, 3, 2), every period."""
    reference = Reference(2, setpoint_timeout=0.2)
    reference.accept(MOTION, None)
    factors, states = [], []
    for tick in range(round(seconds / PERIOD)):
        reference.scaling.set_target(asked(tick * PERIOD))
        assert reference.advance(100.0 + tick * PERIOD)
        factors.append(reference.scaling.factor)
        states.append(np.array((reference.position, reference.velocity, reference.acceleration)))
    return np.array(factors), np.array(states)


def own_times(factors: Array) -> Array:
    """Return the trajectory time at each sample: the integral of the factor."""
    steps = 0.5 * (factors[1:] + factors[:-1]) * PERIOD
    return np.concatenate(([0.0], np.cumsum(steps)))


@pytest.mark.parametrize('factor', [0.9, 0.1])
def test_a_factor_scales_time_velocity_and_acceleration(factor: float) -> None:
    factors, states = followed(lambda time: factor, 1.0)
    assert factors[-1] == factor
    for tick in range(300, 500, 10):
        q, qd, qdd = motion_at(own_times(factors)[tick])
        expected = (q, factor * qd, factor**2 * qdd)
        np.testing.assert_allclose(states[tick], expected, rtol=1e-9, atol=1e-10)


def test_a_factor_of_0_pauses_the_motion_and_it_resumes_there() -> None:
    factors, states = followed(lambda time: 0.0 if 0.5 <= time < 1.5 else 1.0, 2.5)
    stopped = slice(round(1.02 / PERIOD), round(1.48 / PERIOD))
    paused = states[stopped]
    assert not factors[stopped].any()
    assert not paused[:, 1:].any()
    assert (paused[:, 0] == paused[0, 0]).all()
    stopped_at = own_times(factors)[round(1.2 / PERIOD)]
    np.testing.assert_allclose(paused[0, 0], motion_at(stopped_at)[0], rtol=1e-9)
    # Half a second of slowing down and half a second of speeding up cost a quarter each.
    assert own_times(factors)[-1] == pytest.approx(2.5 - PERIOD - 1.0, abs=4e-3)
    np.testing.assert_allclose(states[-1], motion_at(own_times(factors)[-1]), rtol=1e-9)


def test_a_changing_factor_follows_at_a_bounded_rate_with_true_derivatives() -> None:
    factors, states = followed(lambda time: 0.0 if int(time / 0.7) % 2 else 1.0, 2.0)
    assert np.abs(np.diff(factors)).max() <= RATE * PERIOD * (1.0 + 1e-9)
    assert (factors.min(), factors.max()) == (0.0, 1.0)
    changing = np.flatnonzero(np.diff(factors))
    changing = changing[np.isin(changing - 3, changing) & np.isin(changing + 3, changing)]
    assert changing.size > 300
    for order, atol in ((0, 4e-5), (1, 4e-4)):
        slope = (states[changing + 1, order] - states[changing - 1, order]) / (2.0 * PERIOD)
        np.testing.assert_allclose(states[changing, order + 1], slope, atol=atol)


@pytest.mark.parametrize('factor', [-0.01, 1.01, math.nan, math.inf, -math.inf])
def test_a_factor_out_of_range_is_rejected_and_the_one_before_stays(factor: float) -> None:
    scaling = SpeedScaling()
    scaling.set_target(0.5)
    with pytest.raises(InputError, match='speed scaling'):
        scaling.set_target(factor)
    # Time that runs backwards or stands still does not count.
    for time in (5.0, 10.0, 10.0, 4.0, 4.0):
        scaling.advance(time)
    delay = scaling.delay
    scaling.advance(4.5)
    assert scaling.delay == pytest.approx(delay + 0.25)
    assert scaling.factor == 0.5


@pytest.mark.parametrize(('value', 'scale', 'factor'), [
    (0.0, 1.0, 0.0), (0.25, 1.0, 0.25), (1.0, 1.0, 1.0), (0.25, 0.01, 0.0025),
    (100.0, 0.01, 1.0), (float(np.float32(1.00000012)), 1.0, 1.0), (-1e-8, 0.01, 0.0),
    (1.0 + 0.9e-6, 1.0, 1.0), (-0.9e-6, 1.0, 0.0), (1.0 + 1.1e-6, 1.0, None),
    (-1.1e-6, 1.0, None), (50.0, 1.0, None), (101.0, 0.01, None),
])
def test_full_speed_is_1_or_100_percent(value: float, scale: float, factor: float | None) -> None:
    if factor is None:
        with pytest.raises(InputError, match=f'{value} times {scale} is not between 0'):
            speed_factor(value, scale)
    else:
        assert speed_factor(value, scale) == factor


def slowed(factor: float) -> Reference:
    """Return a reference that was slowed long before 15 s."""
    reference = Reference(2, setpoint_timeout=0.2)
    reference.scaling.set_target(factor)
    reference.advance(5.0)
    reference.advance(15.0)
    return reference


def test_a_set_point_is_scaled_and_times_out_in_real_time() -> None:
    reference = slowed(0.5)
    point = setpoint(NAMES, (1.0, 2.0), (0.4, -0.4))
    point.qdd[:] = (2.0, 4.0)
    reference.accept(point, None)
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


def test_a_control_that_pauses_a_motion_never_steps_and_holds_on_the_way() -> None:
    rig = Rig(
        two_joint_arm(), mode=Feedforward, ramp_duration=0.1, effort_rate_limit=(1e9,),
        joint_states_timeout=10.0, rate=250.0,  # the arm stands still
    )
    rig.activate()
    rig.controller.follow(swing(rig.model.joint_names, rig.q, rig.q + 1.0, 2.0), None)
    commands = [*rig.run(1.0)]
    rig.controller.speed_scaling.set_target(0.0)
    commands += [*rig.run(1.0)]
    q = np.array(rig.desired()[0])
    assert (q > 0.5).all()
    assert (q < 0.99).all()
    np.testing.assert_allclose(rig.commands[-1], rig.model.gravity_torques(q), rtol=1e-9)
    rig.controller.speed_scaling.set_target(1.0)
    commands += [*rig.run(2.0)]
    np.testing.assert_allclose(rig.desired()[0], 1.0)
    # A pause turns the acceleration on and off, as a trapezoidal motion does: 2/s times velocity.
    inertia = np.abs(rig.model.mass_matrix(rig.q)).sum(axis=1)
    step = np.abs(np.diff(commands, axis=0)).max(axis=0)
    assert (step < 1.1 * inertia * (RATE * 0.75 + 1.5)).all()
