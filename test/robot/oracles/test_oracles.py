# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Pinocchio agrees on efforts, with and without wrenches, and on poses of links."""

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

from rnea_ros import RobotModel, UrdfError
from support.cases import each
from support.models import oracle_pairs
from support.models.comparison import assert_equal
from support.models.oracles import STATES, random_wrenches
from support.models.robots import empty_vendor_robot, vendor_robots

pytestmark = pytest.mark.oracle

Check: TypeAlias = Callable[[oracle_pairs.Pair], None]


def efforts(pair: oracle_pairs.Pair) -> None:
    for seed in STATES:
        motion = pair.motion(seed)
        expected = pair.pinocchio.inverse_dynamics(*motion)
        assert_equal(pair.model.inverse_dynamics(*motion), expected, pair.label)


def efforts_under_wrenches(pair: oracle_pairs.Pair) -> None:
    motion = pair.motion(0)
    wrenches = random_wrenches(0, pair.model.link_names)
    expected = pair.pinocchio.inverse_dynamics(*motion, wrenches)
    assert_equal(pair.model.inverse_dynamics(*motion, wrenches), expected, pair.label)


def poses(pair: oracle_pairs.Pair) -> None:
    q, _, _ = pair.motion(0)
    found = [pair.model.forward_kinematics(q, name) for name in pair.model.link_names]
    expected = pair.pinocchio.link_poses(q, pair.model.link_names)
    assert_equal(np.array(found), np.array(expected), pair.label)


CHECKS = (efforts, efforts_under_wrenches, poses)


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


@oracle_pairs.BASES
@pytest.mark.parametrize('path', vendor_robots())
@each('check', CHECKS)
def test_vendors_robots_are_pinocchios(check: Check, path: Path, floating: bool) -> None:
    check(oracle_pairs.vendor_pair(path, floating=floating, own_mimics=True))


@oracle_pairs.BASES
@pytest.mark.parametrize('seeds', oracle_pairs.RANDOM_TREES, ids=str)
def test_random_trees_are_pinocchios(seeds: range, floating: bool) -> None:
    for seed in seeds:
        for check in CHECKS:
            check(oracle_pairs.random_pair(seed, floating=floating))


@each('pair', oracle_pairs.SHIPPED_PAIRS)
@each('check', CHECKS)
def test_shipped_robots_are_pinocchios(check: Check, pair: oracle_pairs.Pair) -> None:
    check(pair)
