# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Start the feedforward node for a robot whose ros2_control is up, or is coming up."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
import yaml

from rnea_ros.launch_arguments import (
    MODES,
    TRUE_OR_FALSE,
    declared,
    existing_file,
    is_true,
    number,
    urdf_text,
    values,
    words,
)
from rnea_ros.ros import without_shared_memory

DEFAULT_TOPIC = 'effort_controller/commands'

SIGKILL_TIMEOUT = '30'
"""How long after SIGTERM the node is killed, s: after 5 s it may still be ramping down."""

ARGUMENTS = {
    'urdf': ('', 'URDF or xacro file; empty: robot_description comes from its topic'),
    'preset': ('', "arm whose parameters are taken, a file of the package's config/presets"),
    'params_file': ('', 'parameters, which count before those of the preset'),
    'controller': ('', 'name of the effort controller; empty: as in params_file or preset'),
    'hardware_compensates': (
        '',
        "what the robot's own controller adds to every command, commas between: none, or some of "
        'gravity, friction, payload; empty: as in params_file or preset',
    ),
    'mode': ('', 'control law; empty: as in params_file or preset'),
    'rate': ('', 'commands a second, Hz; empty: as in params_file or preset'),
    'joint_states': ('joint_states', 'topic of the joint states'),
    'use_sim_time': ('false', 'true: time comes from /clock'),
    'watchdog': ('false', 'true: a process beside the node commands zero when the node dies'),
    'namespace': ('', 'namespace of the node, its topics and the controller'),
    'enclaves': ('', 'root of the SROS2 enclaves, such as /rnea_ros; empty: the default enclave'),
}

CHOICES = {
    'mode': ('', *MODES),
    'use_sim_time': TRUE_OR_FALSE,
    'watchdog': TRUE_OR_FALSE,
}


def parameter_in(section: Any, name: str) -> Any:
    """Return a parameter's value in a parameter file that was read, None where it has none."""
    if not isinstance(section, dict):
        return None
    inner = [parameter_in(value, name) for value in section.values()]
    found = [value for value in inner if value is not None]
    return (section.get('ros__parameters') or {}).get(name, found[-1] if found else None)


def parameter_files(preset: str, params_file: str, config: Path) -> list[Path]:
    """Return the files to take parameters from; of two that have one, the later counts."""
    presets = {path.stem: path for path in sorted((config / 'presets').glob('*.yaml'))}
    if preset and preset not in presets:
        known = ', '.join(presets)
        raise ValueError(f'preset:={preset} is not known; known are {known}')
    files = [presets[preset]] if preset else []
    if params_file:
        files.append(existing_file('params_file', params_file))
    return files or [config / 'feedforward.yaml']


def command_topic(files: list[Path]) -> str:
    """Return the command topic that parameter files name, or the default."""
    sections = [yaml.safe_load(path.read_text(encoding='utf-8')) for path in files]
    named = [parameter_in(section, 'command_topic') for section in sections]
    return next((topic for topic in reversed(named) if topic), DEFAULT_TOPIC)


def enclave(root: str, name: str) -> list[str]:
    """Return the ROS arguments that name a node's enclave."""
    return ['--enclave', f'{root.rstrip("/")}/{name}'] if root else []


def watchdog(topic: str, namespace: str, enclaves: str) -> Node:
    """Return the watchdog of a command topic."""
    return Node(
        package='rnea_ros',
        executable='effort_watchdog',
        name='effort_watchdog',
        namespace=namespace,
        output='screen',
        parameters=[{'command_topic': topic}],
        ros_arguments=enclave(enclaves, 'effort_watchdog'),
    )


def nodes(context: Any) -> list[Node]:
    """Return the node with the parameters that the arguments ask for, and the watchdog."""
    given = values(ARGUMENTS, context)
    share = Path(get_package_share_directory('rnea_ros'))
    overrides: dict[str, Any] = {'use_sim_time': is_true(given['use_sim_time'])}
    if given['urdf']:
        overrides['robot_description'] = urdf_text(existing_file('urdf', given['urdf']))
    if given['controller']:
        overrides['command_topic'] = f'{given["controller"]}/commands'
    if given['hardware_compensates']:
        overrides['hardware_compensates'] = words(given['hardware_compensates'])
    if given['mode']:
        overrides['mode'] = given['mode']
    if given['rate']:
        overrides['rate'] = number('rate', given['rate'])
    files = parameter_files(given['preset'], given['params_file'], share / 'config')
    watched = is_true(given['watchdog'])
    node = Node(
        package='rnea_ros',
        executable='feedforward_node',
        name='feedforward',
        namespace=given['namespace'],
        output='screen',
        parameters=[*map(str, files), overrides],
        remappings=[('joint_states', given['joint_states'])],
        ros_arguments=enclave(given['enclaves'], 'feedforward'),
        additional_env=without_shared_memory(os.environ) if watched else {},
        sigkill_timeout=LaunchConfiguration('sigkill_timeout', default=SIGKILL_TIMEOUT),
    )
    if not watched:
        return [node]
    topic = overrides.get('command_topic') or command_topic(files)
    return [node, watchdog(topic, given['namespace'], given['enclaves'])]


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([
        *declared(ARGUMENTS, CHOICES),
        OpaqueFunction(function=nodes),
    ])
