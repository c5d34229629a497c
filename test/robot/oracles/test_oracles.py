# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Other people's code agrees: Pinocchio, MuJoCo and the textbook *Modern Robotics*."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from rnea_ros import RobotModel, UrdfError, Wrench
from support.cases import each
from support.models.oracle_pairs import RANDOM_TREES, Pair, mujoco_pair, random_pair, vendor_pair
from support.models.oracles import STATES, Array, MuJoCo, Pinocchio, random_state, random_wrenches
from support.models.robots import (
    SHIPPED,
    empty_vendor_robot,
    joint,
    link,
    load,
    robot,
    vendor_robots,
)

pytestmark = pytest.mark.oracle

SHIPPED_PAIRS = [
    pytest.param(Pair(path.stem, path.read_text(encoding='utf-8')), id=path.stem)
    for path in SHIPPED
]


def assert_equal(actual: Array, expected: Array, label: str) -> None:
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-10, err_msg=label)


def assert_efforts_agree(pair: Pair, oracle: Pinocchio | MuJoCo, states: range = STATES) -> None:
    for seed in states:
        state = pair.motion(seed)
        expected = oracle.inverse_dynamics(*state)
        assert_equal(pair.model.inverse_dynamics(*state), expected, pair.label)


def assert_wrenches_agree(pair: Pair, states: range = STATES) -> None:
    for seed in states:
        state = pair.motion(seed)
        wrenches = random_wrenches(seed, pair.model.link_names)
        expected = pair.pinocchio.inverse_dynamics(*state, wrenches)
        assert_equal(pair.model.inverse_dynamics(*state, wrenches), expected, pair.label)


def assert_poses_agree(pair: Pair) -> None:
    q, _, _ = pair.motion(0)
    found = [pair.model.forward_kinematics(q, name) for name in pair.model.link_names]
    expected = pair.pinocchio.link_poses(q, pair.model.link_names)
    assert_equal(np.array(found), np.array(expected), pair.label)


def test_a_robot_without_links_is_rejected_as_pinocchio_rejects_it() -> None:
    path = empty_vendor_robot()
    pinocchio = pytest.importorskip('pinocchio')
    with pytest.raises(UrdfError, match='has no link'):
        RobotModel.from_urdf(path)
    with pytest.raises(ValueError, match='ur3'):
        pinocchio.buildModelFromUrdf(str(path))


def test_no_other_robot_is_left_out() -> None:
    empty_vendor_robot()  # skips where there are none
    release = version('example-robot-data')
    if release.split('.')[0] != '6':
        pytest.skip(f'example-robot-data {release} has fewer robots than 6')
    assert len(vendor_robots()) >= 68


@pytest.mark.parametrize('floating', [False, True], ids=['fixed', 'floating'])
@pytest.mark.parametrize('path', vendor_robots())
def test_efforts_of_vendors_robots_are_pinocchios(path: Path, floating: bool) -> None:
    pair = vendor_pair(path, floating=floating, own_mimics=True)
    assert_efforts_agree(pair, pair.pinocchio)


@pytest.mark.parametrize('floating', [False, True], ids=['fixed', 'floating'])
@pytest.mark.parametrize('path', vendor_robots())
def test_efforts_under_wrenches_on_vendors_robots_are_pinocchios(
    path: Path, floating: bool
) -> None:
    assert_wrenches_agree(vendor_pair(path, floating=floating, own_mimics=True), range(1))


@pytest.mark.parametrize('floating', [False, True], ids=['fixed', 'floating'])
@pytest.mark.parametrize('path', vendor_robots())
def test_every_link_of_vendors_robots_stands_where_pinocchio_has_it(
    path: Path, floating: bool
) -> None:
    assert_poses_agree(vendor_pair(path, floating=floating, own_mimics=True))


@pytest.mark.parametrize('floating', [False, True], ids=['fixed', 'floating'])
@pytest.mark.parametrize('seeds', RANDOM_TREES, ids=str)
def test_random_trees_are_pinocchios(seeds: range, floating: bool) -> None:
    for seed in seeds:
        pair = random_pair(seed, floating=floating)
        assert_efforts_agree(pair, pair.pinocchio, range(2))
        assert_wrenches_agree(pair, range(1))
        assert_poses_agree(pair)


@each('pair', SHIPPED_PAIRS)
def test_shipped_robots_are_pinocchios(pair: Pair) -> None:
    assert_efforts_agree(pair, pair.pinocchio)
    assert_wrenches_agree(pair)
    assert_poses_agree(pair)


@each('pair', SHIPPED_PAIRS)
def test_efforts_of_shipped_robots_are_mujocos(pair: Pair) -> None:
    assert_efforts_agree(pair, pair.mujoco)


@pytest.mark.parametrize('path', vendor_robots())
def test_efforts_of_vendors_robots_are_mujocos(path: Path) -> None:
    pair = mujoco_pair(path)
    assert_efforts_agree(pair, pair.mujoco)


@pytest.mark.parametrize('seeds', RANDOM_TREES, ids=str)
def test_efforts_of_random_trees_are_mujocos(seeds: range) -> None:
    for seed in seeds:
        pair = mujoco_pair(seed)
        assert_efforts_agree(pair, pair.mujoco, range(2))


# The example in the documentation of modern_robotics.InverseDynamics: three joints, by the pose of
# each link's centre of mass in the one before, the last is the tip's, and by their screw axes.
TEXTBOOK_POSES = np.array([
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.089159], [0, 0, 0, 1]],
    [[0, 0, 1, 0.28], [0, 1, 0, 0.13585], [-1, 0, 0, 0], [0, 0, 0, 1]],
    [[1, 0, 0, 0], [0, 1, 0, -0.1197], [0, 0, 1, 0.395], [0, 0, 0, 1]],
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.14225], [0, 0, 0, 1]],
])
TEXTBOOK_INERTIAS = np.array([
    [0.010267, 0.010267, 0.00666, 3.7, 3.7, 3.7],
    [0.22689, 0.22689, 0.0151074, 8.393, 8.393, 8.393],
    [0.0494433, 0.0494433, 0.004095, 2.275, 2.275, 2.275],
])
TEXTBOOK_SCREWS = np.array([
    [1.0, 0, 1, 0, 1, 0], [0, 1, 0, -0.089, 0, 0], [0, 1, 0, -0.089, 0, 0.425],
])
TEXTBOOK_GRAVITY = np.array([0.0, 0.0, -9.8])


def textbook_robot() -> str:
    """Return the example as URDF text, every joint frame parallel to the base."""
    elements = [link('link_0')]
    previous, pose = np.zeros(3), np.eye(4)
    turned = np.zeros(3)
    for i, (screw, step, inertia) in enumerate(
        zip(TEXTBOOK_SCREWS, TEXTBOOK_POSES, TEXTBOOK_INERTIAS, strict=False), start=1
    ):
        pose = pose @ step
        # The example turns nothing but by a quarter turn about y, once.
        turned[1] += np.arctan2(step[0, 2], step[0, 0])
        angular, linear = screw[:3], screw[3:]
        on_axis = np.cross(angular, linear) / (angular @ angular)
        Jx, Jy, Jz, mass, _, _ = inertia
        elements += [
            link(f'link_{i}', mass, pose[:3, 3] - on_axis, (Jx, 0, 0, Jy, 0, Jz), turned),
            joint(
                f'joint_{i}', 'revolute', f'link_{i - 1}', f'link_{i}',
                xyz=on_axis - previous, axis=angular / np.linalg.norm(angular),
            ),
        ]
        previous = on_axis
    tip = (pose @ TEXTBOOK_POSES[3])[:3, 3] - previous
    elements += [link('tip'), joint('tip_joint', 'fixed', 'link_3', 'tip', xyz=tip, rpy=turned)]
    return robot(*elements)


def textbook_efforts(theta: Array, dtheta: Array, ddtheta: Array, tip: Array) -> Array:
    """Return the model's efforts for the book's variables; tip acts on the environment."""
    model = load(textbook_robot(), TEXTBOOK_GRAVITY)
    # The first screw axis is no unit vector: its angle counts in units of 1 / sqrt(2) rad.
    scale = np.linalg.norm(TEXTBOOK_SCREWS[:, :3], axis=1)
    on_robot = Wrench(torque=(-tip[:3]).tolist(), force=(-tip[3:]).tolist())
    efforts: Array = scale * model.inverse_dynamics(
        scale * theta, scale * dtheta, scale * ddtheta, {'tip': on_robot}
    )
    return efforts


def test_the_textbooks_published_efforts_come_out() -> None:
    efforts = textbook_efforts(
        np.array([0.1, 0.1, 0.1]), np.array([0.1, 0.2, 0.3]), np.array([2.0, 1.5, 1.0]), np.ones(6)
    )
    # Published with eight decimals.
    np.testing.assert_allclose(efforts, [74.69616155, -33.06766016, -3.23057314], atol=1e-8)


@pytest.mark.parametrize('seed', range(10))
def test_the_textbooks_code_gives_the_same_efforts(seed: int) -> None:
    modern_robotics = pytest.importorskip('modern_robotics')
    state = random_state(seed, 3)
    tip = np.random.default_rng(seed).normal(size=6)
    expected = modern_robotics.InverseDynamics(
        *state,
        TEXTBOOK_GRAVITY,
        tip,
        TEXTBOOK_POSES,
        np.array([np.diag(inertia) for inertia in TEXTBOOK_INERTIAS]),
        TEXTBOOK_SCREWS.T,
    )
    np.testing.assert_allclose(textbook_efforts(*state, tip), expected, rtol=1e-9, atol=1e-10)
