# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Start Gazebo with a robot arm, ros2_control inside it, and the feedforward node that commands it.

The order matters: an effort controller that is active and gets no commands lets the arm fall.

1. Gazebo, running; the bridge of /clock; robot_state_publisher, which the controller manager
   inside Gazebo gets the robot from.
2. The robot is created, at its start positions.
3. joint_state_broadcaster: without joint states the node commands nothing.
4. The effort controller, inactive. It listens already, and tells the node which joints it has.
5. The node, which ramps its commands up; activate_controller waits for that to be over, has the
   node hold the pose, as the first step in Gazebo is one without effort, and activates the
   effort controller.

A step that fails ends the launch with exit code 1; so does a process that ends before its time.
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

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from launch import LaunchDescription
from launch.actions import (
    AppendEnvironmentVariable,
    DeclareLaunchArgument,
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
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
import yaml

ARGUMENTS = {
    'urdf': ('', "bare URDF or xacro of a robot; empty: the package's urdf/panda.urdf"),
    'xacro_arguments': ('', "of a xacro: 'name:=value name:=value'"),
    'own_control': ('false', 'true: urdf brings its <ros2_control> and <gazebo> tags itself'),
    'joints': ('', 'commanded, in order, commas between; empty: all but fingers that mimic'),
    'positions': ('', 'where they start, rad or m, commas between; empty: the usual pose'),
    'controllers_file': ('', "empty: the package's config/gazebo_controllers.yaml"),
    'controller': ('effort_controller', 'name of the effort controller in controllers_file'),
    'mode': ('computed_torque', 'control law of the node, whatever params_file says'),
    'rate': ('500', 'commands a (simulated) second, Hz, whatever params_file says'),
    'params_file': ('', "parameters of the node; empty: the package's config/gazebo.yaml"),
    'gui': ('false', "true: with Gazebo's window; false: its server alone"),
    'world': ('empty.sdf', 'SDF file; empty.sdf is one that every Gazebo has'),
    'timeout': ('60', 's, that a step may take'),
}

BROADCASTER = 'joint_state_broadcaster'
CLOCK_BRIDGE = '/clock@rosgraph_msgs/msg/Clock[gz.msgs.Clock'
RESOURCE_PATHS = ('GZ_SIM_RESOURCE_PATH', 'IGN_GAZEBO_RESOURCE_PATH')
"""Where Gazebo looks for meshes; the second is Fortress's."""


class StartOrder:
    """
    Starts one step after the other; a step is over when its last action's process has ended well.

    :param steps: actions of each step, the last one a process
    :param afterwards: actions that follow the last step
    """

    def __init__(self, steps: Sequence[Sequence[Any]], afterwards: Sequence[Any]) -> None:
        self._awaited = [step[-1] for step in steps]
        self._following = [*steps[1:], afterwards]
        self.begin = [RegisterEventHandler(OnProcessExit(on_exit=self.go_on)), *steps[0]]

    def go_on(self, event: Any, context: Any) -> Sequence[Any]:
        """Return what follows the end of a process; raise where it should not have ended."""
        if context.is_shutdown:
            return []
        awaited = event.action in self._awaited
        if event.returncode != 0:
            raise RuntimeError(f'{event.process_name} ended with exit code {event.returncode}')
        if not awaited:
            return [Shutdown(reason=f'{event.process_name} ended')]
        return self._following[self._awaited.index(event.action)]


def plugins_package() -> str:
    """Return the installed package that joins ros2_control to Gazebo."""
    from rnea_ros.sim.gazebo_description import PLUGINS

    for package in PLUGINS:
        try:
            get_package_share_directory(package)
        except PackageNotFoundError:
            continue
        return package
    package = 'ros-$ROS_DISTRO-gz-ros2-control'
    raise RuntimeError(f'gz_ros2_control is not installed: apt install {package}')


def robot_text(path: str, arguments: str) -> str:
    """Return a robot's URDF, a xacro expanded."""
    if path.endswith('.xacro'):
        import xacro

        mappings = dict(pair.split(':=', 1) for pair in arguments.split())
        return str(xacro.process_file(path, mappings=mappings).toxml())
    return Path(path).read_text(encoding='utf-8')


def mesh_paths(description: str) -> list[Any]:
    """Return actions that let Gazebo find the meshes of the packages that a URDF names."""
    found = set()
    for package in set(re.findall(r'package://([^/"]+)/', description)):
        found.add(str(Path(get_package_share_directory(package)).parent))
    return [
        AppendEnvironmentVariable(name, os.pathsep.join(sorted(found)))
        for name in RESOURCE_PATHS
        if found
    ]


def robot(given: dict[str, str], share: Path) -> tuple[str, str, str]:
    """Return the robot's name and URDF with tags for Gazebo, and the path of its controllers."""
    from rnea_ros.sim.gazebo_controllers import listed_joints, with_joints
    from rnea_ros.sim.gazebo_description import (
        PLUGINS,
        has_own_control,
        with_gazebo_control,
    )
    from rnea_ros.sim.massless_links import refuse_massless
    from rnea_ros.urdf import parse_urdf

    path = given['urdf'] or str(share / 'urdf/panda.urdf')
    text = robot_text(path, given['xacro_arguments'])
    source = Path(given['controllers_file'] or share / 'config/gazebo_controllers.yaml')
    if given['own_control'].lower() == 'true':
        if not has_own_control(text):
            raise RuntimeError(f'own_control: {path} has no <ros2_control>')
        refuse_massless(text)
        return parse_urdf(text).name, text, str(source)
    parameters = yaml.safe_load(source.read_text(encoding='utf-8'))
    joints = given['joints'].replace(',', ' ').split()
    # Gazebo and the spawners read this file.
    directory = tempfile.mkdtemp(prefix='rnea_ros_')
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    target = Path(directory, 'gazebo_controllers.yaml')
    made = with_gazebo_control(
        text,
        str(target),
        joints=joints or listed_joints(parameters, given['controller']),
        positions=[float(value) for value in given['positions'].replace(',', ' ').split()],
        plugins=PLUGINS[plugins_package()],
    )
    parameters = with_joints(parameters, given['controller'], made.joints)
    target.write_text(yaml.safe_dump(parameters), encoding='utf-8')
    return made.name, made.description, str(target)


def spawner(name: str, controllers: str, timeout: str, *options: str) -> Node:
    """Return what loads a controller, and ends when that is done."""
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


def actions(context: Any) -> list[Any]:
    """Return everything, in the order of its start."""
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    share = Path(get_package_share_directory('rnea_ros'))
    gz_launch = Path(get_package_share_directory('ros_gz_sim'), 'launch/gz_sim.launch.py')
    name, description, controllers = robot(given, share)
    flags = '-r' if given['gui'].lower() == 'true' else '-r -s'
    gazebo = [
        *mesh_paths(description),
        GroupAction([
            # It runs in a shell. Where that stays, a signal ends the shell and Gazebo lives on.
            SetLaunchConfiguration('launch-prefix', 'exec'),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(gz_launch)),
                launch_arguments={'gz_args': f'{flags} {given["world"]}'}.items(),
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
    feedforward = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(share / 'launch/feedforward.launch.py')),
        launch_arguments={
            'urdf': '',  # from robot_state_publisher
            'params_file': given['params_file'] or str(share / 'config/gazebo.yaml'),
            'controller': given['controller'],
            'mode': given['mode'],
            'rate': given['rate'],
            'use_sim_time': 'true',
        }.items(),
    )
    hold = [] if given['mode'] == 'gravity' else ['--hold']  # which holds no pose
    activate = Node(
        package='rnea_ros',
        executable='activate_controller',
        output='screen',
        arguments=[given['controller'], *hold, '--timeout', given['timeout']],
    )
    order = StartOrder(
        [
            [*gazebo, create],
            [spawner(BROADCASTER, controllers, given['timeout'])],
            [spawner(given['controller'], controllers, given['timeout'], '--inactive')],
            [feedforward, activate],
        ],
        [LogInfo(msg=f'{name} is under torque control')],
    )
    return order.begin


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([
        *(
            DeclareLaunchArgument(name, default_value=default, description=description)
            for name, (default, description) in ARGUMENTS.items()
        ),
        OpaqueFunction(function=actions),
    ])
