# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The efforts of a trajectory's points, and the commands of a controller that follows them."""

from dataclasses import replace
import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.errors import RequestRejectedError
from rnea_ros.feedforward.law import FrictionModel, HardwareCompensation
from rnea_ros.feedforward.settings import FrictionSettings, Settings, resolve
from rnea_ros.feedforward.trajectory import CUBIC, LINEAR, QUINTIC, Knots, Setpoint, Trajectory
from rnea_ros.robot import Payload
from rnea_ros.trajectory_effort.motion_efforts import MotionEfforts, MotionPoints, number_of_points
from support.control.control_rig import Array, mixed_arm, panda_arm, setpoint, two_joint_arm
from support.control.trajectory_controller import Point, sample

DEGREES = (LINEAR, CUBIC, QUINTIC)


def efforts_of(model: RobotModel, **given: Any) -> MotionEfforts:
    of_all: dict[str, Any] = {'joints': model.joint_names, 'effort_limits': (1e4,)}
    return MotionEfforts(model, resolve(Settings(**(of_all | given)), model))


def random_motion(
    rng: np.random.Generator, m: int, degrees: list[int], *, efforts: bool = False
) -> Trajectory:
    """Return a motion through points with the fields of their degrees."""
    count = len(degrees)
    q, qd, qdd = rng.normal(size=(3, count, m))
    chosen = np.array(degrees)
    qd[chosen == LINEAR] = 0.0
    qdd[chosen != QUINTIC] = 0.0
    own = rng.normal(size=(count, m)) if efforts else None
    times = np.cumsum(rng.uniform(0.5, 1.5, count)) - 0.5
    return Trajectory(
        tuple(f'j{k}' for k in range(m)), None, Knots(times, q, qd, qdd, chosen, own)
    )


def sent(points: MotionPoints, efforts: Array | None = None) -> list[Point]:
    """Return points as they are sent, with the fields of their degrees."""
    none = np.empty(0)
    return [
        Point(
            float(points.times[k]), points.positions[k],
            points.velocities[k] if degree >= CUBIC else none,
            points.accelerations[k] if degree == QUINTIC else none,
            none if efforts is None else efforts[k],
        )
        for k, degree in enumerate(points.degrees)
    ]


def needed(model: RobotModel, motion: tuple[Array, Array, Array]) -> Array:
    return np.array([model.inverse_dynamics(*state) for state in zip(*motion, strict=True)])


# Points


@settings(max_examples=60)
@given(
    degrees=st.lists(st.sampled_from(DEGREES), min_size=1, max_size=5),
    period=st.sampled_from([0.0, 0.01, 0.033, 0.1]), seed=st.integers(0, 1000),
)
def test_added_points_do_not_change_the_motion_of_the_controller(
    degrees: list[int], period: float, seed: int
) -> None:
    motion = random_motion(np.random.default_rng(seed), 2, degrees)
    original, more = sent(MotionPoints(motion, 0.0)), sent(MotionPoints(motion, period))
    assert len(original) == len(degrees)
    for time in np.linspace(motion.knots.times[0], motion.duration + 0.1, 97):
        for old, new in zip(sample(original, time)[:3], sample(more, time)[:3], strict=True):
            np.testing.assert_allclose(new, old, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize('period', [0.0, 0.004, 0.1])
def test_given_points_stay_and_gaps_are_at_most_one_period(period: float) -> None:
    motion = random_motion(np.random.default_rng(1), 3, [QUINTIC, CUBIC, LINEAR, LINEAR, QUINTIC])
    points, knots = MotionPoints(motion, period), motion.knots
    assert points.times.size == number_of_points(motion, period)
    where = np.searchsorted(points.times, knots.times)
    np.testing.assert_array_equal(points.times[where], knots.times)
    np.testing.assert_array_equal(points.positions[where], knots.positions)
    np.testing.assert_array_equal(points.velocities[where], knots.velocities)
    np.testing.assert_array_equal(points.degrees[where], knots.degrees)
    assert (np.diff(points.times) > 0.0).all()
    if period:
        assert np.diff(points.times).max() <= period * (1.0 + 1e-5)


def test_a_whole_number_of_periods_gets_no_point_too_many() -> None:
    knots = Knots(
        np.array([0.0, 0.3, 1.0]), np.zeros((3, 1)), np.zeros((3, 1)), np.zeros((3, 1)),
        np.full(3, CUBIC),
    )
    assert number_of_points(Trajectory(('a',), None, knots), 0.1) == 11


# Efforts


@pytest.mark.parametrize('arm', [two_joint_arm, mixed_arm, panda_arm])
def test_each_point_has_the_effort_of_its_state(arm: Any) -> None:
    model = arm()
    motion = random_motion(np.random.default_rng(2), model.nv, [QUINTIC] * 4)
    points = MotionPoints(motion, 0.03)
    efforts = efforts_of(model).of_points(points, np.zeros(model.nv))
    expected = needed(model, (points.positions, points.velocities, points.accelerations))
    np.testing.assert_allclose(efforts[:-1], expected[:-1], rtol=1e-9, atol=1e-8)


def test_the_last_point_has_what_holds_it_because_it_is_repeated_for_ever() -> None:
    model = panda_arm()
    motion = random_motion(np.random.default_rng(3), 7, [QUINTIC] * 3)
    points = MotionPoints(motion, 0.02)
    efforts = efforts_of(model).of_points(points, np.zeros(7))
    held = model.gravity_torques(motion.final_position)
    np.testing.assert_allclose(efforts[-1], held, atol=1e-9)
    *_, repeated = sample(sent(points, efforts), motion.duration + 60.0)
    np.testing.assert_allclose(repeated, held, atol=1e-9)


def test_a_point_between_two_polynomials_has_the_mean_of_their_efforts() -> None:
    model = two_joint_arm()
    motion = random_motion(np.random.default_rng(4), 2, [CUBIC] * 3)
    efforts = efforts_of(model).of_points(MotionPoints(motion, 0.0), np.zeros(2))
    end, begin = (motion.state(motion.knots.times[1] + dt) for dt in (-1e-9, 1e-9))
    both = np.array([model.inverse_dynamics(*state[:3]) for state in (end, begin)])
    assert np.abs(both[0] - both[1]).max() > 1.0
    np.testing.assert_allclose(efforts[1], 0.5 * (both[0] + both[1]), rtol=1e-6)


def test_the_deviation_is_the_greatest_of_dense_samples() -> None:
    model = two_joint_arm()
    motion = random_motion(np.random.default_rng(5), 2, [QUINTIC] * 3)
    calculator, points = efforts_of(model), MotionPoints(motion, 0.1)
    efforts = calculator.of_points(points, np.zeros(2))
    deviation = calculator.deviation(points, efforts, np.zeros(2))
    sequence = sent(points, efforts)
    off = []
    for time in np.linspace(points.times[0], points.times[-1] - 1e-9, 3000):
        q, qd, qdd, effort = sample(sequence, time)
        off.append(np.abs(effort - model.inverse_dynamics(q, qd, qdd)))
    assert deviation.effort <= np.max(off) * (1.0 + 1e-6)
    assert deviation.effort > 0.5 * np.max(off)


@pytest.mark.parametrize('period', [0.0, 0.01, 0.1])
@pytest.mark.parametrize('degree', DEGREES)
def test_the_deviation_has_both_sides_of_a_jump(degree: int, period: float) -> None:
    model = two_joint_arm()
    motion = random_motion(np.random.default_rng(9), 2, [degree] * 3)
    calculator, points = efforts_of(model), MotionPoints(motion, period)
    efforts = calculator.of_points(points, np.zeros(2))
    deviation = calculator.deviation(points, efforts, np.zeros(2))
    sequence = sent(points, efforts)
    met, end = motion.knots.times[1:]
    for time in (met - 1e-9, met + 1e-9, end - 1e-9):
        q, qd, qdd, effort = sample(sequence, time)
        off = np.abs(effort - model.inverse_dynamics(q, qd, qdd)).max()
        assert deviation.effort >= off * (1.0 - 1e-6)


def test_efforts_include_payload_friction_and_rotors_less_hardware() -> None:
    model = panda_arm()
    motion = random_motion(np.random.default_rng(6), 7, [QUINTIC] * 2)
    points = MotionPoints(motion, 0.05)
    loaded = model.with_payload('fer_link8', 2.0, (0.0, 0.0, 0.1))
    friction = FrictionSettings(model=FrictionModel.PARAMETERS, viscous=(3.0,), coulomb=(0.0,))
    efforts = efforts_of(
        model, payloads=(Payload('fer_link8', 2.0, (0.0, 0.0, 0.1)),), friction=friction,
        armature=(0.2,), hardware_compensates=(HardwareCompensation.GRAVITY,),
    ).of_points(points, np.zeros(7))
    q, qd, qdd = points.positions, points.velocities, points.accelerations
    expected = needed(loaded, (q, qd, qdd)) + 3.0 * qd + 0.2 * qdd
    expected -= np.array([model.gravity_torques(row) for row in q])
    np.testing.assert_allclose(efforts[:-1], expected[:-1], rtol=1e-9, atol=1e-8)


def test_joints_that_are_not_commanded_rest_at_their_positions() -> None:
    model = mixed_arm()
    joints = ('bend', 'turn')
    joint_indices = [model.joint_names.index(name) for name in joints]
    motion = random_motion(np.random.default_rng(7), 2, [QUINTIC] * 2)
    points = MotionPoints(motion, 0.0)
    q_robot = np.array([0.1, 0.2, 0.3, 0.4])
    efforts = efforts_of(model, joints=joints).of_points(points, q_robot)
    whole = q, qd, qdd = q_robot.copy(), np.zeros(4), np.zeros(4)
    for values, state in zip(
        whole, (points.positions, points.velocities, points.accelerations), strict=True
    ):
        values[joint_indices] = state[0]
    expected = model.inverse_dynamics(q, qd, qdd)[joint_indices]
    np.testing.assert_allclose(efforts[0], expected, atol=1e-9)


def test_efforts_of_the_motion_itself_are_added_and_are_zero_at_the_end() -> None:
    model = two_joint_arm()
    rng = np.random.default_rng(8)
    motion = random_motion(rng, 2, [QUINTIC] * 3, efforts=True)
    points = MotionPoints(motion, 0.01)
    calculator = efforts_of(model)
    efforts = calculator.of_points(points, np.zeros(2))
    needs = needed(model, (points.positions, points.velocities, points.accelerations))
    own = np.array([motion.state(time).effort for time in points.times])
    np.testing.assert_allclose(efforts[:-1], (needs + own)[:-1], atol=1e-8)
    np.testing.assert_allclose(efforts[-1], model.gravity_torques(motion.final_position))
    knots = replace(motion.knots, efforts=None)
    without = MotionPoints(Trajectory(motion.joint_names, None, knots), 0.01)
    alone = calculator.of_points(without, np.zeros(2))
    assert calculator.deviation(points, efforts, np.zeros(2)).effort == pytest.approx(
        calculator.deviation(without, alone, np.zeros(2)).effort
    )


def test_a_set_point_has_the_effort_that_holds_it() -> None:
    model = two_joint_arm()
    desired = setpoint(model.joint_names, (0.3, -0.4), (0.5, 0.0))
    points = MotionPoints(desired.as_trajectory(), 0.02)
    assert points.degrees.tolist() == [CUBIC]
    efforts = efforts_of(model).of_points(points, np.zeros(2))
    np.testing.assert_allclose(efforts, [model.gravity_torques((0.3, -0.4))])
    assert efforts_of(model).deviation(points, efforts, np.zeros(2)).effort == 0.0


# Limits


def still_points(q: list[list[float]], qdd: list[list[float]], duration: float) -> MotionPoints:
    positions, accelerations = np.array(q), np.array(qdd)
    knots = Knots(
        np.array([0.0, duration]), positions, np.zeros_like(positions), accelerations,
        np.full(2, QUINTIC),
    )
    return MotionPoints(Trajectory(two_joint_arm().joint_names, None, knots), 0.0)


def test_an_effort_over_its_limit_is_rejected_with_joint_and_time() -> None:
    points = still_points([[0.0, 0.0], [0.5, 0.5]], [[0.0, 0.0], [-900.0, 0.0]], 1.0)
    calculator = efforts_of(two_joint_arm(), effort_limits=(100.0, 200.0))
    with pytest.raises(RequestRejectedError) as caught:
        calculator.of_points(points, np.zeros(2))
    needs = two_joint_arm().inverse_dynamics((0.5, 0.5), (0, 0), (-900.0, 0.0))[0]
    assert str(caught.value) == (
        f"effort_limit: joint 'shoulder' needs {needs:.6g} at 1 s, more than its limit of 100"
    )
    efforts_of(two_joint_arm(), effort_limits=(2000.0,)).of_points(points, np.zeros(2))


def test_an_effort_beyond_its_limit_between_two_points_is_rejected_too() -> None:
    points = still_points([[-1.5, 0.0], [-1.64, 0.0]], [[0.0, 0.0]] * 2, 0.2)
    calculator = efforts_of(two_joint_arm(), effort_limits=(15.0,))
    efforts = calculator.of_points(points, np.zeros(2))
    with pytest.raises(RequestRejectedError, match=r"^effort_limit: joint 'shoulder' needs"):
        calculator.deviation(points, efforts, np.zeros(2))


def test_an_effort_that_is_not_a_number_is_rejected() -> None:
    calculator = efforts_of(two_joint_arm())
    with pytest.raises(RequestRejectedError, match='nan'):
        calculator._check(np.zeros(1), np.array([[math.nan, 0.0]]))


def test_the_effort_that_holds_a_set_point_is_within_the_limits() -> None:
    desired = Setpoint(None, two_joint_arm().joint_names, np.zeros(2), np.zeros(2), np.zeros(2))
    with pytest.raises(RequestRejectedError):
        efforts_of(two_joint_arm(), effort_limits=(0.5,)).of_points(
            MotionPoints(desired.as_trajectory(), 0.0), np.zeros(2)
        )
