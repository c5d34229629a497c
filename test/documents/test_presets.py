# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The parameter files for arms: each fits the arm that it is for, and says where it is from."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.errors import InputError
from rnea_ros.feedforward.settings import ResolvedSettings, resolve
from support.cases import each
from support.models.robots import ROOT, SHIPPED, link, load, robot, vendor_robots
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('yaml', reason='PyYAML is not installed')

import yaml

from rnea_ros.feedforward.settings import PARAMETERS, complete_values, settings_from
from rnea_ros.sim.options import PARAMETERS as ROBOT_PARAMETERS

DIRECTORY = ROOT / 'config/presets'
PRESETS = sorted(path.stem for path in DIRECTORY.glob('*.yaml'))
ROBOTS = (ROOT / 'docs/robots.md').read_text(encoding='utf-8')

UR_PARTS = ('shoulder_pan', 'shoulder_lift', 'elbow', 'wrist_1', 'wrist_2', 'wrist_3')
UR = tuple(f'{part}_joint' for part in UR_PARTS)
JOINTS: dict[str, list[tuple[str, ...]]] = {
    'universal_robots': [UR],
    'franka': [tuple(f'{arm}_joint{n}' for n in range(1, 8)) for arm in ('fr3', 'panda')],
    'kuka_iiwa': [tuple(f'joint_{n}' for n in range(1, 8))],
    'kinova_gen3': [tuple(f'joint_{n}' for n in range(1, 8))],
    'openarm': [tuple(f'openarm_joint{n}' for n in range(1, 8))],
    'open_manipulator_y': [tuple(f'joint{n}' for n in range(1, 7))],
    'trossen_wxai': [tuple(f'joint_{n}' for n in range(6))], 'generic': [()],
}
"""The drivers' joints, in their controllers' order; more than one list for more than one arm."""


def preset_values(
    rate: float, compensates: Sequence[str] = ('gravity', 'friction', 'payload'), **more: Any
) -> dict[str, Any]:
    """Return the values of a preset; an arm that falls without commands compensates nothing."""
    return {
        'command_topic': 'effort_controller/commands', 'joints': [''], 'rate': rate,
        'hardware_compensates': [*compensates], 'effort_limits': [0.0],
        'start_from_measured_effort': False, **more,
    }


VALUES = {
    'universal_robots': preset_values(
        500.0, command_topic='forward_effort_controller/commands'
    ),
    # Above 1000 N m/s the robot stops; a tick's step comes in one millisecond.
    'franka': preset_values(500.0, effort_rate_limit=[400.0]),
    'kuka_iiwa': preset_values(
        500.0, effort_limits=[30.0, 30.0, 20.0, 20.0, 10.0, 5.0, 5.0], differentiate_velocity=True
    ),
    'kinova_gen3': preset_values(1000.0, ['none']), 'openarm': preset_values(100.0, ['none']),
    'open_manipulator_y': preset_values(
        400.0, ['none'], effort_limits=[15.0, 45.0, 25.0, 8.0, 6.0, 6.0]
    ),
    'trossen_wxai': preset_values(100.0, ['gravity', 'friction']),
}


def given_by(preset: str) -> dict[str, Any]:
    text = (DIRECTORY / f'{preset}.yaml').read_text(encoding='utf-8')
    given: dict[str, Any] = yaml.safe_load(text)['/**']['ros__parameters']
    return given


def resolved(preset: str, joints: Sequence[str], model: RobotModel) -> ResolvedSettings:
    """Return what the node makes of a preset."""
    values = complete_values(given_by(preset))
    return resolve(settings_from(values, tuple(joints)), model)


@pytest.mark.parametrize('preset', PRESETS)
def test_a_preset_has_its_values_and_is_on_the_page_of_arms(preset: str) -> None:
    if preset == 'generic':  # says what the defaults say, but for one
        defaults = {name: PARAMETERS[name].default for name in given_by(preset)}
        assert given_by(preset) == defaults | {'start_from_measured_effort': False}
        assert PARAMETERS['start_from_measured_effort'].default is True
    else:
        assert given_by(preset) == VALUES[preset]
    text = (DIRECTORY / f'{preset}.yaml').read_text(encoding='utf-8')
    assert ('Sources:' in text) == (preset != 'generic')
    assert f'`{preset}`' in ROBOTS
    for joints in JOINTS[preset]:
        for joint in joints if joints == UR else [*joints[:1], *joints[-1:]]:
            assert joint in text
            assert joint in ROBOTS


UR5E, PANDA = (SHIPPED[i].read_text(encoding='utf-8') for i in (2, 1))
UR_LIMITS, PANDA_LIMITS = [150.0] * 3 + [28.0] * 3, [87.0] * 4 + [12.0] * 3


def chain(joints: Sequence[str], efforts: Sequence[float], first: str = 'revolute') -> str:
    """Return an arm of a vendor's joints and effort limits; every other one is of this type."""
    elements = [link('base')]
    for i, (name, effort) in enumerate(zip(joints, efforts, strict=True)):
        kind, parent = (first, 'revolute')[i % 2], ('base', *joints)[i]
        elements += [
            link(name, 1.0),
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{name}"/>'
            f'<limit lower="-2" upper="2" velocity="1.2" effort="{effort}"/></joint>',
        ]
    return robot(*elements)


# As the drivers of KUKA and Kinova describe them.
KUKA = chain(JOINTS['kuka_iiwa'][0], [0.0] * 7)
KINOVA = chain(JOINTS['kinova_gen3'][0], [39.0] * 4 + [9.0] * 3, 'continuous')


@each(('preset', 'arm', 'urdf', 'expected'), [
    ('generic', UR, UR5E, UR_LIMITS), ('universal_robots', UR, UR5E, UR_LIMITS),
    ('franka', JOINTS['franka'][0], PANDA.replace('fer_', 'fr3_'), PANDA_LIMITS),
    ('franka', JOINTS['franka'][1], PANDA.replace('fer_', 'panda_'), PANDA_LIMITS),
    ('kuka_iiwa', JOINTS['kuka_iiwa'][0], KUKA, [30, 30, 20, 20, 10, 5, 5]),
    ('kinova_gen3', JOINTS['kinova_gen3'][0], KINOVA, [39.0] * 4 + [9.0] * 3),
])
def test_effort_limits_of_an_arm_under_its_preset(
    preset: str, arm: Sequence[str], urdf: str, expected: Sequence[float]
) -> None:
    np.testing.assert_array_equal(resolved(preset, arm, load(urdf)).effort_limits, expected)


@pytest.mark.parametrize('path', vendor_robots('ur3_robot', 'ur5_robot', 'ur10_robot'))
def test_the_preset_of_universal_robots_fits_their_other_arms(path: Path) -> None:
    model = load(path)
    limits = resolved('universal_robots', UR, model).effort_limits
    np.testing.assert_array_equal(limits, model.effort_limits)


def test_without_a_preset_an_effort_limit_of_0_is_rejected() -> None:
    with pytest.raises(InputError, match='URDF has limit 0'):
        resolved('generic', JOINTS['kuka_iiwa'][0], load(KUKA))


class WithoutDuplicates(yaml.SafeLoader):
    """Reads YAML, and rejects a key that a mapping has already; others take the last one."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        assert len(keys) == len(set(keys)), f'a key is given twice: {keys}'
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


def test_no_parameter_file_gives_a_key_twice() -> None:
    for path in sorted([*(ROOT / 'config').rglob('*.yaml'), *(ROOT / 'examples').rglob('*.yaml')]):
        assert yaml.load(path.read_text(encoding='utf-8'), WithoutDuplicates), path.name


def test_the_robot_and_the_node_of_the_route_with_own_motors_agree() -> None:
    robot_values, node_values = (
        yaml.safe_load((ROOT / f'examples/own_motors/{name}.yaml').read_text(encoding='utf-8'))
        ['/**']['ros__parameters'] for name in ('robot', 'node')
    )  # fmt: skip
    assert robot_values.keys() <= ROBOT_PARAMETERS.keys()
    assert node_values.keys() <= PARAMETERS.keys() | {'use_sim_time'}
    assert robot_values['effort_scale'] == node_values['effort_scale']
    np.testing.assert_allclose(
        np.multiply(node_values['effort_scale'], node_values['command_scale']), 1.0, rtol=1e-3
    )


@each(('name', 'joints'), zip(('franka', 'panda'), JOINTS['franka'], strict=True))
def test_the_spawner_finds_an_effort_controller_for_the_preset_of_franka(
    name: str, joints: Sequence[str]
) -> None:
    text = (ROOT / f'config/{name}_effort_controller.yaml').read_text(encoding='utf-8')
    # The key that the spawner looks for in every namespace.
    assert yaml.safe_load(text) == {'/**/effort_controller': {'ros__parameters': {
        'type': 'forward_command_controller/ForwardCommandController', 'interface_name': 'effort',
        'joints': list(joints),
    }}}
