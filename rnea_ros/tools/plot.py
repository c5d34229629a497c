# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Draw the terms of a node's commands over time, for every joint, from a bag.

The picture shows the terms (gravity, coriolis, inertia, friction, external, feedback, trajectory,
and limited: the change by limits and blending), the command and the measured effort, if recorded.
Terms that are always zero or NaN are left out. The tool works without ROS.

Record them with: ros2 bag record --regex '/feedforward/(terms/.*|effort)|/joint_states'

Exit code: 0 drawn; 2 bad arguments or files, or no terms in the bag.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from ..command_line import BAD_INPUT, OneLineParser, tool
from ..errors import RneaError
from .arguments import add_bag, add_effort_scale, required_bag, target
from .term_picture import picture
from .term_recording import read_terms


def _parser() -> OneLineParser:
    parser = OneLineParser(
        prog='plot',
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog='example: plot my_bag --joints panda_joint2 panda_joint4',
    )
    add = parser.add_argument
    add_bag(parser, 'recording (needs rosbags)')
    add('--output', type=target, default='terms.png', help='PNG to write; terms.png')
    add('--joints', nargs='+', default=[], metavar='JOINT', help='joints, in this order; all')
    add('--node', help='name of the node, if the bag has several, such as /left/feedforward')
    add(
        '--topic',
        help="topic of the measured efforts; joint_states in the node's namespace",
    )
    add_effort_scale(parser, each=', or one for each joint in the order of the commands')
    return parser


@tool
def main(args: list[str] | None = None) -> int:
    """Draw the terms of a bag; return the exit code."""
    parser = _parser()
    options = parser.parse_args(args)
    bag = required_bag(parser, options)
    try:
        recording = read_terms(bag, options.node, options.topic)
        recording = recording.with_scaled_measurement(np.atleast_1d(options.effort_scale))
        if options.joints:
            recording = recording.of_joints(options.joints)
        left_out = picture(options.output, recording)
    except RneaError as error:
        print(f'plot: {error}', file=sys.stderr)
        return BAD_INPUT
    if left_out:
        print(f'left out, always zero: {", ".join(left_out)}')
    print(f'picture: {options.output.resolve()}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
