# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Compare measured efforts with the model of a robot, and name the faults of either.

With BAG a recording is compared, without ROS. Without BAG joint states are collected from the live
topic: move the arm to different poses and hold each for a second, until there are enough or the
duration is over (Ctrl-C ends it earlier). With fewer than eight different poses at rest the motion
is compared with the full inverse dynamics.

Preflight finds: an inverted axis or effort, a wrong direction of gravity, a wrong gear ratio or
unit, motor current instead of torque, a missing or an extra tool in the model, gravity
compensation by the hardware, offsets, and joints that cannot be judged as friction dominates or
gravity is too small.

Exit code: 0 the model is accepted; 1 a fault must be fixed; 2 bad arguments or files, or too few
data.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
import sys
import time

import numpy as np

from ..command_line import OneLineParser, target, tool
from ..files import write_file
from ..parameters import parameter_file_text
from ..preflight import LEAVE_GRAVITY, MIN_GRAVITY, Checkup, check, found_parameters, picture
from ..recordings import (
    MIN_POSES,
    Kind,
    Recording,
    RecordingError,
    Sample,
    clean,
    match_joints,
    read_recording,
    recording_from,
    still_poses,
)
from ..replay import known_efforts
from .arguments import (
    RECORDINGS,
    add_bag,
    add_gravity,
    add_recorded_joints,
    dry_run,
    joint_factors,
    load_model,
    load_settings,
    needs_ros,
    positive,
)


def _parser() -> OneLineParser:
    parser = OneLineParser(
        prog='preflight', description=__doc__,
        epilog='example: preflight my_bag --urdf robot.urdf --picture robot.png'
    )
    add = parser.add_argument
    add_bag(parser, 'recording', RECORDINGS)
    add('--urdf', type=Path, help='URDF of the model; live robot_description')
    add('--topic', help='topic of the joint states; live joint_states, else the only recorded one')
    add_recorded_joints(parser)
    add('--use', choices=('auto', 'still', 'motion'), default='auto',
        help='compare poses at rest or the motion; auto: poses at rest if there are enough')
    add('--poses', type=int, default=12, help=f'live: number of poses, at least {MIN_POSES}; 12')
    add('--duration', type=positive, default=180.0, help='live: longest duration, s; 180')
    add_gravity(parser)
    add('--friction', type=Path, metavar='YAML',
        help='parameter file of the node: its friction, rotor inertia and gravity_factor count; '
        'its effort_scale applies, unless --effort-scale is given')
    add('--picture', type=target, help='PNG to write (needs matplotlib)')
    add('--write', type=target, metavar='YAML',
        help='parameter file of the node to write: friction, payload, gravity_factor and '
        'hardware_compensates, as far as they were found beyond doubt, and effort_scale; not with '
        '--friction')
    return parser


def _options(args: list[str] | None) -> argparse.Namespace:
    """Return the checked options."""
    parser = _parser()
    options = parser.parse(args)
    if options.bag is not None and options.urdf is None:
        parser.error('a recording needs --urdf')
    if options.bag is None and options.dry_run:
        parser.error('--dry-run needs a recording')
    if max(map(abs, options.gravity)) < MIN_GRAVITY:
        parser.error('--gravity is zero, but most faults show in the efforts of gravity')
    if options.friction is not None and options.write is not None:
        parser.error('--write has the whole friction; leave out --friction')
    if options.poses < MIN_POSES:
        parser.error(f'--poses {options.poses} is less than {MIN_POSES}')
    return options


def _live(options: argparse.Namespace) -> tuple[str | Path, Recording]:
    """Return the model's source and joint states from live topics."""
    with needs_ros('live topics need', '; give a bag instead'):
        from ..live import collect_joint_states, live_node, robot_description
    printed = 0

    def enough(samples: Sequence[Sample]) -> bool:
        nonlocal printed
        poses = 0
        with suppress(RecordingError):  # too few samples
            poses = len(still_poses(clean(recording_from(samples))).time)
        if poses > printed:
            print(f'{poses} of {options.poses} poses', flush=True)
        printed = poses
        return options.use != 'motion' and poses >= int(options.poses)

    with live_node('preflight', options.ros_arguments) as live:
        source = options.urdf or robot_description(live)
        topic = options.topic or 'joint_states'
        print(f'listening to {topic} for {options.duration:g} s: hold {options.poses} different '
              'poses, or press Ctrl-C at the end of a motion', flush=True)
        samples = collect_joint_states(live, topic, options.duration, enough)
        return source, recording_from(samples)


def _check(options: argparse.Namespace) -> Checkup:
    if options.bag is None:
        source, recording = _live(options)
        model = load_model('preflight', source, options.gravity)
    else:
        model = load_model('preflight', options.urdf, options.gravity)
        found = read_recording(options.bag, model, options.topic, dict(options.table))
        recording = found.recording
    kind = {'auto': None, 'still': Kind.STILL, 'motion': Kind.MOTION}[options.use]
    factors, known = joint_factors(options.effort_scale, model), None
    if options.friction is not None:
        settings = load_settings(options.friction, model)
        known = known_efforts(settings, model)
        if options.effort_scale is None:
            factors = settings.effort_scale
    joints = model.joint_names
    factors = np.broadcast_to(factors, len(joints))
    options.effort_scale = dict(zip(joints, factors.tolist(), strict=True))
    names = match_joints(joints, recording.names, dict(options.joints))
    recording = recording.of_joints(list(names.values()))
    scaled = recording.with_scaled_effort([options.effort_scale[name] for name in names])
    return check(model, scaled, names, kind, known)


def _write(options: argparse.Namespace, checkup: Checkup) -> None:
    """Write the parameters that were found, and print which; no file without any."""
    found = found_parameters(checkup)
    if not found:
        print(f'{options.write} is not written: no parameter was found beyond doubt')
        return
    scales = [options.effort_scale[name] for name in checkup.joints]
    if set(scales) != {1.0}:
        found['effort_scale'] = scales if len(set(scales)) > 1 else scales[:1]
    comments = (
        f'Found by preflight, {time.strftime("%Y-%m-%d %H:%M")}.',
        f'Recording: {options.bag or "live"}. URDF: {options.urdf or "robot_description"}.',
        'joints must have the order of the controller; reorder all lists with it.',
    )
    write_file(options.write, parameter_file_text(found, comments))
    print(f'{options.write} is written: {", ".join(name for name in found if name != "joints")}')
    if 'hardware_compensates' in found:
        print(f'check hardware_compensates: {LEAVE_GRAVITY}')


@tool
def main(args: list[str] | None = None) -> int:
    """Compare a model with efforts; return the exit code."""
    options = _options(args)
    if options.dry_run:
        return dry_run('preflight', options, [options.bag])
    checkup = _check(options)
    print(checkup.report())
    if options.picture is not None:
        picture(options.picture, checkup.assessment, checkup.findings)
    if options.write is not None:
        _write(options, checkup)
    return int(checkup.verdict)


if __name__ == '__main__':
    sys.exit(main())
