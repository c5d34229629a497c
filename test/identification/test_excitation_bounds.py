# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Exciting motions keep all bounds at all times, links apart and above a floor."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from rnea_ros import RneaError, RobotModel
from rnea_ros.arrays import Array
from rnea_ros.collision import collision_model
from rnea_ros.feedforward.trajectory import TrajectoryRequest
from rnea_ros.identification import Run
from rnea_ros.identification.excitation import (
    Excitation,
    JointLimits,
    Region,
    excite,
    known_motion,
    report,
    way,
)
from rnea_ros.identification.excitation.bounds import Constraints
from rnea_ros.identification.excitation.criterion import Information
from rnea_ros.identification.excitation.motion import FourierBasis
from rnea_ros.identification.excitation.search import Objective
from rnea_ros.trajectory_check import TrajectoryLimits, check
from support.models.oracles import random_tree
from support.models.robots import load
from support.models.shaped_arm import LOWER, TIP, UPPER, shaped_arm, tip_distance

NEEDS_MUJOCO = 'MuJoCo is not installed'


def random_case(seed: int) -> tuple[RobotModel, JointLimits, Array, Region | None]:
    """Return a random robot at a random pose, with random limits and a region."""
    model = load(random_tree(seed))
    rng = np.random.default_rng(seed)
    limits = JointLimits.of(model, {None: rng.uniform(0.3, 3.0)})
    lower, upper = np.maximum(limits.lower, -3.0), np.minimum(limits.upper, 3.0)
    start = lower + rng.uniform(0.1, 0.9, model.nv) * (upper - lower)
    origins = model.link_positions_batch([start], model.link_names)[0]
    gravity = np.abs(model.gravity_torques(start))
    limits = replace(limits, effort=(gravity + 0.1) * rng.uniform(1.5, 10.0, model.nv))
    room = rng.uniform(0.02, 1.0, (2, 3))
    sides = np.array([origins.min(axis=0) - room[0], origins.max(axis=0) + room[1]]).T
    kind = rng.integers(3)
    region = Region.box(*sides) if kind == 1 else Region.above(float(sides[2, 0]))
    return model, limits, start, region if kind else None


@pytest.mark.parametrize('seed', [0, 2, 4, 6, 7])
def test_random_robots_never_leave_their_bounds(seed: int) -> None:
    model, limits, start, region = random_case(seed)
    found = excite(model, limits, start=start, region=region, seconds=0.05, seed=seed)
    assert np.ptp(found.motion.positions, axis=0).max() > 0.0
    np.testing.assert_array_equal(found.start, start)
    # On a grid of 1 ms, and with the exact extremes of check_trajectory
    half = 0.45 * (limits.upper - limits.lower)
    bounds = replace(
        TrajectoryLimits.of_model(model),
        velocity=0.8 * limits.velocity, effort=0.8 * limits.effort,
        lower=np.where(np.isfinite(half), limits.middle - half, -np.inf),
        upper=np.where(np.isfinite(half), limits.middle + half, np.inf),
    )
    checked = check(model, found.motion.request(model.joint_names), bounds)
    assert not [*checked.violations, *checked.traps, *checked.rejections]
    if region is not None:
        q = found.motion.at(np.arange(0.0, found.motion.duration, 1e-3))[0]
        origins = model.link_positions_batch(q, model.link_names)
        moving = origins[:, np.ptp(origins, axis=0).max(axis=1) > 1e-6]
        assert (moving >= region.lower).all()
        assert (moving <= region.upper).all()


SHAPED = load(shaped_arm())


def excited(model: RobotModel, **options: Any) -> Excitation:
    return excite(model, JointLimits.of(model), seconds=0.15, **options)


@cache
def free() -> Excitation:
    return excited(SHAPED)


def bending(elbow: float) -> TrajectoryRequest:
    """Return a motion of the elbow alone, from straight to an angle."""
    names, velocity = SHAPED.joint_names, JointLimits.of(SHAPED).velocity
    return way(names, np.zeros(2), np.array([0.0, elbow]), velocity).request(names)


def test_both_motions_keep_links_apart_at_all_times() -> None:
    pytest.importorskip('mujoco', reason=NEEDS_MUJOCO)
    start, shapes = {'elbow': 2.2, 'shoulder': 0.5}, collision_model(SHAPED)
    found = excited(SHAPED, collisions=shapes, start=start)
    for motion in (found.motion, found.validation):
        q = motion.at(np.arange(0.0, motion.duration, 1e-3))[0]
        assert min(tip_distance(elbow) for elbow in q[:, 1]) >= 0.01
    assert 'no collision in either motion, every ms: ' in report(found)
    assert 'no collision' not in report(free())
    bent = bending(2.65)
    with pytest.raises(RneaError, match=r'link base: .* lower in the motion, after'):
        known_motion(SHAPED, JointLimits.of(SHAPED), bent, [0.0, 0.0], collisions=shapes)
    with pytest.raises(RneaError, match='link base: collides with lower at the start pose, at -'):
        excited(SHAPED, collisions=shapes, start={'elbow': 2.69})


def test_shapes_stay_above_the_floor() -> None:
    pytest.importorskip('mujoco', reason=NEEDS_MUJOCO)
    region = Region.above(-0.2, ['lower'])
    shapes = collision_model(SHAPED, walls=region.walls, walled=['lower'])

    def lowest(found: Excitation) -> float:
        q = found.motion.sampled()[1][0]
        return float((-UPPER * np.sin(q[:, 0]) - LOWER * np.sin(q.sum(axis=1)) - TIP).min())

    assert lowest(excited(SHAPED, collisions=shapes, region=region)) >= -0.2
    # The link's frame stays level, its tip goes below.
    with pytest.raises(RneaError, match=r'link lower: .* in the motion, after'):
        known_motion(
            SHAPED, JointLimits.of(SHAPED), bending(1.2), [0.0, 0.0], region, collisions=shapes
        )


def test_the_slopes_of_the_search_are_those_of_its_objective() -> None:
    moves, start, random = [0, 1], np.array([0.5, 2.2]), np.random.default_rng(0)
    limits = JointLimits.of(SHAPED).with_margins(start, moves)
    q, qd, qdd = random.normal(size=(3, 50, 2))
    information = Information.of(SHAPED, (q, qd, qdd), moves, np.ones(2))
    basis = FourierBasis.at(np.linspace(0.0, 10.0, 101), 10.0)
    constraints = Constraints.of(SHAPED, limits, Region.above(-0.2, ['lower']))
    objective = Objective(information, constraints, basis, start, moves)
    x, shift = random.normal(size=16), random.uniform(size=constraints.lower.shape)
    _, slopes = objective.penalised(x, shift, 100.0)
    h = 1e-6
    ends = [[objective.penalised(x + sign * step, shift, 100.0)[0] for sign in (-1.0, 1.0)]
            for step in h * np.eye(16)]  # fmt: skip
    moved = np.diff(ends)[:, 0] / (2.0 * h)
    np.testing.assert_allclose(slopes, moved, rtol=1e-4, atol=1e-5 * np.abs(moved).max())


def test_the_second_motion_is_another_and_a_recording_counts() -> None:
    first, other = (each.positions - free().start for each in (free().motion, free().validation))
    assert np.ptp(other, axis=0).min() > 0.1
    assert abs((first * other).sum()) / np.sqrt((first**2).sum() * (other**2).sum()) < 0.7
    time, (q, qd, qdd) = free().motion.sampled()
    segment = np.zeros(len(time), dtype=np.intp)
    run = Run('bag', time, q, qd, qdd, np.zeros_like(q), segment, SHAPED.joint_names)
    after = excited(SHAPED, after=run, joints=['shoulder'])
    without = excited(SHAPED, joints=['shoulder'])
    assert (after.accuracy.torque < without.accuracy.torque).all()
    # The same motion twice: half the variance.
    twice = excited(SHAPED, after=run).accuracy.torque
    np.testing.assert_allclose(twice, free().accuracy.torque / np.sqrt(2.0), rtol=0.2)
