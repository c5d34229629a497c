# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The launch files: declare, read and check their arguments, start processes.

launch and launch_ros are imported where they are needed: they are not on PyPI.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
import os
from pathlib import Path
from typing import Any

from .modes import MODES as MODES
from .shared_memory import LOOPBACK_NOTICE, loopback_by_default
from .urdf import read_urdf
from .yaml_files import read_document

DEFAULT_TOPIC = 'effort_controller/commands'
TRUE_OR_FALSE = ('true', 'false', 'True', 'False')
RENAMED = {'viewer': 'panel'}
"""New names of arguments by old name; the old ones count until version 0.5, with a warning."""


def launch_description(
    arguments: Mapping[str, tuple[str, str]], choices: Mapping[str, Collection[str]],
    actions: Callable[[dict[str, str], Path], list[Any]], *, simulation: bool = False,
) -> Any:
    """
    Return the description of a launch file.

    :param arguments: default and description of each argument
    :param choices: permitted values of arguments; true and false if the default is one of them
    :param actions: makes the actions from the values and the package's share directory
    :param simulation: keep it off the network, unless the user has chosen
    """
    from ament_index_python.packages import get_package_share_directory
    from launch import LaunchDescription
    from launch.actions import DeclareLaunchArgument, OpaqueFunction

    def made(context: Any) -> list[Any]:
        return actions(values(arguments, context), Path(get_package_share_directory('rnea_ros')))

    declared = []
    for name, (default, about) in arguments.items():
        permitted = choices.get(name, TRUE_OR_FALSE if default in TRUE_OR_FALSE else ())
        declared.append(DeclareLaunchArgument(
            name, default_value=default, description=about, choices=list(permitted) or None
        ))
    loopback = off_the_network() if simulation else []
    return LaunchDescription([*declared, *loopback, OpaqueFunction(function=made)])


def included(path: Path, arguments: Mapping[str, str]) -> Any:
    """Return the action that includes a launch file."""
    from launch.actions import IncludeLaunchDescription
    from launch.launch_description_sources import PythonLaunchDescriptionSource

    source = PythonLaunchDescriptionSource(str(path))
    return IncludeLaunchDescription(source, launch_arguments=arguments.items())


def process(package: str, executable: str, *arguments: str, **options: Any) -> Any:
    """Return the action that starts an executable, with options of launch_ros's ``Node``."""
    from launch_ros.actions import Node

    return Node(package=package, executable=executable, arguments=list(arguments), **options)


def robot_state_publisher(urdf: str, *, use_sim_time: bool = False, **options: Any) -> Any:
    """Return the action that starts the publisher of a URDF's frames, as :func:`process`."""
    from launch_ros.parameter_descriptions import ParameterValue

    name, description = 'robot_state_publisher', ParameterValue(urdf, value_type=str)
    parameters = {'robot_description': description, 'use_sim_time': use_sim_time}
    return process(name, name, name=name, parameters=[parameters], **options)


def off_the_network() -> list[Any]:
    """Return the actions that keep a simulation off the network, unless the user has chosen."""
    from launch.actions import LogInfo, SetEnvironmentVariable

    variables, notice = loopback_by_default(os.environ), LogInfo(msg=LOOPBACK_NOTICE)
    return [each for v in variables.items() for each in (notice, SetEnvironmentVariable(*v))]


def values(arguments: Collection[str], context: Any) -> dict[str, str]:
    """Return the values of declared arguments; name typed ones that are spelled much like one."""
    from launch.logging import get_logger
    from launch.substitutions import LaunchConfiguration

    for typed in context.argv:
        name, sign, _ = typed.partition(':=')
        meant = [] if name in arguments else get_close_matches(name, arguments, 1, 0.8)
        if sign and meant:
            get_logger('rnea_ros').warning(f'{name}:= is no argument; did you mean {meant[0]}:=?')
    given = context.launch_configurations
    for old, new in RENAMED.items():
        if new in arguments and old in given:
            get_logger('rnea_ros').warning(f'{old}:= is now {new}:=')
            given[new] = given[old]
    return {name: LaunchConfiguration(name).perform(context) for name in arguments}


def is_true(text: str) -> bool:
    """Return the boolean value of one of :data:`TRUE_OR_FALSE`."""
    return text.lower() == 'true'


def existing_file(argument: str, path: str | Path) -> Path:
    """Return the path in an argument; an error ends the launch if the file does not exist."""
    if not Path(path).is_file():
        raise FileNotFoundError(f'{argument}: {str(path)!r} is not a file')
    return Path(path)


def number(argument: str, text: str) -> float:
    """Return the number in an argument."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(f'{argument}: {text!r} is not a number') from None


def words(text: str) -> list[str]:
    """Split a list at commas and spaces."""
    return text.replace(',', ' ').split()


def enclave(root: str, name: str) -> list[str]:
    """Return the ROS arguments for a node's enclave; none without a root of the enclaves."""
    return ['--enclave', f'{root.rstrip("/")}/{name}'] if root else []


def parameter_files(preset: str, params_file: str, config: Path) -> list[Path]:
    """Return the parameter files; a later one overrides an earlier one."""
    presets = {path.stem: path for path in sorted((config / 'presets').glob('*.yaml'))}
    if preset and preset not in presets:
        known = ', '.join(presets)
        raise ValueError(f'preset:={preset} is unknown; known presets: {known}')
    files = [presets[preset]] if preset else []
    if params_file:
        files.append(existing_file('params_file', params_file))
    return files or [config / 'feedforward.yaml']


def parameter_in(files: list[Path], name: str) -> Any:
    """Return a parameter's value in parameter files; None if they have none."""
    named = [_parameter_in(read_document(path), name) for path in files]
    return next((value for value in reversed(named) if value), None)


def command_topic(files: list[Path]) -> str:
    """Return the command topic in parameter files, or the default."""
    return str(parameter_in(files, 'command_topic') or DEFAULT_TOPIC)


def _parameter_in(section: Any, name: str) -> Any:
    """Return a parameter's value in a parsed parameter file; None if it has none."""
    if not isinstance(section, dict):
        return None
    inner = [_parameter_in(value, name) for value in section.values()]
    values = [value for value in inner if value is not None]
    return (section.get('ros__parameters') or {}).get(name, values[-1] if values else None)


def urdf_text(path: Path, xacro_arguments: str = '') -> str:
    """Return the text of a URDF file; a xacro file is expanded with ``name:=value`` pairs."""
    pairs = [word.partition(':=') for word in xacro_arguments.split()]
    for name, sign, value in pairs:
        if not name or not sign:
            raise ValueError(f'xacro_arguments: {name + value!r} is not name:=value')
    return read_urdf(path, {name: value for name, _, value in pairs})
