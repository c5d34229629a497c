# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Start the feedforward node for a robot whose ros2_control is up, or is coming up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

ARGUMENTS = {
    'urdf': ('', 'URDF or xacro file; empty: robot_description comes from its topic'),
    'params_file': ('', "parameters; empty: the package's config/feedforward.yaml"),
    'controller': ('', 'name of the effort controller; empty: as in params_file'),
    'mode': ('', 'control law; empty: as in params_file'),
    'rate': ('', 'commands a second, Hz; empty: as in params_file'),
    'use_sim_time': ('false', 'true: time comes from /clock'),
    'namespace': ('', 'namespace of the node, its topics and the controller'),
}


def urdf_text(path: str) -> str:
    """Return a URDF file's text, a xacro file expanded."""
    if path.endswith('.xacro'):
        import xacro

        return str(xacro.process_file(path).toxml())
    return Path(path).read_text(encoding='utf-8')


def nodes(context: Any) -> list[Node]:
    """Return the node with the parameters that the arguments ask for."""
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    share = Path(get_package_share_directory('rnea_ros'))
    overrides: dict[str, Any] = {'use_sim_time': given['use_sim_time'].lower() == 'true'}
    if given['urdf']:
        overrides['robot_description'] = urdf_text(given['urdf'])
    if given['controller']:
        overrides['command_topic'] = f'{given["controller"]}/commands'
    if given['mode']:
        overrides['mode'] = given['mode']
    if given['rate']:
        overrides['rate'] = float(given['rate'])
    return [
        Node(
            package='rnea_ros',
            executable='feedforward_node',
            name='feedforward',
            namespace=given['namespace'],
            output='screen',
            parameters=[given['params_file'] or str(share / 'config/feedforward.yaml'), overrides],
        )
    ]


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([
        *(
            DeclareLaunchArgument(name, default_value=default, description=description)
            for name, (default, description) in ARGUMENTS.items()
        ),
        OpaqueFunction(function=nodes),
    ])
