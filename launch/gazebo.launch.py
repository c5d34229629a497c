# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Start Gazebo with a robot arm, ros2_control inside it, and the feedforward node that commands it.

The order matters: an active effort controller without commands lets the arm fall. On Humble the
arm falls with an inactive one too, unless Gazebo is paused until the node is ready.

1. Gazebo, paused, the bridge of /clock, and robot_state_publisher, from which the controller
   manager inside Gazebo gets the robot.
2. The robot, at its start positions.
3. joint_state_broadcaster and the effort controller, inactive: this already gives the node its
   joints.
4. The node. As soon as it is active, activate_controller lets simulated time begin, and activates
   joint_state_broadcaster: without joint states the node commands nothing.
5. The node ramps its commands up. activate_controller waits for the end of the ramp, makes the
   node hold the pose, because the first step in Gazebo has no effort, and activates the effort
   controller.

A failed step ends the launch with exit code 1; so does a process that ends too early.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
import os
from pathlib import Path
import re
from typing import Any

from ament_index_python.packages import (
    PackageNotFoundError,
    get_package_share_directory,
    get_packages_with_prefixes,
)
from launch import LaunchDescription
from launch import actions as launch_actions
from launch.event_handlers import OnProcessExit

from rnea_ros.launch_arguments import (
    MODES,
    existing_file,
    included,
    is_true,
    launch_description,
    number,
    process,
    robot_state_publisher,
    urdf_text,
    words,
)
from rnea_ros.sim.gazebo import PLUGINS, GazeboRobot, gazebo_robot

ARGUMENTS = {
    'urdf': ('', "URDF or xacro without <ros2_control>; empty: the package's urdf/panda.urdf"),
    'xacro_arguments': ('', "arguments of a xacro: 'name:=value name:=value'"),
    'own_control': ('false', 'true: urdf has its own <ros2_control> and <gazebo> tags'),
    'joints': (
        '',
        'commanded joints in order, comma-separated; empty: as in controllers_file, or all '
        'without a mimic relation',
    ),
    'positions': ('', 'their start positions, rad or m, comma-separated; empty: a usual pose'),
    'controllers_file': ('', "controllers; empty: the package's config/gazebo_controllers.yaml"),
    'controller': ('effort_controller', 'name of the effort controller in controllers_file'),
    'mode': ('computed_torque', 'control law of the node; it overrides params_file'),
    'rate': ('500', 'commands per simulated second, Hz; it overrides params_file'),
    'params_file': ('', "node's parameters; empty: the package's config/gazebo.yaml"),
    'hardware_compensates': (
        '',
        "efforts that the robot's plugin in Gazebo adds to every command, comma-separated; empty: "
        'none, or as in params_file with own_control',
    ),
    'gui': ('false', "true: with Gazebo's window; false: only its server"),
    'world': ('empty.sdf', 'SDF file; empty.sdf comes with Gazebo'),
    'timeout': ('60', 'longest time of a step, s'),
}

NEEDED = {
    'ros_gz_sim': 'ros-gz',
    'ros_gz_bridge': 'ros-gz',
    'robot_state_publisher': 'robot-state-publisher',
    'controller_manager': 'ros2-control',
}
"""Needed ROS packages, and the Debian packages that install them."""

BROADCASTER = 'joint_state_broadcaster'
CLOCK_BRIDGE = '/clock@rosgraph_msgs/msg/Clock[gz.msgs.Clock'
RESOURCE_PATHS = ('GZ_SIM_RESOURCE_PATH', 'IGN_GAZEBO_RESOURCE_PATH')
"""Variables with Gazebo's search path for meshes; Fortress uses the second."""


def in_order(steps: Sequence[Sequence[Any]]) -> list[Any]:
    """Return actions that start each step when the last process of the one before has ended."""
    following = {before[-1]: step for before, step in pairwise(steps)}

    def go_on(event: Any, context: Any) -> Sequence[Any]:
        if context.is_shutdown:
            return []
        if event.returncode != 0:
            raise RuntimeError(f'{event.process_name} ended with exit code {event.returncode}')
        ended = launch_actions.Shutdown(reason=f'{event.process_name} ended')
        return following.get(event.action, [ended])

    return [launch_actions.RegisterEventHandler(OnProcessExit(on_exit=go_on)), *steps[0]]


def installed(debian_name: str, *names: str) -> str:
    """Return the first of several package names that is installed."""
    packages = get_packages_with_prefixes()
    for name in names:
        if name in packages:
            return name
    package = f'ros-$ROS_DISTRO-{debian_name}'
    raise RuntimeError(f'{names[0]} is not installed: apt install {package}')


def mesh_paths(description: str) -> list[Any]:
    """Return actions that let Gazebo find the meshes of a URDF."""
    folders = set()
    for package in set(re.findall(r'package://([^/"]+)/', description)):
        try:
            folders.add(str(Path(get_package_share_directory(package)).parent))
        except PackageNotFoundError as error:
            raise RuntimeError(
                f'meshes of the URDF are in the package {package!r}, which is not found: install '
                'it, source its workspace, or link it ("Meshes" in docs/gazebo.md)'
            ) from error
    paths = os.pathsep.join(sorted(folders))
    variables = RESOURCE_PATHS if paths else ()
    return [launch_actions.AppendEnvironmentVariable(name, paths) for name in variables]


def robot(arguments: dict[str, str], share: Path) -> GazeboRobot:
    """Return the robot with tags for Gazebo and a file of its controllers."""
    path = existing_file('urdf', arguments['urdf'] or share / 'urdf/panda.urdf')
    controllers = arguments['controllers_file'] or share / 'config/gazebo_controllers.yaml'
    return gazebo_robot(
        urdf_text(path, arguments['xacro_arguments']),
        existing_file('controllers_file', controllers), arguments['controller'],
        own_control=is_true(arguments['own_control']), joints=words(arguments['joints']),
        positions=[number('positions', word) for word in words(arguments['positions'])],
        plugins=lambda: PLUGINS[installed('gz-ros2-control', *PLUGINS)],
    )


def actions(arguments: dict[str, str], share: Path) -> list[Any]:
    """Return all actions in the order of their start."""
    params_file = existing_file(
        'params_file', arguments['params_file'] or share / 'config/gazebo.yaml'
    )
    for argument in ('rate', 'timeout'):
        number(argument, arguments[argument])
    for package, debian_name in NEEDED.items():
        installed(debian_name, package)
    gz_launch = Path(get_package_share_directory('ros_gz_sim'), 'launch/gz_sim.launch.py')
    made = robot(arguments, share)
    controller, timeout = arguments['controller'], arguments['timeout']
    server = '' if is_true(arguments['gui']) else '-s '
    hold = [] if arguments['mode'] == 'gravity' else ['--hold']  # gravity mode holds no pose
    default = '' if is_true(arguments['own_control']) else 'none'
    passed_on = {name: arguments[name] for name in ('controller', 'mode', 'rate')} | {
        'urdf': '',  # from robot_state_publisher
        'params_file': str(params_file),
        'hardware_compensates': arguments['hardware_compensates'] or default,
        'use_sim_time': 'true',
        'watchdog': 'false',  # Gazebo may pause, and ends with the node
    }

    def spawner(spawned: str) -> Any:
        return process(
            'controller_manager', 'spawner', spawned, '--param-file', made.controllers,
            '--controller-manager-timeout', timeout, '--switch-timeout', timeout, '--inactive',
            output='screen',
        )

    def activation(activated: str, *options: str) -> Any:
        return process(
            'rnea_ros', 'activate_controller', activated, *options, '--timeout', timeout,
            output='screen',
        )

    return in_order([
        [
            *mesh_paths(made.description),
            launch_actions.GroupAction([
                # Gazebo runs in a shell. Without exec, a signal ends the shell but not Gazebo.
                launch_actions.SetLaunchConfiguration('launch-prefix', 'exec'),
                included(gz_launch, {'gz_args': f'{server}{arguments["world"]}'}),
            ]),
            process('ros_gz_bridge', 'parameter_bridge', CLOCK_BRIDGE, name='clock_bridge'),
            robot_state_publisher(made.description, use_sim_time=True),
            process(
                'ros_gz_sim', 'create', '-topic', 'robot_description', '-name', made.name,
                output='screen',
            ),
        ],
        [spawner(BROADCASTER)],
        [spawner(controller)],
        [
            included(share / 'launch/feedforward.launch.py', passed_on),
            activation(BROADCASTER, '--unpause'),
        ],
        [activation(controller, *hold)],
        [launch_actions.LogInfo(msg=f'{made.name} is under torque control')],
    ])


def generate_launch_description() -> LaunchDescription:
    return launch_description(ARGUMENTS, {'mode': MODES}, actions, simulation=True)
