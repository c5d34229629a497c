# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Limits at points and between them, at every peak of the polynomials."""

import math
import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
import pytest

from rnea_ros.feedforward.trajectory import (
    JointRules,
    Setpoint,
    Trajectory,
    TrajectoryError,
    TrajectoryPoint,
    TrajectoryRequest,
    compile_trajectory,
)
from support.control.control_rig import free_rules

Array = NDArray[np.float64]

NAMES = ('shoulder', 'elbow', 'wrist')
AT_REST = (0.0, 0.0, 0.0)
SPEEDS = (2.0, 1.0, math.inf)
TOLERANCE = 1.05


def rules(**changes: Any) -> JointRules:
    """Speeds of 2 and 1 rad/s, any for the wrist; no position limits; starts anywhere."""
    return free_rules(NAMES, **({'velocity_limits': SPEEDS} | changes))


def compiled(
    points: list[TrajectoryPoint], held_to: JointRules | None = None, *,
    position: ArrayLike = AT_REST, velocity: ArrayLike = AT_REST,
) -> Trajectory | Setpoint:
    return compile_trajectory(
        TrajectoryRequest.of_points(NAMES, points), held_to or rules(), now=0.0, position=position,
        velocity=velocity,
    )


def rejection(
    points: list[TrajectoryPoint], held_to: JointRules | None = None, **state: ArrayLike
) -> TrajectoryError:
    with pytest.raises(TrajectoryError) as caught:
        compiled(points, held_to, **state)
    return caught.value


def place(error: TrajectoryError) -> tuple[str, str | None, int | None]:
    return error.reason.value, error.joint, error.point


def elbow(
    time: float, q: float, qd: float | None = None, qdd: float | None = None
) -> TrajectoryPoint:
    """Return a point with all joints but the elbow at 0 and at rest."""
    velocities = () if qd is None else (0.0, qd, 0.0)
    accelerations = () if qdd is None else (0.0, qdd, 0.0)
    return TrajectoryPoint(time, (0.0, q, 0.0), velocities, accelerations)


# Rest to rest over a distance d in time T: the peak speed is d/T, 1.5 d/T or 1.875 d/T.
KINDS = {1: ((), 1.0), 3: ((0.0,), 1.5), 5: ((0.0, 0.0), 1.875)}


@pytest.mark.parametrize('degree', KINDS)
@pytest.mark.parametrize('side', [-1.0, 1.0])
def test_velocities_are_rejected_only_above_the_limit(degree: int, side: float) -> None:
    fields, peak = KINDS[degree]
    duration = 2.0
    distance = side * SPEEDS[1] * duration / peak

    def motion(excess: float) -> list[TrajectoryPoint]:
        return [elbow(0.0, 0.0, *fields), elbow(duration, excess * distance, *fields)]

    compiled(motion(1.0))
    compiled(motion(TOLERANCE - 1e-9))
    error = rejection(motion(TOLERANCE + 1e-9))
    assert place(error) == ('velocity_limit', 'elbow', 1)
    assert 'limit of 1.0' in error.detail
    speeds = re.findall(r'[\d.]+', error.detail)
    assert float(speeds[0]) == pytest.approx(TOLERANCE, rel=1e-8)


@pytest.mark.parametrize('degree', KINDS)
def test_a_steep_way_to_a_first_point_that_is_near_in_time_is_rejected(degree: int) -> None:
    fields, _ = KINDS[degree]
    error = rejection([elbow(0.01, 1.0, *fields), elbow(5.0, 1.0, *fields)])
    assert place(error) == ('velocity_limit', 'elbow', 0)
    compiled([elbow(5.0, 1.0, *fields), elbow(9.0, 1.0, *fields)])


def test_a_velocity_of_a_point_beyond_the_limit_is_rejected() -> None:
    error = rejection([elbow(0.0, 0.0, 0.0), elbow(1.0, 0.4, 1.2), elbow(2.0, 0.8, 0.0)])
    assert place(error) == ('velocity_limit', 'elbow', 1)


def test_limits_are_per_joint_and_a_joint_without_limit_has_any_speed() -> None:
    def motion(*goal: float) -> list[TrajectoryPoint]:
        return [TrajectoryPoint(0.0, AT_REST), TrajectoryPoint(1.0, goal)]

    compiled(motion(2.0, 1.0, 100.0))
    assert place(rejection(motion(2.2, 1.0, 0.0))) == ('velocity_limit', 'shoulder', 1)
    assert place(rejection(motion(2.0, 1.1, 0.0))) == ('velocity_limit', 'elbow', 1)


def test_the_first_segment_that_is_too_fast_is_named() -> None:
    points = [elbow(float(k), 0.5 * k) for k in range(10)]
    points[6] = elbow(6.0, 4.2)
    assert place(rejection(points)) == ('velocity_limit', 'elbow', 6)


@pytest.mark.parametrize('side', [-1.0, 1.0])
def test_a_set_point_with_a_velocity_beyond_the_limit_is_rejected(side: float) -> None:
    compiled([elbow(0.0, 0.0, side)])
    error = rejection([elbow(0.0, 0.0, 1.06 * side)])
    assert place(error) == ('velocity_limit', 'elbow', 0)


def random_points(rng: np.random.Generator) -> list[TrajectoryPoint]:
    times = np.cumsum(rng.uniform(0.2, 1.5, 6)) - 0.2
    times[0] = 0.0
    return [
        TrajectoryPoint(float(time), *rng.uniform(-1.0, 1.0, (int(rng.integers(1, 4)), 3)))
        for time in times
    ]


def seen(trajectory: Trajectory) -> tuple[Array, Array, Array]:
    """Return least and greatest position and greatest speed of each joint, by dense samples."""
    times = np.concatenate([
        np.linspace(start, math.nextafter(end, 0.0), 4001)
        for start, end in zip(trajectory.knots.times, trajectory.knots.times[1:], strict=False)
    ])
    states = np.empty((times.size, 3, 3))
    for time, state in zip(times, states, strict=True):
        trajectory.sample(time, *state)
    return (states[:, 0].min(axis=0), states[:, 0].max(axis=0), np.abs(states[:, 1]).max(axis=0))


FREE: dict[str, Any] = {
    'velocity_limits': np.full(3, math.inf), 'allow_nonzero_velocity_at_trajectory_end': True
}


def with_limit(field: str, joint: int, value: float) -> JointRules:
    """Return rules in which one joint has one limit."""
    limits = np.array(getattr(rules(**FREE), field))
    limits[joint] = value
    return rules(**(FREE | {field: limits}))


@pytest.mark.parametrize('seed', range(8))
def test_the_peak_speed_of_random_motions_is_exact(seed: int) -> None:
    points = random_points(np.random.default_rng(seed))
    trajectory = compiled(points, rules(**FREE))
    assert isinstance(trajectory, Trajectory)
    for joint, speed in enumerate(seen(trajectory)[2] / TOLERANCE):
        # The true peak exceeds the highest sample by less than a millionth.
        compiled(points, with_limit('velocity_limits', joint, speed + 1e-6))
        error = rejection(points, with_limit('velocity_limits', joint, speed - 1e-6))
        assert error.reason.value == 'velocity_limit'
        assert error.joint == NAMES[joint]


def test_the_extreme_positions_of_random_motions_are_exact() -> None:
    rng = np.random.default_rng(8)
    swings = 0
    for _ in range(8):
        points = random_points(rng)
        trajectory = compiled(points, rules(**FREE))
        assert isinstance(trajectory, Trajectory)
        lowest, highest, _ = seen(trajectory)
        for joint in range(3):
            for field, sign, extreme in (
                ('lower', -1.0, lowest[joint]), ('upper', 1.0, highest[joint])
            ):
                farthest = max(sign * point.positions[joint] for point in points)
                if sign * extreme < farthest + 2e-3:
                    continue  # the position of a point, which has another tolerance
                swings += 1
                compiled(points, with_limit(field, joint, extreme - sign * (1e-3 - 1e-6)))
                error = rejection(points, with_limit(field, joint, extreme - sign * (1e-3 + 1e-6)))
                assert error.reason.value == 'position_limit'
                assert error.joint == NAMES[joint]
    assert swings > 5


@pytest.mark.parametrize('accelerations', [(), AT_REST])
@pytest.mark.parametrize('side', [-1.0, 1.0])
def test_a_swing_over_a_position_limit_is_measured_at_its_very_peak(
    side: float, accelerations: tuple[float, ...]
) -> None:
    # From rest at 0 to 0 with a velocity v in a second: a cubic swings out by 4/27 v.
    # The quintic v (-4 s^3 + 7 s^4 - 3 s^5) turns at s = 2/3 and swings out by 16/81 v.
    peak = 16.0 / 81.0 if accelerations else 4.0 / 27.0
    limit = rules(lower=np.full(3, -1.0), upper=np.full(3, 1.0), velocity_limits=[math.inf] * 3)

    def motion(swing: float) -> list[TrajectoryPoint]:
        speed = -side * swing / peak
        return [
            TrajectoryPoint(0.0, (0.0, side, 0.0), AT_REST, accelerations),
            TrajectoryPoint(1.0, (0.0, side, 0.0), (0.0, speed, 0.0), accelerations),
            TrajectoryPoint(2.0, (0.0, 0.0, 0.0), AT_REST, accelerations),
        ]

    compiled(motion(1e-3 - 1e-9), limit)
    error = rejection(motion(1e-3 + 1e-9), limit)
    assert place(error) == ('position_limit', 'elbow', 1)


def test_a_motion_of_the_greatest_numbers_is_judged_without_overflow() -> None:
    points = [elbow(0.0, 0.0, 0.0, 0.0), elbow(1.0, 1e305, 0.0, 0.0)]
    assert rejection(points).reason.value == 'velocity_limit'
    held = rules(upper=np.array((1.0, 2e305, 1.0)), velocity_limits=[math.inf] * 3)
    compiled(points, held)


# A robot beyond a limit


def back(*shoulder: float, robot: float, start: float = 0.0) -> Any:
    """Compile a motion of the shoulder, limited to 2 rad, for a robot at a position."""
    points = [
        TrajectoryPoint(start + number, (q, 0.0, 0.0)) for number, q in enumerate(shoulder)
    ]
    limited = with_limit('upper', 0, 2.0)
    return compiled(points, limited, position=(robot, 0.0, 0.0))


@pytest.mark.parametrize(('robot', 'shoulder'), [
    (2.000009, (2.000009, 1.5)), (2.3, (2.3, 2.1, 2.1, 1.9, 2.0)), (2.3, (2.2,)),
])
def test_a_robot_beyond_a_limit_may_come_back(robot: float, shoulder: tuple[float, ...]) -> None:
    back(*shoulder, robot=robot)
    back(*shoulder, robot=robot, start=1.0)


@pytest.mark.parametrize(('robot', 'shoulder', 'point'), [
    (2.3, (2.3, 2.31), 1), (2.3, (2.3, 2.1, 2.2), 2), (2.3, (1.9, 2.1), 1), (2.6, (2.6, 1.9), 0),
])
def test_it_may_not_go_further_out_nor_come_from_anywhere(
    robot: float, shoulder: tuple[float, ...], point: int
) -> None:
    with pytest.raises(TrajectoryError) as caught:
        back(*shoulder, robot=robot)
    assert place(caught.value) == ('position_limit', 'shoulder', point)


# Accelerations and efforts


HARD = 10.0
"""Limit of the accelerations in these tests, rad/s^2."""


def limited(**changes: Any) -> JointRules:
    return rules(
        velocity_limits=np.full(3, math.inf), acceleration_limits=np.full(3, HARD),
        effort_limits=np.full(3, 5.0), use_trajectory_effort=True, **changes,
    )


@pytest.mark.parametrize('huge', [10.1, 1e4, 1e308, -1e308])
def test_accelerations_and_efforts_of_points_are_bounded(huge: float) -> None:
    still = (0.0, 0.0, 0.0)
    for times in ((0.0,), (0.0, 1e-3)):
        wild = [TrajectoryPoint(time, still, still, (0.0, huge, 0.0)) for time in times]
        assert place(rejection(wild, limited())) == ('acceleration_limit', 'elbow', 0)
        wild = [TrajectoryPoint(t, still, still, still, (0.0, huge, 0.0)) for t in times]
        assert place(rejection(wild, limited())) == ('effort_limit', 'elbow', 0)


def test_accelerations_on_the_way_are_bounded_and_short_ones_may_be_rough() -> None:
    def cubic(way: float, duration: float) -> list[TrajectoryPoint]:
        ends = ((0.0, AT_REST), (duration, (0.0, way, 0.0)))
        return [TrajectoryPoint(time, q, AT_REST) for time, q in ends]

    compiled(cubic(HARD / 6.0, 1.0), limited())
    error = rejection(cubic(1.001 * HARD / 6.0, 1.0), limited())
    assert place(error) == ('acceleration_limit', 'elbow', 1)
    compiled(cubic(HARD * 0.1 * 0.01 / 6.0, 0.01), limited())
    assert rejection(cubic(1.01e-3 * HARD / 6.0, 0.01), limited()).word == 'acceleration_limit'
