# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Traps: rejections of the node, and motions that no robot can follow."""

from dataclasses import replace
import math

import numpy as np
import pytest

from rnea_ros import InputError
from rnea_ros.feedforward.trajectory import TrajectoryPoint
from rnea_ros.trajectory_check import Quantity, TrajectoryCheck, TrajectoryLimits, check, report
from rnea_ros.trajectory_check.check import NothingToCheckError, TrajectoryVerdict
from support.models.robots import ARM as ONE_JOINT
from support.models.robots import joint, link, load, robot
from support.recorded.checked_motions import at, checked, figures_of, requested

SHOULDER = load(ONE_JOINT)
TWO = load(robot(
    link('base'), link('upper', 1.0), link('lower', 1.0),
    joint('shoulder', 'revolute', 'base', 'upper'), joint('elbow', 'revolute', 'upper', 'lower'),
))


def words(*points: TrajectoryPoint) -> list[str]:
    found = checked(list(points), model=SHOULDER)
    assert (found.verdict is TrajectoryVerdict.FAULTY) == bool(found.traps)
    return [trap.word for trap in found.traps]


REST = at(0.0, 0.0, 0.0)


def test_a_motion_from_rest_to_rest_has_no_trap() -> None:
    assert words(REST, at(1.0, 0.5, 0.2), at(2.0, 1.0, 0.0)) == []


def test_points_without_velocities_step() -> None:
    assert words(at(0.0, 0.0), at(1.0, 0.5), at(2.0, 1.5)) == ['start_in_motion', 'velocity_step']
    found = checked([at(0.0, 0.0), at(1.0, 0.5), at(2.0, 1.5)], model=SHOULDER)
    assert 'at 1 of 3 points, most at 1 s: shoulder by 0.5 rad/s' in found.traps[1].text


def test_a_robot_at_rest_cannot_begin_in_motion() -> None:
    assert words(at(0.0, 0.0, 0.1), at(1.0, 0.5, 0.0)) == ['start_in_motion']


def test_an_acceleration_at_the_end_is_a_trap() -> None:
    first = at(0.0, 0.0, 0.0, 0.0)
    assert words(first, at(1.0, 0.5, 0.0, 0.0)) == []
    assert words(first, at(1.0, 0.5, 0.0, 0.3)) == ['final_acceleration']


@pytest.mark.parametrize(('points', 'word'), [
    ([REST, at(1.0, 0.5, 0.1)], 'final_velocity'),
    ([REST, TrajectoryPoint(1.0, [0.5], (), [0.0])], 'accelerations_without_velocities'),
    ([REST, at(1.0, [0.5, 0.5], 0.0)], 'wrong_size'),
    ([REST, at(1.0, math.nan, 0.0)], 'not_finite'),
    ([REST, at(0.0, 0.5, 0.0)], 'times_not_increasing'),
    ([at(2.0, 0.0, 0.0), at(1.0, 0.5, 0.0)], 'times_not_increasing'),
    ([at(-1.0, 0.0, 0.0), at(1.0, 0.5, 0.0)], 'negative_time'),
    ([at(math.nan, 0.0, 0.0)], 'not_finite'),
])
def test_what_a_node_rejects_is_named_as_a_trap(points: list[TrajectoryPoint], word: str) -> None:
    found = checked(points, model=SHOULDER)
    assert word in [trap.word for trap in found.traps]
    assert found.verdict is TrajectoryVerdict.FAULTY
    assert f'* {word}: the feedforward node rejects it' in report(found)


@pytest.mark.parametrize(('names', 'word'), [
    ((), 'empty_joint_names'), (('elbow',), 'unknown_joint'),
    (('shoulder', 'shoulder'), 'duplicate_joint'),
])
def test_joint_names_that_are_wrong_are_a_trap(names: tuple[str, ...], word: str) -> None:
    request = requested([REST], names)
    found = check(SHOULDER, request, TrajectoryLimits.of_model(SHOULDER))
    assert [trap.word for trap in found.traps] == [word]
    assert found.figures is None


def test_a_motion_over_position_limits_is_also_rejected_by_the_node() -> None:
    found = checked([at(0.0, 2.9, 0.0), at(4.0, 2.9, 1.5), at(5.0, 2.9, 0.0)], model=SHOULDER)
    assert {error.word for error in found.rejections} == {'position_limit'}
    assert {peak.quantity for peak in found.violations} == {Quantity.POSITION}
    assert '- the feedforward node rejects it: position_limit, point' in report(found)


def test_no_points_are_nothing_to_check() -> None:
    with pytest.raises(NothingToCheckError, match='no points'):
        checked([], model=SHOULDER)


def test_the_way_to_a_first_point_is_checked_from_a_given_start() -> None:
    points = [at(0.5, 1.0, 0.0), at(2.0, 0.5, 0.0)]
    alone = checked(points, model=SHOULDER)
    assert alone.verdict is TrajectoryVerdict.FINE
    assert any('first point, at 0.5 s, is not checked' in note for note in alone.notes)
    # 1 rad in half a second: 3 rad/s at its peak, of 2.
    whole = checked(points, model=SHOULDER, start={'shoulder': 0.0})
    (violation,) = whole.violations
    assert violation.quantity is Quantity.VELOCITY
    assert (violation.value, violation.time) == pytest.approx((3.0, 0.25))
    assert not any('is not checked' in note for note in whole.notes)


@pytest.mark.parametrize('stamp', [None, 1.7e9])
def test_without_a_start_the_motion_begins_with_its_first_point(stamp: float | None) -> None:
    points = [at(0.5, 1.0, 0.2), at(2.0, 0.5, 0.0)]
    request = replace(requested(points, SHOULDER.joint_names), start_time=stamp)
    figures = figures_of(check(SHOULDER, request, TrajectoryLimits.of_model(SHOULDER)))
    assert figures.points == 2
    assert figures.efforts.time[[0, -1]].tolist() == [0.5, 2.0]


def test_a_first_point_at_once_must_be_near_the_start_that_is_given() -> None:
    points = [at(0.0, 1.0, 0.0), at(2.0, 0.5, 0.0)]
    near = checked(points, model=SHOULDER, start={'shoulder': 0.95})
    assert near.verdict is TrajectoryVerdict.FINE
    found = checked(points, model=SHOULDER, start={'shoulder': 0.5})
    assert [trap.word for trap in found.traps] == ['start_too_far']


def test_joints_left_out_hold_at_the_given_start() -> None:
    points = [REST, at(1.0, 0.5, 0.0)]
    found = checked(points, model=TWO, names=('elbow',), start={'shoulder': 0.7})
    (note,) = (note for note in found.notes if 'leaves out' in note)
    assert note == 'joints that the trajectory leaves out hold: shoulder at 0.7 (see --start)'
    held = figures_of(found).peaks[0]
    assert (held.joint, held.value) == ('shoulder', 0.7)
    assert found.verdict is TrajectoryVerdict.FINE


def test_one_point_is_a_pose_that_is_held() -> None:
    found = checked([at(0.0, 0.5)], model=SHOULDER)
    assert found.verdict is TrajectoryVerdict.FINE
    assert len(figures_of(found).efforts.time) == 3


def test_notes_say_what_is_not_in_the_result() -> None:
    request = replace(
        requested([REST, at(1.0, 0.5, 0.0), at(2.0, 1.0)], SHOULDER.joint_names), start_time=5.0
    )
    found = check(SHOULDER, request, TrajectoryLimits.of_model(SHOULDER))
    for trap in ('the stamp', 'straight line', 'friction'):
        assert any(trap in note for note in found.notes), trap
    with_efforts = [TrajectoryPoint(0.0, [0.0], [0.0], (), [1.0])]
    notes = checked(with_efforts, model=SHOULDER).notes
    assert any('efforts of the points are not added' in note for note in notes)


def test_a_robot_with_joints_of_several_axes_is_rejected() -> None:
    planar = load(robot(link('base'), link('cart', 1.0), joint('drive', 'planar', 'base', 'cart')))
    with pytest.raises(InputError, match='more than one axis'):
        TrajectoryLimits.of_model(planar)


def test_the_report_names_joint_time_margin_and_pace_of_a_violation() -> None:
    found: TrajectoryCheck = checked([REST, at(0.5, 1.0, 0.0)], model=SHOULDER)
    text = report(found)
    assert (
        '* velocity of shoulder at 0.250 s: 3 rad/s is 1 rad/s beyond the limit of 2 rad/s' in text
    )
    first, second, *_ = text.splitlines()
    assert first == 'not fine: see the lines marked with *'
    assert second.startswith('needs 50.0 % more time: 0.75 s instead of 0.5 s (velocity of')
    row = next(line for line in text.splitlines() if 'velocity  ' in line)
    assert row.split() == ['*', 'shoulder', 'velocity', 'rad/s', '3.000', '2.000', '-1.000',
                           '150', '%', '0.250', 's']
    assert np.isfinite(figures_of(found).effort_bound.stretch)


def test_the_report_says_how_much_faster_a_motion_may_be() -> None:
    found = checked([REST, at(3.0, 1.0, 0.0)], model=SHOULDER)
    first, second, *_ = report(found).splitlines()
    assert first.startswith('fine')
    assert second.startswith('may take 75.0 % less time: 0.75 s instead of 3 s (velocity of sh')


def test_a_joint_that_slides_has_its_own_units() -> None:
    lift = load(robot(link('base'), link('cart', 1.0), joint('lift', 'prismatic', 'base', 'cart')))
    found = checked([at(0.0, 0.0, 0.0), at(0.5, 1.0, 0.0), at(1.0, 1.0)], model=lift)
    text = report(found)
    assert '3 m/s is 1 m/s beyond the limit of 2 m/s' in text
    assert 'rad' not in text
    assert 'N m' not in text
    assert {line.split()[-8] for line in text.splitlines() if ' effort  ' in line} == {'N'}
