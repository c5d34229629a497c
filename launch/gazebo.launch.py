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

import atexit
from collections.abc import Sequence
import os
from pathlib import Path
import re
import shutil
import tempfile
from typing import Any

from ament_index_python.packages import (
    PackageNotFoundError,
    get_package_share_directory,
    get_packages_with_prefixes,
)
from launch import LaunchDescription
from launch.actions import (
    AppendEnvironmentVariable,
    GroupAction,
    IncludeLaunchDescription,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    SetLaunchConfiguration,
    Shutdown,
)
from launch.event_handlers import OnProcessExit
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
import yaml

from rnea_ros.launch_arguments import (
    MODES,
    TRUE_OR_FALSE,
    declared,
    existing_file,
    is_true,
    number,
    off_the_network,
    urdf_text,
    values,
    words,
)
from rnea_ros.yaml_files import read_document

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

CHOICES = {'own_control': TRUE_OR_FALSE, 'mode': MODES, 'gui': TRUE_OR_FALSE}

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


class StartOrder:
    """
    Starts the steps in order; a step ends when the process of its last action ends with code 0.

    :param steps: actions of each step, the last one a process
    :param afterwards: actions after the last step
    """

    def __init__(self, steps: Sequence[Sequence[Any]], afterwards: Sequence[Any]) -> None:
        self._awaited = [step[-1] for step in steps]
        self._following = [*steps[1:], afterwards]
        self.begin = [RegisterEventHandler(OnProcessExit(on_exit=self.go_on)), *steps[0]]

    def go_on(self, event: Any, context: Any) -> Sequence[Any]:
        """Return the actions after the end of a process; raise if it failed."""
        if context.is_shutdown:
            return []
        awaited = event.action in self._awaited
        if event.returncode != 0:
            raise RuntimeError(f'{event.process_name} ended with exit code {event.returncode}')
        if not awaited:
            return [Shutdown(reason=f'{event.process_name} ended')]
        return self._following[self._awaited.index(event.action)]


def installed(names: Sequence[str], debian_name: str) -> str:
    """Return the first of several package names that is installed."""
    packages = get_packages_with_prefixes()
    present = [name for name in names if name in packages]
    if not present:
        missing, package = names[0], f'ros-$ROS_DISTRO-{debian_name}'
        raise RuntimeError(f'{missing} is not installed: apt install {package}')
    return present[0]


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
    return [
        AppendEnvironmentVariable(name, os.pathsep.join(sorted(folders)))
        for name in RESOURCE_PATHS
        if folders
    ]


def robot(arguments: dict[str, str], share: Path) -> tuple[str, str, str]:
    """Return the robot's name, its URDF with tags for Gazebo, and the controllers' file."""
    from rnea_ros.sim.gazebo import (
        PLUGINS,
        has_own_control,
        listed_joints,
        reject_massless,
        with_gazebo_control,
        with_joints,
    )
    from rnea_ros.urdf import parse_urdf

    path = existing_file('urdf', arguments['urdf'] or share / 'urdf/panda.urdf')
    text = urdf_text(path, arguments['xacro_arguments'])
    source = existing_file(
        'controllers_file',
        arguments['controllers_file'] or share / 'config/gazebo_controllers.yaml',
    )
    if is_true(arguments['own_control']):
        if arguments['joints'] or arguments['positions']:
            raise RuntimeError('own_control: joints and positions are those of the URDF')
        if not has_own_control(text):
            raise RuntimeError(f'own_control: {path} has no <ros2_control>')
        reject_massless(text)
        return parse_urdf(text).name, text, str(source)
    parameters = read_document(source)
    joints = words(arguments['joints'])
    # Gazebo and the spawners read a file in this directory.
    directory = tempfile.mkdtemp(prefix='rnea_ros_')
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    target = Path(directory, 'gazebo_controllers.yaml')
    made = with_gazebo_control(
        text,
        str(target),
        joints=joints or listed_joints(parameters, arguments['controller']),
        positions=[number('positions', word) for word in words(arguments['positions'])],
        plugins=PLUGINS[installed(list(PLUGINS), 'gz-ros2-control')],
    )
    parameters = with_joints(parameters, arguments['controller'], made.joints)
    target.write_text(yaml.safe_dump(parameters), encoding='utf-8')
    return made.name, made.description, str(target)


def spawner(name: str, controllers: str, timeout: str, *options: str) -> Node:
    """Return the process that loads a controller."""
    return Node(
        package='controller_manager',
        executable='spawner',
        output='screen',
        arguments=[
            name,
            '--param-file', controllers,
            '--controller-manager-timeout', timeout,
            '--switch-timeout', timeout,
            *options,
        ],
    )  # fmt: skip


def activation(controller: str, timeout: str, *options: str) -> Node:
    """Return the process that activates a controller."""
    return Node(
        package='rnea_ros',
        executable='activate_controller',
        output='screen',
        arguments=[controller, *options, '--timeout', timeout],
    )


def actions(context: Any) -> list[Any]:
    """Return all actions in the order of their start."""
    arguments = values(ARGUMENTS, context)
    share = Path(get_package_share_directory('rnea_ros'))
    parameters = arguments['params_file'] or share / 'config/gazebo.yaml'
    params_file = existing_file('params_file', parameters)
    for argument in ('rate', 'timeout'):
        number(argument, arguments[argument])
    for package, debian_name in NEEDED.items():
        installed([package], debian_name)
    gz_launch = Path(get_package_share_directory('ros_gz_sim'), 'launch/gz_sim.launch.py')
    name, description, controllers = robot(arguments, share)
    server = '' if is_true(arguments['gui']) else '-s '
    gazebo = [
        *mesh_paths(description),
        GroupAction([
            # Gazebo runs in a shell. Without exec, a signal ends the shell but not Gazebo.
            SetLaunchConfiguration('launch-prefix', 'exec'),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(gz_launch)),
                launch_arguments={'gz_args': f'{server}{arguments["world"]}'}.items(),
            ),
        ]),
        Node(
            package='ros_gz_bridge',
            executable='parameter_bridge',
            name='clock_bridge',
            arguments=[CLOCK_BRIDGE],
        ),
        Node(
            package='robot_state_publisher',
            executable='robot_state_publisher',
            name='robot_state_publisher',
            parameters=[
                {
                    'robot_description': ParameterValue(description, value_type=str),
                    'use_sim_time': True,
                }
            ],
        ),
    ]
    create = Node(
        package='ros_gz_sim',
        executable='create',
        output='screen',
        arguments=['-topic', 'robot_description', '-name', name],
    )
    default = '' if is_true(arguments['own_control']) else 'none'
    adds = arguments['hardware_compensates'] or default
    feedforward = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(share / 'launch/feedforward.launch.py')),
        launch_arguments={
            'urdf': '',  # from robot_state_publisher
            'params_file': str(params_file),
            'controller': arguments['controller'],
            'hardware_compensates': adds,
            'mode': arguments['mode'],
            'rate': arguments['rate'],
            'use_sim_time': 'true',
            'watchdog': 'false',  # Gazebo may pause, and ends with the node
        }.items(),
    )
    hold = [] if arguments['mode'] == 'gravity' else ['--hold']  # gravity mode holds no pose
    controller, timeout = arguments['controller'], arguments['timeout']
    order = StartOrder(
        [
            [*gazebo, create],
            [spawner(BROADCASTER, controllers, timeout, '--inactive')],
            [spawner(controller, controllers, timeout, '--inactive')],
            [feedforward, activation(BROADCASTER, timeout, '--unpause')],
            [activation(controller, timeout, *hold)],
        ],
        [LogInfo(msg=f'{name} is under torque control')],
    )
    return order.begin


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([
        *declared(ARGUMENTS, CHOICES),
        *off_the_network(),
        OpaqueFunction(function=actions),
    ])
