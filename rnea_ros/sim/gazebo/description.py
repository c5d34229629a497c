# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A robot for Gazebo: its URDF with the tags of ``urdf/gazebo_control.xacro``.

Joints without a command (of a hand) are fixed at their start positions, as versions of Gazebo
treat them differently. The root link is fixed to the world.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import math
from xml.etree import ElementTree

import numpy as np

from ...arrays import Array
from ...errors import InputError, UrdfError
from ...resources import share_path
from ...robot import RobotModel
from ...urdf import RobotDescription, parse_urdf, parse_xml
from ..joint_roles import JointRoles, is_within
from .urdf_changes import WORLD, fix_joint, give_base_mass

GRAVITY = (0.0, 0.0, -9.8)  # default of a world in Gazebo, m/s^2

XACRO = 'http://www.ros.org/wiki/xacro'


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
    return GazeboRobot(description.name, names, ElementTree.tostring(root, 'unicode'))


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
