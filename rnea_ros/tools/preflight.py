# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Compare the efforts that a robot measures with those of its model, before you trust either.

With BAG a recording is judged, and no ROS is needed. Without it joint states are collected from
the live topic: move the arm to different poses and hold each for a second, until there are enough
or the duration is over (Ctrl-C ends it earlier). Where fewer than eight different still poses were
held, the motion itself is judged by the full inverse dynamics.

Looked for are: an inverted axis or effort, a wrong direction of gravity, a wrong gear ratio or
unit, motor current instead of torque, a tool that is missing in the model or one too many,
hardware that compensates gravity already, offsets, joints where friction dominates or gravity is
too little to judge.

Exit code: 0 the model is accepted; 1 a cause was found that must be fixed; 2 bad arguments or
files, or too little was measured to judge.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
import sys

from ..command_line import BAD_INPUT, OneLineParser, split_ros_arguments, tool
from ..errors import RneaError
from ..preflight import Checkup, check, picture
from ..recordings import (
    MIN_POSES,
    Kind,
    Recording,
    RecordingError,
    Sample,
    clean,
    read_joint_states,
    recording_from,
    still_poses,
)
from .arguments import add_bag, add_gravity, add_recorded_joints, bag_of, positive
from .model import load_model


def _parser() -> OneLineParser:
    parser = OneLineParser(
        prog='preflight',
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog='example: preflight my_bag --urdf robot.urdf --picture robot.png',
    )
    add = parser.add_argument
    add_bag(parser, 'recording to judge (needs rosbags)')
    add('--urdf', type=Path, help='the model; live, the default is the topic robot_description')
    add('--topic', help='topic of the joint states; live joint_states, else the only one recorded')
    add_recorded_joints(parser)
    add(
        '--use',
        choices=('auto', 'still', 'motion'),
        default='auto',
        help='judge still poses, or the motion (auto: still poses where there are enough)',
    )
    add('--poses', type=int, default=12, help=f'live: enough poses, at least {MIN_POSES}; 12')
    add('--duration', type=positive, default=180.0, help='live: end after so many seconds; 180')
    add_gravity(parser)
    add('--picture', type=Path, help='PNG to write (needs matplotlib)')
    return parser


def _options(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Return checked options, and the arguments that are ROS's own."""
    own, of_ros = split_ros_arguments(arguments)
    parser = _parser()
    options = parser.parse_args(own)
    options.bag = bag_of(parser, options)
    if options.bag is not None and options.urdf is None:
        parser.error('a recording needs --urdf')
    if options.poses < MIN_POSES:
        parser.error(f'--poses {options.poses} is less than {MIN_POSES}')
    return options, of_ros


def _live(
    options: argparse.Namespace, ros_arguments: Sequence[str]
) -> tuple[str | Path, Recording]:
    """Return the model's source and joint states from live topics."""
    try:
        from .live import live_robot
    except ImportError as error:
        raise RecordingError(f'live topics need ROS ({error}); or name a bag') from error
    known = 0

    def enough(samples: Sequence[Sample]) -> bool:
        nonlocal known
        poses = 0
        with suppress(RecordingError):  # too early to tell
            poses = len(still_poses(clean(recording_from(samples))).time)
        if poses > known:
            print(f'{poses} of {options.poses} poses', flush=True)
        known = poses
        return options.use != 'motion' and poses >= int(options.poses)

    with live_robot(ros_arguments) as robot:
        source = options.urdf or robot.description()
        topic = options.topic or 'joint_states'
        print(f'listening to {topic}; hold {options.poses} different poses', flush=True)
        return source, recording_from(robot.collect(topic, options.duration, enough))


def _check(options: argparse.Namespace, ros_arguments: Sequence[str]) -> Checkup:
    source: str | Path = options.urdf
    if options.bag is None:
        source, recording = _live(options, ros_arguments)
    else:
        recording = recording_from(read_joint_states(options.bag, options.topic))
    model = load_model('preflight', source, options.gravity)
    kind = {'auto': None, 'still': Kind.STILL, 'motion': Kind.MOTION}[options.use]
    scaled = recording.with_scaled_effort(options.effort_scale)
    return check(model, scaled, dict(options.joints), kind)


@tool
def main(args: list[str] | None = None) -> int:
    """Judge a model; return the exit code."""
    options, ros_arguments = _options(sys.argv[1:] if args is None else args)
    try:
        checkup = _check(options, ros_arguments)
        print(checkup.report())
        if options.picture is not None:
            picture(options.picture, checkup.assessment, checkup.findings)
    except RneaError as error:
        print(f'preflight: {error}', file=sys.stderr)
        return BAD_INPUT
    return int(checkup.verdict)


if __name__ == '__main__':
    sys.exit(main())
