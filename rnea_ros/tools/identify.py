# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Identify masses, centres of mass, inertias, friction and rotor inertias of an arm.

With BAG recordings of joint states with efforts are fitted, without ROS. Without BAG joint states
are collected from the live topic for the duration; Ctrl-C ends it earlier. The arm must move: by a
trajectory of `excite`, or by one that moves all joints far and fast.

The model is judged on data that were not fitted: on the last 30 % of each recording, or on those
of --validate. The URDF that is written is the given one with other inertials, all else untouched.

Exit code: 0 the model is better than the URDF; 1 it is not, or the arm moved too little, and
nothing is written without --force; 2 bad arguments or files.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
import json
from pathlib import Path
import sys
import time
from typing import TYPE_CHECKING, Any

from ..command_line import BAD_INPUT, OneLineParser, split_ros_arguments, tool
from ..drawing import require_matplotlib
from ..errors import RneaError, UnknownNameError
from ..feedforward.law import JointFriction
from ..feedforward.settings import resolve
from ..files import write_file
from ..identification import Identification, IdentificationError, Run, identify, load, run_from
from ..identification.report import Figures, figures, picture, text
from ..node.parameters import (
    complete_values,
    listed_joints,
    read_parameter_file,
    settings_from,
)
from ..recordings import CUTOFF, RecordingError, Sample, recording_from
from ..robot import RobotModel
from .arguments import add_gravity, add_recorded_joints, positive
from .model import load_model

if TYPE_CHECKING:
    from .live import LiveRobot

NOT_BETTER = 1


def _parser() -> OneLineParser:
    parser = OneLineParser(
        prog='identify',
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog='example: identify my_bag --urdf robot.urdf --write-urdf identified.urdf '
        '--write-parameters my_arm.yaml',
    )
    add = parser.add_argument
    add('bags', nargs='*', type=Path, metavar='BAG', help='recordings: directory, .db3 or .mcap')
    add('--urdf', type=Path, help='URDF of the model; live robot_description')
    add('--validate', nargs='+', type=Path, metavar='BAG', help='recordings to judge the model on')
    add_gravity(parser)
    add_recorded_joints(parser, each=True)
    add('--topic', help='topic of the joint states; live joint_states, else the only recorded one')
    add('--duration', type=positive, default=60.0, help='live: longest duration, s; 60')
    add('--links', nargs='+', metavar='LINK', help='identify these moving links only')
    add(
        '--keep-friction',
        type=Path,
        metavar='YAML',
        help='parameter file of the node with friction that is not identified',
    )
    add('--cutoff', type=positive, default=CUTOFF, help=f'low-pass filter, Hz; {CUTOFF:g}')
    add(
        '--prior-weight',
        type=positive,
        default=1e-2,
        help='weight of the URDF where the data say little, 1e-4 to 0.1 is usual; 0.01',
    )
    add('--write-urdf', type=Path, metavar='PATH', help='URDF to write')
    add('--write-parameters', type=Path, metavar='PATH', help='parameter file to write')
    add('--report', type=Path, metavar='PATH.json', help='JSON to write: all figures')
    add('--picture', type=Path, help='PNG to write (needs matplotlib)')
    add('--force', action='store_true', help='write also if the model is not better')
    return parser


def _options(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Return the checked options, and the ROS arguments."""
    own, ros_arguments = split_ros_arguments(arguments)
    parser = _parser()
    options = parser.parse_intermixed_args(own)
    if options.bags and options.urdf is None:
        parser.error('a recording needs --urdf')
    for path in (options.write_urdf, options.write_parameters, options.report, options.picture):
        if path is not None and not path.absolute().parent.is_dir():
            parser.error(f'{path}: there is no directory {path.parent}')
    written, source = options.write_urdf, options.urdf
    if None not in (written, source) and written.resolve() == source.resolve():
        parser.error(f'--write-urdf would replace {source}; name another file')
    return options, ros_arguments


def _loaded(options: argparse.Namespace, model: RobotModel, bags: Sequence[Path]) -> list[Run]:
    """Return the runs of bags, with a line of progress for each."""
    runs = []
    for bag in bags:
        run = load(bag, model, topic=options.topic, **_reading(options))
        runs.append(run)
        print(f'{bag}: {_seconds([run]):.0f} s of motion', flush=True)
    return runs


@contextmanager
def _source(
    options: argparse.Namespace, ros_arguments: Sequence[str]
) -> Iterator[tuple[str | Path, Callable[[RobotModel], list[Run]]]]:
    """Provide the model's source, and a function that returns the runs of the model's robot."""
    if options.bags:
        yield options.urdf, partial(_loaded, options, bags=options.bags)
        return
    try:
        from .live import live_robot
    except ImportError as error:
        raise RecordingError(f'live topics need ROS ({error}); give a bag instead') from error
    with live_robot('identify', ros_arguments) as robot:
        yield options.urdf or robot.description(), partial(_live, options, robot)


def _live(options: argparse.Namespace, robot: LiveRobot, model: RobotModel) -> list[Run]:
    """Return the run of live topics."""

    def progress(samples: Sequence[Sample]) -> bool:
        seconds = samples[-1].time - samples[0].time
        print(f'{seconds:.0f} of {options.duration:g} s', flush=True)
        return False

    topic = options.topic or 'joint_states'
    print(f'listening to {topic}; move the arm', flush=True)
    samples = robot.collect(topic, options.duration, progress)
    run = run_from(recording_from(samples), model, name='live', **_reading(options))
    return [run]


def _reading(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options of a recording."""
    return {
        'joints': dict(options.joints),
        'effort_scale': options.effort_scale,
        'cutoff': options.cutoff,
    }


def _kept_friction(path: Path | None, model: RobotModel) -> JointFriction | None:
    """Return the friction of a parameter file."""
    if path is None:
        return None
    values = complete_values(read_parameter_file(path))
    joints = listed_joints(values) or model.joint_names
    return resolve(settings_from(values, joints), model).friction


def _identified(
    options: argparse.Namespace, ros_arguments: Sequence[str]
) -> Identification:
    if options.picture is not None:
        require_matplotlib()
    with _source(options, ros_arguments) as (source, collect):
        model = load_model('identify', source, options.gravity)
        for link in options.links or ():
            if link not in model.body_names:
                raise UnknownNameError('moving link', link, model.body_names)
        friction = _kept_friction(options.keep_friction, model)
        runs = collect(model)
    validate = None if options.validate is None else _loaded(options, model, options.validate)
    print(f'fitting {_seconds(runs):.0f} s', flush=True)
    return identify(
        model,
        runs,
        validate=validate,
        prior_weight=options.prior_weight,
        links=options.links,
        keep_friction=friction,
    )


def _seconds(runs: Sequence[Run]) -> float:
    return sum(float(run.time[-1] - run.time[0]) for run in runs)


def _write(
    options: argparse.Namespace, result: Identification, of_result: Figures
) -> Iterator[str]:
    """Write the requested files; yield a sentence for each."""
    asked = [path for path in (options.write_urdf, options.write_parameters) if path is not None]
    if not (result.comparison.is_better or options.force):
        yield from (
            f'{path} is not written, as the model is not better (--force writes it)'
            for path in asked
        )
        return
    if options.write_urdf is not None:
        result.write_urdf(options.write_urdf)
    if options.write_parameters is not None:
        result.write_parameters(options.write_parameters, _comments(options, of_result))
    yield from (f'{path} is written' for path in asked)
    if not asked:
        yield 'nothing is written; --write-urdf and --write-parameters write the model'


def _comments(options: argparse.Namespace, of_result: Figures) -> tuple[str, ...]:
    """Return the origin and the quality of a result, as comments of its parameter file."""
    before, _, after = of_result.mean_percent.values()
    return (
        f'Identified by rnea_ros identify, {time.strftime("%Y-%m-%d %H:%M")}.',
        f'Fitted: {"; ".join(of_result.fitted)}.',
        f'Judged on: {"; ".join(of_result.judged_on)}.',
        f'Mean error of the joints: {after:.1f} % of the effort; of the URDF {before:.1f} %.',
        f'For {options.write_urdf or "the identified URDF"}, which was made from '
        f'{options.urdf or "robot_description"}.',
        'joints must have the order of the controller; reorder all lists with it.',
    )


@tool
def main(args: list[str] | None = None) -> int:
    """Identify a model; return the exit code."""
    options, ros_arguments = _options(sys.argv[1:] if args is None else args)
    try:
        result = _identified(options, ros_arguments)
        of_result = figures(result)
        print(f'\n{text(of_result)}\n')
        if options.report is not None:
            write_file(options.report, json.dumps(of_result.as_json(), indent=2) + '\n')
        if options.picture is not None:
            picture(options.picture, result)
        for sentence in _write(options, result, of_result):
            print(sentence)
    except IdentificationError as error:
        print(f'identify: {error}', file=sys.stderr)
        return NOT_BETTER
    except RneaError as error:
        print(f'identify: {error}', file=sys.stderr)
        return BAD_INPUT
    return 0 if result.comparison.is_better else NOT_BETTER


if __name__ == '__main__':
    sys.exit(main())
