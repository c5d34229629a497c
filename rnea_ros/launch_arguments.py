# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What the launch files have in common: how arguments are declared, read and refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration

TRUE_OR_FALSE = ('true', 'false', 'True', 'False')

MODES = ('gravity', 'feedforward', 'computed_torque', 'feedback', 'gravity_feedback')
"""The control laws; a launch does not import them."""


def declared(
    arguments: Mapping[str, tuple[str, str]], choices: Mapping[str, Collection[str]]
) -> list[Any]:
    """
    Return the actions that declare arguments; the launch ends where one is none of its choices.

    :param arguments: their defaults and descriptions
    :param choices: of those that have some
    """
    return [
        DeclareLaunchArgument(
            name,
            default_value=default,
            description=description,
            choices=list(choices[name]) if name in choices else None,
        )
        for name, (default, description) in arguments.items()
    ]


def values(arguments: Collection[str], context: Any) -> dict[str, str]:
    """Return the values of declared arguments."""
    return {name: LaunchConfiguration(name).perform(context) for name in arguments}


def is_true(text: str) -> bool:
    """Return what one of :data:`TRUE_OR_FALSE` says."""
    return text.lower() == 'true'


def existing_file(argument: str, path: str | Path) -> Path:
    """Return the file that an argument names; nothing must start without its content."""
    if not Path(path).is_file():
        raise FileNotFoundError(f'{argument}: {str(path)!r} is no file')
    return Path(path)


def number(argument: str, text: str) -> float:
    """Return the number that an argument gives."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(f'{argument}: {text!r} is no number') from None


def words(text: str) -> list[str]:
    """Return what commas or spaces stand between."""
    return text.replace(',', ' ').split()


def urdf_text(path: Path, xacro_arguments: str = '') -> str:
    """
    Return a URDF file's text, a xacro file expanded.

    :param path: of the file
    :param xacro_arguments: ``name:=value``, spaces between
    """
    pairs = [word.partition(':=') for word in xacro_arguments.split()]
    for name, sign, value in pairs:
        if not name or not sign:
            raise ValueError(f'xacro_arguments: {name + value!r} is not name:=value')
    if path.suffix != '.xacro':
        return path.read_text(encoding='utf-8')
    import xacro

    mappings = {name: value for name, _, value in pairs}
    return str(xacro.process_file(str(path), mappings=mappings).toxml())
