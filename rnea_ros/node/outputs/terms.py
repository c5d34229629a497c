# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The terms of the command, each on a topic of its own, while the topic has subscribers.

Publishing all terms takes longer than the control itself. So a set of terms is taken at one tick
and published over several.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
import math
from typing import Any

from sensor_msgs.msg import JointState

from ...arrays import Array
from ...feedforward.laws import Terms
from .messages import EffortMessage, OptionalPublishers

TERMS = tuple(part.name for part in fields(Terms))
NAMES = (*TERMS, 'limited')
RATE = 100.0  # how often a set of terms is taken, Hz


class TermPublishers(OptionalPublishers):
    """Publishes the terms that have subscribers."""

    def __init__(self, node: Any, joints: tuple[str, ...], period: float) -> None:
        super().__init__(node, {name: (JointState, f'~/terms/{name}') for name in NAMES})
        self._message = EffortMessage(joints)
        self._messages_per_tick = math.ceil(len(NAMES) * RATE * period)
        self._unsent: list[tuple[str, Array]] = []
        self._next = -math.inf

    def send(self, command: Array, terms: Callable[[], Terms], now: float, stamp: float) -> None:
        """Take a set of terms if one is due, and publish this tick's share of the last set."""
        if not self.subscribed:
            return
        if not self._unsent and not self._next - 1.0 / RATE <= now < self._next:
            taken = terms()
            values = {name: getattr(taken, name) for name in TERMS}
            values['limited'] = command - sum(values.values())  # the change by ramps and limits
            self._unsent = [(name, values[name]) for name in reversed(self.subscribed)]
            self._message.set_stamp(stamp)
            self._next = now + 1.0 / RATE
        for _ in range(min(self._messages_per_tick, len(self._unsent))):
            name, efforts = self._unsent.pop()
            self._message.view[:] = efforts
            self.publish(name, self._message)
