# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Identify masses, centres of mass, inertias, friction and rotor inertias of an arm.

BAG is a recording of joint states with efforts, a bag or a table; it is read without ROS. Without
BAG, joint states are collected from the live topic for --duration, or until Ctrl-C. The arm must
move: on a trajectory of `excite`, or on another one that moves all joints far and fast. With
--payload, only the payload of one link is identified; the model of the arm stays.

The model is judged on data that were not fitted: on the last 30 % of each recording, or on the
recordings of --validate. The written URDF has the text of the given one, with other inertials.

Exit code: 0 the model is better than the URDF; 1 it is not, or the arm moved too little, and
nothing is written without --force; 2 bad arguments or files.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
import json
from pathlib import Path
import sys
import time
from typing import Any

import numpy as np

from ..command_line import OneLineParser, elapsed_shown, target, tool
from ..drawing import require_matplotlib
from ..errors import UnknownNameError
from ..feedforward.settings import ResolvedSettings
from ..files import write_file, write_files
from ..identification import (
    PRIOR_WEIGHT,
    Identification,
    IdentificationError,
    Run,
    identify,
    identify_payload,
    payload_parameters,
    require_scipy,
    run_from,
)
from ..identification.figures import ReportFigures, figures, payload_json
from ..identification.report import payload_text, picture, text
from ..parameters import parameter_file_text
from ..recordings import CUTOFF, STILL_SPEED, Sample, read_recordings, recording_from
from ..robot import RobotModel
from .arguments import (
    RECORDINGS,
    add_gravity,
    add_recorded_joints,
    dry_run,
    joint_factors,
    load_model,
    load_settings,
    needs_ros,
    positive,
)

NOT_BETTER = 1


def _parser() -> OneLineParser:
    parser = OneLineParser(
        prog='identify',
        description=__doc__,
        epilog='example: identify my_bag --urdf robot.urdf --write-urdf identified.urdf '
        '--write-parameters my_arm.yaml',
    )
    add = parser.add_argument
    add('bags', nargs='*', type=Path, metavar='BAG', help=f'recordings: {RECORDINGS}')
    add('--urdf', type=Path, help='URDF of the model; without BAG by default robot_description')
    add('--validate', action='append', type=Path, metavar='BAG',
        help='recording to judge the model on; may be given several times')
    add_gravity(parser)
    add_recorded_joints(parser)
    add('--topic',
        help='topic of the joint states; default: the only one of a BAG, joint_states without BAG')
    add('--duration', type=positive, default=60.0,
        help='without BAG: longest duration, s; default 60')
    add('--links', nargs='*', metavar='LINK',
        help='identify these moving links only; without names none, only friction and rotors')
    add('--keep-friction', type=Path, metavar='YAML',
        help='parameter file of the node: friction that is not identified; with --payload also '
        'rotor inertia')
    add('--payload', metavar='LINK',
        help='identify a payload on this link, from recordings with it; the arm is that of --urdf '
        'and --keep-friction')
    add('--cutoff', type=positive, default=CUTOFF,
        help=f'cut-off of the low-pass filter, Hz; default {CUTOFF:g}')
    add('--prior-weight', type=positive, default=PRIOR_WEIGHT,
        help=f'weight of the URDF against the data; default {PRIOR_WEIGHT:g}')
    add('--without-effort', nargs='+', default=(), metavar='JOINT',
        help='leave out the efforts of these joints; their motion counts')
    add('--effort-delay', type=float, default=0.0, metavar='S',
        help='time by which the efforts are later than the positions; default 0')
    add('--poses', action='store_true',
        help='take the poses at rest instead of the motion: they show gravity only')
    add('--total-mass', type=positive, metavar='KG',
        help='mass of the whole robot; default: that of the URDF, within a factor')
    add('--write-urdf', type=target, metavar='PATH', help='URDF to write')
    add('--write-parameters', type=target, metavar='PATH', help='parameter file to write')
    add('--report', type=target, metavar='PATH.json', help='JSON to write: all figures')
    add('--picture', type=target, help='PNG to write (needs matplotlib)')
    add('--force', action='store_true',
        help='write also if the model is not better, or a fault was found')
    return parser


def _options(args: list[str] | None) -> argparse.Namespace:
    """Return the checked options."""
    parser = _parser()
    options = parser.parse(args, intermixed=True)
    if options.bags and options.urdf is None:
        parser.error('a recording needs --urdf')
    if options.dry_run and not options.bags:
        parser.error('--dry-run needs a recording')
    if options.payload is not None:
        arm_only = ('validate', 'links', 'write_urdf', 'picture')
        if given := [name for name in arm_only if getattr(options, name) is not None]:
            parser.error(f'--payload takes no --{given[0].replace("_", "-")}')
    return options


@dataclass(frozen=True)
class IdentificationInputs:
    """The model, and the data that it is identified from."""

    model: RobotModel  # of the URDF
    runs: list[Run]  # recorded or live
    validate: list[Run] | None  # to judge the model on; None for parts of the others
    settings: ResolvedSettings | None  # of the parameter file with friction; None without it


def _read(options: argparse.Namespace) -> IdentificationInputs:
    """Return the inputs."""
    if options.bags:
        model, settings = _model(options, options.urdf)
        runs = _loaded(options, model, options.bags)
    else:
        with needs_ros('live topics need', '; give a bag instead'):
            from ..live import collect_joint_states, live_node, robot_description
        with live_node('identify', options.ros_arguments) as live:
            model, settings = _model(options, options.urdf or robot_description(live))
            topic = options.topic or 'joint_states'
            print(f'listening to {topic}; move the arm', flush=True)
            samples = collect_joint_states(
                live, topic, options.duration, partial(_show_collected, options.duration)
            )
        recording = recording_from(samples)
        runs = [run_from(recording, model, name='live', **_reading(options))]
    validate = None if options.validate is None else _loaded(options, model, options.validate)
    return IdentificationInputs(model, runs, validate, settings)


def _model(
    options: argparse.Namespace, source: str | Path
) -> tuple[RobotModel, ResolvedSettings | None]:
    """Return model and settings; check options against them before recordings are read."""
    model = load_model('identify', source, options.gravity)
    options.effort_scale = joint_factors(options.effort_scale, model).tolist()
    for link in options.links or ():
        if link not in model.body_names:
            raise UnknownNameError('moving link', link, model.body_names)
    if options.payload is not None and options.payload not in model.link_names:
        raise UnknownNameError('link', options.payload, model.link_names)
    path = options.keep_friction
    return model, None if path is None else load_settings(path, model)


def _loaded(options: argparse.Namespace, model: RobotModel, bags: Sequence[Path]) -> list[Run]:
    """Return the runs of recordings, with a line of progress for each."""
    runs = []
    for bag in bags:
        for recorded in read_recordings(bag, model, options.topic, dict(options.table)):
            run = run_from(recorded.recording, model, name=recorded.name, **_reading(options))
            runs.append(run)
            print(f'{bag.parent / recorded.name}: {_amount([run])}', flush=True)
    return runs


def _show_collected(duration: float, samples: Sequence[Sample]) -> bool:
    print(f'{samples[-1].time - samples[0].time:.0f} of {duration:g} s', flush=True)
    return False


def _reading(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options of a recording."""
    return {
        'joints': dict(options.joints),
        'effort_scale': options.effort_scale,
        'cutoff': options.cutoff,
        'effort_delay': options.effort_delay,
        'without_effort': options.without_effort,
        'poses': options.poses,
    }


def _amount(runs: Sequence[Run], of: str = ' of motion') -> str:
    """Return the duration of the motion, or the number of poses at rest, in words."""
    if not any(run.qd.any() for run in runs):
        return f'{sum(len(run.time) for run in runs)} poses'
    moving = [(np.abs(run.qd) >= STILL_SPEED).any(axis=1).sum() for run in runs]
    steps = [float(np.median(np.diff(run.time))) for run in runs]
    return f'{np.dot(moving, steps):.0f} s{of}'


def _identify(options: argparse.Namespace, inputs: IdentificationInputs) -> int:
    """Identify the arm; return the exit code."""
    settings = inputs.settings
    friction = None if settings is None else settings.joint_friction
    with elapsed_shown('fitting'):
        result = identify(
            inputs.model, inputs.runs, validate=inputs.validate, links=options.links,
            prior_weight=options.prior_weight, keep_friction=friction,
            accept_faults=options.force, total_mass=options.total_mass,
        )
    summary = figures(result)
    print(f'\n{text(summary)}\n')
    _report(options, summary.as_json())
    if options.picture is not None:
        picture(options.picture, result)
    for sentence in _write(options, result, summary):
        print(sentence)
    return 0 if result.comparison.is_better else NOT_BETTER


def _payload(options: argparse.Namespace, inputs: IdentificationInputs) -> int:
    """Identify a payload; return the exit code."""
    settings, joints = inputs.settings, inputs.model.joint_names
    if settings is None:
        print('without --keep-friction all friction counts as effort of the payload')
    fit = identify_payload(
        inputs.model, inputs.runs, options.payload,
        friction=None if settings is None else settings.joint_friction,
        armature=None if settings is None else settings.rotor_inertia
    )
    print(f'\n{payload_text(fit, joints)}\n')
    _report(options, payload_json(fit, joints))
    path = options.write_parameters
    if path is not None:
        comments = (
            f'Payload identified by rnea_ros identify, {_now()}.',
            f'Fitted: {", ".join(run.name for run in inputs.runs)}. URDF: '
            f'{options.urdf or "robot_description"}.',
            f'Standard deviation of the mass: {fit.mass_deviation:.2g} kg.',
        )
        write_file(path, parameter_file_text(payload_parameters(fit.payload), comments))
        print(f'{path} is written')
    return 0


def _report(options: argparse.Namespace, content: Any) -> None:
    if options.report is not None:
        write_file(options.report, json.dumps(content, indent=2) + '\n')


def _now() -> str:
    return time.strftime('%Y-%m-%d %H:%M')


def _write(
    options: argparse.Namespace, result: Identification, summary: ReportFigures
) -> Iterator[str]:
    """Write the requested files; yield a sentence for each."""
    asked = [path for path in (options.write_urdf, options.write_parameters) if path is not None]
    if not (result.comparison.is_better or options.force):
        yield from (
            f'{path} is not written, as the model is not better (--force writes it)'
            for path in asked
        )
        return
    contents: dict[Path, str | bytes] = {}
    if options.write_urdf is not None:
        contents[options.write_urdf] = result.urdf()[0]
    if options.write_parameters is not None:
        comments = _comments(options, summary)
        contents[options.write_parameters] = result.parameter_file(comments, options.effort_scale)
    write_files(contents)
    yield from (f'{path} is written' for path in asked)
    if not asked:
        yield 'nothing is written; --write-urdf and --write-parameters write the model'


def _comments(options: argparse.Namespace, summary: ReportFigures) -> tuple[str, ...]:
    """Return the origin and the quality of a result, as comments of its parameter file."""
    before, _, after = summary.moving_percent.values()
    return (
        f'Identified by rnea_ros identify, {_now()}.',
        f'Fitted: {"; ".join(summary.fitted)}.',
        f'Judged on: {"; ".join(summary.judged_on)}.',
        f'Mean error of moving joints: {after:.1f} % of the effort; of the URDF {before:.1f} %.',
        f'For {options.write_urdf or "the identified URDF"}, which was made from '
        f'{options.urdf or "robot_description"}.',
        'joints must have the order of the controller; reorder all lists with it.',
    )


@tool
def main(args: list[str] | None = None) -> int:
    """Identify a model or a payload; return the exit code."""
    options = _options(args)
    try:
        if options.picture is not None:
            require_matplotlib()
        require_scipy()
        if options.dry_run:
            return dry_run('identify', options, [*options.bags, *(options.validate or ())])
        inputs = _read(options)
        print(f'fitting {_amount(inputs.runs, of="")}', flush=True)
        return (_identify if options.payload is None else _payload)(options, inputs)
    except IdentificationError as error:
        print(f'identify: {error}', file=sys.stderr)
        return NOT_BETTER


if __name__ == '__main__':
    sys.exit(main())
