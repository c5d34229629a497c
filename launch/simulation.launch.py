# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Start a simulated robot and the feedforward node that commands it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription, OpaqueFunction, Shutdown
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import Node

from rnea_ros.launch_arguments import (
    MODES,
    TRUE_OR_FALSE,
    declared,
    existing_file,
    is_true,
    values,
)

ARGUMENTS = {
    'robot': ('panda', 'robot of the package: panda, panda_arm or ur5e'),
    'urdf': ('', 'URDF file of another robot; it is taken instead of robot'),
    'mode': ('gravity', 'control law of the node, whatever params_file says'),
    'rate': ('500', 'commands a second, Hz, whatever params_file says'),
    'params_file': ('', "parameters of the node; empty: the package's config/simulation.yaml"),
    'use_sim_time': ('false', 'true: the simulation sends /clock, and the node follows it'),
    'watchdog': ('true', 'false: without the process that commands zero when the node dies'),
    'wrench_link': ('', 'link that carries a force-torque sensor; empty: none'),
}

CHOICES = {
    'robot': ('panda', 'panda_arm', 'ur5e'),
    'mode': MODES,
    'use_sim_time': TRUE_OR_FALSE,
    'watchdog': TRUE_OR_FALSE,
}


def actions(context: Any) -> list[Any]:
    """Return the simulated robot and the node."""
    given = values(ARGUMENTS, context)
    share = Path(get_package_share_directory('rnea_ros'))
    urdf = existing_file('urdf', given['urdf'] or share / f'urdf/{given["robot"]}.urdf')
    passed_on = {name: given[name] for name in ('mode', 'rate', 'use_sim_time', 'watchdog')}
    passed_on['hardware_compensates'] = 'none'  # the simulation adds nothing to a command
    passed_on['params_file'] = given['params_file'] or str(share / 'config/simulation.yaml')
    return [
        # First: where it refuses an argument, launch would leave a robot that runs running.
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(share / 'launch/feedforward.launch.py')),
            launch_arguments=passed_on.items(),
        ),
        Node(
            package='rnea_ros',
            executable='simulated_robot',
            output='screen',
            on_exit=Shutdown(reason='the simulated robot ended'),
            parameters=[
                {
                    'urdf': str(urdf),
                    'publish_clock': is_true(given['use_sim_time']),
                    'wrench_link': given['wrench_link'],
                }
            ],
        ),
    ]


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([
        *declared(ARGUMENTS, CHOICES),
        OpaqueFunction(function=actions),
    ])
