# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""How long to measure."""

from __future__ import annotations

from dataclasses import dataclass

from .contenders import (
    ALL,
    CYCLICTEST,
    OURS,
    WITH_PRIORITY,
    Condition,
    LoopContender,
)


@dataclass(frozen=True)
class Part:
    """
    Turns of several contenders, one after the other, several times over.

    :param condition: load beside the loop
    :param rate: Hz
    :param contenders: the measured processes
    :param rounds: how often
    :param seconds: of a turn
    """

    condition: Condition
    rate: float
    contenders: tuple[LoopContender, ...]
    rounds: int
    seconds: float


@dataclass(frozen=True)
class LoopEffort:
    """
    All that is done.

    :param parts: turns
    :param arms: numbers of arms, at each rate
    :param arm_rates: Hz
    :param arm_seconds: for each
    :param starts: processes that are started for the time that it takes
    """

    parts: tuple[Part, ...]
    arms: tuple[int, ...]
    arm_rates: tuple[float, ...]
    arm_seconds: float
    starts: int


FULL = LoopEffort(
    parts=(
        Part(Condition.IDLE, 1000.0, ALL, 3, 12.0),
        Part(Condition.STRESS, 1000.0, ALL, 2, 15.0),
        *(
            Part(condition, rate, ALL, 1, seconds)
            for condition, seconds in ((Condition.IDLE, 6.0), (Condition.STRESS, 5.0))
            for rate in (250.0, 500.0, 2000.0)
        ),
        Part(Condition.TRAJECTORIES, 1000.0, (OURS,), 1, 45.0),
        Part(Condition.IDLE, 1000.0, WITH_PRIORITY, 1, 12.0),
        Part(Condition.STRESS, 1000.0, WITH_PRIORITY, 1, 12.0),
    ),
    arms=(1, 2, 4, 8),
    arm_rates=(500.0, 1000.0),
    arm_seconds=4.0,
    starts=3,
)
QUICK = LoopEffort(
    parts=(
        Part(Condition.IDLE, 1000.0, ALL, 1, 2.0),
        Part(Condition.STRESS, 1000.0, (OURS, CYCLICTEST), 1, 2.0),
    ),
    arms=(2,),
    arm_rates=(500.0,),
    arm_seconds=2.0,
    starts=1,
)
