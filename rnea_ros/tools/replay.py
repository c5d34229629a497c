# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Play a recorded bag through the control: what would have been commanded, beside what was measured.

The control is that of the node ``feedforward`` with the same parameters; stamps are its time, no
ROS is needed, and nothing moves. Told are: how far commands, gravity torques and the full inverse
dynamics are from the measured efforts, limits that were met, states, refused joint states by
reason, and flaws of the recording: repeated samples, velocities that contradict positions, gaps,
a start that rings, efforts of a wrong sign or scale.

Exit code: 0 the control went through the recording; 1 it ended before, or never began; 2 bad
arguments or files, or no efforts to compare with.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
import sys
from typing import Any

from ..command_line import BAD_INPUT, OneLineParser, tool
from ..errors import RneaError
from ..node.parameters import (
    complete_values,
    listed_joints,
    parse_assignment,
    read_parameter_file,
    settings_from,
)
from ..recordings import read_joint_states
from ..replay import Review, picture, recorded_robot, report, review, write_table
from .arguments import add_bag, add_recorded_joints, needed_bag
from .model import load_model

ENDED = 1


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options."""
    parser = OneLineParser(
        prog='replay',
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog='example: replay my_bag --urdf robot.urdf -p compensate_coriolis:=true',
    )
    add = parser.add_argument
    add_bag(parser, 'recording to play (needs rosbags)')
    add('--urdf', type=Path, required=True, help='the model')
    add('--topic', help='topic of the joint states, where several are recorded')
    add('--params-file', type=Path, help="the node's parameter file; the default: its defaults")
    add(
        '-p',
        '--param',
        action='append',
        default=[],
        metavar='NAME:=VALUE',
        help='a parameter of the node, instead of that of the file',
    )
    add_recorded_joints(parser)
    add('--picture', type=Path, help='PNG to write (needs matplotlib)')
    add('--csv', type=Path, help='table to write: commands and measured efforts at every tick')
    options = parser.parse_args(arguments)
    options.bag = needed_bag(parser, options)
    return options


def _values(options: argparse.Namespace) -> dict[str, Any]:
    """Return the values of the node's parameters."""
    given = {} if options.params_file is None else read_parameter_file(options.params_file)
    given.update(parse_assignment(text) for text in options.param)
    return complete_values(given)


def _review(options: argparse.Namespace) -> Review:
    values = _values(options)
    model = load_model(
        'replay', options.urdf, values['gravity'], strict_inertia=values['strict_inertia']
    )
    samples = list(read_joint_states(options.bag, options.topic))
    robot = recorded_robot(model, samples, dict(options.joints), options.effort_scale)
    return review(
        robot,
        settings_from(values, listed_joints(values)),
        differentiate_velocity=values['differentiate_velocity'],
    )


@tool
def main(args: list[str] | None = None) -> int:
    """Play a recording; return the exit code."""
    options = _options(sys.argv[1:] if args is None else args)
    try:
        played = _review(options)
        print(report(played))
        if options.picture is not None:
            picture(options.picture, played)
        if options.csv is not None:
            write_table(options.csv, played.playback)
    except RneaError as error:
        print(f'replay: {error}', file=sys.stderr)
        return BAD_INPUT
    return 0 if played.completed else ENDED


if __name__ == '__main__':
    sys.exit(main())
