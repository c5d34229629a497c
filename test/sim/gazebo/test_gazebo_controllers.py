# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The controllers inside Gazebo fit the node, and get their joints."""

from typing import Any

import pytest

from rnea_ros import InputError
from rnea_ros.sim.gazebo.controllers import listed_joints, with_joints
from rnea_ros.sim.gazebo.description import GRAVITY
from support.models.robots import ROOT

yaml = pytest.importorskip('yaml', reason='PyYAML is not installed')


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / 'config' / name).read_text(encoding='utf-8'))


def test_the_shipped_controllers_are_what_the_node_expects() -> None:
    topic = read('feedforward.yaml')['/**']['ros__parameters']['command_topic']
    controller = topic.removesuffix('/commands')
    shipped = read('gazebo_controllers.yaml')
    assert listed_joints(shipped, controller) == ()
    made = with_joints(shipped, controller, ['a', 'b'])
    expected = {'interface_name': 'effort', 'joints': ['a', 'b']}
    assert made[controller] == {'ros__parameters': expected}
    assert made['controller_manager'] == shipped['controller_manager']
    manager = made['controller_manager']['ros__parameters']
    assert set(manager) == {'update_rate', 'joint_state_broadcaster', controller}
    # The only effort controller that every distribution has.
    assert manager[controller]['type'] == 'forward_command_controller/ForwardCommandController'
    assert 1000 % manager['update_rate'] == 0
    assert read('gazebo.yaml')['/**']['ros__parameters']['gravity'] == list(GRAVITY)


def test_joints_that_are_listed_are_the_commanded_ones() -> None:
    values = {'left': {'ros__parameters': {'joints': ['a', 'b']}}}
    assert listed_joints(values, 'left') == ('a', 'b')
    assert with_joints(values, 'left', ['a', 'b']) == values
    with pytest.raises(InputError, match='commanded are b, a, but left has a, b'):
        with_joints(values, 'left', ['b', 'a'])
    with pytest.raises(InputError, match='has no left: ros__parameters'):
        listed_joints({'left': None}, 'left')
