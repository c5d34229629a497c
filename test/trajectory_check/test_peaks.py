# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Peaks against limits: exact between points, at their time, with a margin."""

import math

import numpy as np
import pytest

from rnea_ros import InputError, RobotModel, UnknownNameError
from rnea_ros.trajectory_check import Quantity, TrajectoryLimits
from rnea_ros.trajectory_check.check import TrajectoryVerdict
from rnea_ros.trajectory_check.compiling import compiled, start_of, without_limits
from rnea_ros.trajectory_check.efforts import samples
from rnea_ros.trajectory_check.peaks import Peak, extremes
from support.models.robots import ARM as ONE_JOINT
from support.models.robots import load
from support.recorded.checked_motions import ARM, at, checked, figures_of, motion, requested

SHOULDER = load(ONE_JOINT)  # limits: 3 rad, 2 rad/s, 100 N m


def peak(quantity: Quantity, *points: object, model: RobotModel = SHOULDER) -> Peak:
    found = figures_of(checked(list(points), model=model))  # type: ignore[arg-type]
    (one,) = [peak for peak in found.peaks if peak.quantity is quantity]
    return one


def test_the_speed_between_two_points_at_rest_peaks_halfway() -> None:
    found = peak(Quantity.VELOCITY, at(0.0, 0.0, 0.0), at(1.0, -1.2, 0.0))
    assert found.value == pytest.approx(-1.8)
    assert found.time == pytest.approx(0.5)
    assert (found.limit, found.margin) == pytest.approx((-2.0, 0.2))
    assert found.share == pytest.approx(0.9)
    assert not found.is_violation


def test_the_time_of_a_peak_counts_from_the_start_of_the_trajectory() -> None:
    points = at(0.0, 0.0, 0.0), at(2.0, 0.1, 0.0), at(3.0, 1.1, 0.0)
    assert peak(Quantity.VELOCITY, *points).time == pytest.approx(2.5)


def test_a_swing_over_a_position_limit_between_points_is_found() -> None:
    # 2.9 + s (1 - s) * 0.8: 3.1 halfway through 4 s, though both ends are below 3.
    points = at(0.0, 2.9, 0.2), at(4.0, 2.9, -0.2)
    found = peak(Quantity.POSITION, *points)
    assert found.is_violation
    assert (found.value, found.time) == pytest.approx((3.1, 2.0))
    assert (found.limit, found.margin) == pytest.approx((3.0, -0.1))
    assert checked(list(points), model=SHOULDER).verdict is TrajectoryVerdict.FAULTY


@pytest.mark.parametrize(('position', 'limit', 'margin'), [(-2.5, -3.0, 0.5), (2.0, 3.0, 1.0)])
def test_the_nearer_position_limit_counts(position: float, limit: float, margin: float) -> None:
    found = peak(Quantity.POSITION, at(0.0, position, 0.0), at(1.0, 0.9 * position, 0.0))
    assert (found.limit, found.margin) == pytest.approx((limit, margin))


def test_a_violation_begins_above_the_limit() -> None:
    at_limit = peak(Quantity.VELOCITY, at(0.0, 0.0, 0.0), at(0.75, 1.0, 0.0))
    assert at_limit.value == pytest.approx(2.0)
    assert not at_limit.is_violation
    assert peak(Quantity.VELOCITY, at(0.0, 0.0, 0.0), at(0.7499, 1.0, 0.0)).is_violation


@pytest.mark.parametrize('order', [0, 1, 2])
@pytest.mark.parametrize('seed', range(5))
def test_no_sample_is_beyond_the_peaks_and_some_sample_is_at_them(order: int, seed: int) -> None:
    limits = TrajectoryLimits.of_model(ARM)
    request = requested(motion(np.random.default_rng(seed), points=6))
    rules = without_limits(limits.rules())
    trajectory = compiled(request, rules, start_of(request, limits, {}))
    values = samples(trajectory, 20_000.0)[1 + order][1:-1]
    lowest, highest = extremes(trajectory, order)[:, 0]
    assert (values >= lowest - 1e-9).all()
    assert (values <= highest + 1e-9).all()
    np.testing.assert_allclose(values.min(axis=0), lowest, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(values.max(axis=0), highest, rtol=1e-6, atol=1e-6)


def test_samples_are_at_both_sides_of_every_point_and_at_rest_at_both_ends() -> None:
    limits = TrajectoryLimits.of_model(SHOULDER)
    points = [at(0.0, 0.0, 0.0), at(1.0, 1.0, 0.0), at(1.5, 0.9, 0.0)]
    request = requested(points, SHOULDER.joint_names)
    trajectory = compiled(request, without_limits(limits.rules()), start_of(request, limits, {}))
    time, q, qd, qdd = samples(trajectory, 10.0)
    assert list(time).count(1.0) == 2
    assert np.diff(time).max() <= 0.1 + 1e-12
    before, after = qdd[time == 1.0][:, 0]
    assert (before, after) == pytest.approx((-6.0, -2.4))
    assert not np.any((qd[[0, -1]], qdd[[0, -1]]))
    assert (q[0, 0], q[-1, 0]) == (0.0, 0.9)


def test_efforts_are_those_of_inverse_dynamics_at_the_sampled_state() -> None:
    points = motion(np.random.default_rng(3), points=3)
    efforts = figures_of(checked(points)).efforts
    limits = TrajectoryLimits.of_model(ARM)
    request = requested(points)
    trajectory = compiled(request, without_limits(limits.rules()), start_of(request, limits, {}))
    for row in range(3, len(efforts.time) - 1, 100):
        state = trajectory.state(float(efforts.time[row]))
        if efforts.time[row] == efforts.time[row + 1]:
            continue
        expected = ARM.inverse_dynamics(*state[:3])
        np.testing.assert_allclose(efforts.total[row], expected, rtol=1e-9, atol=1e-9)
        gravity = ARM.gravity_torques(state.position)
        np.testing.assert_allclose(efforts.gravity[row], gravity, rtol=1e-9, atol=1e-9)


def test_a_payload_is_in_the_efforts() -> None:
    pose = [0.0, 0.0, 0.0, -1.57, 0.0, 1.57, 0.0]
    points = [at(0.0, pose, np.zeros(7)), at(1.0, pose, np.zeros(7))]
    loaded = ARM.with_payload('fer_link8', 3.0)
    bare, heavy = (
        np.abs(figures_of(checked(points, model=model)).efforts.total[0, 1])
        for model in (ARM, loaded)
    )
    assert heavy > bare + 5.0


def test_a_limit_of_0_means_unlimited_and_others_can_be_given() -> None:
    text = ONE_JOINT.replace('velocity="2" effort="100"', 'velocity="0" effort="0"')
    limits = TrajectoryLimits.of_model(load(text))
    assert np.isinf([limits.velocity, limits.effort, limits.acceleration]).all()
    given = limits.with_limits(Quantity.EFFORT, {'shoulder': 3.0, None: 5.0})
    assert given.effort.tolist() == [3.0]
    arm_limits = TrajectoryLimits.of_model(ARM).with_limits(
        Quantity.ACCELERATION, {'fer_joint3': 2.0, None: 5.0}
    )
    assert arm_limits.acceleration.tolist() == [5.0, 5.0, 2.0, 5.0, 5.0, 5.0, 5.0]
    with pytest.raises(UnknownNameError, match='elbow'):
        limits.with_limits(Quantity.EFFORT, {'elbow': 3.0})
    with pytest.raises(InputError, match='velocity limit: 0 is not above 0'):
        limits.with_limits(Quantity.VELOCITY, {None: 0.0})


@pytest.mark.parametrize('rate', [0.0, -1.0, math.inf, math.nan])
def test_a_rate_that_makes_no_sense_is_rejected(rate: float) -> None:
    with pytest.raises(InputError, match='not positive and finite'):
        checked([at(0.0, 0.0, 0.0), at(1.0, 1.0, 0.0)], model=SHOULDER, rate=rate)


def test_too_many_samples_are_rejected_before_allocation() -> None:
    with pytest.raises(InputError, match='more than'):
        checked([at(0.0, 0.0, 0.0), at(1e9, 1.0, 0.0)], model=SHOULDER)
