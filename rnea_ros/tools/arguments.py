# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What the commands that read recordings have in common: how arguments are refused."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
import math
from typing import NoReturn

BAD_INPUT = 2
"""Exit code for bad arguments and files."""


class OneLineParser(argparse.ArgumentParser):
    """Refuses arguments with one line."""

    def error(self, message: str) -> NoReturn:
        """Refuse the arguments."""
        self.exit(BAD_INPUT, f'{self.prog}: {message} (see --help)\n')


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
