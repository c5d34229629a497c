# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A robot for Gazebo: its bare URDF with what ``urdf/gazebo_control.xacro`` adds.

Joints that are not commanded (a hand's) are fixed where they are at the start: what Gazebo does
with a joint that nobody commands differs between its versions. A link that is the root is fixed
to the world.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import math
import warnings
from xml.etree import ElementTree

import numpy as np

from ...arrays import Array
from ...errors import InputError, UrdfError, UrdfWarning
from ...resources import share_path
from ...robot import RobotModel
from ...urdf import RobotDescription, parse_urdf, parse_xml
from ..joint_roles import JointRoles
from ..start_position import is_within
from .fixed_joints import fix_joint
from .massless_links import WORLD, give_base_mass

GRAVITY = (0.0, 0.0, -9.8)
"""Of a world whose SDF does not say otherwise, m/s^2."""

XACRO = 'http://www.ros.org/wiki/xacro'


@dataclass(frozen=True)
class PluginNames:
    """
    What the plugins of a version of gz_ros2_control are called.

    :param hardware: of ros2_control
    :param library: file of Gazebo's plugin
    :param plugin: its class
    """

    hardware: str
    library: str
    plugin: str


PLUGINS: Mapping[str, PluginNames] = {
    'gz_ros2_control': PluginNames(
        'gz_ros2_control/GazeboSimSystem',
        'gz_ros2_control-system',
        'gz_ros2_control::GazeboSimROS2ControlPlugin',
    ),
    'ign_ros2_control': PluginNames(
        'ign_ros2_control/IgnitionSystem',
        'ign_ros2_control-system',
        'ign_ros2_control::IgnitionROS2ControlPlugin',
    ),
}
"""By ROS package, in the order of preference; the second is Humble's alone, from before 0.7.13."""


@dataclass(frozen=True)
class GazeboRobot:
    """
    A robot that Gazebo can move by efforts.

    :param name: of the robot
    :param joints: the commanded joints, in order
    :param description: URDF text
    """

    name: str
    joints: tuple[str, ...]
    description: str


def has_own_control(urdf: str) -> bool:
    """Return whether a URDF brings ``<ros2_control>`` tags."""
    return parse_xml(urdf).find('ros2_control') is not None


def with_gazebo_control(
    urdf: str,
    controllers: str,
    *,
    joints: Sequence[str] = (),
    positions: Sequence[float] = (),
    plugins: PluginNames = PLUGINS['gz_ros2_control'],
) -> GazeboRobot:
    """
    Return a robot with the tags that Gazebo and ros2_control need.

    :param urdf: its text, without such tags
    :param controllers: path of the controller manager's parameters
    :param joints: the commanded joints, in order; none for all that :func:`arm_joints` returns
    :param positions: where they start, rad or m; none for what :func:`.start_position` says
    :param plugins: names that Gazebo is to find
    :raises RneaError: the robot cannot be moved so, with the reason
    """
    if has_own_control(urdf):
        raise UrdfError(
            'element <ros2_control>', 'the URDF brings its own; use it as it is (own_control)'
        )
    root, description = parse_xml(urdf), parse_urdf(urdf)
    roles = JointRoles.assign(description, tuple(joints) or arm_joints(description))
    _refuse_followers(roles)
    at = roles.positions(None)
    for joint in roles.held:
        fix_joint(root, joint, at[joint.name])
    give_base_mass(root, description, {joint.name for joint in roles.held})
    text = ElementTree.tostring(root, 'unicode')
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', UrdfWarning)  # the node's log tells them
        model = RobotModel.from_urdf(text, gravity=GRAVITY)
    names = tuple(joint.name for joint in roles.commanded)
    usual = [at[name] for name in names]
    start = _checked(positions or usual, names, description)
    efforts = _holding_efforts(model, names, start)
    for element in _tags(description, roles, start, efforts, controllers, plugins):
        root.append(element)
    return GazeboRobot(description.name, names, ElementTree.tostring(root, 'unicode'))


def arm_joints(description: RobotDescription) -> tuple[str, ...]:
    """
    Return the joints that an arm's effort controller is likely to have.

    Those that neither follow another nor are followed: where fingers move together, one of them
    has a mimic tag.

    :raises UrdfError: there is none
    """
    moving = [joint for joint in description.joints.values() if joint.moves]
    followed = {joint.mimic.joint for joint in moving if joint.mimic}
    names = tuple(
        joint.name for joint in moving if joint.mimic is None and joint.name not in followed
    )
    if not names:
        raise UrdfError(f'robot {description.name!r}', 'has no joint that could be commanded')
    return names


def _refuse_followers(roles: JointRoles) -> None:
    for joint in roles.mimics:
        assert joint.mimic is not None
        raise InputError(
            'joints',
            f'{joint.name!r} follows {joint.mimic.joint!r}, which is commanded: not in Gazebo',
        )


def _checked(
    positions: Sequence[float], names: tuple[str, ...], description: RobotDescription
) -> Array:
    """Return where the commanded joints are to start, shape (m,), rad or m."""
    if len(positions) != len(names):
        raise InputError(
            'positions',
            f'has {len(positions)} numbers for {len(names)} joints: {", ".join(names)}',
        )
    for name, value in zip(names, positions, strict=True):
        limits = description.joints[name].limits
        if not math.isfinite(value) or not is_within(description.joints[name], value):
            raise InputError(
                'positions', f'{name!r}: {value} is not from {limits.lower} to {limits.upper}'
            )
    return np.array(positions, dtype=np.float64)


def _holding_efforts(model: RobotModel, names: tuple[str, ...], start: Array) -> Array:
    """Return what holds the commanded joints at their start, shape (m,), N m or N."""
    numbers = [model.joint_names.index(name) for name in names]
    q = np.zeros(model.nv)
    q[numbers] = start
    efforts: Array = model.gravity_torques(q)[numbers]
    return efforts


def _tags(
    description: RobotDescription,
    roles: JointRoles,
    start: Array,
    efforts: Array,
    controllers: str,
    plugins: PluginNames,
) -> list[ElementTree.Element]:
    """Return the elements to add, as the macros of ``gazebo_control.xacro`` write them."""
    import xacro

    ElementTree.register_namespace('xacro', XACRO)
    calls = ElementTree.Element('robot')
    ElementTree.SubElement(
        calls, f'{{{XACRO}}}include', filename=str(share_path('urdf/gazebo_control.xacro'))
    )
    if description.root != WORLD:
        ElementTree.SubElement(calls, f'{{{XACRO}}}fixed_base', link=description.root)
    control = ElementTree.SubElement(
        calls,
        f'{{{XACRO}}}gazebo_control',
        controllers=controllers,
        hardware=plugins.hardware,
        library=plugins.library,
        plugin=plugins.plugin,
    )
    block = ElementTree.SubElement(control, 'joints')
    for joint, position, effort in zip(roles.commanded, start, efforts, strict=True):
        limit = joint.limits.effort
        ElementTree.SubElement(
            block,
            f'{{{XACRO}}}effort_joint',
            name=joint.name,
            limit=repr(limit if math.isfinite(limit) else 0.0),
            position=repr(float(position)),
            effort=repr(float(effort)),
        )
    document = xacro.parse(ElementTree.tostring(calls, 'unicode'))
    xacro.process_doc(document)
    return list(ElementTree.fromstring(document.toxml()))
