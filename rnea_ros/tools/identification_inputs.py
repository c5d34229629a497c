# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What ``identify`` reads: the model, recordings or live topics, a parameter file."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..feedforward.settings import ResolvedSettings
from ..identification import Run, load, run_from
from ..recordings import STILL_SPEED, RecordingError, Sample, recording_from
from ..robot import RobotModel
from .model import load_model, load_settings

if TYPE_CHECKING:
    from ..live import LiveNode


@dataclass(frozen=True)
class IdentificationInputs:
    """The model, and the data that it is identified from."""

    model: RobotModel  # of the URDF
    runs: list[Run]  # recorded or live
    validate: list[Run] | None  # to judge the model on; None for parts of the others
    settings: ResolvedSettings | None  # of the parameter file with friction; None without it


def read_inputs(
    options: argparse.Namespace, check: Callable[[RobotModel], None]
) -> IdentificationInputs:
    """Return the inputs; ``check`` is called with the model before recordings are read."""
    with _source(options) as (source, collect):
        model = load_model('identify', source, options.gravity)
        check(model)
        settings = None
        if options.keep_friction is not None:
            settings = load_settings(options.keep_friction, model)
        runs = collect(model)
    validate = None if options.validate is None else _loaded(options, model, options.validate)
    return IdentificationInputs(model, runs, validate, settings)


def _loaded(options: argparse.Namespace, model: RobotModel, bags: Sequence[Path]) -> list[Run]:
    """Return the runs of bags, with a line of progress for each."""
    runs = []
    for bag in bags:
        run = load(bag, model, topic=options.topic, **_reading(options))
        runs.append(run)
        print(f'{bag}: {amount([run])}', flush=True)
    return runs


@contextmanager
def _source(
    options: argparse.Namespace,
) -> Iterator[tuple[str | Path, Callable[[RobotModel], list[Run]]]]:
    """Provide the model's source, and a function that returns the runs of the model's robot."""
    if options.bags:
        yield options.urdf, partial(_loaded, options, bags=options.bags)
        return
    try:
        from ..live import live_node, robot_description
    except ImportError as error:
        raise RecordingError(f'live topics need ROS ({error}); give a bag instead') from error
    with live_node('identify', options.ros_arguments) as live:
        yield options.urdf or robot_description(live), partial(_live, options, live)


def _live(options: argparse.Namespace, live: LiveNode, model: RobotModel) -> list[Run]:
    """Return the run of live topics."""
    from ..live import collect_joint_states

    def progress(samples: Sequence[Sample]) -> bool:
        print(f'{samples[-1].time - samples[0].time:.0f} of {options.duration:g} s', flush=True)
        return False

    topic = options.topic or 'joint_states'
    print(f'listening to {topic}; move the arm', flush=True)
    samples = collect_joint_states(live, topic, options.duration, progress)
    return [run_from(recording_from(samples), model, name='live', **_reading(options))]


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


def amount(runs: Sequence[Run], of: str = ' of motion') -> str:
    """Return the duration of the motion, or the number of poses at rest, in words."""
    if not any(run.qd.any() for run in runs):
        return f'{sum(len(run.time) for run in runs)} poses'
    moving = [(np.abs(run.qd) >= STILL_SPEED).any(axis=1).sum() for run in runs]
    steps = [float(np.median(np.diff(run.time))) for run in runs]
    return f'{np.dot(moving, steps):.0f} s{of}'
