# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The efforts of a trajectory's points, and the commands of a controller that follows them."""

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.errors import RequestRejectedError
from rnea_ros.feedforward.laws import FrictionModel
from rnea_ros.feedforward.loaded_model import HardwareCompensation
from rnea_ros.feedforward.motion import CUBIC, LINEAR, QUINTIC, Knots, Trajectory
from rnea_ros.feedforward.settings import FrictionSettings, Settings, SpringSettings, resolve
from rnea_ros.robot import Payload
from rnea_ros.trajectory_effort.motion_efforts import MotionEfforts, MotionPoints, number_of_points
from support.control.control_rig import Array, mixed_arm, panda_arm, two_joint_arm
from support.control.trajectory_controller import Point, sample

DEGREES = (LINEAR, CUBIC, QUINTIC)
ARM = two_joint_arm()


def efforts_of(model: RobotModel = ARM, **given: Any) -> MotionEfforts:
    of_all: dict[str, Any] = {'joints': model.joint_names, 'effort_limits': (1e4,)}
    return MotionEfforts(model, resolve(Settings(**(of_all | given)), model))


def random_motion(degrees: list[int], m: int = 2, *, efforts: bool = False) -> Trajectory:
    """Return a motion through points with the fields of their degrees."""
    rng, count, chosen = np.random.default_rng(4), len(degrees), np.array(degrees)
    q, qd, qdd = rng.normal(size=(3, count, m))
    qd[chosen == LINEAR] = 0.0
    qdd[chosen != QUINTIC] = 0.0
    own = rng.normal(size=(count, m)) if efforts else None
    times = np.cumsum(rng.uniform(0.5, 1.5, count)) - 0.5
    return Trajectory(tuple('abcdefg'[:m]), None, Knots(times, q, qd, qdd, chosen, own))


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


def needed(model: RobotModel, points: MotionPoints) -> Array:
    states = zip(points.positions, points.velocities, points.accelerations, strict=True)
    return np.array([model.inverse_dynamics(*state) for state in states])


@pytest.mark.parametrize('period', [0.0, 0.004, 0.033, 0.1])
@pytest.mark.parametrize('degrees', [
    [LINEAR, LINEAR], [CUBIC, LINEAR, QUINTIC], [QUINTIC, CUBIC, CUBIC, LINEAR, QUINTIC, QUINTIC],
])
def test_added_points_keep_the_motion_and_gaps_are_at_most_one_period(
    degrees: list[int], period: float
) -> None:
    motion = random_motion(degrees)
    points, knots = MotionPoints(motion, period), motion.knots
    original, more = sent(MotionPoints(motion, 0.0)), sent(points)
    assert len(original) == len(degrees)
    for time in np.linspace(knots.times[0], motion.duration + 0.1, 37):
        for old, new in zip(sample(original, time)[:3], sample(more, time)[:3], strict=True):
            np.testing.assert_allclose(new, old, rtol=1e-7, atol=1e-7)
    assert points.times.size == number_of_points(motion, period)
    assert set(knots.times) <= set(points.times)
    gaps = np.diff(points.times)
    assert gaps.min() > 0.0
    assert not period or gaps.max() <= period * (1.0 + 1e-5)


@pytest.mark.parametrize('arm', [two_joint_arm, mixed_arm, panda_arm])
def test_each_point_has_its_effort_and_the_last_what_holds_it_for_ever(arm: Any) -> None:
    model = arm()
    motion = random_motion([QUINTIC] * 3, model.nv)
    points = MotionPoints(motion, 0.05)
    efforts = efforts_of(model).of_points(points, np.zeros(model.nv))
    np.testing.assert_allclose(efforts[:-1], needed(model, points)[:-1], rtol=1e-9, atol=1e-8)
    held = model.gravity_torques(motion.final_position)
    *_, repeated = sample(sent(points, efforts), motion.duration + 60.0)
    np.testing.assert_allclose((efforts[-1], repeated), (held, held), atol=1e-9)


def test_a_point_between_two_polynomials_has_the_mean_of_their_efforts() -> None:
    motion = random_motion([CUBIC] * 3)
    efforts = efforts_of().of_points(MotionPoints(motion, 0.0), np.zeros(2))
    end, begin = (motion.state(motion.knots.times[1] + dt) for dt in (-1e-9, 1e-9))
    both = np.array([ARM.inverse_dynamics(*state[:3]) for state in (end, begin)])
    assert np.abs(both[0] - both[1]).max() > 1.0
    np.testing.assert_allclose(efforts[1], both.mean(axis=0), rtol=1e-6)


@pytest.mark.parametrize('period', [0.0, 0.1])
@pytest.mark.parametrize('degree', DEGREES)
def test_the_deviation_is_the_greatest_also_beside_a_jump(degree: int, period: float) -> None:
    motion = random_motion([degree] * 3)
    calculator, points = efforts_of(), MotionPoints(motion, period)
    efforts = calculator.of_points(points, np.zeros(2))
    deviation = calculator.deviation(points, efforts, np.zeros(2))
    sequence = sent(points, efforts)

    def off(time: float) -> Array:
        q, qd, qdd, effort = sample(sequence, time)
        distance: Array = np.abs(effort - ARM.inverse_dynamics(q, qd, qdd))
        return distance

    met, end = motion.knots.times[1:]
    for time in (met - 1e-9, met + 1e-9, end - 1e-9):
        assert deviation.effort >= off(time).max() * (1.0 - 1e-6)
    dense = max(off(time).max() for time in np.linspace(points.times[0], end - 1e-9, 400))
    assert 0.5 * dense < deviation.effort
    beside = np.clip(deviation.time + np.array([-1e-9, 1e-9]), 0.0, end - 1e-9)
    found = max(off(time)[ARM.joint_names.index(deviation.joint)] for time in beside)
    np.testing.assert_allclose(found, deviation.effort, rtol=1e-4)


@pytest.mark.parametrize(('hardware', 'gravity'), [
    ((HardwareCompensation.GRAVITY,), -1.0), ((), -0.2),
])
def test_efforts_include_payload_friction_rotors_factor_and_springs_less_hardware(
    hardware: tuple[HardwareCompensation, ...], gravity: float
) -> None:
    model = panda_arm()
    points = MotionPoints(random_motion([QUINTIC] * 2, 7), 0.05)
    friction = FrictionSettings(model=FrictionModel.PARAMETERS, viscous=(3.0,), coulomb=(0.0,))
    efforts = efforts_of(
        model, payloads=(Payload('fer_link8', 2.0, (0.0, 0.0, 0.1)),), friction=friction,
        armature=(0.2,), hardware_compensates=hardware, gravity_factor=(0.8,),
        spring=SpringSettings((4.0,), (0.3,)),
    ).of_points(points, np.zeros(7))
    expected = needed(model.with_payload('fer_link8', 2.0, (0.0, 0.0, 0.1)), points)
    expected += 3.0 * points.velocities + 0.2 * points.accelerations
    expected += 4.0 * (points.positions - 0.3) * (not hardware)
    expected += gravity * np.array([model.gravity_torques(row) for row in points.positions])
    np.testing.assert_allclose(efforts[:-1], expected[:-1], rtol=1e-9, atol=1e-8)


def test_efforts_of_the_motion_itself_are_added_and_are_zero_at_the_end() -> None:
    motion = random_motion([QUINTIC] * 3, efforts=True)
    points = MotionPoints(motion, 0.01)
    efforts = efforts_of().of_points(points, np.zeros(2))
    own = np.array([motion.state(time).effort for time in points.times])
    np.testing.assert_allclose(efforts[:-1], (needed(ARM, points) + own)[:-1], atol=1e-8)
    np.testing.assert_allclose(efforts[-1], ARM.gravity_torques(motion.final_position))


NEEDED = ARM.inverse_dynamics((0.5, 0.5), (0.0, 0.0), (-900.0, 0.0))[0]


@pytest.mark.parametrize(('q', 'qdd', 'limit', 'needs'), [
    ([(0.0, 0.0), (0.5, 0.5)], -900.0, 100.0, f'{NEEDED:.6g} at 0.2 s, .* its limit of 100$'),
    ([(0.0, 0.0), (0.5, 0.5)], -900.0, 1.001 * abs(NEEDED), None),
    ([(-1.5, 0.0), (-1.64, 0.0)], 0.0, 15.0, r'-?\d'),  # between its two points
    ([(-1.5, np.nan), (-1.64, np.nan)], 0.0, 15.0, 'nan'),
])
def test_an_effort_beyond_its_limit_is_rejected_with_joint_and_time(
    q: Any, qdd: float, limit: float, needs: str | None
) -> None:
    accelerations, still = np.array([(0.0, 0.0), (qdd, 0.0)]), np.zeros((2, 2))
    knots = Knots(np.array([0.0, 0.2]), np.array(q), still, accelerations, np.full(2, QUINTIC))
    points = MotionPoints(Trajectory(ARM.joint_names, None, knots), 0.0)
    calculator = efforts_of(effort_limits=(limit, 1e3))
    words = f"^effort_limit: joint 'shoulder' needs {needs}"
    with pytest.raises(RequestRejectedError, match=words) if needs else nullcontext():
        efforts = calculator.of_points(points, np.zeros(2))
        if not qdd:
            calculator.deviation(points, efforts, np.zeros(2))
