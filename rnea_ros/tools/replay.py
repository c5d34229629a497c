# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Play the joint states of a bag through the control, and compare commands with measured efforts.

The control is that of the node ``feedforward``, with the same parameters and the stamps as time.
Replay works without ROS, and nothing moves. The report has the differences of commands, gravity
torques and inverse dynamics from the measured efforts; the share of ticks at limits; states;
rejected joint states by reason; and flaws of the recording: repeated samples, velocities that
contradict positions, gaps, ringing at the start, efforts with a wrong sign or scale.

Exit code: 0 the control ran through the recording; 1 it ended early or never started; 2 bad
arguments or files, or no efforts.
"""

from __future__ import annotations

import argparse
from pathlib import Path
import sys
from typing import Any

from ..command_line import OneLineParser, target, tool
from ..feedforward.settings import complete_values, settings_from
from ..parameters import parse_assignment, read_parameter_file
from ..recordings import Sample, is_table, read_joint_states, read_recording, samples_from
from ..replay import Review, picture, recorded_robot, report, review, write_table
from ..robot import RobotModel
from .arguments import RECORDINGS, add_bag, add_recorded_joints, dry_run, load_model

ENDED_EARLY = 1


def _options(args: list[str] | None) -> argparse.Namespace:
    """Return the checked options."""
    parser = OneLineParser(
        prog='replay', description=__doc__,
        epilog='example: replay my_bag --urdf robot.urdf -p compensate_coriolis:=true'
    )
    add = parser.add_argument
    add_bag(parser, 'recording', RECORDINGS, required=True)
    add('--urdf', type=Path, required=True, help='URDF of the model')
    add('--topic', help='topic of the joint states, if the bag has several')
    add('--params-file', type=Path, action='append', default=[],
        help="parameter file of the node, a later one prevails; by default the node's defaults")
    add('-p', '--param', action='append', default=[], metavar='NAME:=VALUE',
        help='parameter of the node; overrides the file')
    add_recorded_joints(parser)
    add('--picture', type=target, help='PNG to write (needs matplotlib)')
    add('--csv', type=target, help='CSV to write: commands and measured efforts at every tick')
    return parser.parse_args(args)


def _review(options: argparse.Namespace) -> Review:
    given: dict[str, Any] = {}
    for path in options.params_file:
        given.update(read_parameter_file(path))
    given.update(parse_assignment(text) for text in options.param)
    if options.effort_scale is not None:
        given['effort_scale'] = options.effort_scale
    values = complete_values(given)
    model = load_model(
        'replay', options.urdf, values['gravity'], strict_inertia=values['strict_inertia']
    )
    robot = recorded_robot(model, _samples(options, model), dict(options.joints))
    return review(
        robot, settings_from(values), differentiate_velocity=values['differentiate_velocity']
    )


def _samples(options: argparse.Namespace, model: RobotModel) -> list[Sample]:
    """Return the joint states: of a bag as received, also those of other joints."""
    if not is_table(options.bag):
        return list(read_joint_states(options.bag, options.topic))
    found = read_recording(options.bag, model, table=dict(options.table))
    return list(samples_from(found.recording))


@tool
def main(args: list[str] | None = None) -> int:
    """Play a recording; return the exit code."""
    options = _options(args)
    if options.dry_run:
        return dry_run('replay', options, [options.bag])
    played = _review(options)
    print(report(played))
    if options.picture is not None:
        picture(options.picture, played)
    if options.csv is not None:
        write_table(options.csv, played.playback)
    return 0 if played.completed else ENDED_EARLY


if __name__ == '__main__':
    sys.exit(main())
