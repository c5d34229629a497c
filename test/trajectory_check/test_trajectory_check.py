# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Checks of trajectories: traps, peaks against limits, the fastest time scaling, collisions."""

from collections.abc import Mapping
from dataclasses import replace
import math
import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros import InputError, RneaError, RobotModel, UnknownNameError
from rnea_ros.collision import collision_model
from rnea_ros.feedforward.motion import TrajectoryPoint, TrajectoryRequest
from rnea_ros.trajectory_check import Quantity, TrajectoryCheck, TrajectoryLimits, check, report
from rnea_ros.trajectory_check.check import MotionFigures, TrajectoryVerdict
from support.control.control_rig import free_rules
from support.control.requested_motions import compiled
from support.models.robots import ARM as ONE_JOINT
from support.models.robots import SHIPPED, joint, link, load, robot
from support.models.shaped_arm import shaped_arm, tip_distance

ARM = load(SHIPPED[1])
BENT = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])


def motion(seed: int, points: int = 4) -> list[TrajectoryPoint]:
    """Return points of a random motion near a bent pose, from rest to rest, 0.4 s a segment."""
    states = np.random.default_rng(seed).uniform(-1.0, 1.0, (3, points, ARM.nv))
    states[1:, [0, -1]] = 0.0
    q, qd, qdd = BENT + 0.3 * states[0], states[1], 3.0 * states[2]
    return [TrajectoryPoint(0.4 * k, q[k], qd[k], qdd[k]) for k in range(points)]


def checked(
    points: list[TrajectoryPoint], limits: TrajectoryLimits | None = None, *,
    model: RobotModel = ARM, names: tuple[str, ...] | None = None,
    start: Mapping[str, float] | None = None, rate: float = 1000.0,
) -> TrajectoryCheck:
    request = TrajectoryRequest.of_points(names or model.joint_names, points)
    return check(model, request, limits or TrajectoryLimits.of_model(model), start, rate)


def figures_of(found: TrajectoryCheck) -> MotionFigures:
    assert found.figures is not None, found.traps
    return found.figures


def at(time: float, *fields: ArrayLike) -> TrajectoryPoint:
    """Return a point: time, then positions, velocities and accelerations."""
    return TrajectoryPoint(time, *(np.atleast_1d(np.asarray(field, float)) for field in fields))


SHOULDER = load(ONE_JOINT)  # limits: 3 rad, 2 rad/s, 100 N m
REST = at(0.0, 0.0, 0.0)


@pytest.mark.parametrize(('points', 'given', 'words'), [
    ([REST, at(1.0, 0.5, 0.2), at(2.0, 1.0, 0.0)], {}, []),
    ([at(0.0, 0.5)], {}, []),  # a pose that is held
    ([at(0.0, 0.0), at(1.0, 0.5), at(2.0, 1.5)], {}, ['start_in_motion', 'velocity_step']),
    ([at(0.0, 0.0, 0.0, 0.0), at(1.0, 0.5, 0.0, 0.3)], {}, ['final_acceleration']),
    ([at(0.0, 1.0, 0.0), at(2.0, 0.5, 0.0)], {'start': {'shoulder': 0.95}}, []),
    ([at(0.0, 1.0, 0.0), at(2.0, 0.5, 0.0)], {'start': {'shoulder': 0.5}}, ['start_too_far']),
    # What the node rejects
    ([REST, at(1.0, 0.5, 0.1)], {}, ['final_velocity']),
    ([REST, at(1.0, [0.5, 0.5], 0.0)], {}, ['wrong_size']),
    ([at(math.nan, 0.0, 0.0)], {}, ['not_finite']),
    ([REST], {'names': ('elbow',)}, ['unknown_joint']),
])
def test_traps_are_named_and_make_a_trajectory_faulty(
    points: list[TrajectoryPoint], given: dict[str, Any], words: list[str]
) -> None:
    found = checked(points, model=SHOULDER, **given)
    assert [trap.word for trap in found.traps] == words
    assert (found.verdict is TrajectoryVerdict.FAULTY) is bool(words)
    text = report(found)
    assert text.startswith('not fine: see' if words else 'fine: within')
    for trap in found.traps:
        assert f'* {trap.word}: {trap.text}' in text
    if 'velocity_step' in words:
        assert 'at 1 of 3 points, most at 1 s: shoulder by 0.5 rad/s' in found.traps[1].text
        assert found.traps[0].text.startswith('shoulder starts at 0.5 rad/s')


def test_a_motion_over_position_limits_is_also_rejected_by_the_node() -> None:
    found = checked([at(0.0, 2.9, 0.0), at(4.0, 2.9, 1.5), at(5.0, 2.9, 0.0)], model=SHOULDER)
    assert not found.traps
    assert {error.word for error in found.rejections} == {'position_limit'}
    assert {peak.quantity for peak in found.violations} == {Quantity.POSITION}
    assert '- the feedforward node rejects it: position_limit, point' in report(found)


def test_the_way_to_a_first_point_is_checked_from_a_given_start() -> None:
    points = [at(0.5, 1.0, 0.0), at(2.0, 0.5, 0.0)]
    alone = checked(points, model=SHOULDER)
    assert alone.verdict is TrajectoryVerdict.FINE
    figures = figures_of(alone)
    assert (figures.points, figures.duration) == (2, 2.0)
    assert figures.efforts.time[[0, -1]].tolist() == [0.5, 2.0]
    assert any('first point, at 0.5 s, is not checked' in note for note in alone.notes)
    # 1 rad in half a second: 3 rad/s at its peak, of 2.
    whole = checked(points, model=SHOULDER, start={'shoulder': 0.0})
    (violation,) = whole.violations
    assert violation.quantity is Quantity.VELOCITY
    assert (violation.value, violation.time) == pytest.approx((3.0, 0.25))
    assert not any('is not checked' in note for note in whole.notes)


def test_joints_left_out_hold_at_the_given_start() -> None:
    two = load(shaped_arm())
    found = checked(
        [REST, at(1.0, 0.5, 0.0)], model=two, names=(two.joint_names[1],),
        start={two.joint_names[0]: 0.7},
    )
    assert any(f'leaves out hold: {two.joint_names[0]} at 0.7 ' in note for note in found.notes)
    held = figures_of(found).peaks[0]
    assert (held.joint, held.value) == (two.joint_names[0], 0.7)


def test_the_report_names_joint_time_margin_and_pace() -> None:
    violated = report(checked([REST, at(0.5, 1.0, 0.0)], model=SHOULDER))
    _, second, *rest = violated.splitlines()
    assert second.startswith('needs 50.0 % more time: 0.75 s instead of 0.5 s (velocity of')
    assert rest[1] == ('* velocity of shoulder at 0.250 s: 3 rad/s is 1 rad/s beyond the limit '
                       'of 2 rad/s')
    row = next(line for line in rest if 'velocity  ' in line)
    assert row.split() == ['*', 'shoulder', 'velocity', 'rad/s', '3.000', '2.000', '-1.000',
                           '150', '%', '0.250', 's']
    faster = report(checked([REST, at(3.0, 1.0, 0.0)], model=SHOULDER)).splitlines()
    assert faster[1].startswith('may take 75.0 % less time: 0.75 s instead of 3 s (velocity of s')


@pytest.mark.parametrize(('quantity', 'points', 'value', 'time', 'limit'), [
    (Quantity.VELOCITY, [REST, at(1.0, -1.2, 0.0)], -1.8, 0.5, -2.0),
    # 2.9 + s (1 - s) * 0.8: 3.1 halfway through 4 s, though both ends are below 3.
    (Quantity.POSITION, [at(0.0, 2.9, 0.2), at(4.0, 2.9, -0.2)], 3.1, 2.0, 3.0),
    # The nearer limit of two counts.
    (Quantity.POSITION, [at(0.0, -2.5, 0.0), at(1.0, -2.25, 0.0)], -2.5, 0.0, -3.0),
    # At the limit, which is no violation, and beyond.
    (Quantity.VELOCITY, [REST, at(0.75, 1.0, 0.0)], 2.0, 0.375, 2.0),
    (Quantity.VELOCITY, [REST, at(0.7499, 1.0, 0.0)], 1.5 / 0.7499, 0.37495, 2.0),
])
def test_a_peak_has_value_time_limit_and_margin(
    quantity: Quantity, points: Any, value: float, time: float, limit: float
) -> None:
    checkup = checked(points, model=SHOULDER)
    (found,) = [peak for peak in figures_of(checkup).peaks if peak.quantity is quantity]
    assert (found.value, found.time, found.limit) == pytest.approx((value, time, limit))
    assert found.margin == pytest.approx(abs(limit) - abs(value))
    share = None if quantity is Quantity.POSITION else pytest.approx(value / limit)
    assert found.share == share
    assert found.is_violation is (value / limit > 1.0 + 1e-6)
    assert (checkup.verdict is TrajectoryVerdict.FAULTY) is found.is_violation


@pytest.mark.parametrize('seed', range(2))
def test_peak_speeds_between_points_are_those_of_dense_samples(seed: int) -> None:
    figures = figures_of(checked(motion(seed, points=6), rate=5000.0))
    peaks = [peak.value for peak in figures.peaks if peak.quantity is Quantity.VELOCITY]
    sampled = np.abs(figures.efforts.velocity).max(axis=0)
    np.testing.assert_allclose(np.abs(peaks), sampled, rtol=1e-5)


def test_efforts_are_those_of_inverse_dynamics_with_the_payload() -> None:
    points, loaded = motion(3, points=3), ARM.with_payload('fer_link8', 3.0)
    efforts = figures_of(checked(points, model=loaded)).efforts
    names, rest = ARM.joint_names, np.zeros(7)
    trajectory = compiled(
        points, free_rules(names), names=names, position=points[0].positions, velocity=rest
    )
    for row in range(53, len(efforts.time) - 1, 100):
        state = trajectory.state(float(efforts.time[row]))
        expected = loaded.inverse_dynamics(*state[:3]), loaded.gravity_torques(state.position)
        found = efforts.total[row], efforts.gravity[row]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(efforts.velocity[row], state.velocity, atol=1e-9)


@pytest.mark.parametrize(('points', 'rate', 'words'), [
    ([], 1000.0, 'no points'), ([REST, at(1.0, 1.0, 0.0)], math.nan, 'not positive and finite'),
    ([REST, at(1000.0, 1.0, 0.0)], 1000.0, 'more than 1000000'),
])
def test_what_cannot_be_checked_is_rejected(points: Any, rate: float, words: str) -> None:
    with pytest.raises(RneaError, match=words):
        checked(points, model=SHOULDER, rate=rate)


def test_a_limit_of_0_means_unlimited_and_others_can_be_given() -> None:
    text = ONE_JOINT.replace('velocity="2" effort="100"', 'velocity="0" effort="0"')
    limits = TrajectoryLimits.of_model(load(text))
    assert np.isinf([limits.velocity, limits.effort, limits.acceleration]).all()
    given = TrajectoryLimits.of_model(ARM).with_limits(
        Quantity.ACCELERATION, {'fer_joint3': 2.0, None: 5.0}
    )
    assert given.acceleration.tolist() == [5.0, 5.0, 2.0, 5.0, 5.0, 5.0, 5.0]
    with pytest.raises(UnknownNameError, match='elbow'):
        limits.with_limits(Quantity.EFFORT, {'elbow': 3.0})
    with pytest.raises(InputError, match='velocity limit: 0 is not above 0'):
        limits.with_limits(Quantity.VELOCITY, {None: 0.0})
    planar = load(robot(link('base'), link('cart', 1.0), joint('drive', 'planar', 'base', 'cart')))
    with pytest.raises(InputError, match=r"joint 'drive' .* more than one axis"):
        TrajectoryLimits.of_model(planar)


def test_the_limits_of_urdf_1_2_are_checked_or_named() -> None:
    more = 'velocity="2" acceleration="9" deceleration="4" jerk="5"'
    found = checked([REST, at(1.0, 1.0, 0.0)], model=load(ONE_JOINT.replace('velocity="2"', more)))
    (violation,) = found.violations  # a cubic: 6 rad/s^2 at both ends
    assert (violation.quantity, abs(violation.limit)) == (Quantity.ACCELERATION, 4.0)
    text = ONE_JOINT.replace('velocity="2"', more.replace('"9"', '"0"'))
    assert TrajectoryLimits.of_model(load(text)).acceleration.tolist() == [4.0]
    assert 'jerk is not checked, although the URDF limits it: shoulder' in found.notes


def test_efforts_of_a_robot_without_masses_are_not_checked() -> None:
    text = re.sub('<inertial>.*</inertial>', '', ONE_JOINT)
    found = checked([REST, at(1.0, 1.0, 0.0)], model=load(text))
    assert found.verdict == 0
    assert found.notes[0] == 'efforts are not checked: no moving link has a mass'
    assert [peak.quantity for peak in figures_of(found).peaks].count(Quantity.EFFORT) == 0
    assert 'by the efforts alone' not in report(found)


PIVOT = robot(
    link('base'), link('arm', 2.0, (0.5, 0.0, 0.0), 6 * (0.0,)),
    joint('shoulder', 'revolute', 'base', 'arm', axis=(0, -1, 0)),
).replace('effort="100"', 'effort="20"')
"""A mass of 2 kg at 0.5 m that swings up about a level axis: M = 0.5, g = 9.81 cos(q)."""
RATE = 999.1  # Hz: not a whole number of periods per segment, where rounding could add one


@pytest.mark.parametrize('seed', range(2))
def test_at_the_reported_factor_a_limit_is_just_reached(seed: int) -> None:
    points = motion(seed)
    figures = figures_of(checked(points))
    # Limits above the efforts of gravity, so that some factor keeps them.
    heaviest = np.abs(figures.efforts.gravity).max(axis=0)
    limits = replace(figures.limits, effort=(1.05 + 0.6 * seed) * heaviest + 0.5)
    s = figures_of(checked(points, limits, rate=RATE)).effort_bound.stretch
    assert 0.0 < s < math.inf

    def stretched(s: float) -> list[TrajectoryPoint]:
        return [
            at(s * each.time, each.positions, np.divide(each.velocities, s),
               np.divide(each.accelerations, s**2))
            for each in points
        ]

    def share(factor: float) -> float:
        found = figures_of(checked(stretched(factor), limits, rate=RATE / factor))
        return float((np.abs(found.efforts.total) / limits.effort).max())

    assert share(s) == pytest.approx(1.0, abs=1e-6)
    assert share(0.98 * s) > 1.0
    assert share(1.02 * s) <= 1.0 + 1e-9
    limits = TrajectoryLimits.of_model(ARM).with_limits(Quantity.ACCELERATION, {None: 4.0})
    s = figures_of(checked(points, limits)).bound.stretch
    assert not checked(stretched(s), limits).violations
    assert checked(stretched(0.99 * s), limits).violations


@pytest.mark.parametrize(('end', 'gravity', 'time'), [
    (1.0, 9.81, 0.0), (-1.0, 9.81 * math.cos(1.0), 1.0),
])
def test_a_swing_that_is_known_in_closed_form_has_its_factor(
    end: float, gravity: float, time: float
) -> None:
    # From level up, by a cubic over 1 rad in 1 s: 6 rad/s^2 at the start, where M a = 3 and
    # g = 9.81. Down, gravity pulls along at the start; at the end it is 9.81 cos(1) against 3.
    figures = figures_of(checked([at(0.0, 0.0, 0.0), at(1.0, end, 0.0)], model=load(PIVOT)))
    assert figures.efforts.total[1, 0] == pytest.approx(9.81 + 3.0 * end)
    bound = figures.effort_bound
    assert bound.stretch == pytest.approx(math.sqrt(3.0 / (20.0 - gravity)))
    assert (bound.time, bound.joint) == (time, 'shoulder')
    # The velocity peaks at 1.5 rad/s of 2.
    assert (figures.bound.stretch, figures.bound.time) == pytest.approx((0.75, 0.5))
    assert figures.bound.quantity is Quantity.VELOCITY


def test_no_factor_is_reported_if_gravity_alone_exceeds_the_limit() -> None:
    model = load(PIVOT.replace('effort="20"', 'effort="9"'))
    found = checked([at(0.0, 1.5, 0.0), at(2.0, -0.5, 0.0)], model=model)
    figures = figures_of(found)
    assert math.isinf(figures.effort_bound.stretch)
    assert math.isinf(figures.bound.stretch)
    assert 'gravity alone requires 9.81 N m of shoulder, whose limit is 9 N m' in report(found)


def test_the_first_collision_is_a_trap_with_its_time_or_the_least_distance_is_said() -> None:
    pytest.importorskip('mujoco', reason='MuJoCo is not installed')
    model, rest = load(shaped_arm()), [0.0, 0.0]
    touching, near, free = (
        check(
            model, TrajectoryRequest.of_points(model.joint_names, [
                at(0.0, [0.0, 2.0], rest), at(2.0, [0.0, elbow], rest),
            ]), TrajectoryLimits.of_model(model), collision_model=collision_model(model),
        )
        for elbow in (3.0, 2.42, 2.1)
    )
    s = np.linspace(0.0, 1.0, 2001)
    first = 2.0 * s[[tip_distance(2.0 + (3.0 - 2.0 * at) * at**2) < 0.0 for at in s]][0]
    (trap,) = touching.traps
    assert trap.word == 'collision'
    assert trap.text.startswith(f'base and lower at {first:.3f} s; ')
    assert '* collision: base and lower at' in report(touching)
    least = f'{1000.0 * tip_distance(2.42):.0f}'
    assert f'- no collision: least distance {least} mm, of base and lower' in report(near)
    assert 'no collision: all distances are above 30 mm' in report(free)
