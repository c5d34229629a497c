# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The controllers inside Gazebo fit the node, and get their joints."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnea_ros import InputError
from rnea_ros.node.parameters import complete_values, read_parameter_file, settings_from
from rnea_ros.sim.gazebo.controllers import listed_joints, with_joints
from rnea_ros.sim.gazebo.description import GRAVITY, with_gazebo_control
from rnea_ros.sim.joint_roles import start_position
from support.models.robots import ROOT, description, load

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


def test_the_gazebo_setup_holds_to_1_mrad_and_tracks_sines_to_10_mrad(tmp_path: Path) -> None:
    pytest.importorskip('xacro', reason='xacro is not installed')
    pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')
    from rnea_ros.sim.demo.motion import sine_motion
    from support.control.closed_loop import ClosedLoop

    urdf = tmp_path / 'panda.urdf'
    urdf.write_text(with_gazebo_control((ROOT / 'urdf/panda.urdf').read_text(), '').description)
    model = load(urdf)
    joints = model.joint_names
    start = np.array([start_position(description(model).joints[name]) for name in joints])
    given = read_parameter_file(ROOT / 'config/gazebo.yaml') | {'mode': 'computed_torque'}
    parameters = vars(settings_from(complete_values(given), joints)) | {'rate': 500.0}
    loop = ClosedLoop(
        urdf, start, gravity=GRAVITY, simulation={'gravity': GRAVITY}, **parameters
    )
    loop.hold(start, 0.5)
    assert np.abs(np.array(loop.positions) - start).max() < 1e-3
    motion = sine_motion(model, joints, start, 3.0)
    began = len(loop.positions)
    loop.run(3.0, lambda t: tuple(part[0] for part in motion.at(np.array([t]))))
    moved = np.array(loop.positions[began:])
    errors = moved - motion.at(np.linspace(0.002, 3.0, len(moved)))[0]
    assert np.ptp(moved, axis=0).min() > 0.5
    assert np.abs(errors).max() < 10e-3
