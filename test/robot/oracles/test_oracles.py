# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Other people's code agrees: Pinocchio, MuJoCo and the textbook *Modern Robotics*."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from rnea_ros import RobotModel, UrdfError
from support.cases import each
from support.models.oracle_pairs import RANDOM_TREES, Pair, mujoco_pair, random_pair, vendor_pair
from support.models.oracles import STATES, Array, MuJoCo, Pinocchio, random_wrenches
from support.models.robots import SHIPPED, empty_vendor_robot, vendor_robots

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
