# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Arguments that the commands have in common, and how their values are refused."""

from __future__ import annotations

import argparse
import math

from ..robot import STANDARD_GRAVITY


def positive(text: str) -> float:
    """Return a number that is more than 0, for argparse."""
    number = _number(text)
    if not 0.0 < number < math.inf:
        raise argparse.ArgumentTypeError(f'{text} is not positive and finite')
    return number


def add_gravity(parser: argparse.ArgumentParser) -> None:
    """Add ``--gravity``: ``gravity``, three numbers, m/s^2."""
    parser.add_argument(
        '--gravity',
        nargs=3,
        type=float,
        default=STANDARD_GRAVITY,
        metavar=('X', 'Y', 'Z'),
        help="in the root link's frame, m/s^2; for arms on a wall or ceiling",
    )


def add_recorded_joints(parser: argparse.ArgumentParser) -> None:
    """
    Add what makes recorded joints those of the model.

    ``joints`` is pairs of a joint's name in the model and in the recording, ``effort_scale`` what
    measured efforts are multiplied by.
    """
    parser.add_argument(
        '--joints',
        nargs='+',
        type=_recorded_joint,
        default=[],
        metavar='MODEL=RECORDED',
        help='which joint of the model has which recorded name, where the names differ by more '
        'than one common prefix',
    )
    parser.add_argument(
        '--effort-scale',
        type=_factor,
        default=1.0,
        help='multiply measured efforts; -1 or N m/A',
    )


def _recorded_joint(text: str) -> tuple[str, str]:
    name, _, recorded = text.partition('=')
    if not (name and recorded):
        raise argparse.ArgumentTypeError(f'{text} is not MODEL=RECORDED')
    return name, recorded


def _factor(text: str) -> float:
    factor = _number(text)
    if not math.isfinite(factor) or factor == 0.0:
        raise argparse.ArgumentTypeError(f'{text} is not finite, or is 0')
    return factor


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'{text!r} is not a number') from None
