# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Teach a motion by hand, and play it back.

The feedforward node is switched to mode gravity, so that the arm is weightless, and back at the
end. While you guide the arm its joint states are recorded: with --seconds for that time, else from
one press of the space bar to the next. With --waypoints each press of Enter keeps a pose, and q
ends. A BAG of a guided motion is taught without ROS.

The rest at both ends is cut. The motion is smoothed, moved by at most --tolerance, and slowed down
if it would use more than 80 % of a velocity or effort limit. Waypoints are joined at rest in the
fastest time that these limits allow, times --speed. The YAML file is a
trajectory_msgs/JointTrajectory, as check_trajectory reads it.

--play moves the robot: slowly to the start, then through the motion. Have the emergency stop at
hand, and begin with --speed 0.2. Ctrl-C stops the motion.

Exit code: 0 done; 1 the motion was stopped; 2 not possible: bad arguments, files or recordings.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
import os
from pathlib import Path
import select
import sys
import termios
import tty
from typing import TYPE_CHECKING

import numpy as np

from .. import teach
from ..command_line import OneLineParser, target, tool
from ..feedforward.laws import LAWS
from ..files import write_file
from ..identification import require_scipy
from ..identification.excitation import RestToRestMotion, motion_of, way
from ..recordings import Recording, Sample, match_joints, read_joint_states, recording_from
from ..robot import RobotModel
from ..teach import MotionLimits, TeachError
from ..trajectory_check import TrajectoryLimits, report
from .arguments import (
    add_bag,
    add_gravity,
    add_limits,
    given_limits,
    load_model,
    needs_ros,
    positive,
    speed,
)
from .trajectory_sources import read_trajectory, trajectory_text, with_model_names

if TYPE_CHECKING:
    from ..live import LiveNode, NodeClient

INTERVAL = 0.005  # least, of recorded joint states, s
POSE = 0.2  # a pose is the mean over this time, s
END = '\x04'  # at the end of the input
NO_NODE = (
    '; start it, name it with --node, or record a robot that is guided by other means with '
    '--keep-mode'
)
FOREVER = 3600.0  # longest recording by keys, s
APPROACH = 1.0  # velocity limit of the way to the start, of which it uses a quarter, rad/s or m/s

STOPPED = 1


def _parser() -> OneLineParser:
    parser = OneLineParser(
        prog='teach', description=__doc__,
        epilog='example: teach --seconds 10 --out motion.yaml, then teach --play motion.yaml'
    )
    add = parser.add_argument
    add_bag(parser, 'recording of a guided motion, instead of the robot')
    add('--urdf', type=Path, help='URDF of the robot; default: the topic robot_description')
    add('--out', type=target, help='YAML file to write; needed without --play')
    add('--picture', type=target, help='PNG file: recorded and smoothed positions')
    add('--seconds', type=positive, help='record for this time, without keys, s')
    add('--waypoints', action='store_true', help='keep a pose at each press of Enter; q ends')
    add('--tolerance', type=positive, default=0.01,
        help='greatest distance from the recorded positions, rad or m; 0.01')
    add('--joints', nargs='+', metavar='JOINT',
        help="joints of the motion; default: those of the node's commands, else all")
    add('--omit', nargs='+', default=[], metavar='JOINT', help='joints that are left out')
    add_limits(parser, default=' or 10 rad/s^2')
    add_gravity(parser)
    add('--node', default='feedforward', help='name of the feedforward node; feedforward')
    add('--keep-mode', action='store_true',
        help='change no mode: the robot is guided by other means')
    add('--play', type=Path, metavar='YAML', help='move the robot: play a motion')
    add('--speed', type=speed, default=1.0, help='factor of the speed, at most 1 (default)')
    add('--repeat', type=int, default=1, help='with --play: how often; 1')
    add('--to', metavar='TOPIC', help='with --play: the topic of a joint_trajectory_controller; '
        "default: the feedforward node's")
    add('--yes', action='store_true', help='with --play: do not ask before the motion')
    return parser


def _options(args: list[str] | None) -> argparse.Namespace:
    """Return the checked options."""
    parser = _parser()
    options = parser.parse(args)
    plays, has_bag = options.play is not None, options.bag is not None
    if plays == (options.out is not None):
        parser.error('give --out to teach a motion, or --play to move the robot')
    if plays and (has_bag or options.seconds or options.waypoints or options.picture):
        parser.error('--play takes no BAG, --seconds, --waypoints or --picture')
    if not plays and (options.repeat != 1 or options.to or options.yes):
        parser.error('--repeat, --to and --yes need --play')
    if options.repeat < 1:
        parser.error(f'--repeat {options.repeat} is not above 0')
    if has_bag and (options.seconds or options.waypoints or options.urdf is None):
        parser.error('BAG needs --urdf, and takes no --seconds or --waypoints')
    if options.waypoints and (options.seconds or options.picture):
        parser.error('--waypoints takes no --seconds or --picture')
    if plays and not (options.yes or sys.stdin.isatty()):
        parser.error('--play asks before the motion, but there is no terminal; see --yes')
    if not (plays or has_bag or options.seconds or sys.stdin.isatty()):
        parser.error('there is no terminal for keys; see --seconds')
    options.limits = given_limits(options)
    return options


def _model(options: argparse.Namespace, live: LiveNode | None) -> RobotModel:
    source = options.urdf
    if source is None:
        from ..live import robot_description

        assert live is not None  # BAG needs --urdf
        source = robot_description(live)
    return load_model('teach', source, options.gravity)


def _taught_joints(
    options: argparse.Namespace, limits: TrajectoryLimits, commanded: Sequence[str]
) -> tuple[str, ...]:
    """Return the joints of the motion, in the model's order."""
    given = options.joints or commanded or limits.joint_names
    for name in (*options.omit, *given):
        limits.index(name)  # raises the error of an unknown joint
    chosen = [name for name in given if name not in options.omit]
    if not chosen:
        raise TeachError('no joint is left: --omit names all')
    return tuple(name for name in limits.joint_names if name in chosen)


def _teach(
    options: argparse.Namespace, model: RobotModel, recording: Recording, commanded: Sequence[str]
) -> None:
    """Make a motion of a recording, or of poses; report it and write the files."""
    limits = TrajectoryLimits.of_model(model, options.limits)
    matched = match_joints(model.joint_names, recording.names)
    recording = replace(recording.of_joints([*matched.values()]), names=tuple(matched))
    joints = _taught_joints(options, limits, commanded)
    idle = {
        name: float(position)
        for name, position in zip(recording.names, recording.position[0], strict=True)
        if name in limits.joint_names and name not in joints and np.isfinite(position)
    }
    kept = MotionLimits.of(model, limits, idle)
    if options.waypoints:
        poses = recording.of_joints(joints).position
        motion = teach.through(joints, [*poses], kept)
    else:
        taught = teach.smoothed(
            teach.demonstration(recording, limits, joints), kept, options.tolerance
        )
        motion = taught.motion
        print(teach.report(taught, limits))
    motion = motion.slowed(options.speed)
    print(report(kept.check(motion)))
    write_file(options.out, trajectory_text(motion.request(motion.joint_names)))
    print(f'\nwritten: {options.out}; play it with teach --play {options.out}')
    if options.picture is not None:
        teach.picture(options.picture, model.name, taught, limits)


@contextmanager
def pressed_keys() -> Iterator[Callable[[], str]]:
    """
    Provide a function that returns the key pressed since its last call, or an empty string.

    Ctrl-C still interrupts. The terminal is restored at the end of the block.
    """
    source = sys.stdin.fileno()
    before = termios.tcgetattr(source)
    tty.setcbreak(source)

    def key() -> str:
        if not select.select([source], [], [], 0.0)[0]:
            return ''
        return os.read(source, 1).decode('latin-1') or END

    try:
        yield key
    finally:
        termios.tcsetattr(source, termios.TCSADRAIN, before)


def _wait_for_key(live: LiveNode, key: Callable[[], str], accepted: str) -> str:
    """Wait for one of the accepted keys, or the end of the input; return it."""
    pressed: list[str] = []

    def done() -> bool:
        pressed[:] = [key()]
        return pressed[0] != '' and pressed[0] in accepted + END

    while not (pressed and pressed[0] and pressed[0] in accepted + END):
        live.spin(live.timeout, done)
    return pressed[0]


def _recorded(
    live: LiveNode, duration: float, done: Callable[[], bool] = lambda: False
) -> Recording:
    """Record joint states from now on for a time, s, or until a condition holds."""
    from ..live import SilentTopicError, StateRecorder

    # A new subscription: in an old one earlier joint states may wait.
    recorder = StateRecorder(live, 'joint_states', INTERVAL)
    try:
        live.wait(lambda: bool(recorder.samples),
                  lambda: SilentTopicError(recorder.topic, live.timeout))
        live.spin(duration, done)
    finally:
        recorder.close()
    return recording_from(recorder.samples)


def _record(options: argparse.Namespace, live: LiveNode) -> Recording:
    """Record a motion for a time, or from key to key."""
    if options.seconds:
        print(f'guide the robot: {options.seconds:g} s', flush=True)
        return _recorded(live, options.seconds)
    with pressed_keys() as key:
        print('guide the robot: the space bar starts the recording, q ends', flush=True)
        if _wait_for_key(live, key, ' q') != ' ':
            raise TeachError('nothing was recorded: the space bar starts the recording')
        print('recording: the space bar ends it', flush=True)
        return _recorded(live, FOREVER, lambda: key() != '')


def _kept_poses(live: LiveNode) -> Recording:
    """Keep a pose at each press of Enter; return those that differ, each as one joint state."""
    recordings: list[Recording] = []
    with pressed_keys() as key:
        print('guide the robot: Enter keeps a pose, q ends', flush=True)
        while _wait_for_key(live, key, '\r\nq') in '\r\n':
            recordings.append(_recorded(live, POSE))
            print(f'pose {len(recordings)} is kept', flush=True)
    poses = teach.distinct([recording.position.mean(axis=0) for recording in recordings])
    names = recordings[-1].names
    return recording_from(
        Sample(float(k), names, pose.tolist(), (), ()) for k, pose in enumerate(poses)
    )


def _teach_live(options: argparse.Namespace, live: LiveNode) -> None:
    from ..live import NodeClient

    model = _model(options, live)
    node = NodeClient(live, options.node, NO_NODE)
    node.watch_joints()
    with nullcontext() if options.keep_mode else node.weightless():
        recording = _kept_poses(live) if options.waypoints else _record(options, live)
    _teach(options, model, recording, node.joints)


def _play(options: argparse.Namespace, live: LiveNode) -> bool:
    """Move the robot; return whether the motion was completed."""
    from ..live import MovingRobot, NodeClient, confirm

    model = _model(options, live)
    request, _ = with_model_names(model, read_trajectory(options.play, None, 0))
    joints = request.joint_names
    motion = motion_of(model, request, model.neutral_position).of_joints(joints)
    motion = motion.slowed(options.speed)
    limits = MotionLimits(model, TrajectoryLimits.of_model(model, options.limits), {})
    _check(limits, motion, 'in the motion')
    if options.to is None:
        _check_mode(NodeClient(live, options.node, NO_NODE))
    robot = MovingRobot(live, joints, options.to or f'{options.node}/joint_trajectory')
    velocity = np.minimum(limits.limits.velocity, APPROACH)[
        [limits.limits.index(name) for name in joints]
    ]
    start, end = motion.positions[0], motion.positions[-1]
    back = way(joints, end, start, velocity)
    for attempt in range(2):  # the robot may have moved during the question
        approach = way(joints, robot.pose(), start, velocity)
        _check(limits, approach, 'on the way to the start')
        if attempt == 0:
            confirm(approach.duration, options.repeat * motion.duration, options.speed,
                    yes=options.yes)
    played = motion.after(approach)
    for _ in range(options.repeat - 1):
        _check(limits, back, 'on the way back')
        played = motion.after(back.after(played))
    return robot.follow(played, joints, None)


def _check(limits: MotionLimits, motion: RestToRestMotion, where: str) -> None:
    """Reject a motion beyond a limit."""
    for peak in limits.check(motion).violations:
        unit = limits.limits.unit(peak.joint, peak.quantity)
        raise TeachError(
            f'{where} the {peak.quantity.value} of joint {peak.joint} is {peak.value:.4g} {unit} '
            f'after {peak.time:.2f} s, beyond its limit of {peak.limit:.4g} {unit}: play it at a '
            'lower --speed, or teach another motion'
        )


def _check_mode(node: NodeClient) -> None:
    """Reject a mode that follows no motions."""
    mode = node.mode()
    if mode in LAWS and not LAWS[mode].follows_motions:
        raise TeachError(
            f'the node {node.name} is in mode {mode}, which follows no motion: ros2 param '
            f'set {node.name} mode computed_torque'
        )


@tool
def main(args: list[str] | None = None) -> int:
    """Teach a motion, or play one; return the exit code."""
    options = _options(args)
    if options.play is None:
        require_scipy()
    if options.bag is not None:
        model = _model(options, None)
        _teach(options, model, recording_from(read_joint_states(options.bag)), ())
        return 0
    with needs_ros('a robot needs', '; or name a BAG'):
        from ..live import live_node
    with live_node('teach', options.ros_arguments) as live:
        if options.play is not None:
            return 0 if _play(options, live) else STOPPED
        _teach_live(options, live)
    return 0


if __name__ == '__main__':
    sys.exit(main())
