# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Which recorded joint is which joint of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import re

from .joint_states import RecordingError


def match_joints(
    model: Sequence[str], recorded: Sequence[str], given: Mapping[str, str] | None = None
) -> dict[str, str]:
    """
    Return the recorded name of every joint of the model that is recorded, in the model's order.

    Names that are given win, then equal names. Where there is no equal name at all, the names may
    differ in one prefix that all have in common: ``panda_joint1`` and ``fer_joint1``.

    :param model: joint names of the model
    :param recorded: joint names of the recording
    :param given: recorded names by the model's
    :raises RecordingError: a given name is unknown, or no joint matches
    """
    given = given or {}
    for name, other in given.items():
        if name not in model:
            raise RecordingError(f'the model has no joint {name!r}; it has {", ".join(model)}')
        if other not in recorded:
            raise RecordingError(
                f'joint {other!r} is not recorded; recorded are {", ".join(recorded)}'
            )
    equal = {name: name for name in model if name in recorded}
    names = {**(equal or {} if given else equal or _by_prefix(model, recorded)), **given}
    if len(set(names.values())) < len(names):
        pairs = ', '.join(f'{name}={other}' for name, other in names.items())
        raise RecordingError(f'a recorded joint is given twice: {pairs}')
    if not names:
        raise RecordingError(
            f"no recorded joint ({', '.join(recorded)}) is one of the model's "
            f'({", ".join(model)}); tell which is which'
        )
    return {name: names[name] for name in model if name in names}


def _by_prefix(model: Sequence[str], recorded: Sequence[str]) -> dict[str, str]:
    """Return the match by the exchange of one prefix that matches most joints, if it is alone."""
    best: dict[str, str] = {}
    rivals = 0
    for old in sorted({prefix for name in model for prefix in _prefixes(name)}):
        for new in sorted({prefix for name in recorded for prefix in _prefixes(name)}):
            pairs = {
                name: new + name[len(old) :]
                for name in model
                if name.startswith(old) and new + name[len(old) :] in recorded
            }
            if pairs == best:
                continue
            if len(pairs) > len(best):
                best, rivals = pairs, 0
            elif len(pairs) == len(best):
                rivals += 1
    return {} if rivals else best


def _prefixes(name: str) -> list[str]:
    """Return what a name may begin with: nothing, and everything that ends in a separator."""
    return ['', *(name[: match.end()] for match in re.finditer(r'[_/]', name))]
