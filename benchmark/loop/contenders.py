# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The measured processes, and the conditions of a measurement."""

from __future__ import annotations

from dataclasses import dataclass, field
import enum
from typing import Any

PRIORITY = 80
"""Priority of SCHED_FIFO of the contenders with real-time priority."""


class Condition(enum.Enum):
    """Load beside the loop."""

    IDLE = 'idle'
    TRAJECTORIES = 'idle but for trajectories'
    STRESS = 'under stress'


@dataclass(frozen=True)
class LoopContender:
    """
    A process to measure.

    :param name: what tables call it
    :param module: that it runs; empty for cyclictest
    :param timed: whether it has a schedule to keep
    :param echoes: whether its commands are positions, not efforts
    :param priority: of SCHED_FIFO, 0 for none
    :param given: further parameters
    """

    name: str
    module: str
    timed: bool = True
    echoes: bool = False
    priority: int = 0
    given: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def sleeps_only(self) -> bool:
        """Whether nothing is sent to it, nor by it."""
        return not self.module

    @property
    def follows(self) -> bool:
        """Whether it is the node, which follows trajectories."""
        return self.module == 'benchmark.loop.our_node'


OURS = LoopContender('this node', 'benchmark.loop.our_node')
TRIGGERED = LoopContender(
    'this node, triggered', OURS.module, timed=False, given={'trigger': 'joint_states'}
)
OURS_FIFO = LoopContender(
    'this node, SCHED_FIFO',
    OURS.module,
    priority=PRIORITY,
    given={'realtime.priority': PRIORITY},
)
PLAIN = LoopContender('plain rclpy node', 'benchmark.loop.plain_node')
BARE = LoopContender('bare loop: receives, sends', 'benchmark.loop.bare_loop', echoes=True)
ECHO = LoopContender('rclpy echo, triggered', 'benchmark.loop.echo', timed=False, echoes=True)
CYCLICTEST = LoopContender('cyclictest', '')
CYCLICTEST_FIFO = LoopContender('cyclictest, SCHED_FIFO', '', priority=PRIORITY)

ALL = (OURS, PLAIN, BARE, CYCLICTEST, TRIGGERED, ECHO)
WITH_PRIORITY = (OURS_FIFO, CYCLICTEST_FIFO)
