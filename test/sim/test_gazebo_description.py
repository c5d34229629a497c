# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A robot for Gazebo: what is added to its URDF, fixed, rejected; its controllers."""

from collections.abc import Callable
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from rnea_ros import InputError, UrdfError
from rnea_ros.sim.gazebo import (
    GRAVITY,
    PLUGINS,
    arm_joints,
    has_own_control,
    listed_joints,
    reject_massless,
    with_gazebo_control,
    with_joints,
)
from rnea_ros.urdf import parse_urdf
from support.models.robots import ARM, ROOT, SHIPPED, joint, link, load, robot

pytest.importorskip('xacro', reason='xacro (pip install xacro) is not installed')

CONTROLLERS = '/tmp/controllers.yaml'
PANDA = (ROOT / 'urdf/panda.urdf').read_text(encoding='utf-8')
PANDA_JOINTS = tuple(f'fer_joint{number}' for number in range(1, 8))

GRIPPER = robot(
    link('base'), link('arm', 1.0, (0.2, 0.0, 0.0)), link('left', 0.1, (0.0, 0.1, 0.0)),
    link('right', 0.1, (0.0, 0.2, 0.0)),
    joint('shoulder', 'continuous', 'base', 'arm', axis=(0, 1, 0)),
    joint('grip', 'prismatic', 'arm', 'left', axis=(0, 1, 0), xyz=(0.4, 0, 0), rpy=(0.3, -1, 2)),
    joint(
        'follow', 'revolute', 'arm', 'right', axis=(0.6, 0, 0.8), xyz=(0.4, 0, 0),
        rpy=(0.2, 0.1, -0.4), more='<mimic joint="grip" multiplier="2" offset="0.7"/>',
    ),
    name='gripper',
)
"""An arm of one joint without limits, and fingers of which one is never at zero."""

BARE = robot(
    link('base', 1.0), link('wrist'), link('hand', 1.0),
    joint('turn', 'continuous', 'base', 'wrist', axis=(0, 0, 1)),
    joint('bend', 'continuous', 'wrist', 'hand', axis=(0, 1, 0)),
)


def control(text: str, **options: Any) -> list[ElementTree.Element]:
    """Return the joints in the one element <ros2_control> that is added to a URDF."""
    made = with_gazebo_control(text, CONTROLLERS, **options).description
    (element,) = ElementTree.fromstring(made).findall('ros2_control')
    return element.findall('joint')


def interfaces(element: ElementTree.Element, kind: str) -> list[str]:
    return [str(each.get('name')) for each in element.findall(f'{kind}_interface')]


def initial(element: ElementTree.Element, name: str = 'position') -> float:
    text = element.findtext(f'state_interface[@name="{name}"]/param[@name="initial_value"]')
    assert text is not None
    return float(text)


@pytest.mark.parametrize('path', SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_arm_takes_efforts_and_publishes_its_whole_state(path: Path) -> None:
    for element, limit in zip(
        control(path.read_text(encoding='utf-8')), load(path).effort_limits, strict=False
    ):
        assert interfaces(element, 'command') == ['effort']
        assert interfaces(element, 'state') == ['position', 'velocity', 'effort']
        params = {each.get('name'): each.text for each in element.iterfind('command_interface/')}
        assert params == {'min': str(-limit), 'max': str(limit)}


def test_the_hand_is_fixed_and_its_mass_stays() -> None:
    made = with_gazebo_control(PANDA, CONTROLLERS)
    before, after = load(PANDA), load(made.description)
    assert made.joints == after.joint_names == PANDA_JOINTS
    q = np.linspace(-0.9, -0.2, 7)
    expected = before.gravity_torques(np.concatenate([q, np.zeros(before.nv - 7)]))[:7]
    np.testing.assert_allclose(after.gravity_torques(q), expected, rtol=1e-9, atol=1e-10)


def test_the_chosen_plugins_are_given_the_controllers() -> None:
    for plugins in PLUGINS.values():
        made = with_gazebo_control(ARM, CONTROLLERS, plugins=plugins)
        root = ElementTree.fromstring(made.description)
        assert root.findtext('ros2_control/hardware/plugin') == plugins.hardware
        (plugin,) = root.iterfind('gazebo/plugin')
        assert plugin.attrib == {'filename': plugins.library, 'name': plugins.plugin}
        assert plugin.findtext('parameters') == CONTROLLERS


def test_the_root_is_fixed_to_the_world_once() -> None:
    once = with_gazebo_control(ARM, CONTROLLERS).description
    description = parse_urdf(once)
    assert description.root == 'world'
    assert description.joints['world_to_base'].type == 'fixed'
    assert (has_own_control(once), has_own_control(ARM)) == (True, False)
    own = ARM.replace('</robot>', link('world') + joint('mount', 'fixed', 'world', 'base'))
    joints = parse_urdf(with_gazebo_control(own + '</robot>', CONTROLLERS).description).joints
    assert set(joints) == {'mount', 'shoulder'}


def test_a_joint_starts_at_its_position_with_the_holding_effort() -> None:
    assert initial(control(PANDA)[3]) == -3 * math.pi / 4  # the usual one
    positions = [0.1, -0.5, 0.2, -2.0, 0.3, 1.2, -0.4]
    elements = control(PANDA, positions=positions)
    assert [initial(each) for each in elements] == positions
    made = with_gazebo_control(PANDA, CONTROLLERS)
    holding = load(made.description, GRAVITY).gravity_torques(positions)
    np.testing.assert_allclose([initial(each, 'effort') for each in elements], holding)


def test_fingers_are_fixed_where_their_joints_had_put_them() -> None:
    before, after = load(GRIPPER), load(with_gazebo_control(GRIPPER, CONTROLLERS).description)
    assert after.joint_names == ('shoulder',)
    for name in ('left', 'right'):
        np.testing.assert_allclose(
            after.forward_kinematics([0.4], name), before.forward_kinematics([0.4, 0.0], name),
            atol=1e-12,
        )


@pytest.mark.parametrize(('kind', 'pitch'), [
    ('prismatic', 0.4), ('revolute', math.pi / 2), ('revolute', -math.pi / 2),
])
def test_a_joint_held_away_from_0_is_fixed_at_its_nearest_limit(kind: str, pitch: float) -> None:
    held = joint('held', kind, 'arm', 'tip', xyz=(0.1, 0.2, 0.3), rpy=(0.3, pitch, 0.2))
    text = robot(
        link('base'), link('arm', 1.0), link('tip', 1.0),
        joint('shoulder', 'revolute', 'base', 'arm'), held.replace('lower="-3"', 'lower="0.5"'),
    )
    after = load(with_gazebo_control(text, CONTROLLERS, joints=['shoulder']).description)
    np.testing.assert_allclose(
        after.forward_kinematics([0.2], 'tip'), load(text).forward_kinematics([0.2, 0.5], 'tip'),
        atol=1e-9,
    )


def test_a_base_without_mass_is_given_some_for_gazebo() -> None:
    bare = robot(link('base'), link('arm', 1.0), joint('turn', 'continuous', 'base', 'arm'))
    base = parse_urdf(with_gazebo_control(bare, CONTROLLERS).description).links['base'].inertial
    assert base is not None
    assert base.mass == 1.0
    carried = BARE.replace('name="bend" type="continuous"', 'name="bend" type="fixed"')
    assert with_gazebo_control(carried, CONTROLLERS).joints == ('turn',)


@pytest.mark.parametrize(('make', 'error', 'reason'), [
    (lambda: control(PANDA, joints=[*PANDA_JOINTS, 'fer_finger_joint1']), InputError,
     "'fer_finger_joint2' follows 'fer_finger_joint1'"),
    (lambda: control(PANDA, positions=[0.0]), InputError, 'has 1 numbers for 7 joints'),
    (lambda: control(PANDA, positions=[0, 0, 0, 0, 0, 1, 0]), InputError, "'fer_joint4'"),
    (lambda: control(with_gazebo_control(ARM, CONTROLLERS).description), UrdfError, 'own_control'),
    (lambda: arm_joints(parse_urdf(robot(link('base', 1.0)))), UrdfError, 'has no joint'),
    (lambda: reject_massless(BARE), UrdfError, r"'wrist'.*has no mass"),
])
def test_what_gazebo_cannot_simulate_is_rejected_by_name(
    make: Callable[[], object], error: type[Exception], reason: str
) -> None:
    with pytest.raises(error, match=reason):
        make()


def read(name: str) -> Any:
    yaml = pytest.importorskip('yaml', reason='PyYAML is not installed')
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
