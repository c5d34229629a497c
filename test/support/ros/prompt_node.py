# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Runs a feedforward node that starts sooner and reports more often than a user's.

Tests then wait less. Arguments are those of ``rnea_ros.node.feedforward_node``.
"""

import sys

from rnea_ros.node import autostart, feedforward_node
from rnea_ros.node.command_topic import monitor
from rnea_ros.ros import MACHINE_TIME

DISCOVERY = 0.0
"""Wait for other nodes, s: these tests wait for the controller themselves."""

ALREADY_PRESENT = 1.0
"""A publisher that is found within this time was there at the start, s."""

POLL_PERIOD = 0.03
"""Time between two looks for the controller, for its answer, and for subscribers, s."""

REPORT_PERIOD = 0.1
"""Time between two diagnostics, s."""


class PromptNode(feedforward_node.FeedforwardNode):
    """A feedforward node with more timers, which poll and report more often."""

    def __init__(self) -> None:
        super().__init__()
        self.create_timer(POLL_PERIOD, self._poll, clock=MACHINE_TIME)
        self.create_timer(REPORT_PERIOD, self._each_second, clock=MACHINE_TIME)


if __name__ == '__main__':
    autostart.DISCOVERY = DISCOVERY
    monitor.DISCOVERY = ALREADY_PRESENT
    feedforward_node.FeedforwardNode = PromptNode  # type: ignore[misc]
    sys.exit(feedforward_node.main())
