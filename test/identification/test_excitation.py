# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Exciting motions: from rest to rest, informative, within all bounds; known ones checked."""

from dataclasses import replace
from functools import cache
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rnea_ros import RneaError, RobotModel
from rnea_ros.arrays import Array
from rnea_ros.collision import collision_model
from rnea_ros.feedforward.motion import TrajectoryRequest
from rnea_ros.identification import Run
from rnea_ros.identification.excitation import (
    Excitation,
    JointLimits,
    Region,
    excite,
    known_motion,
    report,
    search,
    way,
)
from rnea_ros.identification.excitation.bounds import Constraints
from rnea_ros.identification.excitation.criterion import Information
from rnea_ros.identification.excitation.motion import FourierBasis
from rnea_ros.identification.excitation.search import Objective
from rnea_ros.trajectory_check import TrajectoryLimits, check
from support.models.oracles import random_tree
from support.models.robots import ARM, PENDULUM, SHIPPED, joint, link, load, robot
from support.models.shaped_arm import LOWER, TIP, UPPER, shaped_arm, tip_distance

TWO_LINKS = robot(
    link('base'), link('upper', 2.0, (0.2, 0.0, 0.0)), link('lower', 1.0, (0.1, 0.02, 0.0)),
    link('tip'), joint('shoulder', 'revolute', 'base', 'upper', axis=(0, 1, 0)),
    joint('elbow', 'revolute', 'upper', 'lower', xyz=(0.4, 0, 0), axis=(0, 1, 0)),
    joint('mount', 'fixed', 'lower', 'tip', xyz=(0.3, 0, 0)),
)


def excited(model: RobotModel, seconds: float = 0.05, **options: Any) -> Excitation:
    """Return a motion that was searched for a short time."""
    limits = options.pop('limits', None) or JointLimits.of(model)
    return excite(model, limits, seconds=seconds, **options)


TWO = load(TWO_LINKS)


def rejected(
    reason: str, request: TrajectoryRequest, region: Region | None = None, **velocities: float
) -> None:
    """Check that a known motion of two links from a pose is rejected for a reason."""
    limits = JointLimits.of(TWO, dict(velocities.items()))
    with pytest.raises(RneaError, match=reason):
        known_motion(TWO, limits, request, [0.2, 0.1], region)


@cache
def of_two_links() -> Excitation:
    return excited(TWO, start={'elbow': 0.5}, duration=20.0)


def test_a_motion_is_smooth_from_rest_to_rest_in_the_start_pose() -> None:
    motion = of_two_links().motion
    assert motion.duration == pytest.approx(20.0)
    for row in (0, -1):
        assert motion.positions[row].tolist() == [0.0, 0.5]
        assert motion.velocities[row].tolist() == motion.accelerations[row].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(motion.at(motion.times)[0], motion.positions, atol=1e-12)
    h = 1e-4
    t = np.linspace(0.1, 9.9, 331)
    before, here, after = (motion.at(t + shift) for shift in (-h, 0.0, h))
    np.testing.assert_allclose((after[0] - before[0]) / (2 * h), here[1], atol=1e-6)
    np.testing.assert_allclose((after[1] - before[1]) / (2 * h), here[2], atol=1e-5)


def test_a_motion_can_be_repeated_slowed_and_stopped_on_its_path() -> None:
    motion = of_two_links().motion
    np.testing.assert_allclose(motion.at(np.array([3.3]))[0], motion.at(np.array([13.3]))[0])
    slow = motion.slowed(0.5)
    assert slow.duration == pytest.approx(40.0)
    np.testing.assert_allclose(slow.at(np.array([8.0]))[1], motion.at(np.array([4.0]))[1] / 2)
    brake = motion.braked(4.0, 0.5)
    np.testing.assert_allclose(brake.velocities[-1], 0.0, atol=1e-12)
    np.testing.assert_allclose(brake.positions[-1], motion.at(np.array([4.25]))[0][0], atol=1e-9)
    speed = np.diff(brake.positions[:2], axis=0)[0] / np.diff(brake.times[:2])
    np.testing.assert_allclose(speed, brake.velocities[:2].mean(axis=0), atol=1e-2)


def test_a_short_search_beats_random_motions_in_condition_and_accuracy() -> None:
    found = excited(load(SHIPPED[2]), 0.6)
    assert found.condition < found.random_condition
    assert np.mean(found.random_accuracy.torque / found.accuracy.torque) > 1.0
    assert 'times as accurate as from a random trajectory' in report(found)


def test_a_number_of_evaluations_gives_one_motion_at_any_load(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    found = excited(TWO, 1e4, evaluations=120).motion.positions
    monkeypatch.setattr(search, 'time', SimpleNamespace(thread_time=count(0.0, 0.3).__next__))
    assert (excited(TWO, 1e4, evaluations=120).motion.positions == found).all()
    assert (excited(TWO, 1e4, evaluations=300).motion.positions != found).any()


def test_limits_are_replaced_by_joint_and_bound_by_followers() -> None:
    limits = JointLimits.of(TWO, {'elbow': 1.0, None: 5.0}, {'shoulder': 7.0})
    assert limits.velocity.tolist() == [5.0, 1.0]
    assert limits.effort.tolist() == [7.0, 100.0]
    follower = joint(
        'follower', 'revolute', 'base', 'second', more='<mimic joint="shoulder" multiplier="-2"/>'
    )
    text = ARM.replace('</robot>', link('second', 1.0) + follower + '</robot>')
    limits = JointLimits.of(load(text))
    assert (limits.lower[0], limits.upper[0], limits.velocity[0]) == (-1.5, 1.5, 1.0)


def test_a_motion_keeps_the_acceleration_limits_of_the_urdf() -> None:
    limit = 'effort="100" acceleration="0.5" deceleration="0.4"'
    model = load(TWO_LINKS.replace('effort="100"', limit, 1))
    free, found = excited(TWO).motion, excited(model)
    assert np.abs(found.motion.accelerations[:, 0]).max() <= 0.8 * 0.4 + 1e-9
    assert np.abs(free.accelerations[:, 0]).max() > 0.4
    request = free.request(['shoulder', 'elbow'])
    with pytest.raises(RneaError, match=r'shoulder: the acceleration is .*\(in the URDF'):
        known_motion(model, JointLimits.of(model), request, [0.0, 0.0])


def test_the_way_to_the_start_keeps_its_bounds_or_is_rejected() -> None:
    found = excited(TWO, region=Region.above(-0.5), start={'shoulder': -0.3})
    way = found.way_from([0.2, 0.1])
    assert way.positions[0].tolist() == [0.2, 0.1]
    assert way.positions[-1].tolist() == found.start.tolist()
    assert np.abs(way.at(np.arange(0.0, way.duration, 1e-3))[1]).max() < 0.5
    with pytest.raises(RneaError, match=r'link .* on the way to the start pose, after 0.00 s'):
        found.way_from([1.5, 0.0])


def test_the_expected_accuracy_is_that_of_many_noisy_fits() -> None:
    wrist = joint('wrist', 'revolute', 'lower', 'hand', xyz=(0.2, 0, 0), axis=(1, 0, 0))
    model = load(TWO_LINKS.replace('</robot>', link('hand', 0.5) + wrist + '</robot>'))
    found = excited(model)
    first = 10 * model.body_names.index(found.accuracy.link)
    t = np.linspace(0.0, 10.0, 200, endpoint=False)  # 20 independent samples a second
    Y = model.regressor_batch(*found.motion.at(t))[:, :, first : first + 10]
    rows = (Y / found.noise[:, np.newaxis]).reshape(-1, 10)
    noise = np.random.default_rng(0).normal(size=(len(rows), 5000))
    deviations = np.linalg.lstsq(rows, noise, rcond=1e-9)[0].std(axis=1)
    assert found.accuracy.mass == pytest.approx(deviations[0], rel=0.1)
    assert found.accuracy.com == pytest.approx(deviations[1:4].max(), rel=0.1)


def test_joints_that_hold_stay_at_the_start_and_may_stand_on_a_limit() -> None:
    found = excited(TWO, joints=['shoulder'], start={'elbow': 3.0})
    assert found.motion.positions[:, 1] == pytest.approx(3.0, abs=0.0)
    assert np.ptp(found.motion.positions[:, 0]) > 0.1
    # It turns about the vertical, which shows no payload.
    vertical = excited(load(ARM))
    assert np.isnan(vertical.accuracy.mass)
    assert 'a payload on arm is not determined' in report(vertical)
    # A known motion of some joints holds the others as well.
    request = vertical.motion.request(['shoulder'])
    known = known_motion(TWO, JointLimits.of(TWO), request, [9.0, 0.7])
    assert (known.motion.positions[:, 1] == 0.7).all()
    assert np.ptp(known.motion.positions[:, 0]) > 0.1


def test_a_joint_without_range_stays_within_half_a_turn_of_the_start() -> None:
    model = load(PENDULUM)
    limits = JointLimits.of(model, {None: 10.0})
    motion = excited(model, limits=limits, start={'pivot': 7.0}).motion
    positions = motion.at(np.arange(0.0, motion.duration, 1e-3))[0]
    assert np.abs(positions - 7.0).max() <= np.pi
    assert np.ptp(positions) > 1.0


@pytest.mark.parametrize(('text', 'options', 'reason'), [
    (TWO_LINKS, {'start': {'elbow': 2.9}},
     r'joint elbow: is at 2.9 .*not within -2.7 to 2.7.*--start'),
    (TWO_LINKS, {'joints': ['knee']}, "unknown joint 'knee'"),
    (TWO_LINKS, {'joints': []}, 'no joint to excite'),
    (TWO_LINKS, {'region': Region.above(0.1)}, r'link lower: .* z = 0 m at .*--keep-inside'),
    (TWO_LINKS, {'region': Region.above(0.1, ['tip'])}, 'link tip: '),
    (TWO_LINKS, {'region': Region.box((-1, 1), (-1, 1), (-1e-5, 1e-5))},
     r'link \w+: .* in the smallest motion .*not within -1e-05 to 1e-05 m'),
    (TWO_LINKS.replace('0.1 0.02 0.0', '0 0 0').replace('ixx="0.1"', 'ixx="5e9"').replace(
        'iyy="0.1"', 'iyy="5e9"'), {'start': {'shoulder': 1.5, 'elbow': 1.0}},
     r'joint \w+: the effort is .* in the smallest motion .*not within -80 to 80 \(80 % of its'),
    (TWO_LINKS, {'region': Region.above(0.1, ['toe'])}, "unknown link 'toe'"),
    (TWO_LINKS, {'region': Region.box((-1, 0.5), (-1, 1), (-1, 1))}, 'link tip: .* x = 0.7 m'),
    (TWO_LINKS, {'duration': 0.0}, 'duration'),
    (PENDULUM, {}, 'joint pivot: has no velocity limit.*--velocity-limits pivot='),
    (ARM.replace('lower="-3" upper="3"', 'lower="1" upper="1"'), {}, 'shoulder.*no width'),
    (TWO_LINKS.replace('effort="100"', 'effort="9"'), {}, 'shoulder: gravity needs.*80 % of its'),
    (ARM.replace('"revolute"', '"planar"'), {}, 'joint shoulder: has more than one axis'),
])
def test_what_makes_a_motion_impossible_is_named(
    text: str, options: dict[str, Any], reason: str
) -> None:
    with pytest.raises(RneaError, match=reason):
        excited(load(text), **options)


def test_a_known_motion_is_checked_against_all_bounds() -> None:
    motion, pose = of_two_links().motion, [0.2, 0.1]
    request = motion.request(['shoulder', 'elbow'])
    known = known_motion(TWO, JointLimits.of(TWO), request, pose)
    np.testing.assert_array_equal(known.motion.positions, motion.positions)
    assert known.way_from(pose).positions[0].tolist() == pose
    rejected('joint elbow: the velocity is .* in the motion, after', request, elbow=0.01)
    rejected('link ', request, region=Region.above(-0.001))
    # Incomplete, or abrupt
    broken = [replace(request, times=request.times + 0.1)] + [
        replace(request, **{field: column._replace(counts=0 * column.counts)})
        for field in ('positions', 'velocities', 'accelerations')
        for column in [getattr(request, field)]
    ]
    for each in broken:
        rejected('trajectory: .* excite and teach write', each)
    with pytest.raises(RneaError, match='floating base: only robots on a fixed base'):
        JointLimits.of(RobotModel.from_urdf(ARM, floating_base=True))


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


@cache
def free() -> Excitation:
    return excited(SHAPED, 0.15)


def bending(elbow: float) -> TrajectoryRequest:
    """Return a motion of the elbow alone, from straight to an angle."""
    names, velocity = SHAPED.joint_names, JointLimits.of(SHAPED).velocity
    return way(names, np.zeros(2), np.array([0.0, elbow]), velocity).request(names)


def test_both_motions_keep_links_apart_at_all_times() -> None:
    pytest.importorskip('mujoco', reason=NEEDS_MUJOCO)
    start, shapes = {'elbow': 2.2, 'shoulder': 0.5}, collision_model(SHAPED)
    found = excited(SHAPED, 0.15, collisions=shapes, start=start)
    for motion in (found.motion, found.validation):
        q = motion.at(np.arange(0.0, motion.duration, 1e-3))[0]
        assert min(tip_distance(elbow) for elbow in q[:, 1]) >= 0.01
    assert 'no collision in either motion, every ms: ' in report(found)
    assert 'no collision' not in report(free())
    bent = bending(2.65)
    with pytest.raises(RneaError, match=r'link base: .* lower in the motion, after'):
        known_motion(SHAPED, JointLimits.of(SHAPED), bent, [0.0, 0.0], collisions=shapes)
    with pytest.raises(RneaError, match='link base: collides with lower at the start pose, at -'):
        excited(SHAPED, 0.15, collisions=shapes, start={'elbow': 2.69})


def test_shapes_stay_above_the_floor() -> None:
    pytest.importorskip('mujoco', reason=NEEDS_MUJOCO)
    region = Region.above(-0.2, ['lower'])
    shapes = collision_model(SHAPED, walls=region.walls, walled=['lower'])

    def lowest(found: Excitation) -> float:
        q = found.motion.sampled()[1][0]
        return float((-UPPER * np.sin(q[:, 0]) - LOWER * np.sin(q.sum(axis=1)) - TIP).min())

    assert lowest(excited(SHAPED, 0.15, collisions=shapes, region=region)) >= -0.2
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
    after = excited(SHAPED, 0.15, after=run, joints=['shoulder'])
    without = excited(SHAPED, 0.15, joints=['shoulder'])
    assert (after.accuracy.torque < without.accuracy.torque).all()
    # The same motion twice: half the variance.
    twice = excited(SHAPED, 0.15, after=run).accuracy.torque
    np.testing.assert_allclose(twice, free().accuracy.torque / np.sqrt(2.0), rtol=0.2)
