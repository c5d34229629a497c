# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What the executables' command lines share: how they are refused, and what a node's help says."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
import json
import textwrap
from typing import Any, NoReturn

BAD_INPUT = 2
"""Exit code for bad arguments and files."""

ROS_ARGUMENTS = '--ros-args'

HOW_TO_GIVE = """\
Give them after --ros-args, as -p NAME:=VALUE or --params-file FILE; docs/interface.md has them
with ranges and topics, `ros2 param describe` those of a node that runs."""


class OneLineParser(argparse.ArgumentParser):
    """Refuses arguments with one line."""

    def error(self, message: str) -> NoReturn:
        """Tell what is wrong and exit."""
        self.exit(BAD_INPUT, f'{self.prog}: {message} (see --help)\n')


def node_parser(
    prog: str, description: str, parameters: Mapping[str, tuple[Any, str]]
) -> OneLineParser:
    """
    Return the parser of an executable that takes parameters and no arguments of its own.

    :param prog: the executable
    :param description: what it is
    :param parameters: default (None where there is none) and description by name
    """
    rows = [
        textwrap.fill(f'{name} ({_shown(default)}): {text}', 95, subsequent_indent='    ')
        for name, (default, text) in parameters.items()
    ]
    told = textwrap.indent('\n'.join(rows), '  ')
    return OneLineParser(
        prog=prog,
        usage=f'{prog} [-h] [{ROS_ARGUMENTS} [-p NAME:=VALUE] [--params-file FILE] ...]',
        description=description,
        epilog=f'parameters, and their defaults:\n{told}\n\n{HOW_TO_GIVE}',
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def split_ros_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """
    Return an executable's own arguments, and those that are for ROS.

    ROS's own begin at ``--ros-args`` and end at ``--``, or with the line.
    """
    own: list[str] = []
    of_ros: list[str] = []
    for argument in arguments:
        inside = bool(of_ros) and of_ros[-1] != '--'
        (of_ros if inside or argument == ROS_ARGUMENTS else own).append(argument)
    return own, of_ros


def _shown(default: Any) -> str:
    """Return a default as a parameter file has it."""
    return 'unset' if default is None else json.dumps(default).replace('Infinity', '.inf')
