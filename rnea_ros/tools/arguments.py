# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Arguments that the commands have in common, and how they are refused."""

from __future__ import annotations

from collections.abc import Iterable
import math

from ..command_line import OneLineParser


def joint_names(parser: OneLineParser, pairs: Iterable[str]) -> dict[str, str]:
    """
    Return recorded joint names by the model's.

    :param parser: refuses what is not so
    :param pairs: ``MODEL=RECORDED`` each
    """
    names = {}
    for pair in pairs:
        name, _, recorded = pair.partition('=')
        if not (name and recorded):
            parser.error(f'--joints {pair} is not MODEL=RECORDED')
        names[name] = recorded
    return names


def check_effort_scale(parser: OneLineParser, factor: float) -> None:
    """Refuse a factor of efforts that leaves nothing of them."""
    if not math.isfinite(factor) or factor == 0.0:
        parser.error(f'--effort-scale {factor:g} is not finite, or is 0')
