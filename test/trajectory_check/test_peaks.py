# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Peaks against limits: exact between points, at their time, with a margin."""

import math
from typing import Any

import numpy as np
import pytest

from rnea_ros import InputError, RobotModel, UnknownNameError
from rnea_ros.feedforward.trajectory import Trajectory
from rnea_ros.trajectory_check import Quantity, TrajectoryLimits
from rnea_ros.trajectory_check.check import TrajectoryVerdict
from rnea_ros.trajectory_check.compiling import compiled, start_of, without_limits
from rnea_ros.trajectory_check.efforts import samples
from rnea_ros.trajectory_check.peaks import Peak, extremes
from support.models.robots import ARM as ONE_JOINT
from support.models.robots import joint, link, load, robot
from support.recorded.checked_motions import ARM, at, checked, figures_of, motion, requested

SHOULDER = load(ONE_JOINT)  # limits: 3 rad, 2 rad/s, 100 N m


def trajectory_of(points: Any, model: RobotModel = ARM) -> Trajectory:
    limits = TrajectoryLimits.of_model(model)
    request = requested(points, model.joint_names)
    trajectory = compiled(request, without_limits(limits.rules()), start_of(request, limits, {}))
    assert isinstance(trajectory, Trajectory)
    return trajectory


@pytest.mark.parametrize(('quantity', 'points', 'value', 'time', 'limit'), [
    (Quantity.VELOCITY, [at(0.0, 0.0, 0.0), at(1.0, -1.2, 0.0)], -1.8, 0.5, -2.0),
    (Quantity.VELOCITY, [at(0.0, 0.0, 0.0), at(2.0, 0.1, 0.0), at(3.0, 1.1, 0.0)], 1.5, 2.5, 2.0),
    # 2.9 + s (1 - s) * 0.8: 3.1 halfway through 4 s, though both ends are below 3.
    (Quantity.POSITION, [at(0.0, 2.9, 0.2), at(4.0, 2.9, -0.2)], 3.1, 2.0, 3.0),
    # The nearer limit of two counts.
    (Quantity.POSITION, [at(0.0, -2.5, 0.0), at(1.0, -2.25, 0.0)], -2.5, 0.0, -3.0),
    (Quantity.POSITION, [at(0.0, 2.0, 0.0), at(1.0, 1.8, 0.0)], 2.0, 0.0, 3.0),
    # At the limit, which is no violation, and beyond.
    (Quantity.VELOCITY, [at(0.0, 0.0, 0.0), at(0.75, 1.0, 0.0)], 2.0, 0.375, 2.0),
    (Quantity.VELOCITY, [at(0.0, 0.0, 0.0), at(0.7499, 1.0, 0.0)], 1.5 / 0.7499, 0.37495, 2.0),
])
def test_a_peak_has_value_time_limit_and_margin(
    quantity: Quantity, points: Any, value: float, time: float, limit: float
) -> None:
    checkup = checked(points, model=SHOULDER)
    (found,) = [peak for peak in figures_of(checkup).peaks if peak.quantity is quantity]
    assert (found.value, found.time, found.limit) == pytest.approx((value, time, limit))
    assert found.margin == pytest.approx(abs(limit) - abs(value))
    assert found.share == (
        None if quantity is Quantity.POSITION else pytest.approx(value / limit))
    assert found.is_violation is (value / limit > 1.0 + 1e-6)
    assert (checkup.verdict is TrajectoryVerdict.FAULTY) is found.is_violation


def test_rounding_is_no_violation() -> None:
    for limit, rounding in ((0.5, 1e-6), (2.0, 2e-6)):
        for share in (0.9, 1.1):
            value = -limit - share * rounding
            peak = Peak.symmetric('a', Quantity.EFFORT, value, limit, 0.0)
            assert peak.is_violation is (share > 1.0)
    assert Peak.symmetric('a', Quantity.EFFORT, 1.0, math.inf, 0.0).share is None


@pytest.mark.parametrize('seed', range(3))
def test_no_sample_is_beyond_the_peaks_and_some_sample_is_at_them(seed: int) -> None:
    trajectory = trajectory_of(motion(np.random.default_rng(seed), points=6))
    sampled = samples(trajectory, 5_000.0)
    for order in range(3):
        values = sampled[1 + order][1:-1]
        lowest, highest = extremes(trajectory, order)[:, 0]
        assert (values >= lowest - 1e-9).all()
        assert (values <= highest + 1e-9).all()
        np.testing.assert_allclose(values.min(axis=0), lowest, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(values.max(axis=0), highest, rtol=1e-5, atol=1e-5)


# Efforts


def test_samples_are_at_both_sides_of_every_point_and_at_rest_at_both_ends() -> None:
    points = [at(0.0, 0.0, 0.0), at(1.0, 1.0, 0.0), at(1.5, 0.9, 0.0)]
    time, q, qd, qdd = samples(trajectory_of(points, SHOULDER), 10.0)
    assert list(time).count(1.0) == 2
    assert np.diff(time).max() <= 0.1 + 1e-12
    assert qdd[time == 1.0][:, 0] == pytest.approx((-6.0, -2.4))
    assert not np.any((qd[[0, -1]], qdd[[0, -1]]))
    assert (q[0, 0], q[-1, 0]) == (0.0, 0.9)


def test_efforts_are_those_of_inverse_dynamics_with_the_payload() -> None:
    points = motion(np.random.default_rng(3), points=3)
    loaded = ARM.with_payload('fer_link8', 3.0)
    efforts = figures_of(checked(points, model=loaded)).efforts
    trajectory = trajectory_of(points)
    for row in range(3, len(efforts.time) - 1, 100):
        if efforts.time[row] == efforts.time[row + 1]:
            continue
        state = trajectory.state(float(efforts.time[row]))
        expected = loaded.inverse_dynamics(*state[:3]), loaded.gravity_torques(state.position)
        found = efforts.total[row], efforts.gravity[row]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(efforts.velocity[row], state.velocity, atol=1e-9)


@pytest.mark.parametrize('rate', [0.0, -1.0, math.inf, math.nan])
def test_a_rate_that_makes_no_sense_is_rejected(rate: float) -> None:
    with pytest.raises(InputError, match='not positive and finite'):
        checked([at(0.0, 0.0, 0.0), at(1.0, 1.0, 0.0)], model=SHOULDER, rate=rate)


def test_too_many_samples_are_rejected_before_allocation() -> None:
    with pytest.raises(InputError, match='more than 1000000'):
        checked([at(0.0, 0.0, 0.0), at(1000.0, 1.0, 0.0)], model=SHOULDER)
    samples(trajectory_of([at(0.0, 0.0, 0.0), at(999.0, 1.0, 0.0)], SHOULDER), 1000.0)


# Limits


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
    planar = load(robot(link('base'), link('cart', 1.0), joint('drive', 'planar', 'base', 'cart')))
    with pytest.raises(InputError, match='more than one axis'):
        TrajectoryLimits.of_model(planar)
