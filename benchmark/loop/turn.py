# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""One turn of a contender: fed by a process, for a while, under a condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
import tempfile
import time
from typing import Any

import numpy as np

from ..robots import Array
from .contenders import Condition, LoopContender
from .cyclictest import cyclictest
from .lateness import Lateness, around_events, latencies, of_grid
from .motion import MOVING_JOINT, StateRound
from .parameters import FOLLOWING
from .stage import Stage, first_command
from .stress import environment
from .ticks import read_ticks

SETTLING = 1.5
"""From the first command until it is measured: ramps and filters have ended by then, s."""

WINDOW = 1.5
"""How long before and after a trajectory's arrival is looked at, s."""


def nothing() -> Array:
    """Return no numbers."""
    return np.empty(0)


@dataclass(frozen=True)
class Turn:
    """
    What was measured of a contender, in one turn or in several together.

    :param contender: it
    :param rate: Hz
    :param condition: what went on beside
    :param lateness: None for one without a schedule
    :param latency: from a state's sending to the receipt of its command, s
    :param compute: how long ticks took, s
    :param cpu: share of one core that its process used, None where it was not looked at
    :param memory: of its process, MB, likewise
    :param before: greatest period error in a window before each trajectory came, s
    :param after: likewise after it came
    """

    contender: LoopContender
    rate: float
    condition: Condition
    lateness: Lateness | None
    latency: Array = field(default_factory=nothing)
    compute: Array = field(default_factory=nothing)
    cpu: float | None = None
    memory: float | None = None
    before: Array = field(default_factory=nothing)
    after: Array = field(default_factory=nothing)


def take_turn(
    contender: LoopContender,
    rate: float,
    condition: Condition,
    seconds: float,
    motion: StateRound,
    domain: int,
) -> Turn:
    """
    Measure a contender once.

    :param contender: it
    :param rate: Hz
    :param condition: what goes on beside
    :param seconds: how long
    :param motion: what it is fed with
    :param domain: DDS domain
    :raises ChildError: a process did not do what it must
    """
    if contender.sleeps_only:
        with environment(condition, domain):
            return Turn(
                contender, rate, condition, cyclictest(rate, seconds, contender.priority)
            )
    following: dict[str, Any] = {}
    if contender.follows and condition is not Condition.IDLE:
        following = FOLLOWING
    with tempfile.TemporaryDirectory() as name, Stage(motion, domain, Path(name)) as stage:
        notes = stage.directory / 'notes.npz'
        feeder = stage.feed(rate, notes=notes)
        player = stage.play(contender, rate, int(2.0 * rate * (seconds + 10.0)), **following)
        first_command(feeder, [player])
        with environment(condition, domain) as beside:
            time.sleep(SETTLING)
            begin, used = time.monotonic(), player.child.cpu
            time.sleep(seconds)
            end, used = time.monotonic(), player.child.cpu - used
            memory = player.child.memory
        for child in (feeder, player.child):
            child.check()
            child.end()
        ticks = read_ticks(player.log, begin, end)
        lateness = _lateness(contender, ticks, rate)
        arrivals = [
            sent for sent in beside.trajectories if begin + WINDOW < sent < end - WINDOW
        ]
        return Turn(
            contender,
            rate,
            condition,
            lateness,
            _latencies(contender, notes, motion, begin, end),
            ticks[:, 2],
            used / (end - begin),
            memory,
            *_around(lateness, ticks, arrivals),
        )


def _lateness(contender: LoopContender, ticks: Array, rate: float) -> Lateness | None:
    if not contender.timed:
        return None
    began, lateness = ticks[:, 0], ticks[:, 1]
    errors = of_grid(began, 1.0 / rate) if np.isnan(lateness).any() else lateness
    return Lateness(1.0 / rate, errors)


def _around(
    lateness: Lateness | None, ticks: Array, arrivals: Sequence[float]
) -> tuple[Array, Array]:
    if lateness is None:
        return nothing(), nothing()
    began = ticks[-lateness.errors.size :, 0]
    return around_events(began, lateness.errors, arrivals, WINDOW)


def _latencies(
    contender: LoopContender, notes: Path, motion: StateRound, begin: float, end: float
) -> Array:
    with np.load(notes) as noted:
        sent, received, commanded = noted['sent'], noted['received'], noted['commanded']
    expected = (motion.positions if contender.echoes else motion.efforts)[:, MOVING_JOINT]
    within = (received >= begin) & (received < end)
    return latencies(sent, received[within], commanded[within], expected)
