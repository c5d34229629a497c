# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A loop that only sleeps: what the machine does to every loop in Python."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
import sys
import time

from .pace import asked_to_end, pace
from .ticks import TickLog


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until asked to end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--log', type=Path, required=True)
    parser.add_argument('--capacity', type=int, required=True)
    parser.add_argument('--rate', type=float, required=True, help='Hz')
    options = parser.parse_args(arguments)
    end = asked_to_end()
    log = TickLog(options.log, options.capacity)
    print('ready', flush=True)
    for began, lateness in pace(1.0 / options.rate, end):
        log.record(began, lateness, time.monotonic() - began)
    return 0


if __name__ == '__main__':
    sys.exit(main())
