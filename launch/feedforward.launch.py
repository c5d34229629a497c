# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Start the feedforward node for a robot under ros2_control."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from launch import LaunchDescription
from launch.substitutions import LaunchConfiguration

from rnea_ros.launch_arguments import (
    MODES,
    command_topic,
    enclave,
    existing_file,
    is_true,
    launch_description,
    number,
    parameter_files,
    parameter_in,
    process,
    urdf_text,
    words,
)
from rnea_ros.shared_memory import without_shared_memory

SIGKILL_TIMEOUT = '30'
"""Time after SIGTERM at which the node is killed, s; the default of 5 s may cut its ramp-down."""

SIGTERM_TIMEOUT, REST_TIMEOUT = '5', '32'
"""Time after Ctrl-C at which launch sends SIGTERM, s, without and with ``rest_pose``: it ends the
motion there."""

ARGUMENTS = {
    'urdf': ('', 'URDF or xacro file; empty: the topic robot_description'),
    'preset': ('', "parameters of an arm: name of a file in the package's config/presets"),
    'params_file': ('', 'parameter file; it overrides the preset'),
    'controller': ('', 'name of the effort controller; empty: as in params_file or preset'),
    'hardware_compensates': (
        '',
        "efforts that the robot's own controller adds to every command, comma-separated: none, or "
        'some of gravity, friction, payload; empty: as in params_file or preset',
    ),
    'mode': ('', 'control law; empty: as in params_file or preset'),
    'rate': ('', 'rate of the commands, Hz; empty: as in params_file or preset'),
    'joint_states': ('joint_states', 'topic of the joint states'),
    'use_sim_time': ('false', 'true: take the time from /clock'),
    'watchdog': ('true', 'false: without the process that commands zero if the node dies'),
    'panel': ('false', 'true: robot and node in a browser (needs viser), on localhost:8080'),
    'namespace': ('', 'namespace of the node, its topics and the controller'),
    'enclaves': ('', 'root of the SROS2 enclaves, such as /rnea_ros; empty: the default enclave'),
}


def nodes(arguments: dict[str, str], share: Path) -> list[Any]:
    """Return the feedforward node, its watchdog and its panel."""
    overrides: dict[str, Any] = {'use_sim_time': is_true(arguments['use_sim_time'])}
    if arguments['urdf']:
        overrides['robot_description'] = urdf_text(existing_file('urdf', arguments['urdf']))
    if arguments['controller']:
        overrides['command_topic'] = f'{arguments["controller"]}/commands'
    if arguments['hardware_compensates']:
        overrides['hardware_compensates'] = words(arguments['hardware_compensates'])
    if arguments['mode']:
        overrides['mode'] = arguments['mode']
    if arguments['rate']:
        overrides['rate'] = number('rate', arguments['rate'])
    files = parameter_files(arguments['preset'], arguments['params_file'], share / 'config')
    watched = is_true(arguments['watchdog'])
    without_rest = parameter_in(files, 'rest_pose') in (None, [0.0])
    sigterm_timeout = SIGTERM_TIMEOUT if without_rest else REST_TIMEOUT
    node = process(
        'rnea_ros', 'feedforward_node', name='feedforward', namespace=arguments['namespace'],
        output='screen', parameters=[*map(str, files), overrides],
        remappings=[('joint_states', arguments['joint_states'])],
        ros_arguments=enclave(arguments['enclaves'], 'feedforward'),
        additional_env=without_shared_memory(os.environ) if watched else {},
        sigterm_timeout=LaunchConfiguration('sigterm_timeout', default=sigterm_timeout),
        sigkill_timeout=LaunchConfiguration('sigkill_timeout', default=SIGKILL_TIMEOUT),
    )
    panel = [process(
        'rnea_ros', 'panel', namespace=arguments['namespace'], output='screen',
        remappings=[('joint_states', arguments['joint_states'])],
    )] if is_true(arguments['panel']) else []
    if not watched:
        return [node, *panel]
    topic = overrides.get('command_topic') or command_topic(files)
    watchdog = process(
        'rnea_ros', 'effort_watchdog', name='effort_watchdog', namespace=arguments['namespace'],
        output='screen', parameters=[{'command_topic': topic}],
        ros_arguments=enclave(arguments['enclaves'], 'effort_watchdog'),
    )
    return [node, watchdog, *panel]


def generate_launch_description() -> LaunchDescription:
    return launch_description(ARGUMENTS, {'mode': ('', *MODES)}, nodes)
