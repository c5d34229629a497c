# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A robot for Gazebo: its URDF with the tags of ``urdf/gazebo_control.xacro``, its controller.

Joints without a command (of a hand) are fixed at their start positions, as versions of Gazebo
treat them differently. The root link is fixed to the world. No link is without mass.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
import math
from pathlib import Path
import shutil
import tempfile
from typing import Any
from xml.etree import ElementTree

import numpy as np

from ..arrays import Array
from ..dynamics import quaternions
from ..dynamics.tree import Placement
from ..errors import InputError, UrdfError
from ..resources import share_path
from ..robot import RobotModel
from ..urdf import Joint, RobotDescription, parse_urdf, parse_xml, use_rpy
from ..yaml_files import read_document
from .joint_roles import JointRoles, is_within

GRAVITY = (0.0, 0.0, -9.8)  # default of a world in Gazebo, m/s^2

XACRO = 'http://www.ros.org/wiki/xacro'
WORLD = 'world'
MIN_MASS = 1e-6  # Gazebo removes bodies up to it, kg


@dataclass(frozen=True)
class PluginNames:
    """Names of the plugins of a version of gz_ros2_control."""

    hardware: str  # hardware plugin of ros2_control
    library: str  # library of Gazebo's plugin
    plugin: str  # class of Gazebo's plugin


PLUGINS: Mapping[str, PluginNames] = {
    'gz_ros2_control': PluginNames(
        'gz_ros2_control/GazeboSimSystem', 'gz_ros2_control-system',
        'gz_ros2_control::GazeboSimROS2ControlPlugin'
    ),
    'ign_ros2_control': PluginNames(
        'ign_ros2_control/IgnitionSystem', 'ign_ros2_control-system',
        'ign_ros2_control::IgnitionROS2ControlPlugin'
    ),
}
"""Names by ROS package, in order of preference; the second is for Humble before 0.7.13."""


@dataclass(frozen=True)
class GazeboRobot:
    """A robot for Gazebo with effort interfaces."""

    name: str
    joints: tuple[str, ...]  # the commanded ones, in order
    description: str  # URDF text
    controllers: str  # path of the controllers' parameters


def gazebo_robot(
    urdf: str, controllers_file: Path, controller: str, *, own_control: bool,
    joints: Sequence[str], positions: Sequence[float], plugins: Callable[[], PluginNames]
) -> GazeboRobot:
    """
    Return a robot for Gazebo; an InputError or UrdfError if it cannot be one.

    Without tags of its own the URDF gets them, and the controllers' parameters its joints, in a
    file that lasts as long as this process: Gazebo and the spawners read it.
    """
    if own_control:
        if joints or positions:
            raise InputError('own_control', 'joints and positions are those of the URDF')
        if not has_own_control(urdf):
            raise InputError('own_control', 'the URDF has no <ros2_control>')
        reject_massless(urdf)
        return GazeboRobot(parse_urdf(urdf).name, (), urdf, str(controllers_file))
    import yaml

    parameters = read_document(controllers_file)
    directory = tempfile.mkdtemp(prefix='rnea_ros_')
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    target = Path(directory, 'gazebo_controllers.yaml')
    made = with_gazebo_control(
        urdf, str(target), joints=tuple(joints) or listed_joints(parameters, controller),
        positions=positions, plugins=plugins(),
    )
    parameters = with_joints(parameters, controller, made.joints)
    target.write_text(yaml.safe_dump(parameters), encoding='utf-8')
    return made


def has_own_control(urdf: str) -> bool:
    """Return whether a URDF has ``<ros2_control>`` tags."""
    return parse_xml(urdf).find('ros2_control') is not None


def with_gazebo_control(
    urdf: str, controllers: str, *, joints: Sequence[str] = (), positions: Sequence[float] = (),
    plugins: PluginNames = PLUGINS['gz_ros2_control']
) -> GazeboRobot:
    """
    Return a robot with tags for Gazebo and ros2_control, of a URDF text without such tags.

    ``controllers`` is the path of the controller manager's parameters. Without joints those of
    :func:`arm_joints` are commanded; without positions (rad or m) they begin at
    :func:`.start_position`.
    """
    if has_own_control(urdf):
        raise UrdfError(
            'element <ros2_control>',
            'the URDF has its own: remove it if it is for real hardware, or, if it is for Gazebo, '
            'use the URDF unchanged (own_control)',
        )
    root, description = parse_xml(urdf), parse_urdf(urdf)
    if twice := [name for name in description.joints if name in description.links]:
        raise UrdfError(f'joint {twice[0]!r}', 'a link has this name too: rename one for Gazebo')
    roles = JointRoles.assign(description, tuple(joints) or arm_joints(description))
    for joint in roles.mimics:
        assert joint.mimic is not None
        raise InputError(
            'joints', f'{joint.name!r} follows {joint.mimic.joint!r}: not possible in Gazebo'
        )
    positions_at_start = roles.positions(None)
    for joint in roles.held:
        fix_joint(root, joint, positions_at_start[joint.name])
    give_base_mass(root, description, {joint.name for joint in roles.held})
    text = ElementTree.tostring(root, 'unicode')
    model = RobotModel.from_description(parse_urdf(text), gravity=GRAVITY)
    names = tuple(joint.name for joint in roles.commanded)
    default = [positions_at_start[name] for name in names]
    start = _checked(positions or default, names, description)
    numbers = [model.joint_names.index(name) for name in names]
    q = np.zeros(model.nv)
    q[numbers] = start
    efforts = model.gravity_torques(q)[numbers]
    for element in _tags(description, roles, start, efforts, controllers, plugins):
        root.append(element)
    return GazeboRobot(
        description.name, names, ElementTree.tostring(root, 'unicode'), controllers
    )


def arm_joints(description: RobotDescription) -> tuple[str, ...]:
    """Return the joints without mimic tags, which fingers usually have."""
    moving = [joint for joint in description.joints.values() if joint.moves]
    followed = {joint.mimic.joint for joint in moving if joint.mimic}
    names = tuple(
        joint.name for joint in moving if joint.mimic is None and joint.name not in followed
    )
    if not names:
        raise UrdfError(f'robot {description.name!r}', 'has no joint to command')
    return names


def _checked(
    positions: Sequence[float], names: tuple[str, ...], description: RobotDescription
) -> Array:
    """Return the checked start positions of the commanded joints, shape (m,), rad or m."""
    if len(positions) != len(names):
        raise InputError(
            'positions',
            f'has {len(positions)} numbers for {len(names)} joints: {", ".join(names)}',
        )
    for name, value in zip(names, positions, strict=True):
        limits = description.joints[name].limits
        if not math.isfinite(value) or not is_within(description.joints[name], value):
            raise InputError(
                'positions',
                f'{name!r}: {value:g} is not from {limits.lower:g} to {limits.upper:g}',
            )
    return np.array(positions, dtype=np.float64)


def _tags(
    description: RobotDescription, roles: JointRoles, start: Array, efforts: Array,
    controllers: str, plugins: PluginNames
) -> list[ElementTree.Element]:
    """Return the elements of the macros in ``gazebo_control.xacro``."""
    import xacro

    ElementTree.register_namespace('xacro', XACRO)
    calls = ElementTree.Element('robot')
    ElementTree.SubElement(
        calls, f'{{{XACRO}}}include', filename=str(share_path('urdf/gazebo_control.xacro'))
    )
    if description.root != WORLD:
        ElementTree.SubElement(calls, f'{{{XACRO}}}fixed_base', link=description.root)
    control = ElementTree.SubElement(
        calls, f'{{{XACRO}}}gazebo_control', controllers=controllers, hardware=plugins.hardware,
        library=plugins.library, plugin=plugins.plugin
    )
    block = ElementTree.SubElement(control, 'joints')
    for joint, position, effort in zip(roles.commanded, start, efforts, strict=True):
        limit = joint.limits.effort
        ElementTree.SubElement(
            block, f'{{{XACRO}}}effort_joint', name=joint.name,
            limit=repr(limit if math.isfinite(limit) else 0.0), position=repr(float(position)),
            effort=repr(float(effort))
        )
    document = xacro.parse(ElementTree.tostring(calls, 'unicode'))
    xacro.process_doc(document)
    return list(ElementTree.fromstring(document.toxml()))


def reject_massless(urdf: str) -> None:
    """Reject a URDF if a link has no mass, fixed parts included: Gazebo would remove it."""
    for name in _massless(parse_urdf(urdf), frozenset()):
        raise UrdfError(f'link {name!r}', 'has no mass: Gazebo removes all that it carries')


def give_base_mass(
    root: ElementTree.Element, description: RobotDescription, held: Collection[str]
) -> None:
    """
    Give a mass to a base without mass, as Gazebo would remove the arm; reject others without.

    Joints named as held count as fixed.
    """
    for name, moves in _massless(description, held).items():
        if moves:
            raise UrdfError(
                f'link {name!r}', 'moves, but has no mass: Gazebo removes all that it carries'
            )
        link = next(each for each in root.findall('link') if each.get('name') == name)
        for element in link.findall('inertial'):
            link.remove(element)
        inertial = ElementTree.SubElement(link, 'inertial')
        ElementTree.SubElement(inertial, 'mass', value='1')
        moments = dict.fromkeys(('ixx', 'iyy', 'izz'), '0.01')
        products = dict.fromkeys(('ixy', 'ixz', 'iyz'), '0')
        ElementTree.SubElement(inertial, 'inertia', moments | products)


def _massless(description: RobotDescription, held: Collection[str]) -> dict[str, bool]:
    """Return the bodies without mass, and whether each moves; held joints count as fixed."""
    carriers, moves = {description.root: description.root}, {description.root: False}
    for joint in description.joints.values():
        rigid = joint.type == 'fixed' or joint.name in held
        # Gazebo merges links with fixed joints, except at the world.
        carrier = carriers[joint.parent] if rigid and joint.parent != WORLD else joint.child
        carriers[joint.child] = carrier
        moves.setdefault(carrier, not rigid)
    masses = dict.fromkeys(moves, 0.0)
    for name, link in description.links.items():
        masses[carriers[name]] += link.inertial.mass if link.inertial else 0.0
    return {
        name: moves[name]
        for name, mass in masses.items()
        if name != WORLD and mass <= MIN_MASS
    }


def fix_joint(root: ElementTree.Element, joint: Joint, position: float) -> None:
    """Replace a joint by a fixed joint at a position, rad or m."""
    element = next(each for each in root.findall('joint') if each.get('name') == joint.name)
    element.set('type', 'fixed')
    for tag in ('mimic', 'limit', 'dynamics', 'axis'):
        for child in element.findall(tag):
            element.remove(child)
    if position == 0.0:
        return
    axis = np.array(joint.axis)
    if joint.type == 'prismatic':
        moved = Placement(np.eye(3), position * axis)
    else:
        turn = quaternions.exponential(position * axis)
        moved = Placement(quaternions.rotation(turn), np.zeros(3))
    pose = Placement.from_xyz_rpy(joint.origin.xyz, joint.origin.rpy) @ moved
    origin = element.find('origin')
    if origin is None:
        origin = ElementTree.SubElement(element, 'origin')
    origin.attrib.pop('rpy', None)
    origin.set('xyz', _numbers(pose.translation))
    origin.set('quat_xyzw', _numbers(quaternions.of_rotation(pose.rotation)))
    use_rpy(origin)


def _numbers(values: Array) -> str:
    return ' '.join(repr(float(value)) for value in values)


def listed_joints(parameters: Any, controller: str) -> tuple[str, ...]:
    """Return the joints of a controller in parameters of a YAML file, empty if there are none."""
    return tuple(_values(parameters, controller).get('joints') or ())


def with_joints(parameters: Any, controller: str, joints: Sequence[str]) -> dict[str, Any]:
    """Return parameters with the commanded joints of a controller, which must not have others."""
    values = _values(parameters, controller)
    listed = listed_joints(parameters, controller)
    if listed not in ((), tuple(joints)):
        raise InputError(
            'joints',
            f'commanded are {", ".join(joints)}, but {controller} has {", ".join(listed)}',
        )
    return dict(parameters) | {controller: {'ros__parameters': values | {'joints': list(joints)}}}


def _values(parameters: Any, controller: str) -> dict[str, Any]:
    section = parameters.get(controller) if isinstance(parameters, dict) else None
    values = section.get('ros__parameters') if isinstance(section, dict) else None
    if not isinstance(values, dict):
        raise InputError('controllers_file', f'has no {controller}: ros__parameters')
    return values
