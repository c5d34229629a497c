# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Load beside the loop, each part in a separate process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from ..timing import usable_cores
from .child import Child
from .contenders import Condition

INTERVALS = {Condition.TRAJECTORIES: 10.0, Condition.STRESS: 5.0}
"""Between two trajectories, s."""


class BackgroundLoad:
    """
    The processes beside the loop.

    :param sender: of trajectories, None where there is none
    """

    def __init__(self, sender: Child | None) -> None:
        self._sender = sender

    @property
    def trajectories(self) -> list[float]:
        """When a trajectory began to be sent, monotonic time, s."""
        if self._sender is None:
            return []
        words = (line.split() for line in self._sender.output.splitlines())
        return [float(line[1]) for line in words if line[:1] == ['sent']]


@contextmanager
def environment(condition: Condition, domain: int) -> Iterator[BackgroundLoad]:
    """
    Run the load of a condition until the block ends.

    :param condition: what
    :param domain: DDS domain
    """
    with ExitStack() as stack:
        children, sender = [], None
        if condition is not Condition.IDLE:
            interval = str(INTERVALS[condition])
            sender = Child('benchmark.loop.trajectories', '--interval', interval, domain=domain)
            children.append(stack.enter_context(sender))
        if condition is Condition.STRESS:
            disturber = Child('benchmark.loop.disturber', domain=domain)
            children.append(stack.enter_context(disturber))
            for child in children:
                child.wait_for('ready')  # busy cores would make them take long
            children += [
                stack.enter_context(Child('benchmark.loop.busy', domain=domain))
                for _ in usable_cores()
            ]
        for child in children:
            child.wait_for('ready')
        yield BackgroundLoad(sender)
        for child in children:
            child.check()
