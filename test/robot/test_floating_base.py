# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A robot whose root link moves freely is the same robot; held, it is the one that is fixed."""

from pathlib import Path
import pickle
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel, UrdfError
from rnea_ros.urdf import parse_urdf, read_urdf
from support.cases import each
from support.models.comparison import assert_equal
from support.models.oracle_pairs import random_motion
from support.models.oracles import random_tree
from support.models.robots import SHIPPED, joint, link, load, robot

ROBOTS = [SHIPPED[0], SHIPPED[2], *map(random_tree, (3, 19, 53))]


def pair(source: str | Path, gravity: Any = (1.0, -2.0, -9.0)) -> tuple[RobotModel, RobotModel]:
    """Return a robot on a floating base, and on a fixed one."""
    read = parse_urdf(read_urdf(source))
    floating = RobotModel.from_description(read, floating_base=True, gravity=gravity)
    return floating, RobotModel.from_description(read, gravity=gravity)


@each('source', ROBOTS)
def test_the_free_joint_comes_first_and_all_else_stays_in_order(source: str | Path) -> None:
    floating, fixed = pair(source)
    assert floating.joint_names == ('floating_base', *fixed.joint_names)
    assert floating.link_names == fixed.link_names
    assert (floating.nq, floating.nv) == (7 + fixed.nq, 6 + fixed.nv)
    assert floating.position_indices('floating_base') == slice(0, 7)
    assert floating.velocity_indices('floating_base') == slice(0, 6)
    for name in fixed.joint_names:
        assert floating.position_indices(name).start == 7 + fixed.position_indices(name).start
        assert floating.velocity_indices(name).start == 6 + fixed.velocity_indices(name).start
    assert not floating.has_one_axis_joints_only
    root = floating.link_names[0]
    S = floating.motion_subspace(floating.neutral_position, root)
    np.testing.assert_array_equal(S, np.eye(6))


def test_the_free_joint_has_no_limits_and_no_losses() -> None:
    floating, fixed = pair(SHIPPED[0])
    unlimited = {
        'position_lower': -np.inf, 'position_upper': np.inf, 'velocity_limits': np.inf,
        'effort_limits': np.inf, 'damping': 0.0, 'friction': 0.0, 'continuous': False,
    }
    for field, value in unlimited.items():
        free = 7 if field.startswith('position') else 6
        expected = [*[value] * free, *getattr(fixed, field)]
        np.testing.assert_array_equal(getattr(floating, field), expected, field)


def test_a_robot_with_a_moving_joint_of_that_name_is_rejected() -> None:
    text = robot(link('base'), link('arm', 1.0), joint('floating_base', 'revolute', 'base', 'arm'))
    with pytest.raises(UrdfError, match=r"joint 'floating_base'.* rename it, or leave out"):
        RobotModel.from_urdf(text, floating_base=True)
    assert RobotModel.from_urdf(text).joint_names == ('floating_base',)  # the base is fixed


def test_a_copy_floats_too() -> None:
    floating, _ = pair(SHIPPED[1])
    state = random_motion(floating, 0)
    expected = floating.inverse_dynamics(*state)
    for other in (pickle.loads(pickle.dumps(floating)), floating.with_gravity(floating.gravity)):
        np.testing.assert_array_equal(other.inverse_dynamics(*state), expected)


def test_a_floating_joint_of_the_urdf_is_a_floating_base() -> None:
    text = SHIPPED[1].read_text(encoding='utf-8')
    floating, fixed = pair(text)
    ground = link('ground') + joint('free', 'floating', 'ground', fixed.link_names[0])
    model = load(text.replace('</robot>', f'{ground}</robot>'), floating.gravity)
    assert model.joint_names == ('free', *fixed.joint_names)
    motion = random_motion(floating, 0)
    assert_equal(model.inverse_dynamics(*motion), floating.inverse_dynamics(*motion))
    assert_equal(model.mass_matrix(motion[0]), floating.mass_matrix(motion[0]))
