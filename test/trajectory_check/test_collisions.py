# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Collisions of a trajectory: the first one with its time, or the least distance."""

import numpy as np
import pytest

from rnea_ros.collision import Wall, collision_model
from rnea_ros.trajectory_check import TrajectoryCheck, TrajectoryLimits, check, report
from support.models.robots import load
from support.models.shaped_arm import shaped_arm, tip_distance
from support.recorded.checked_motions import at, requested

pytest.importorskip('mujoco', reason='MuJoCo is not installed')
MODEL = load(shaped_arm())


def checked(elbow: float, *walls: Wall) -> TrajectoryCheck:
    """Check a motion of the elbow from 2 rad in 2 s."""
    request = requested(
        [at(0.0, [0.0, 2.0], [0.0, 0.0]), at(2.0, [0.0, elbow], [0.0, 0.0])], MODEL.joint_names
    )
    shapes = collision_model(MODEL, walls=walls)
    return check(MODEL, request, TrajectoryLimits.of_model(MODEL), collision_model=shapes)


def test_the_first_collision_is_a_trap_with_its_time() -> None:
    found = checked(3.0)
    (trap,) = found.traps
    s = np.linspace(0.0, 1.0, 2001)
    elbows = 2.0 + 3.0 * s**2 - 2.0 * s**3
    first = 2.0 * s[[tip_distance(elbow) < 0.0 for elbow in elbows]][0]
    assert trap.word == 'collision'
    assert trap.text.startswith(f'base and lower at {first:.3f} s; ')
    assert '* collision: base and lower at' in report(found)


def test_the_least_distance_of_a_free_motion_is_reported() -> None:
    found = checked(2.42)
    assert not found.traps
    least = 1000.0 * tip_distance(2.42)
    assert f'- no collision: least distance {least:.0f} mm, of base and lower' in report(found)
    assert 'no collision: all distances are above 30 mm' in report(checked(2.1))


def test_the_floor_is_compared_with_shapes() -> None:
    (trap,) = checked(1.9, Wall('the floor', (0.0, 0.0, -0.25), (0.0, 0.0, 1.0))).traps
    assert trap.text.startswith('lower and the floor at 0.000 s; ')
