# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Exciting motions: within all bounds, more informative than random ones, rejected by name."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnea_ros import RneaError, RobotModel
from rnea_ros.arrays import Array
from rnea_ros.identification.excitation import (
    Excitation,
    JointLimits,
    Region,
    RestToRestMotion,
    excite,
    known_motion,
    report,
)
from rnea_ros.trajectory_check import Quantity, TrajectoryLimits, check
from support.models.oracles import random_tree
from support.models.robots import ARM, PENDULUM, SHIPPED, joint, link, load, robot

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


@cache
def of_two_links() -> Excitation:
    """Return a motion of the arm with two links, from the middle of its ranges."""
    return excited(load(TWO_LINKS))


def states(motion: RestToRestMotion) -> tuple[Array, Array, Array]:
    """Return what a trajectory controller interpolates, every millisecond."""
    return motion.at(np.arange(0.0, motion.duration, 1e-3))


def test_a_motion_starts_and_ends_at_rest_in_the_start_pose() -> None:
    motion = excited(load(TWO_LINKS), start={'elbow': 0.5}).motion
    assert motion.duration == pytest.approx(10.0)
    for row in (0, -1):
        assert motion.positions[row].tolist() == [0.0, 0.5]
        assert motion.velocities[row].tolist() == motion.accelerations[row].tolist() == [0.0, 0.0]


def test_velocities_and_accelerations_are_the_derivatives_of_positions() -> None:
    motion = of_two_links().motion
    h = 1e-4
    t = np.linspace(0.1, 9.9, 331)
    before, here, after = (motion.at(t + shift) for shift in (-h, 0.0, h))
    np.testing.assert_allclose((after[0] - before[0]) / (2 * h), here[1], atol=1e-6)
    np.testing.assert_allclose((after[1] - before[1]) / (2 * h), here[2], atol=1e-5)


@pytest.mark.parametrize('path', SHIPPED[1:], ids=['panda_arm', 'ur5e'])
def test_a_short_search_beats_random_motions_in_condition_and_accuracy(path: Path) -> None:
    found = excited(load(path), 1.0)
    assert found.condition < found.random_condition
    assert np.mean(found.random_accuracy.torque / found.accuracy.torque) > 1.0
    assert 'times as accurate as from a random trajectory' in report(found)


def random_case(seed: int) -> tuple[RobotModel, JointLimits, Array, Region | None] | None:
    """Return a random robot at a random pose, with random limits and a box; None: all is fixed."""
    model = load(random_tree(seed))
    rng = np.random.default_rng(seed)
    if not model.nv:
        return None
    limits = JointLimits.of(model, {None: rng.uniform(0.3, 3.0)})
    lower, upper = np.maximum(limits.lower, -3.0), np.minimum(limits.upper, 3.0)
    start = lower + rng.uniform(0.1, 0.9, model.nv) * (upper - lower)
    origins = model.link_positions_batch([start], model.link_names)[0]
    gravity = np.abs(model.gravity_torques(start))
    limits = replace(limits, effort=(gravity + 0.1) * rng.uniform(1.5, 10.0, model.nv))
    room = rng.uniform(0.02, 1.0, (2, 3))
    sides = np.array([origins.min(axis=0) - room[0], origins.max(axis=0) + room[1]]).T
    kind = rng.integers(3)
    if kind == 0:
        return model, limits, start, None
    region = Region.box(*sides) if kind == 1 else Region.above(float(sides[2, 0]))
    return model, limits, start, region


def assert_within(found: Excitation, limits: JointLimits, region: Region | None) -> None:
    """Check a motion on a 1 ms grid, and with the exact extremes of check_trajectory."""
    model, motion = found.model, found.motion
    given: dict[str | None, float] = {}
    efforts: dict[str | None, float] = {}
    for name, velocity, effort in zip(
        model.joint_names, limits.velocity, limits.effort, strict=True
    ):
        given[name], efforts[name] = 0.8 * velocity, 0.8 * effort
    bounds = TrajectoryLimits.of_model(model)
    half = 0.45 * (limits.upper - limits.lower)
    bounded = np.isfinite(half)
    middle = limits.middle
    bounds = replace(
        bounds.with_limits(Quantity.VELOCITY, given).with_limits(Quantity.EFFORT, efforts),
        lower=np.where(bounded, middle - half, -np.inf),
        upper=np.where(bounded, middle + half, np.inf),
    )
    checked = check(model, motion.request(model.joint_names), bounds)
    assert not checked.violations
    assert not checked.traps
    assert not checked.rejections
    if region is None:
        return
    origins = model.link_positions_batch(states(motion)[0], model.link_names)
    moving = np.ptp(origins, axis=0).max(axis=1) > 1e-6
    assert (origins[:, moving] >= region.lower).all()
    assert (origins[:, moving] <= region.upper).all()


@pytest.mark.parametrize('seed', range(8))
def test_random_robots_never_leave_their_bounds(seed: int) -> None:
    case = random_case(seed)
    if case is None:
        pytest.skip('a robot without joints')
    model, limits, start, region = case
    found = excite(model, limits, start=start, region=region, seconds=0.05, seed=seed)
    assert np.ptp(found.motion.positions, axis=0).max() > 0.0
    np.testing.assert_array_equal(found.start, start)
    assert_within(found, limits, region)


def test_joints_that_hold_stay_at_the_start_and_may_stand_on_a_limit() -> None:
    found = excited(load(TWO_LINKS), joints=['shoulder'], start={'elbow': 3.0})
    assert found.motion.positions[:, 1] == pytest.approx(3.0, abs=0.0)
    assert np.ptp(found.motion.positions[:, 0]) > 0.1


def test_a_joint_without_range_stays_within_half_a_turn_of_the_start() -> None:
    model = load(PENDULUM)
    found = excited(model, limits=JointLimits.of(model, {None: 10.0}), start={'pivot': 7.0})
    positions = states(found.motion)[0]
    assert np.abs(positions - 7.0).max() <= np.pi
    assert np.ptp(positions) > 1.0


def test_the_limits_of_a_mimic_joint_bind_its_leader() -> None:
    follower = joint(
        'follower', 'revolute', 'base', 'second', more='<mimic joint="shoulder" multiplier="-2"/>'
    )
    text = ARM.replace('</robot>', link('second', 1.0) + follower + '</robot>')
    limits = JointLimits.of(load(text))
    assert (limits.lower[0], limits.upper[0], limits.velocity[0]) == (-1.5, 1.5, 1.0)


@pytest.mark.parametrize(('options', 'reason'), [
    ({'start': {'elbow': 2.9}}, r'joint elbow: is at 2.9 .*not within -2.7 to 2.7.*--start'),
    ({'start': {'knee': 0.0}}, "unknown joint 'knee'"),
    ({'joints': ['knee']}, "unknown joint 'knee'"),
    ({'joints': []}, 'no joint to excite'),
    ({'region': Region.above(0.1)}, r'link lower: .* z = 0 m at the start.*--keep-inside'),
    ({'region': Region.above(0.1, ['tip'])}, 'link tip: '),
    (
        {'region': Region.box((-1, 1), (-1, 1), (-1e-5, 1e-5))},
        'link lower: .*too near to the end of -1e-05 to 1e-05 m',
    ),
    ({'region': Region.above(0.1, ['toe'])}, "unknown link 'toe'"),
    ({'region': Region.box((-1, 0.5), (-1, 1), (-1, 1))}, 'link tip: .* x = 0.7 m'),
    ({'region': Region.box((-1, 1), (0.0, 1), (-1, 1))}, 'y = 0 m'),
    ({'duration': 0.0}, 'duration'),
])
def test_impossible_options_are_rejected_by_name(options: Mapping[str, Any], reason: str) -> None:
    with pytest.raises(RneaError, match=reason):
        excited(load(TWO_LINKS), **options)


@pytest.mark.parametrize(('text', 'reason'), [
    (PENDULUM, 'joint pivot: has no velocity limit.*--velocity-limits pivot='),
    (ARM.replace('lower="-3" upper="3"', 'lower="1" upper="1"'), 'shoulder.*no width'),
    (TWO_LINKS.replace('effort="100"', 'effort="9"'), 'shoulder: gravity needs.*80 % of its'),
    (ARM.replace('"revolute"', '"planar"'), 'joint shoulder: has more than one axis'),
])
def test_robots_that_cannot_be_excited_are_rejected_by_name(text: str, reason: str) -> None:
    model = load(text)
    with pytest.raises(RneaError, match=reason):
        excited(model)


def test_a_floating_base_is_rejected() -> None:
    with pytest.raises(RneaError, match='floating base: only robots on a fixed base'):
        JointLimits.of(RobotModel.from_urdf(ARM, floating_base=True))


def test_limits_are_replaced_by_joint() -> None:
    limits = JointLimits.of(load(TWO_LINKS), {'elbow': 1.0, None: 5.0}, {'shoulder': 7.0})
    assert limits.velocity.tolist() == [5.0, 1.0]
    assert limits.effort.tolist() == [7.0, 100.0]
    with pytest.raises(RneaError, match='velocity limit: 0 is not above 0'):
        JointLimits.of(load(TWO_LINKS), {None: 0.0})


def test_a_box_without_width_is_rejected() -> None:
    with pytest.raises(RneaError, match='box: y from 1 m to 1 m'):
        Region.box((0, 1), (1, 1), (0, 1))


def test_a_motion_can_be_repeated_slowed_and_stopped_on_its_path() -> None:
    model = load(TWO_LINKS)
    motion = excited(model, duration=20.0).motion
    np.testing.assert_allclose(motion.at(np.array([3.3]))[0], motion.at(np.array([13.3]))[0])
    slow = motion.slowed(0.5)
    assert slow.duration == pytest.approx(40.0)
    np.testing.assert_allclose(slow.at(np.array([8.0]))[1], motion.at(np.array([4.0]))[1] / 2)
    brake = motion.braked(4.0, 0.5)
    np.testing.assert_allclose(brake.velocities[-1], 0.0, atol=1e-12)
    np.testing.assert_allclose(brake.positions[-1], motion.at(np.array([4.25]))[0][0], atol=1e-9)
    speed = (brake.positions[1] - brake.positions[0]) / (brake.times[1] - brake.times[0])
    planned = (brake.velocities[1] + brake.velocities[0]) / 2.0
    np.testing.assert_allclose(speed, planned, atol=1e-2)


def test_the_way_to_the_start_keeps_its_bounds_or_is_rejected() -> None:
    model = load(TWO_LINKS)
    found = excited(model, region=Region.above(-0.5), start={'shoulder': -0.3})
    way = found.way_from([0.2, 0.1])
    assert way.positions[0].tolist() == [0.2, 0.1]
    assert way.positions[-1].tolist() == found.start.tolist()
    assert np.abs(states(way)[1]).max() < 0.5
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


def test_a_payload_that_the_motion_does_not_show_has_no_accuracy() -> None:
    found = excited(load(ARM))  # it turns about the vertical
    assert np.isnan(found.accuracy.mass)
    assert 'a payload on arm is not determined' in report(found)


def test_a_known_motion_is_checked_against_all_bounds() -> None:
    model = load(TWO_LINKS)
    limits = JointLimits.of(model)
    motion = of_two_links().motion
    request = motion.request(['shoulder', 'elbow'])
    pose = [0.2, 0.1]
    known = known_motion(model, limits, request, pose)
    np.testing.assert_array_equal(known.motion.positions, motion.positions)
    assert known.way_from(pose).positions[0].tolist() == pose
    slow = JointLimits.of(model, {'elbow': 0.01})
    with pytest.raises(RneaError, match=r'joint elbow: the velocity is .* in the motion, after'):
        known_motion(model, slow, request, pose)
    with pytest.raises(RneaError, match='link '):
        known_motion(model, limits, request, pose, Region.above(-0.001))
    with pytest.raises(RneaError, match="unknown joint 'shoulder'"):
        known_motion(load(PENDULUM), limits, request, [0.0])


def test_joints_that_a_known_motion_does_not_have_hold_their_position() -> None:
    model = load(TWO_LINKS)
    request = excited(model, joints=['shoulder']).motion.request(['shoulder'])
    known = known_motion(model, JointLimits.of(model), request, [9.0, 0.7])
    assert (known.motion.positions[:, 1] == 0.7).all()
    assert np.ptp(known.motion.positions[:, 0]) > 0.1


@pytest.mark.parametrize('field', ['positions', 'velocities', 'accelerations', 'times'])
def test_an_incomplete_or_abrupt_known_motion_is_rejected(field: str) -> None:
    model = load(TWO_LINKS)
    request = of_two_links().motion.request(['shoulder', 'elbow'])
    if field == 'times':
        broken = replace(request, times=request.times + 0.1)
    else:
        column = getattr(request, field)
        broken = replace(request, **{field: column._replace(counts=0 * column.counts)})
    with pytest.raises(RneaError, match=r'trajectory: .* excite and teach write'):
        known_motion(model, JointLimits.of(model), broken, [0.0, 0.0])
