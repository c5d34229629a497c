# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Traps: rejections of the node, motions that no robot can follow, collisions; the report."""

from dataclasses import replace
import math
from typing import Any

import numpy as np
import pytest

from rnea_ros.collision import collision_model
from rnea_ros.feedforward.trajectory import TrajectoryPoint
from rnea_ros.trajectory_check import (
    Quantity,
    TrajectoryCheck,
    TrajectoryLimits,
    check,
    report,
)
from rnea_ros.trajectory_check.check import NothingToCheckError, TrajectoryVerdict
from support.models.robots import ARM as ONE_JOINT
from support.models.robots import load
from support.models.shaped_arm import shaped_arm, tip_distance
from support.recorded.checked_motions import at, checked, figures_of, requested

SHOULDER = load(ONE_JOINT)  # limits: 3 rad, 2 rad/s, 100 N m
REST = at(0.0, 0.0, 0.0)
FIRST = at(0.0, 0.0, 0.0, 0.0)
Point = TrajectoryPoint


def test_points_are_needed() -> None:
    with pytest.raises(NothingToCheckError, match='no points'):
        checked([], model=SHOULDER)


@pytest.mark.parametrize(('points', 'given', 'words'), [
    ([REST, at(1.0, 0.5, 0.2), at(2.0, 1.0, 0.0)], {}, []),
    ([at(0.0, 0.5)], {}, []),  # a pose that is held
    ([at(0.0, 0.0), at(1.0, 0.5), at(2.0, 1.5)], {}, ['start_in_motion', 'velocity_step']),
    ([at(0.0, 0.0, 1e-7), at(1.0, 0.5, 0.0)], {}, []),
    ([FIRST, at(1.0, 0.5, 0.0, 0.3)], {}, ['final_acceleration']),
    ([at(0.0, 1.0, 0.0), at(2.0, 0.5, 0.0)], {'start': {'shoulder': 0.95}}, []),
    ([at(0.0, 1.0, 0.0), at(2.0, 0.5, 0.0)], {'start': {'shoulder': 0.5}}, ['start_too_far']),
    # What the node rejects
    ([REST, at(1.0, 0.5, 0.1)], {}, ['final_velocity']),
    ([REST, at(1.0, [0.5, 0.5], 0.0)], {}, ['wrong_size']),
    ([at(math.nan, 0.0, 0.0)], {}, ['not_finite']),
    ([REST], {'names': ('elbow',)}, ['unknown_joint']),
])
def test_traps_are_named_and_make_a_trajectory_faulty(
    points: list[Point], given: dict[str, Any], words: list[str]
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
    elif words and words[0] not in ('start_in_motion', 'final_acceleration'):
        assert found.traps[0].text.startswith('the feedforward node rejects it')


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
    hold = f'joints that the trajectory leaves out hold: {two.joint_names[0]} at 0.7 (see --start)'
    assert hold in found.notes
    held = figures_of(found).peaks[0]
    assert (held.joint, held.value) == (two.joint_names[0], 0.7)
    assert found.verdict is TrajectoryVerdict.FINE


def test_notes_say_what_is_not_in_the_result() -> None:
    points = [REST, at(1.0, 0.5, 0.0), at(2.0, 1.0)]
    limits = TrajectoryLimits.of_model(SHOULDER)
    request = replace(requested(points, SHOULDER.joint_names), start_time=5.0)
    efforts = requested([Point(0.0, [0.0], [0.0], (), [1.0])], SHOULDER.joint_names)
    for asked, words in (
        (request, ['the stamp', 'straight line', 'without friction']),
        (efforts, ['efforts of the points are not added', 'without friction']),
    ):
        notes = check(SHOULDER, asked, limits).notes
        for note, word in zip(notes, words, strict=True):
            assert word in note


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


# Collisions


def colliding(elbow: float) -> TrajectoryCheck:
    """Check a motion of the elbow from 2 rad in 2 s."""
    pytest.importorskip('mujoco', reason='MuJoCo is not installed')
    model = load(shaped_arm())
    request = requested(
        [at(0.0, [0.0, 2.0], [0.0, 0.0]), at(2.0, [0.0, elbow], [0.0, 0.0])], model.joint_names
    )
    limits = TrajectoryLimits.of_model(model)
    return check(model, request, limits, collision_model=collision_model(model))


def test_the_first_collision_is_a_trap_with_its_time() -> None:
    found = colliding(3.0)
    (trap,) = found.traps
    s = np.linspace(0.0, 1.0, 2001)
    first = 2.0 * s[[tip_distance(2.0 + (3.0 - 2.0 * at) * at**2) < 0.0 for at in s]][0]
    assert trap.word == 'collision'
    assert trap.text.startswith(f'base and lower at {first:.3f} s; ')
    assert '* collision: base and lower at' in report(found)


def test_the_least_distance_of_a_free_motion_is_reported() -> None:
    least = 1000.0 * tip_distance(2.42)
    expected = f'- no collision: least distance {least:.0f} mm, of base and lower'
    assert expected in report(colliding(2.42))
    assert 'no collision: all distances are above 30 mm' in report(colliding(2.1))
