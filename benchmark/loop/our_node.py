# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The node ``feedforward`` as it is, with a tap that keeps how late every tick was."""

from __future__ import annotations

from collections.abc import Sequence
import sys
import threading
import time

from rnea_ros.node import feedforward_node
from rnea_ros.node.timing import LoopStatistics

from .pace import end_with_parent
from .ticks import TickLog, log_and_others

BLOCKS_INTERVAL = 5.0
"""How often the interpreter's blocks of memory are counted, s."""


def tap(log: TickLog) -> None:
    """Let every tick that the node's loop records go to a log too."""
    record = LoopStatistics.record

    def record_both(statistics: LoopStatistics, lateness: float, compute: float) -> None:
        record(statistics, lateness, compute)
        log.record(time.monotonic() - compute, lateness, compute)

    LoopStatistics.record = record_both  # type: ignore[method-assign, assignment]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node; what is not ours is for ROS."""
    log, others = log_and_others(arguments)
    end_with_parent()
    tap(log)

    def count_blocks() -> None:
        while True:
            log.note_blocks()
            time.sleep(BLOCKS_INTERVAL)

    threading.Thread(target=count_blocks, daemon=True).start()
    return feedforward_node.main(others)


if __name__ == '__main__':
    sys.exit(main())
