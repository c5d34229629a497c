# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Match the joint names of a recording with those of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import re

from .joint_states import RecordingError


def match_joints(
    model: Sequence[str], recorded: Sequence[str], given: Mapping[str, str] | None = None
) -> dict[str, str]:
    """
    Return recorded names by model names, in the model's order; joints not recorded are left out.

    Given pairs, recorded names by model names, come first, then equal names. If no names are
    equal, names may differ by one common prefix, as in ``panda_joint1`` and ``fer_joint1``.

    :raises RecordingError: a given name is unknown or used twice, or no joint matches
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
        raise RecordingError(f'a recorded joint is assigned twice: {pairs}')
    if not names:
        raise RecordingError(
            f'no recorded joint ({", ".join(recorded)}) has the name of a model joint '
            f'({", ".join(model)}); give the pairs with --joints MODEL=RECORDED'
        )
    return {name: names[name] for name in model if name in names}


def _by_prefix(model: Sequence[str], recorded: Sequence[str]) -> dict[str, str]:
    """Return the match of most joints by exchange of one prefix; empty if it is ambiguous."""
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
    """Return the prefixes of a name: the empty one, and all that end in ``_`` or ``/``."""
    return ['', *(name[: match.end()] for match in re.finditer(r'[_/]', name))]
