# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Arguments that several tools share, and the model, collisions and settings that they name."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
import math
from pathlib import Path
import sys
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..collision import CollisionModel, CollisionsNotCheckedError, Wall, collision_model
from ..errors import InputError, RneaError, UrdfError
from ..feedforward.settings import ResolvedSettings, complete_values, resolve, settings_from
from ..parameters import read_parameter_file
from ..preflight import understood
from ..recordings import KEYS, read_recordings, usable_factor
from ..robot import STANDARD_GRAVITY, RobotModel
from ..trajectory_check import Quantity
from ..urdf import parse_urdf, read_urdf

BAGS = 'directory, .db3 or .mcap'
RECORDINGS = f'{BAGS}; table (.csv, .tsv, .txt, .npz, .mat, .parquet); LeRobot folder'
MAX_GRAVITY = 1e4  # greatest component, m/s^2: a centrifuge
MIN_SPEED = 1e-3  # ten seconds become three hours
MAX_INERTIA = 1e12  # and greatest gravity effort, SI units; their squares still are numbers

LIMITED = (Quantity.VELOCITY, Quantity.ACCELERATION, Quantity.EFFORT)


class MissingRosError(RneaError):
    """What was asked needs ROS, which is not installed."""


@contextmanager
def needs_ros(what: str, otherwise: str = '') -> Iterator[None]:
    """Turn an import without ROS into one line, with a way out."""
    try:
        yield
    except ImportError as error:
        raise MissingRosError(f'{what} ROS ({error}){otherwise}') from error


def positive(text: str) -> float:
    """Return a positive, finite number, for argparse."""
    number = _number(text)
    if not 0.0 < number < math.inf:
        raise argparse.ArgumentTypeError(f'{text} is not positive and finite')
    return number


def speed(text: str) -> float:
    """Return a factor of the speed, at most 1, for argparse."""
    number = positive(text)
    if number > 1.0:
        raise argparse.ArgumentTypeError(f'{text} is above 1')
    if number < MIN_SPEED:
        raise argparse.ArgumentTypeError(f'{text} is below {MIN_SPEED:g}')
    return number


def finite(text: str) -> float:
    """Return a finite number, for argparse."""
    number = _number(text)
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f'{text} is not finite')
    return number


def position(text: str) -> tuple[str, float]:
    """Return the joint and the number of ``JOINT=POSITION``, for argparse."""
    joint, number = _limit(text)
    if joint is None:
        raise argparse.ArgumentTypeError(f'{text} is not JOINT=POSITION')
    return joint, number


def add_bag(
    parser: argparse.ArgumentParser, content: str, kinds: str = BAGS, *, required: bool = False
) -> None:
    """Add a recording, ``BAG``; the help says what it contains."""
    parser.add_argument('bag', nargs=None if required else '?', type=Path, metavar='BAG',
                        help=f'{content}: {kinds}')


def add_limits(
    parser: argparse.ArgumentParser, quantities: Sequence[Quantity] = LIMITED, *, default: str = ''
) -> None:
    """Add ``--velocity-limits`` and so on; few URDFs limit accelerations, so a default."""
    for quantity in quantities:
        other = default if quantity is Quantity.ACCELERATION else ''
        parser.add_argument(
            f'--{quantity.value}-limits', nargs='+', type=_limit, default=[],
            metavar='[JOINT=]LIMIT',
            help=f"{quantity.value} limit of a joint, or of all others, instead of the URDF's"
            + other
        )


def given_limits(options: argparse.Namespace) -> dict[Quantity, dict[str | None, float]]:
    """Return the limits of the command line by quantity and joint; None is all others."""
    return {
        quantity: dict(getattr(options, f'{quantity.value}_limits', ())) for quantity in LIMITED
    }


def add_collisions(parser: argparse.ArgumentParser) -> None:
    """Add ``--floor`` and ``--srdf``."""
    parser.add_argument('--floor', type=finite, metavar='Z',
                        help="least height of links in the root link's frame, m")  # fmt: skip
    parser.add_argument('--srdf', type=Path, metavar='SRDF',
                        help='file with the pairs of links that may touch, of MoveIt')  # fmt: skip


def add_gravity(parser: argparse.ArgumentParser) -> None:
    """Add ``--gravity``, three numbers in m/s^2."""
    parser.add_argument(
        '--gravity', nargs=3, type=_acceleration, default=STANDARD_GRAVITY,
        metavar=('X', 'Y', 'Z'),
        help="gravity in the root link's frame, m/s^2; for arms on a wall or ceiling"
    )


def add_recorded_joints(parser: argparse.ArgumentParser) -> None:
    """Add ``--joints``, ``--effort-scale``, ``--table`` and ``--dry-run``, of a recording."""
    parser.add_argument(
        '--joints', nargs='+', type=_recorded_joint, default=[], metavar='MODEL=RECORDED',
        help='recorded names of joints, if they differ from the model by more than one common '
        'prefix',
    )
    parser.add_argument(
        '--effort-scale', type=_factor, nargs='+',
        help='after BAG: N m or N per unit of the measured efforts, as parameter effort_scale: '
        '-1 for inverted signs, N m/A for currents, or one for each joint of the model (replay: '
        'for each commanded joint)',
    )
    parser.add_argument(
        '--table', type=_setting, nargs='+', action='extend', default=[], metavar='KEY=VALUE',
        help=f'columns and units of a table, instead of a YAML file beside it: {", ".join(KEYS)}',
    )
    parser.add_argument('--dry-run', action='store_true',
                        help='only print what was understood of BAG, and what looks wrong')


def dry_run(program: str, options: argparse.Namespace, bags: Sequence[Path]) -> int:
    """Print what is understood of recordings, and what looks wrong; return the exit code."""
    model = load_model(program, options.urdf, getattr(options, 'gravity', STANDARD_GRAVITY))
    for bag in bags:
        for recorded in read_recordings(bag, model, options.topic, dict(options.table)):
            print(f'{understood(model, recorded, dict(options.joints))}\n', flush=True)
    return 0


def _limit(text: str) -> tuple[str | None, float]:
    """Return the joint, None for all others, and the number of ``[JOINT=]LIMIT``."""
    joint, _, number = text.rpartition('=')
    return joint or None, finite(number)


def _recorded_joint(text: str) -> tuple[str, str]:
    name, _, recorded = text.partition('=')
    if not (name and recorded):
        raise argparse.ArgumentTypeError(f'{text} is not MODEL=RECORDED')
    return name, recorded


def _setting(text: str) -> tuple[str, Any]:
    """Return the key and the value of ``KEY=VALUE``, or of ``KEY=VALUE,VALUE``, a list."""
    key, equals, value = text.partition('=')
    if not equals or key not in KEYS:
        raise argparse.ArgumentTypeError(f'{text} is not KEY=VALUE; keys: {", ".join(KEYS)}')
    values = [_scalar(part.strip()) for part in value.split(',')]
    return key, values if len(values) > 1 else values[0]


def _scalar(text: str) -> bool | int | float | str:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return {'true': True, 'false': False}.get(text.lower(), text)


def _acceleration(text: str) -> float:
    number = _number(text)
    if not abs(number) <= MAX_GRAVITY:
        raise argparse.ArgumentTypeError(f'{text} m/s^2 is not a gravity')
    return number


def _factor(text: str) -> float:
    factor = _number(text)
    if not usable_factor(factor):
        raise argparse.ArgumentTypeError(f'{text} has no size between 1e-6 and 1e6')
    return factor


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'{text!r} is not a number') from None


def load_model(
    program: str, source: str | Path, gravity: ArrayLike, *, strict_inertia: bool = False
) -> RobotModel:
    """Return the model of a URDF, XML text or path of a file; warnings begin with the program."""
    description = parse_urdf(read_urdf(source), strict_inertia=strict_inertia)
    model = RobotModel.from_description(description, gravity=gravity)
    for warning in description.warnings:
        print(f'{program}: {warning}', file=sys.stderr)
    # Figures of the efforts of too large a model overflow.
    q = model.neutral_position
    try:
        numbers = np.append(model.mass_matrix(q), model.gravity_torques(q))
    except InputError:
        numbers = np.array([np.inf])
    if np.abs(numbers).max(initial=0.0) > MAX_INERTIA:
        raise UrdfError('URDF', 'masses or lengths are too large; they are in kg and m')
    return model


def collisions_of(
    model: RobotModel, urdf: Path, srdf: Path | None, walls: Sequence[Wall],
    links: Sequence[str] = ()
) -> tuple[CollisionModel | None, list[str]]:
    """Return the collision model of a URDF; None, and the reason, if there is none."""
    try:
        return collision_model(model, urdf, srdf, walls, links), []
    except CollisionsNotCheckedError as error:
        return None, [str(error)]


def joint_factors(given: Sequence[float] | None, model: RobotModel) -> Array:
    """Return the factors of ``--effort-scale``, shape (1,) or one per joint, shape (n,)."""
    factors = np.array(given or (1.0,))
    joints = len(model.joint_names)
    if factors.size not in (1, joints):
        raise InputError('--effort-scale', f'{factors.size} factors for {joints} joints')
    return factors


def load_settings(path: Path, model: RobotModel) -> ResolvedSettings:
    """Return the settings of a parameter file of the node, for a robot."""
    values = complete_values(read_parameter_file(path))
    return resolve(settings_from(values, model.joint_names), model)
