# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Start a simulated robot and the feedforward node that commands it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchDescription
from launch.actions import Shutdown

from rnea_ros.launch_arguments import (
    MODES,
    existing_file,
    included,
    is_true,
    launch_description,
    process,
    robot_state_publisher,
    urdf_text,
)
from rnea_ros.urdf import parse_urdf

ARGUMENTS = {
    'robot': ('panda', 'robot of the package: panda, panda_arm or ur5e'),
    'urdf': ('', 'URDF file of another robot; it overrides robot'),
    'mode': ('gravity', 'control law of the node; it overrides params_file'),
    'rate': ('500', 'rate of the commands, Hz; it overrides params_file'),
    'params_file': ('', "node's parameters; empty: the package's config/simulation.yaml"),
    'use_sim_time': ('false', 'true: the simulation publishes /clock and the node uses it'),
    'watchdog': ('true', 'false: without the process that commands zero if the node dies'),
    'wrench_link': ('', 'link with a force-torque sensor; empty: none'),
    'panel': ('false', 'true: robot and node in a browser (needs viser), on localhost:8080'),
    'rviz': ('false', 'true: RViz, with robot_state_publisher'),
}

CHOICES = {'robot': ('panda', 'panda_arm', 'ur5e'), 'mode': MODES}


def actions(arguments: dict[str, str], share: Path) -> list[Any]:
    """Return the node, the simulated robot, and RViz if requested."""
    urdf = existing_file('urdf', arguments['urdf'] or share / f'urdf/{arguments["robot"]}.urdf')
    passed_on = {name: arguments[name] for name in ('mode', 'rate', 'use_sim_time', 'watchdog')}
    passed_on['hardware_compensates'] = 'none'  # the simulated robot adds nothing to a command
    passed_on['params_file'] = arguments['params_file'] or str(share / 'config/simulation.yaml')
    options = {
        'urdf': str(urdf),
        'publish_clock': is_true(arguments['use_sim_time']),
        'wrench_link': arguments['wrench_link'],
    }
    return [
        # First: if it rejects an argument, launch does not stop a robot that was started before.
        included(share / 'launch/feedforward.launch.py', passed_on),
        process(
            'rnea_ros', 'simulated_robot', output='screen', parameters=[options],
            on_exit=Shutdown(reason='the simulated robot ended'),
        ),
        *([process('rnea_ros', 'panel', output='screen')] if is_true(arguments['panel']) else ()),
        *(_rviz(urdf, share / 'layouts') if is_true(arguments['rviz']) else ()),
    ]


def _rviz(urdf: Path, layouts: Path) -> list[Any]:
    """Return RViz and the publisher of the frames; an error ends the launch if one is missing."""
    for package in ('robot_state_publisher', 'rviz2'):
        try:
            get_package_prefix(package)
        except PackageNotFoundError:
            raise FileNotFoundError(f'rviz: the package {package} is not installed') from None
    text = urdf_text(urdf)
    layout = layouts / f'{urdf.stem}.rviz'
    if not layout.is_file():
        layout = layouts / 'panda.rviz'
    return [
        # The simulated robot publishes it too.
        robot_state_publisher(text, remappings=[('robot_description', '~/robot_description')]),
        process('rviz2', 'rviz2', '-d', str(layout), '-f', parse_urdf(text).root),
    ]


def generate_launch_description() -> LaunchDescription:
    return launch_description(ARGUMENTS, CHOICES, actions, simulation=True)
