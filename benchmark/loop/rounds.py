# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""All turns, and what they say together of each contender."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import sys

import numpy as np

from .child import ChildError
from .contenders import Condition, LoopContender
from .cyclictest import installed
from .effort import Part
from .lateness import pooled
from .turn import Turn


def turns_of(
    parts: Sequence[Part], take: Callable[[LoopContender, float, Condition, float], Turn]
) -> list[Turn]:
    """
    Return all turns; in each round, another contender is first.

    :param parts: what is to be done
    :param take: takes one turn
    """
    turns = []
    for part in parts:
        contenders = [one for one in part.contenders if takes_part(one)]
        for number in range(part.rounds):
            first = number % max(len(contenders), 1)
            for contender in (*contenders[first:], *contenders[:first]):
                what = f'{contender.name}, {part.rate:g} Hz, {part.condition.value}'
                print(f'measuring: {what}', file=sys.stderr, flush=True)
                given = (contender, part.rate, part.condition, part.seconds)
                try:
                    turns.append(take(*given))
                except ChildError as error:
                    print(f'once more, because {error}', file=sys.stderr, flush=True)
                    turns.append(take(*given))
    return turns


def takes_part(contender: LoopContender) -> bool:
    """Return whether a contender can be measured here."""
    return not contender.sleeps_only or installed()


def results_of(turns: Sequence[Turn]) -> list[Turn]:
    """Return what turns say together, in the order of their first; of shares, the median."""
    groups: dict[tuple[LoopContender, float, Condition], list[Turn]] = {}
    for turn in turns:
        groups.setdefault((turn.contender, turn.rate, turn.condition), []).append(turn)
    return [_result(group) for group in groups.values()]


def _result(turns: Sequence[Turn]) -> Turn:
    one = turns[0]
    lateness = [turn.lateness for turn in turns if turn.lateness is not None]
    return Turn(
        one.contender,
        one.rate,
        one.condition,
        pooled(lateness) if lateness else None,
        np.concatenate([turn.latency for turn in turns]),
        np.concatenate([turn.compute for turn in turns]),
        _median([turn.cpu for turn in turns]),
        _median([turn.memory for turn in turns]),
        np.concatenate([turn.before for turn in turns]),
        np.concatenate([turn.after for turn in turns]),
    )


def _median(values: Sequence[float | None]) -> float | None:
    looked_at = [value for value in values if value is not None]
    return float(np.median(looked_at)) if looked_at else None
